"""The sweep in NumPy and plain integers, for installations without a C compiler: the algorithm as one would explain it.

    order = argsort(-scores); tp, fp = cumsum of either class; keep the last row of each score
    hull  = Andrew's monotone chain, in integers
    areas = fsum of one double per step

Decisions and tables are exact (rounded once). Areas are within 4 units, those with logarithms within 1e-12; their last
bits may differ from those of sweep.c. All columns are float64, (n,); rows are those of a table. Knows arrays, not
curves.
"""

import math
from collections.abc import Iterator
from fractions import Fraction
from itertools import accumulate, chain

import numpy as np

from service.curves.arrays import LARGEST_EXACT_INTEGER, BoolArray, FloatArray, IntArray, are_integers, blocks
from service.curves.clock import still_time

LARGEST_IN_SERIES = 1 / 17
"""Up to this z, where Δn/n = 1/8, the series omits 2^-56 of the integral; sweep.c has the same limit."""

_LARGEST_SQUARED = 2.0**31
"""Products of whole counts up to this fit into 64 bits."""
_PASSES = 8
"""How often rows under the chord of their neighbours are left out at once, before the chain looks at each."""


def order(scores: FloatArray, *, descending: bool) -> IntArray:
    """The order of scores, equal ones as they came."""
    out: IntArray = np.argsort(-scores if descending else scores, kind="stable")
    return out


def table(
    scores: FloatArray, labels: BoolArray, weights: FloatArray | None, *, descending: bool
) -> tuple[FloatArray, FloatArray, FloatArray]:
    """The distinct scores of rows of weight > 0, and tp and fp up to each; the first row calls nothing positive."""
    if weights is not None:
        there = weights > 0
        scores, labels, weights = scores[there], labels[there], weights[there]
    rows = order(scores, descending=descending)
    scores, labels = scores[rows] + 0.0, labels[rows]  # -0.0 becomes 0.0
    masses = np.ones(rows.size) if weights is None else weights[rows]
    last = np.append(np.flatnonzero(scores[1:] != scores[:-1]) + 1, rows.size)[: rows.size]
    tp, fp = running_sums(np.where(labels, masses, 0.0)), running_sums(np.where(labels, 0.0, masses))
    ends = np.append(0, last)
    return np.append(np.nan, scores)[ends], tp[ends], fp[ends]


def running_sums(numbers: FloatArray) -> FloatArray:
    """Sums of numbers >= 0 from 0 on, (n + 1,), each rounded once; NaN beyond all doubles."""
    if float(numbers.max(initial=0.0)) * numbers.size <= LARGEST_EXACT_INTEGER and are_integers(numbers):
        return np.append(0.0, np.cumsum(numbers, dtype=np.float64))
    (units,), unit = _integers(numbers)
    return np.array([_quotient(total, unit) for total in accumulate(units, initial=0)])


def turns(tp: FloatArray, fp: FloatArray, a: IntArray, b: IntArray, c: IntArray) -> FloatArray:
    """Whether the rows b lie above (1), on (0) or under (-1) the chords from a to c."""
    if _have_whole_products(tp, fp):
        up, across = tp.astype(np.int64), fp.astype(np.int64)
        left, right = (up[b] - up[a]) * (across[c] - across[a]), (across[b] - across[a]) * (up[c] - up[a])
        whole: FloatArray = np.sign(left - right).astype(np.float64)
        return whole
    (y, x), _ = _integers(tp, fp)
    signs = np.empty(b.size)
    for place, (i, j, k) in enumerate(zip(a.tolist(), b.tolist(), c.tolist(), strict=True)):
        still_time()
        left, right = (y[j] - y[i]) * (x[k] - x[i]), (x[j] - x[i]) * (y[k] - y[i])
        signs[place] = (left > right) - (left < right)
    return signs


