"""The sum of precision over the whole true positives of long climbs, in closed form instead of point by point.

A climb is a step from row A to row B along which tp grows, by d, and fp by g. With q = d (tp_A + fp_A)/(d + g),
precision k true positives after A is

    p(k) = d/(d + g) · (tp_A + k)/(q + k) = p(e) + c (1/(q + k) - 1/(q + e)),   c = d (tp_A g - fp_A d)/(d + g)²

for any e. It is monotone, and e is the end where it is least: then nothing cancels. Once q + k is not small, the sum of
the second term over whole k is its integral, less half its ends, and the corrections of Euler and Maclaurin. All that
these leave out is less than the next of them, because 1/(q + k) is completely monotone. Knows arrays of counts only.
"""

from collections.abc import Iterator
from dataclasses import dataclass
from functools import cached_property

import numpy as np

from service.curves.exact import (
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

SHORTEST = 128.0
"""A climb of at most so many true positives is summed point by point as quickly."""

_FAR = 32.0
"""From q + k = 32 on the corrections leave out less than 2^-61 of the integral that they correct."""
_CORRECTIONS = (1 / 12, -1 / 120, 1 / 252, -1 / 240, 1 / 132)
"""B_2j/(2j), with Bernoulli's numbers."""

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
"""The positive nodes of the rule of Gauss and Legendre with 20, and their weights; NumPy's weights are 300 ulp off."""
_NODES, _WEIGHTS = (np.concatenate((half, sign * half)) for half, sign in zip(_GAUSS_RULE.T, (-1, 1), strict=True))
_GREATEST_RATIO = 4.0
"""The integral is taken in pieces along which q + k grows by this factor at most.

There the rule of 20 nodes leaves an error of 2 Q(5/3)/P(5/3) in that of 1/(q + k), by the Legendre functions of degree
20: about 2π/3^41, less than 2^-62.
"""


@dataclass(frozen=True, eq=False)
class LongClimbs:
    """Climbs of more than SHORTEST true positives, as columns (n,): whole tp and fp of their rows A, and of B.

    tp is at most 2^26, so that products of two are doubles; fp is at most 1e150.
    """

    tp: FloatArray
    tp_after: FloatArray
    fp: FloatArray
    fp_after: FloatArray

    @cached_property
    def near(self) -> FloatArray:
        """How many whole true positives after A are too near for corrections, at most 32; the caller adds them."""
        return np.maximum(np.ceil(_FAR - self._offset[0]), 0.0)

    def beyond(self) -> Iterator[float]:
        """Parts of the sum of precision over the whole true positives after those `near` and before B."""
        bend = pair_sum(pair_product(exactly(self.tp), self._gained), _negative(two_product(self.fp, self._climb)))
        least_at = np.where(bend[0] > 0, self._climb, self.near)
        hits = exactly((self.tp + least_at) * self._climb)
        misses = pair_sum(two_product(self.fp, self._climb), pair_product(self._gained, exactly(least_at)))
        called = pair_sum(hits, misses)
        flat, low = pair_product(pair_quotient(hits, called), exactly(self._climb - self.near - 1))
        yield from positive_parts(flat, fine=True)
        yield float(low.sum())
        # This is c/(q + e).
        scale = pair_product(pair_quotient(bend, called), pair_quotient(exactly(self._climb), self._growth))
        yield from self._integral(least_at, scale)
        yield float((scale[0] * (self._offset[0] + least_at) * self._corrections(np.sign(bend[0]))).sum())

    @cached_property
    def _climb(self) -> FloatArray:
        return self.tp_after - self.tp

    @cached_property
    def _gained(self) -> FloatPair:
        return two_sum(self.fp_after, -self.fp)

    @cached_property
    def _growth(self) -> FloatPair:
        return pair_sum(exactly(self._climb), self._gained)

    @cached_property
    def _offset(self) -> FloatPair:
        """The q of each climb."""
        called = two_sum(self.tp, self.fp)
        return two_sum(*pair_quotient(pair_product(called, exactly(self._climb)), self._growth))

    def _integral(self, least_at: FloatArray, scale: FloatPair) -> Iterator[float]:
        """Parts of ∫ c (1/(q + k) - 1/(q + e)) dk = ∫ |c| |k - e| / ((q + k)(q + e)) dk from `near` to B."""
        start, end, (q, q_low) = self.near, self._climb, self._offset
        ratio = (q + end) / (q + start)
        pieces = np.maximum(np.ceil(np.log(ratio) / np.log(_GREATEST_RATIO)), 1.0).astype(np.int64)
        climb = np.repeat(np.arange(pieces.size), pieces)
        number = np.arange(climb.size) - np.repeat(np.cumsum(pieces) - pieces, pieces)
        pieces, start, end, ratio, q, q_low, least_at, scale, scale_low = (
            column[climb] for column in (pieces, start, end, ratio, q, q_low, least_at, *scale)
        )
        # Where the pieces meet matters little, as long as they meet.
        low, high = ((q + start) * ratio ** (edge / pieces) - q for edge in (number, number + 1))
        low, high = np.where(number == 0, start, low), np.where(number + 1 == pieces, end, high)
        k = ((low + high) / 2)[:, np.newaxis] + ((high - low) / 2)[:, np.newaxis] * _NODES
        part = np.abs(k - least_at[:, np.newaxis])
        k += q_low[:, np.newaxis]
        k += q[:, np.newaxis]
        part /= k
        part *= _WEIGHTS
        part *= ((high - low) / 2)[:, np.newaxis]
        yield from positive_parts((part * np.abs(scale)[:, np.newaxis]).ravel(), fine=True)
        yield float((part.sum(axis=1) * np.copysign(1.0, scale) * scale_low).sum())

    def _corrections(self, sign: FloatArray) -> FloatArray:
        """What turns the integral into the sum between its ends, over c: Σ B_2j/(2j) (u^2j - w^2j) - |u - w|/2 sign.

        u and w are 1/(q + k) at the ends; no difference of the two is taken.
        """
        u, w = 1 / (self._offset[0] + self.near), 1 / (self._offset[0] + self._climb)
        apart = (self._climb - self.near) * u * w
        first = power = apart * (u + w)
        total, weight = -sign * (apart / 2), np.ones(u.size)
        for factor in _CORRECTIONS:
            total += factor * power
            weight *= u * u
            power = first * weight + w * w * power
        return total


def _negative(pair: FloatPair) -> FloatPair:
    return -pair[0], -pair[1]
