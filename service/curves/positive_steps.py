"""The steps from row to row along which tp grows, and sums of precision over them: the areas under a PR curve.

On a step let Δt, Δf and Δn be the growth of tp, fp and n = tp + fp, from t, f and n = t + f. D&G interpolate linearly
in counts, so that precision after k more true positives is

    p(k) = (t + k) Δt / ((t + k) Δt + f Δt + Δf k)

Sums come in parts: a few doubles that add up to the result with an error far below one ulp. Knows the table only.
Source: Davis & Goadrich 2006, section 4.
"""

import math
from collections.abc import Iterator
from dataclasses import dataclass
from functools import cached_property

import numpy as np

from service.curves.confusion import ConfusionTable
from service.curves.exact import (
    FloatArray,
    FloatPair,
    IntArray,
    blocks,
    exactly,
    pair_product,
    pair_quotient,
    positive_parts,
    two_product,
    two_sum,
)

LARGEST_IN_SERIES = 1 / 17
"""Up to this z, where Δn/n = 1/8, log(1 + Δn/n) is a series, whose first six terms omit 2^-56 of the integral.

Above it the difference of logarithms loses less than five bits. sums.c has the same limit.
"""

_TINIEST, _GREATEST = np.finfo(np.float64).tiny, np.finfo(np.float64).max


@dataclass(frozen=True, eq=False)
class PositiveSteps:
    """Steps of a table, from one row to the next, along which tp grows, (n,), n > 0: the counts before and after."""

    tp: FloatArray
    tp_after: FloatArray
    fp: FloatArray
    fp_after: FloatArray

    def __getitem__(self, steps: IntArray | slice) -> "PositiveSteps":
        return PositiveSteps(self.tp[steps], self.tp_after[steps], self.fp[steps], self.fp_after[steps])

    @cached_property
    def growth(self) -> FloatArray:
        """Δt, above 0."""
        return self.tp_after - self.tp

    @cached_property
    def called(self) -> FloatArray:
        """The number called positive before each step, n."""
        return self.tp + self.fp

    @cached_property
    def called_after(self) -> FloatArray:
        """The number called positive after each step, n + Δn."""
        return self.tp_after + self.fp_after

    @cached_property
    def precision_after(self) -> FloatArray:
        """Precision after each step."""
        out: FloatArray = self.tp_after / self.called_after
        return out

    @property
    def precision_before(self) -> FloatArray:
        """Precision before each step; at the origin its limit along the step."""
        out: FloatArray = self.tp / np.maximum(self.called, _TINIEST)
        if self.called[0] == 0:
            out[0] = self.precision_after[0]
        return out

    def integral(self, up: float) -> list[float]:
        """The closed-form integral of precision over tp, along all steps, times `up`, in parts."""
        return positive_parts(self.integrals(up))

    def integrals(self, up: float = 1) -> FloatArray:
        """The integral of precision over tp along each step, times `up`, (n,).

        ∫ precision dtp = (Δt/Δn) (t log(1 + x) + Δt (1 - log(1 + x)/x)),  x = Δn/n

        From the origin (n = 0) it is Δt Δt/Δn. With z = x/(2 + x) = Δn/(2n + Δn), log(1 + x) is 2z + z² s for
        s = 2z/3 + 2z³/5 + ..., and the integral is, with q = Δt/(2n + Δn),

            q (2t + Δt + s (t z - n q))

        where nothing cancels: s n q is less than an eighth of Δt.
        """
        growth, below = self.called_after - self.called, self.called_after + self.called
        z, share = growth / below, self.growth / below
        part = self.tp * z
        part -= self.called * share
        part *= self._logarithm(z)
        part += self.tp + self.tp_after
        if up != 1:
            part *= up
        part *= share
        return part

    def _logarithm(self, z: FloatArray) -> FloatArray:
        """The s of `integrals`: (log(1 + x) - 2z)/z²."""
        s = logarithm_series(z)
        large = np.flatnonzero(z > LARGEST_IN_SERIES)  # few, as n grows by an eighth along each
        if large.size:
            called, growth, z = self.called[large], self.called_after[large] - self.called[large], z[large]
            with np.errstate(divide="ignore", over="ignore"):
                x = np.minimum(growth / called, _GREATEST)  # at the origin s is multiplied by 0
            # The C library's log1p, as in the compiled loops: NumPy's can differ in the last bit, and a slice must
            # match, bit for bit, a separate call with its rows.
            s[large] = (np.array([math.log1p(number) for number in x.tolist()]) / z - 2) / z
        return s

    def average(self) -> list[float]:
        """Σ Δtp times the precision after each step, in parts, for whole counts whose total is exact in a double."""
        leading, rest = self.averages()
        return [*positive_parts(leading), float(rest.sum())]

    def averages(self) -> FloatPair:
        """Δtp times the precision after each step, (n,), in pairs; for the same counts."""
        product, error = two_product(self.precision_after, self.called_after)
        average, rest = two_product(self.growth, self.precision_after)
        rest += self.growth * (((self.tp_after - product) - error) / self.called_after)
        return average, rest

    def fractional_average(self, up: float) -> list[float]:
        """The same for other counts, times `up`: differences and sums are kept exactly."""
        precision = pair_quotient(exactly(self.tp_after), two_sum(self.tp_after, self.fp_after))
        leading, rest = pair_product(two_sum(self.tp_after * up, -self.tp * up), precision)
        return [*positive_parts(leading), float(rest.sum())]

    def ends(self) -> list[float]:
        """Σ of the precision before and after each step, in parts."""
        return [*positive_parts(self.precision_before), *positive_parts(self.precision_after)]


def logarithm_series(z: FloatArray) -> FloatArray:
    """(log((1 + z)/(1 - z)) - 2z)/z² for small z: 2z/3 + 2z³/5 + ... + 2z¹¹/13."""
    square = z * z
    series = square * (2 / 13)
    for divisor in (11, 9, 7, 5):
        series += 2 / divisor
        series *= square
    series += 2 / 3
    series *= z
    return series


def positive_steps(table: ConfusionTable, least: float = 0) -> Iterator[PositiveSteps]:
    """The steps of a table along which tp grows by more than `least`, block by block."""
    for block in blocks(table.tp.size, overlap=1):
        tp, fp = table.tp[block], table.fp[block]
        rows = (tp[1:] - tp[:-1] > least).nonzero()[0]
        if rows.size:
            yield PositiveSteps(tp.take(rows), tp[1:].take(rows), fp.take(rows), fp[1:].take(rows))
