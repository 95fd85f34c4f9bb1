"""Tables, hulls and areas of rows: sweep.c where it was compiled with the package, else plain.py.

    table   sort the rows by score, add up either class, keep one row per score      O(n)
    hull    drop the rows at or under a line between two others                      O(n)
    areas   add up trapezoids, precision, and its integrals over the steps           O(n)

Every caller runs the same loops, so a slice has the very bits of a call with its rows alone. Decisions are exact with
either file; numbers are as accurate as guide/accuracy.md says. A process chooses its library when it starts. Knows
arrays, not curves.
"""

from ctypes import CDLL, Array, Structure, byref, c_bool, c_char, c_double, c_int, c_int64, c_void_p
from fractions import Fraction
from math import nan
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from service.curves.arrays import BoolArray, FloatArray, IntArray
from service.curves.clock import still_time, takes_long
from service.curves.sweep import plain

LIBRARY = Path(__file__).parent / "sweep.library"
"""The path of the library, if it was compiled. It does not end in .so, or Python would take it for a module."""

_MANY_POSITIVES = 1_000_000
"""The trapezoid takes 8 ns for each positive, in one call that no clock can stop."""

_TYPES: dict[str, tuple[Any, ...]] = {  # the type of the result, then those of the arguments
    "rocpr_table": (c_int64, c_int64, *[c_void_p] * 3, c_bool, *[c_void_p] * 2),
    "rocpr_parts": (c_int64, c_int64, *[c_void_p] * 2, c_bool, c_void_p),
    "rocpr_merge": (c_int64, c_int64, c_int64, c_void_p, c_bool, c_void_p),
    "rocpr_order": (None, c_int64, c_void_p, c_bool, *[c_void_p] * 3),
    "rocpr_sums": (None, c_int64, *[c_void_p] * 2),
    "rocpr_turns": (None, c_int64, *[c_void_p] * 6),
    "rocpr_hull": (c_int64, c_int64, *[c_void_p] * 5),
    "rocpr_areas": (None, c_int64, *[c_void_p] * 3, c_int, c_void_p),
    "rocpr_doubled_area": (None, c_int64, *[c_void_p] * 3),
    "rocpr_points": (None, c_int64, *[c_void_p] * 2, c_double, c_double, c_void_p),
    "rocpr_slices": (None, c_int64, c_void_p, c_int64, *[c_void_p] * 3, c_bool, c_int64, *[c_void_p] * 6),
    "rocpr_resamples": (None, c_int64, c_int64, *[c_void_p] * 2, c_int, *[c_void_p] * 3),
}


class Library:
    """The library that this process uses, if any."""

    def __init__(self) -> None:
        self.loops: CDLL | None = None
        self.path: Path | None = None

    def use(self, path: Path | None) -> None:
        """Use the library at a path from now on; None stops using one. Raises OSError if it cannot be loaded."""
        loops = None
        if path is not None:
            loops = CDLL(str(path))
            for name, (result, *arguments) in _TYPES.items():
                function = getattr(loops, name, None)
                if function is None:
                    raise OSError(f"{path} was compiled from other sources: install rocpr again")
                function.restype, function.argtypes = result, arguments
        self.loops, self.path = loops, path

    def use_installed(self) -> None:
        """Use the library compiled with the package, if there is one. Raises OSError like `use`."""
        if LIBRARY.is_file():
            self.use(LIBRARY)


COMPILED = Library()

_ROC, _PR, _TRAPEZOID = 1, 2, 4
"""What `rocpr_areas` may add up: roc; pr and average_precision; the trapezoid."""


class SweptAreas(NamedTuple):
    """Areas under one curve; NaN if a class is empty.

    `trapezoid` is that of precision through all rows and every whole tp.
    """

    roc: float
    pr: float
    average_precision: float
    trapezoid: float


class Drawn(NamedTuple):
    """A class in b resamples: the table's row and the weight of each kind, (kinds,), and how often each was drawn."""

    rows: IntArray
    weights: FloatArray | None
    counts: NDArray[np.uint8] | FloatArray  # (b, kinds)


_Nothing = c_char * 0


class _Drawn(Structure):
    _fields_ = (("kinds", c_int64), ("rows", c_void_p), ("weights", c_void_p), ("few", c_void_p), ("many", c_void_p))


def table(
    scores: FloatArray, labels: BoolArray, weights: FloatArray | None, *, descending: bool
) -> tuple[FloatArray, FloatArray, FloatArray]:
    """The distinct scores of rows of weight > 0, and tp and fp up to each; the first row calls nothing positive.

    Scores 0.9, 0.8, 0.7, 0.6, of which the first, second and fourth are positive, give tp 0, 1, 2, 2, 3 and fp 0, 0, 0,
    1, 1.
    """
    if COMPILED.loops is None:
        return plain.table(scores, labels, weights, descending=descending)
    loops, size, columns = COMPILED.loops, scores.size, np.empty((3, scores.size + 1))
    scores, labels = _floats(scores), np.ascontiguousarray(labels, np.bool_)
    if weights is None:  # NumPy sorts doubles alone faster than C sorts rows
        parts = np.empty(size + 2)
        positives = loops.rocpr_parts(size, _at(scores), _at(labels), descending, _at(parts))
        parts[:positives].sort()
        parts[positives + 1 : -1].sort()
        found = loops.rocpr_merge(size, positives, _at(parts), descending, _at(columns))
    else:
        given, rows = (scores, labels, _floats(weights)), np.empty(2 * size)
        found = loops.rocpr_table(size, *map(_at, given), descending, _at(rows), _at(columns))
    thresholds, tp, fp = columns if found == size + 1 else columns[:, :found].copy()
    return thresholds, tp, fp