def hull(tp: FloatArray, fp: FloatArray) -> IntArray:
    """The vertices of the upper hull of rows in order (Andrew 1979); of equal rows the first."""
    rows = np.flatnonzero(np.append(True, (tp[1:] != tp[:-1]) | (fp[1:] != fp[:-1])))
    up, across = np.diff(tp[rows]) > 0, np.diff(fp[rows]) > 0
    rows = rows[np.concatenate(([True], up[:-1] & across[1:], [True]))]  # the others are not above both neighbours
    for _ in range(_PASSES if _have_whole_products(tp, fp) else 0):
        above = turns(tp, fp, rows[:-2], rows[1:-1], rows[2:]) > 0  # the others are under chords of two rows
        rows = rows[np.concatenate(([True], above, [True]))]
    (y, x), _ = _integers(tp[rows], fp[rows])
    found: list[int] = []
    for c in range(rows.size):
        still_time()
        while len(found) > 1:
            a, b = found[-2:]
            if (y[b] - y[a]) * (x[c] - x[a]) > (x[b] - x[a]) * (y[c] - y[a]):
                break
            found.pop()
        found.append(c)
    out: IntArray = rows[found]
    return out


def _have_whole_products(tp: FloatArray, fp: FloatArray) -> bool:
    """Whether 64 bits hold all products of two counts."""
    return max(tp[-1], fp[-1]) <= _LARGEST_SQUARED and are_integers(tp) and are_integers(fp)


def on_hull(tp: FloatArray, fp: FloatArray, vertices: IntArray) -> BoolArray:
    """Whether each row lies on the hull."""
    rows = np.arange(tp.size)
    edge = np.clip(vertices.searchsorted(rows), 1, vertices.size - 1)
    on: BoolArray = turns(tp, fp, vertices[edge - 1], rows, vertices[edge]) == 0
    return on


def areas(tp: FloatArray, fp: FloatArray) -> tuple[float, float, float]:
    """roc, pr and average_precision of a sweep's rows; NaN if a class is empty."""
    positives, negatives = float(tp[-1]), float(fp[-1])
    # Powers of two bring the greater total near 2^1000, and the widths of trapezoids below 2.
    power, across = math.frexp(max(positives, negatives))[1] - 1000, math.frexp(negatives)[1] - 1
    total = math.ldexp(positives, -power)
    if not (total > 0 and negatives > 0):
        return math.nan, math.nan, math.nan
    tp, fp, widths = np.ldexp(tp, -power), np.ldexp(fp, -power), np.diff(np.ldexp(fp, -across))
    roc = math.fsum(widths * (tp[1:] + tp[:-1])) / (2 * total * math.ldexp(negatives, -across))
    rises = np.flatnonzero(np.diff(tp) > 0)
    t, t_after, f, f_after = tp[rises], tp[rises + 1], fp[rises], fp[rises + 1]
    if f_after[-1] == 0:  # exactly, whatever the shares of steps add up to
        return 1.0, 1.0, 1.0
    pr = math.fsum((t_after - t) / total * mean_precision(t, t_after, f, f_after))
    average_precision = math.fsum((t_after - t) / total * (t_after / (t_after + f_after)))
    return min(roc, 1.0), min(pr, 1.0), min(average_precision, 1.0)


def mean_precision(t: FloatArray, t_after: FloatArray, f: FloatArray, f_after: FloatArray) -> FloatArray:
    """The mean of precision over tp along steps from (t, f) to (t_after, f_after), along which tp grows, (n,).

        (1/Δt) ∫ t/(t + f) dt = (t log(1 + x) + Δt (1 - log(1 + x)/x))/Δn,  n = t + f, x = Δn/n

    on the line between both ends (Davis & Goadrich 2006, section 4); from the origin it is Δt/Δn. With z = Δn/(2n +
    Δn), log(1 + x) is 2z + z² s for s = 2z/3 + 2z³/5 + ..., and the mean is, with all counts as shares of 2n + Δn,

        2t + Δt + s (t z - n Δt)

    where nothing cancels: s n Δt is less than an eighth of Δt. From (1, 0) to (2, 1) it is 1/2 + log(3)/4.
    """
    called, after = t + f, t_after + f_after
    below = after + called
    z = (after - called) / below
    large = z > LARGEST_IN_SERIES
    square = z * z
    s = z * (2 / 3 + square * (2 / 5 + square * (2 / 7 + square * (2 / 9 + square * (2 / 11 + square * (2 / 13))))))
    with np.errstate(divide="ignore", over="ignore"):
        x = np.minimum((after - called)[large] / called[large], np.finfo(np.float64).max)
    s[large] = (np.log1p(x) / z[large] - 2) / z[large]  # at the origin s is multiplied by 0
    return (t_after + t) / below + s * (t / below * z - called / below * ((t_after - t) / below))


