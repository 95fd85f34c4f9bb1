"""The steps of a table along which tp grows: counts and precision at their ends, and the integral of precision along.

Knows the table only. Source: Davis & Goadrich 2006, section 4.
"""

import math
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from functools import cached_property

import numpy as np

from service.curves.compiled import Sums
from service.curves.confusion import ConfusionTable
from service.curves.exact import LARGEST_EXACT_INTEGER, FloatArray, IntArray, blocks, positive_parts

LARGEST_IN_SERIES = 1 / 201
"""Up to this z, x = 0.01, a series is taken for log(1 + x); above it 1 - log(1 + x)/x loses no more than seven bits.

Three terms of it leave out less than 2^-56 of x.
"""

_LARGEST_PLAIN = 2.0**22
"""Up to this P + N, precisions and integrals over one true positive, 2^-23 to 1, sum in two parts without rounding.

A block has 2^15 of them, so their remainders are multiples of 2^-75 that sum to less than 2^-22.
"""

_TINIEST, _GREATEST = np.finfo(np.float64).tiny, np.finfo(np.float64).max


@dataclass(frozen=True, eq=False)
class Climbs:
    """Some steps of a table from a row to the next along which tp grows, (n,), n > 0.

    The counts before and after, Δtp, and how much is called positive before and after; `total` is that of the table,
    P + N, or 0 where its counts are not whole.
    """

    tp: FloatArray
    tp_after: FloatArray
    fp: FloatArray
    fp_after: FloatArray
    climb: FloatArray
    called: FloatArray
    called_after: FloatArray
    total: float

    @classmethod
    def between(
        cls, tp: FloatArray, tp_after: FloatArray, fp: FloatArray, fp_after: FloatArray, total: float
    ) -> "Climbs":
        """The steps between given counts."""
        return cls(tp, tp_after, fp, fp_after, tp_after - tp, tp + fp, tp_after + fp_after, total)

    @classmethod
    def after(cls, table: ConfusionTable, rows: IntArray) -> "Climbs":
        """The steps from some rows of a table to the next rows."""
        tp, fp = table.tp, table.fp
        return cls.between(tp[rows], tp[rows + 1], fp[rows], fp[rows + 1], whole_total(table))

    @cached_property
    def precision_before(self) -> FloatArray:
        """Precision before each step; at the origin its limit along the step."""
        out: FloatArray = self.tp / np.maximum(self.called, _TINIEST)
        if self.called[0] == 0:
            out[0] = self.precision_after[0]
        return out

    @cached_property
    def precision_after(self) -> FloatArray:
        """Precision after each step."""
        out: FloatArray = self.tp_after / self.called_after
        return out

    @cached_property
    def precision_parts(self) -> list[float]:
        """Σ of the precision after each step, in parts."""
        return self.parts(self.precision_after)

    @property
    def are_single(self) -> bool:
        """Whether each is of one true positive, where counts are whole."""
        return bool(self.tp.size == self.tp_after[-1] - self.tp[0])

    def parts(self, column: FloatArray) -> list[float]:
        """Σ of a column of whole counts, precision or what is a multiple of it, in parts.

        Two will do where no remainder has bits that its sum has no room for.
        """
        return positive_parts(column, fine=self.total > _LARGEST_PLAIN or (self.total > 0 and not self.are_single))

    def integral(self, up: float) -> list[float]:
        """The closed-form integral of D&G's interpolation (section 4) over tp, along all steps, times `up`, in parts.

        On a step let Δt and Δn be the growth of tp and of n = tp + fp from (t, n), and x = Δn/n. Then

            ∫ precision dtp = (Δt/Δn) (t log(1 + x) + Δt (1 - log(1 + x)/x))

        in which no two terms cancel. From the origin (n = 0) it is Δt Δt/Δn. With z = x/(2 + x) = Δn/(2n + Δn),
        log(1 + x) is 2z (1 + z s) for s = z/3 + z³/5 + ..., and the integral is, with the sum T = 2t + Δt of both ends,

            Δt/(2n + Δn) · (T + s (z T - Δt))

        where s is so small beside 1 that the difference may lose bits.
        """
        growth = self.called_after - self.called
        below = self.called_after + self.called
        z = growth / below
        if float(np.minimum.reduce(z)) > LARGEST_IN_SERIES:
            return self.parts(integrals_of_large(self.tp, self.climb, growth, self.called, up, log1p=_log1p))
        both_ends = self.tp + self.tp_after
        part = z * both_ends
        part -= self.climb
        part *= _series(z)
        part += both_ends
        if up != 1:
            part *= up
        part *= self.climb / below
        if float(np.maximum.reduce(z)) > LARGEST_IN_SERIES:
            large = (z > LARGEST_IN_SERIES).nonzero()[0]
            tp, climb, growth, called = (column[large] for column in (self.tp, self.climb, growth, self.called))
            part[large] = integrals_of_large(tp, climb, growth, called, up, log1p=_log1p)
        return self.parts(part)


def whole_total(table: ConfusionTable) -> float:
    """P + N of a table of whole counts, 0 of another."""
    return table.positives + table.negatives if table.whole else 0.0


def sums_of(table: ConfusionTable) -> Sums | None:
    """The sums over a sweep's steps, where a compiled kernel knows them: of whole counts whose total is a double."""
    if not 0 < whole_total(table) <= LARGEST_EXACT_INTEGER or table.compiled is None:
        return None
    return table.compiled.sums(table.positives, LARGEST_IN_SERIES)


def climbs_of(table: ConfusionTable) -> Iterator[Climbs]:
    """All steps of a table along which tp grows, block by block."""
    total = whole_total(table)
    for block in blocks(table.tp.size, overlap=1):
        tp, fp = table.tp[block], table.fp[block]
        rows = (tp[1:] > tp[:-1]).nonzero()[0]
        if rows.size and table.one_by_one:
            yield _of_examples(rows, float(tp[0]), block.start, total)
        elif rows.size:
            yield Climbs.between(tp.take(rows), tp[1:].take(rows), fp.take(rows), fp[1:].take(rows), total)


def _of_examples(rows: IntArray, tp: float, start: int, total: float) -> Climbs:
    """The climbs from some rows of a table that goes one by one: rows count what is called."""
    called = (rows + start).astype(np.float64)
    tp_before = np.arange(tp, tp + rows.size)
    fp = called - tp_before
    return Climbs(tp_before, tp_before + 1, fp, fp, np.ones(rows.size), called, called + 1, total)


def _series(z: FloatArray) -> FloatArray:
    """Sum z/3 + z³/5 + z⁵/7."""
    square = z * z
    series = square * (1 / 7)
    series += 1 / 5
    series *= square
    series += 1 / 3
    series *= z
    return series


def integrals_of_large(
    tp: FloatArray,
    climb: FloatArray,
    growth: FloatArray,
    called: FloatArray,
    up: float,
    *,
    log1p: Callable[[FloatArray], FloatArray],
) -> FloatArray:
    """The same integral of each step, where z is not small; times `up`."""
    # From the origin x is infinite, where t = 0 outweighs its logarithm.
    with np.errstate(divide="ignore", over="ignore"):
        x = np.minimum(growth / called, _GREATEST)
    logarithm = log1p(x)
    out: FloatArray = (climb / growth) * ((tp * logarithm + climb * (1 - logarithm / x)) * up)
    return out


def _log1p(x: FloatArray) -> FloatArray:
    """The C library's, as the compiled kernel has it: NumPy has others for some processors.

    A table has few steps along which what is called grows by one in a hundred: 231 for every factor of ten.
    """
    return np.array([math.log1p(number) for number in x.tolist()])
