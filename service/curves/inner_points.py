"""Precision at the whole true positives strictly inside steps, summed: what `pr_trapezoid` has besides the rows.

Long steps have a closed form, others are summed point by point. Symbols and parts are those of positive_steps.py.
Source: Davis & Goadrich 2006, section 4.
"""

from collections.abc import Iterator
from dataclasses import dataclass
from functools import cached_property

import numpy as np

from service.curves.clock import still_time
from service.curves.exact import (
    BLOCK,
    LARGEST_EXACT_INTEGER,
    FloatArray,
    FloatPair,
    exactly,
    pair_product,
    pair_quotient,
    pair_sum,
    positive_parts,
    two_product,
    two_sum,
)
from service.curves.positive_steps import PositiveSteps

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


def precision_inside(steps: PositiveSteps, total: float) -> Iterator[float]:
    """Parts of Σ precision at all whole true positives strictly inside some steps, for counts of this total.

    Long steps are summed point by point only as far as the closed form requires.
    """
    points = steps.growth.astype(np.int64) - 1
    long = np.flatnonzero(steps.growth > SHORTEST)
    still_time()
    if long.size:
        closed = LongSteps(steps[long])
        points[long] = closed.near.astype(np.int64)
        yield from closed.beyond()
    exact = float(steps.growth.max()) * total <= LARGEST_EXACT_INTEGER
    stops = np.cumsum(points)
    still_time()
    for start in range(0, int(stops[-1]), BLOCK):
        stop = min(start + BLOCK, int(stops[-1]))
        some = slice(int(np.searchsorted(stops, start, side="right")), int(np.searchsorted(stops, stop)) + 1)
        # The number of each step's points in this block.
        ends = np.clip(stops[some], start, stop)
        repeats = ends - np.concatenate(([start], ends[:-1]))
        k = np.arange(start + 1.0, stop + 1) - np.repeat(stops[some] - points[some], repeats)
        each = steps[np.repeat(np.arange(stops.size)[some], repeats)]
        yield from positive_parts(_precision_at(each, k, exact=exact))


def _precision_at(steps: PositiveSteps, k: FloatArray, *, exact: bool) -> FloatArray:
    """Precision k true positives after the start of each step.

    If products of counts may exceed 2^53, each is kept in two doubles, so that the quotient is rounded twice.
    """
    hits, gained = (steps.tp + k) * steps.growth, steps.fp_after - steps.fp
    if exact:
        return hits / (hits + (steps.fp * steps.growth + gained * k))
    misses, misses_low = two_product(steps.fp, steps.growth)
    further, further_low = two_product(gained, k)
    called, error = two_sum(misses, further)
    called, last = two_sum(called, hits)
    out: FloatArray = hits / (called + (error + last + misses_low + further_low))
    return out


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