def doubled_area(tp: FloatArray, fp: FloatArray) -> Fraction:
    """Twice the area under tp over fp."""
    if are_integers(tp) and are_integers(fp) and 2 * float(tp[-1]) * float(fp[-1]) <= LARGEST_EXACT_INTEGER:
        return Fraction(float(np.diff(fp) @ (tp[1:] + tp[:-1])))
    (y, x), one = _integers(tp, fp)
    doubled = 0
    for row in range(1, len(x)):
        still_time()
        doubled += (x[row] - x[row - 1]) * (y[row] + y[row - 1])
    return Fraction(doubled, one * one)


def trapezoid(tp: FloatArray, fp: FloatArray) -> float:
    """The composite trapezoid of precision through all rows and every whole tp, over P; for whole counts."""
    rises = np.flatnonzero(np.diff(tp) > 0)
    t, t_after, f, f_after = tp[rises], tp[rises + 1], fp[rises], fp[rises + 1]
    after = t_after / (t_after + f_after)
    before = np.divide(t, t + f, out=after.copy(), where=t + f > 0)  # at the origin the limit along the step
    longer = t_after - t > 1
    inside = _inside(*(column[longer].tolist() for column in (t, t_after, f, f_after)))
    return math.fsum(chain(((before + after) / 2).tolist(), inside)) / float(tp[-1])


def _inside(*steps: list[float]) -> Iterator[float]:
    """Precision at the whole true positives strictly inside steps."""
    for t, t_after, f, f_after in zip(*steps, strict=True):
        for some in blocks(int(t_after - t) - 1):
            still_time()
            k = np.arange(t + 1 + some.start, min(t + 1 + some.stop, t_after))
            yield from (k / (k + f + (f_after - f) * ((k - t) / (t_after - t)))).tolist()


def points(tp: FloatArray, fp: FloatArray, positives: float, negatives: float) -> FloatArray:
    """The columns fn, tn, fpr, tpr and precision of rows, (5, n)."""
    called = tp + fp
    precision = np.divide(tp, called, out=np.full(tp.size, np.nan), where=called > 0)
    return np.stack((positives - tp, negatives - fp, fp / negatives, tp / positives, precision))


def slices(
    numbers: IntArray,
    count: int,
    scores: FloatArray,
    labels: BoolArray,
    weights: FloatArray | None,
    *,
    descending: bool,
) -> FloatArray:
    """P, N, roc, pr, average_precision, roc_hull and pr_achievable of each slice, (count, 7), each on its own."""
    out = np.empty((count, 7))
    order_of_slices = np.argsort(numbers, kind="stable")
    bounds = np.cumsum(np.bincount(numbers, minlength=count))[:-1]
    for found, rows in zip(out, np.split(order_of_slices, bounds), strict=True):
        still_time()
        of_rows = None if weights is None else weights[rows]
        _, tp, fp = table(scores[rows], labels[rows], of_rows, descending=descending)
        roc, pr, average_precision = areas(tp, fp)
        vertices = hull(tp, fp) if roc >= 0 else slice(None)  # NaN if a class is empty
        roc_hull, pr_achievable, _ = areas(tp[vertices], fp[vertices])
        found[:] = tp[-1], fp[-1], roc, pr, average_precision, roc_hull, max(pr_achievable, pr)
    return out


def _quotient(numerator: int, denominator: int) -> float:
    still_time()
    try:
        return numerator / denominator
    except OverflowError:
        return math.nan


def _integers(*columns: FloatArray) -> tuple[list[list[int]], int]:
    """Doubles as integers, and what 1 is in them: a power of two common to all."""
    if all(are_integers(column) and column.max(initial=0.0) <= LARGEST_EXACT_INTEGER for column in columns):
        return [column.astype(np.int64).tolist() for column in columns], 1
    ratios = [[number.as_integer_ratio() for number in column.tolist()] for column in columns]
    one = max(denominator for column in ratios for _, denominator in column)
    return [[numerator * (one // denominator) for numerator, denominator in column] for column in ratios], one
