"""The loops of an unweighted evaluation in C, if they were compiled with the package (deploy/build_hook.py).

Results equal those of the caller's NumPy code bit for bit. Sums, which both compute to about 2^-100 relatively, could
differ only when they lie almost half way between two doubles. Results are None without a library, or if it cannot
handle a sample. The loops are in kernel/; a process chooses its library once. Knows arrays, not curves.
"""

import math
from ctypes import CDLL, Array, c_bool, c_char, c_double, c_int64, c_void_p
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

LIBRARY = Path(__file__).parent / "kernel" / "kernel.so"
"""The path of the library, if it was compiled."""

_FUNCTION_TYPES: dict[str, tuple[Any, ...]] = {  # the type of the result, then those of the arguments
    "rocpr_keys": (c_bool, c_int64, c_void_p, c_void_p, c_double, c_bool, c_bool, c_void_p),
    "rocpr_groups": (c_int64, c_int64, c_void_p, c_double, c_bool, c_bool, c_void_p),
    "rocpr_hull": (None, c_int64, c_int64, c_void_p, c_void_p, c_void_p, c_void_p, c_void_p),
    "rocpr_boundary": (c_int64, c_int64, c_void_p, c_int64, c_void_p, c_void_p, c_void_p, c_void_p),
    "rocpr_points": (None, c_int64, c_void_p, c_void_p, c_double, c_double, c_void_p),
    "rocpr_sums": (None, c_int64, c_void_p, c_void_p, c_double, c_void_p),
}

_FIRST_HULL_ROWS = 4
"""A hull first looks at this many rows, times the square root of the number of rows."""

_Floats = NDArray[np.float64]
_Rows = NDArray[np.int64]

_Nothing, _TwoCounts, _Totals = c_char * 0, c_int64 * 2, c_double * 13


class Sums(NamedTuple):
    """Sums over the steps of a table along which tp grows; all in parts except the last, which is over all steps.

    integral   of precision over tp.
    average    Δtp times the precision after.
    ends       the precision before and after.
    doubled_area   Σ Δfp (tp before + tp after) over all steps, if that is exact.
    """

    integral: list[float]
    average: list[float]
    ends: list[float]
    doubled_area: float


class Kernel:
    """The library that this process uses, if any."""

    def __init__(self) -> None:
        self._library: CDLL | None = None
        self.path: Path | None = None

    def use(self, path: Path | None) -> None:
        """Use the library at a path from now on; None stops using one. Raises OSError if it cannot be loaded."""
        library = None
        if path is not None:
            library = CDLL(str(path))
            for name, (result, *arguments) in _FUNCTION_TYPES.items():
                function = getattr(library, name, None)
                if function is None:
                    raise OSError(f"{path} was compiled from other sources: install rocpr again")
                function.restype, function.argtypes = result, arguments
        self._library, self.path = library, path

    def use_installed(self) -> None:
        """Use the library compiled with the package, if there is one. Raises OSError like `use`."""
        if LIBRARY.is_file():
            self.use(LIBRARY)

    def groups(
        self, scores: _Floats, labels: NDArray[np.bool_], scale: float, *, signed: bool, descending: bool
    ) -> tuple[_Floats, _Floats, _Floats] | None:
        """The distinct scores in order, and tp and fp up to each, (n + 1,); `scale` brings |scores| below 1.5."""
        library = self._library
        if library is None:
            return None
        rows = scores.size
        scores, labels = np.ascontiguousarray(scores, np.float64), np.ascontiguousarray(labels, np.bool_)
        keys, columns = np.empty(rows), np.empty((3, rows + 1))
        at_keys = _address(keys)
        if not library.rocpr_keys(rows, _address(scores), _address(labels), scale, signed, descending, at_keys):
            return None
        keys.sort()
        size = library.rocpr_groups(rows, at_keys, scale, signed, descending, _address(columns))
        if size < columns.shape[1]:
            columns = columns[:, :size].copy()
        return columns[0], columns[1], columns[2]

    def table(self, tp: _Floats, fp: _Floats) -> "CompiledTable | None":
        """The loops over a table's columns."""
        return None if self._library is None else CompiledTable(self._library, tp, fp)


class CompiledTable:
    """The loops over the columns tp and fp, (n,) each, of one table."""

    __slots__ = ("_at_fp", "_at_tp", "_fp", "_library", "_rows", "_tp")

    def __init__(self, library: CDLL, tp: _Floats, fp: _Floats) -> None:
        self._library, self._rows = library, tp.size
        self._tp, self._fp = np.ascontiguousarray(tp, np.float64), np.ascontiguousarray(fp, np.float64)
        self._at_tp, self._at_fp = _address(self._tp), _address(self._fp)

    def hull(self) -> tuple[_Rows, _Rows]:
        """The vertices of the upper hull of rows in order, and rows that include all that lie on it.

        The first and the last row differ. Counts are whole, up to 2^53.
        """
        vertices, outer, sizes = np.empty(self._rows, np.int64), np.empty(self._rows, np.int64), _TwoCounts()
        spacing = max(math.isqrt(self._rows) // _FIRST_HULL_ROWS, 1)
        self._library.rocpr_hull(
            self._rows, spacing, self._at_tp, self._at_fp, _address(vertices), _address(outer), sizes
        )
        return _first(vertices, sizes[0]), _first(outer, sizes[1])

    def boundary(self, vertices: _Rows, outer: _Rows) -> _Rows:
        """The `outer` rows that lie on the hull with these vertices, of which there are two or more."""
        rows = np.empty(outer.size, np.int64)
        at_outer, at_vertices = _address(outer), _address(vertices)
        count = self._library.rocpr_boundary(
            outer.size, at_outer, vertices.size, at_vertices, self._at_tp, self._at_fp, _address(rows)
        )
        return _first(rows, count)

    def points(self, positives: float, negatives: float) -> _Floats:
        """The columns fn, tn, fpr, tpr and precision, (5, n)."""
        columns = np.empty((5, self._rows))
        self._library.rocpr_points(self._rows, self._at_tp, self._at_fp, positives, negatives, _address(columns))
        return columns

    def sums(self, positives: float) -> Sums:
        """The sums over the steps, for whole counts whose total is at most 2^53."""
        totals = _Totals()
        self._library.rocpr_sums(self._rows - 1, self._at_tp, self._at_fp, positives, totals)
        numbers = totals[:]
        return Sums(numbers[:3], numbers[3:6], numbers[6:12], numbers[12])


def _first(rows: _Rows, count: int) -> _Rows:
    """The first rows; copied if the rest would hold much memory."""
    return rows[:count].copy() if 2 * count < rows.size else rows[:count]


def _address(array: NDArray[Any]) -> Array[c_char] | int:
    """The address of a contiguous array's elements, for ctypes."""
    try:
        # Twice as fast as array.ctypes.data.
        return _Nothing.from_buffer(array)  # type: ignore[arg-type]  # Python 3.11 has no type for a buffer
    except TypeError:  # a read-only array
        return array.ctypes.data


KERNEL = Kernel()