def order(scores: FloatArray, *, descending: bool) -> IntArray:
    """The order of scores, equal ones as they came, (n,)."""
    if COMPILED.loops is None:
        return plain.order(scores, descending=descending)
    out, memory, scores = np.empty(scores.size, np.int64), np.empty((2, 2 * scores.size)), _floats(scores)
    COMPILED.loops.rocpr_order(scores.size, _at(scores), descending, _at(memory[0]), _at(memory[1]), _at(out))
    return out


def running_sums(numbers: FloatArray) -> FloatArray:
    """Sums of numbers >= 0 from 0 on, (n + 1,)."""
    if COMPILED.loops is None:
        return plain.running_sums(numbers)
    out, numbers = np.empty(numbers.size + 1), _floats(numbers)
    COMPILED.loops.rocpr_sums(numbers.size, _at(numbers), _at(out))
    return out


def turns(tp: FloatArray, fp: FloatArray, a: IntArray, b: IntArray, c: IntArray) -> FloatArray:
    """Whether the rows b lie above (> 0), on (0) or under (< 0) the chords from a to c; the sign is exact."""
    if COMPILED.loops is None:
        return plain.turns(tp, fp, a, b, c)
    given = [*map(_rows, (a, b, c)), _floats(tp), _floats(fp)]
    out = np.empty(b.size)
    COMPILED.loops.rocpr_turns(b.size, *map(_at, given), _at(out))
    return out


def hull(tp: FloatArray, fp: FloatArray) -> IntArray:
    """The vertices of the upper hull of rows in order; of equal rows the first. The first and the last row differ."""
    return plain.hull(tp, fp) if COMPILED.loops is None else _hull(COMPILED.loops, tp, fp, None)


def hull_and_members(tp: FloatArray, fp: FloatArray) -> tuple[IntArray, BoolArray]:
    """The vertices of the upper hull, and whether each row lies on it."""
    if COMPILED.loops is None:
        vertices = plain.hull(tp, fp)
        return vertices, plain.on_hull(tp, fp, vertices)
    members = np.empty(tp.size, np.bool_)
    return _hull(COMPILED.loops, tp, fp, members), members


def _hull(loops: CDLL, tp: FloatArray, fp: FloatArray, members: BoolArray | None) -> IntArray:
    tp, fp, rows = _floats(tp), _floats(fp), np.empty((2, tp.size), np.int64)
    found = loops.rocpr_hull(tp.size, *map(_at, (tp, fp, rows[0], rows[1], members)))
    return rows[0, :found].copy()


def areas(tp: FloatArray, fp: FloatArray, rows: IntArray | None = None, *, trapezoid: bool = False) -> SweptAreas:
    """The areas under the curve through all rows of a sweep, or through some; the trapezoid only if it is wanted.

    For the rows of `table` they are 2/3, 1 - log(4/3)/3, 11/12 and 65/72. The trapezoid exists for whole counts, and
    takes time for each positive.
    """
    still_time()
    if trapezoid and tp[-1] > _MANY_POSITIVES:
        takes_long()
    if COMPILED.loops is None:
        if rows is not None:
            tp, fp = tp[rows], fp[rows]
        return SweptAreas(*plain.areas(tp, fp), plain.trapezoid(tp, fp) if trapezoid else nan)
    tp, fp, which = _floats(tp), _floats(fp), None if rows is None else _rows(rows)
    out = (c_double * len(SweptAreas._fields))()
    size, wanted = tp.size if which is None else which.size, _ROC | _PR | (_TRAPEZOID if trapezoid else 0)
    COMPILED.loops.rocpr_areas(size, *map(_at, (which, tp, fp)), wanted, out)
    found = SweptAreas(*out)
    return found if trapezoid else found._replace(trapezoid=nan)


def doubled_area(tp: FloatArray, fp: FloatArray) -> Fraction:
    """Twice the area under tp over fp between the first and the last of some rows of a sweep, which may be none.

    From (tp, fp) = (2, 0) to (2, 1) it is 4. Exact for whole counts whose totals have a product below 2^80, else within
    1e-20 of the area.
    """
    if tp.size == 0:
        return Fraction(0)
    if COMPILED.loops is None:
        return plain.doubled_area(tp, fp)
    tp, fp, out = _floats(tp), _floats(fp), (c_double * 5)()
    COMPILED.loops.rocpr_doubled_area(tp.size, _at(tp), _at(fp), out)
    *parts, up, across = map(Fraction, out)
    return sum(parts, Fraction(0)) / (up * across)


