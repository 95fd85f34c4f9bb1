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

from service.curves.budget import INNER_POINT, LONG_STEP, PAIR_INNER_POINT, spend
from service.curves.confusion import ConfusionTable
from service.curves.exact import (
    BLOCK,
    LARGEST_EXACT_INTEGER,
    FloatArray,
    FloatPair,
    IntArray,
    blocks,
    exactly,
    pair_product,
    pair_quotient,
    pair_sum,
    positive_parts,
    two_product,
    two_sum,
)

LARGEST_IN_SERIES = 1 / 17
"""Up to this z, where Δn/n = 1/8, log(1 + Δn/n) is a series, whose first six terms omit 2^-56 of the integral.

Above it the difference of logarithms loses less than five bits. sums.c has the same limit.
"""

SHORTEST = 128.0
"""Up to this many true positives, summing a step point by point is as fast."""

_FAR = 32.0
"""From q + k = 32 on, the corrections omit less than 2^-61 of the integral that they correct."""
_CORRECTIONS = (1 / 12, -1 / 120, 1 / 252, -1 / 240, 1 / 132)
"""B_2j/(2j), with Bernoulli numbers."""

_GAUSS_RULE = np.array(
    [
        (0.07652652113349734, 0.15275338713072584),
        (0.22778585114164507, 0.14917298647260374),
        (0.37370608871541955, 0.14209610931838204),
        (0.5108670019508271, 0.13168863844917664),
        (0.636053680726515, 0.11819453196151841),
        (0.7463319064601508, 0.10193011981724044),
        (0.8391169718222188, 0.08327674157670475),
        (0.912234428251326, 0.06267204833410907),
        (0.9639719272779138, 0.04060142980038694),
        (0.9931285991850949, 0.017614007139152118),
    ]
)
"""Positive nodes and weights of the 20-point Gauss-Legendre rule; NumPy's weights are 300 ulp off."""
_NODES, _WEIGHTS = (np.concatenate((half, sign * half)) for half, sign in zip(_GAUSS_RULE.T, (-1, 1), strict=True))
_GREATEST_RATIO = 4.0
"""The integral is taken in pieces along which q + k grows at most by this factor.

On such a piece the 20-point rule has an error of 2 Q(5/3)/P(5/3) in the integral of 1/(q + k), with the Legendre
functions of degree 20: about 2π/3^41, less than 2^-62.
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
            # log1p of the C library, like the compiled loops: NumPy's differs on some processors.
            s[large] = (np.array([math.log1p(number) for number in x.tolist()]) / z - 2) / z
        return s

    def average(self) -> list[float]:
        """Σ Δtp times the precision after each step, in parts, for whole counts whose total is exact in a double."""
        return positive_parts(self.averages())

    def averages(self) -> FloatArray:
        """Δtp times the precision after each step, (n,)."""
        return self.growth * self.precision_after

    def fractional_average(self, up: float) -> list[float]:
        """The same for other counts, times `up`: differences and sums are kept exactly."""
        precision = pair_quotient(exactly(self.tp_after), two_sum(self.tp_after, self.fp_after))
        leading, rest = pair_product(two_sum(self.tp_after * up, -self.tp * up), precision)
        return [*positive_parts(leading), float(rest.sum())]

    def ends(self) -> list[float]:
        """Σ of the precision before and after each step, in parts."""
        return [*positive_parts(self.precision_before), *positive_parts(self.precision_after)]

    def inside(self, total: float) -> Iterator[float]:
        """Parts of Σ precision at all whole true positives strictly inside the steps, for counts of this total.

        Long steps are summed point by point only as far as the closed form requires.
        """
        points = self.growth.astype(np.int64) - 1
        long = np.flatnonzero(self.growth > SHORTEST)
        spend(long.size * LONG_STEP)
        if long.size:
            steps = LongSteps(self[long])
            points[long] = steps.near.astype(np.int64)
            yield from steps.beyond()
        exact = float(self.growth.max()) * total <= LARGEST_EXACT_INTEGER
        stops = np.cumsum(points)
        spend(float(stops[-1]) * (INNER_POINT if exact else PAIR_INNER_POINT))
        for start in range(0, int(stops[-1]), BLOCK):
            stop = min(start + BLOCK, int(stops[-1]))
            some = slice(int(np.searchsorted(stops, start, side="right")), int(np.searchsorted(stops, stop)) + 1)
            # The number of each step's points in this block.
            ends = np.clip(stops[some], start, stop)
            repeats = ends - np.concatenate(([start], ends[:-1]))
            k = np.arange(start + 1.0, stop + 1) - np.repeat(stops[some] - points[some], repeats)
            each = self[np.repeat(np.arange(stops.size)[some], repeats)]
            yield from positive_parts(each.precision_at(k, exact=exact))

    def precision_at(self, k: FloatArray, *, exact: bool) -> FloatArray:
        """Precision k true positives after the start of each step.

        If products of counts may exceed 2^53, each is kept in two doubles, so that the quotient is rounded twice.
        """
        hits, gained = (self.tp + k) * self.growth, self.fp_after - self.fp
        if exact:
            return hits / (hits + (self.fp * self.growth + gained * k))
        misses, misses_low = two_product(self.fp, self.growth)
        further, further_low = two_product(gained, k)
        called, error = two_sum(misses, further)
        called, last = two_sum(called, hits)
        out: FloatArray = hits / (called + (error + last + misses_low + further_low))
        return out


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


@dataclass(frozen=True, eq=False)
class LongSteps:
    """Steps of more than SHORTEST true positives, with Σ precision over the whole ones inside in closed form.

    Counts are whole; tp is at most 2^26, so that products of two are exact, and fp at most 1e150. With q = Δt n/Δn,

        p(k) = p(e) + c (1/(q + k) - 1/(q + e)),   c = Δt (t Δf - f Δt)/Δn²

    for any e. p is monotone, and e is the end where it is least, so that nothing cancels. Once q + k is not small, the
    sum of the second term over whole k is its integral, less half its ends, plus the Euler-Maclaurin corrections. The
    error is less than the first omitted correction, because 1/(q + k) is completely monotone.
    """

    steps: PositiveSteps

    @cached_property
    def near(self) -> FloatArray:
        """How many whole true positives are too near the first row for the corrections, at most 32."""
        return np.maximum(np.ceil(_FAR - self._offset[0]), 0.0)

    def beyond(self) -> Iterator[float]:
        """Parts of the sum over the whole true positives after the `near` ones and before the last row."""
        tp, fp, growth, fp_growth = self.steps.tp, self.steps.fp, self.steps.growth, self._fp_growth
        missed, missed_low = two_product(fp, growth)
        bend = pair_sum(pair_product(exactly(tp), fp_growth), (-missed, -missed_low))
        least_at = np.where(bend[0] > 0, growth, self.near)
        hits = exactly((tp + least_at) * growth)
        called = pair_sum(hits, pair_sum((missed, missed_low), pair_product(fp_growth, exactly(least_at))))
        least, low = pair_product(pair_quotient(hits, called), exactly(growth - self.near - 1))
        yield from positive_parts(least)
        yield float(low.sum())
        # This is c/(q + e).
        scale = pair_product(pair_quotient(bend, called), pair_quotient(exactly(growth), self._called_growth))
        yield from self._integral(least_at, scale)
        yield float((scale[0] * (self._offset[0] + least_at) * self._corrections(np.sign(bend[0]))).sum())

    @cached_property
    def _fp_growth(self) -> FloatPair:
        return two_sum(self.steps.fp_after, -self.steps.fp)

    @cached_property
    def _called_growth(self) -> FloatPair:
        return pair_sum(exactly(self.steps.growth), self._fp_growth)

    @cached_property
    def _offset(self) -> FloatPair:
        """The q of each step."""
        called = two_sum(self.steps.tp, self.steps.fp)
        return two_sum(*pair_quotient(pair_product(called, exactly(self.steps.growth)), self._called_growth))

    def _integral(self, least_at: FloatArray, scale: FloatPair) -> Iterator[float]:
        """Parts of ∫ c (1/(q + k) - 1/(q + e)) dk = ∫ |c| |k - e| / ((q + k)(q + e)) dk from `near` to Δt."""
        start, end, (q, q_low) = self.near, self.steps.growth, self._offset
        ratio = (q + end) / (q + start)
        pieces = np.maximum(np.ceil(np.log(ratio) / np.log(_GREATEST_RATIO)), 1.0).astype(np.int64)
        step = np.repeat(np.arange(pieces.size), pieces)
        number = np.arange(step.size) - np.repeat(np.cumsum(pieces) - pieces, pieces)
        columns = pieces, start, end, ratio, q, q_low, least_at, *scale
        pieces, start, end, ratio, q, q_low, least_at, scale_high, scale_low = (column[step] for column in columns)
        # Where exactly the pieces meet does not matter.
        low, high = ((q + start) * ratio ** (edge / pieces) - q for edge in (number, number + 1))
        low, high = np.where(number == 0, start, low), np.where(number + 1 == pieces, end, high)
        half = ((high - low) / 2)[:, np.newaxis]
        k = ((low + high) / 2)[:, np.newaxis] + half * _NODES
        part = np.abs(k - least_at[:, np.newaxis]) / (k + q_low[:, np.newaxis] + q[:, np.newaxis]) * _WEIGHTS * half
        yield from positive_parts((part * np.abs(scale_high)[:, np.newaxis]).ravel())
        yield float((part.sum(axis=1) * np.copysign(1.0, scale_high) * scale_low).sum())

    def _corrections(self, sign: FloatArray) -> FloatArray:
        """The difference between the sum and the integral, divided by c: Σ B_2j/(2j) (u^2j - w^2j) - |u - w|/2 sign.

        u and w are 1/(q + k) at the ends.
        """
        u, w = (1 / (self._offset[0] + k) for k in (self.near, self.steps.growth))
        total = -sign * ((self.steps.growth - self.near) * u * w / 2)
        u_power = w_power = np.ones(u.size)
        for factor in _CORRECTIONS:
            u_power, w_power = u_power * u * u, w_power * w * w
            total += factor * (u_power - w_power)
        return total