def points(tp: FloatArray, fp: FloatArray, positives: float, negatives: float) -> FloatArray:
    """The columns fn, tn, fpr, tpr and precision of rows, (5, n); precision is NaN where nothing is called positive."""
    if COMPILED.loops is None:
        return plain.points(tp, fp, positives, negatives)
    tp, fp, out = _floats(tp), _floats(fp), np.empty((5, tp.size))
    COMPILED.loops.rocpr_points(tp.size, _at(tp), _at(fp), positives, negatives, _at(out))
    return out


def slices(
    numbers: IntArray,
    count: int,
    scores: FloatArray,
    labels: BoolArray,
    weights: FloatArray | None,
    *,
    descending: bool,
) -> FloatArray:
    """P, N, roc, pr, average_precision, roc_hull and pr_achievable of each slice, (count, 7).

    Areas are NaN if a class is empty, or if a total exceeds all doubles. `numbers` (n,) has the slice of each row. Each
    slice has the bits of `table`, `hull` and `areas` of its rows alone.
    """
    if COMPILED.loops is None:
        return plain.slices(numbers, count, scores, labels, weights, descending=descending)
    given = _floats(scores), np.ascontiguousarray(labels, np.bool_), None if weights is None else _floats(weights)
    numbers, size, out = _rows(numbers), scores.size, np.empty((count, 7))
    most = int(np.bincount(numbers, minlength=count).max())
    # Each number in these takes 8 bytes.
    memory = [np.empty(length) for length in (count + 1, 2 * size, 2 * most, 3 * (most + 1), 2 * (most + 1))]
    COMPILED.loops.rocpr_slices(
        size, _at(numbers), count, *map(_at, given), descending, most, *map(_at, memory), _at(out)
    )
    return out


def resamples(rows: int, positives: Drawn, negatives: Drawn) -> tuple[FloatArray, FloatArray]:
    """Tp and fp of b resamples on the rows of a table, (b, rows) each."""
    tp, fp = np.empty((2, positives.counts.shape[0], rows))
    if COMPILED.loops is not None:
        _resample(COMPILED.loops, rows, (positives, negatives), (tp, fp))
        return tp, fp
    for column, drawn in ((tp, positives), (fp, negatives)):
        masses = drawn.counts if drawn.weights is None else drawn.counts * drawn.weights
        for out, each in zip(column, masses, strict=True):
            still_time()
            np.cumsum(np.bincount(drawn.rows, each, rows), out=out)
    return tp, fp


def resampled_areas(rows: int, positives: Drawn, negatives: Drawn, *, roc_alone: bool = False) -> FloatArray:
    """The areas of b resamples, (b, 4), as in SweptAreas.

    The trapezoid has no meaning here; with `roc_alone`, only roc has one.
    """
    if COMPILED.loops is None:
        return np.array([plain.areas(*columns) for columns in zip(*resamples(rows, positives, negatives), strict=True)])
    out, (tp, fp) = np.empty((positives.counts.shape[0], len(SweptAreas._fields))), np.empty((2, rows))
    _resample(COMPILED.loops, rows, (positives, negatives), (tp, fp), out, wanted=_ROC if roc_alone else _ROC | _PR)
    return out


def _resample(
    loops: CDLL,
    rows: int,
    classes: tuple[Drawn, Drawn],
    columns: tuple[FloatArray, FloatArray],
    areas: FloatArray | None = None,
    *,
    wanted: int = 0,
) -> None:
    kept, pointers = [], []
    for drawn in classes:
        few = drawn.counts.dtype == np.uint8
        counts = np.ascontiguousarray(drawn.counts, np.uint8 if few else np.float64)
        at, weights = _rows(drawn.rows), None if drawn.weights is None else _floats(drawn.weights)
        kept += [counts, at, weights]
        addresses = [None if each is None else each.ctypes.data for each in (at, weights, counts)]
        addresses.insert(2 if not few else 3, None)
        pointers.append(byref(_Drawn(drawn.rows.size, *addresses)))
    loops.rocpr_resamples(classes[0].counts.shape[0], rows, *pointers, wanted, *map(_at, columns), _at(areas))


def _floats(column: FloatArray) -> FloatArray:
    """A column as C reads it."""
    return np.ascontiguousarray(column, np.float64)


def _rows(rows: IntArray) -> IntArray:
    return np.ascontiguousarray(rows, np.int64)


def _at(array: NDArray[Any] | None) -> Array[c_char] | int | None:
    """The address of an array's elements."""
    if array is None:
        return None
    try:
        # Twice as fast as array.ctypes.data.
        return _Nothing.from_buffer(array)  # type: ignore[arg-type, unused-ignore]  # Python 3.11 has no type for a buffer
    except TypeError:  # a read-only array
        return array.ctypes.data
