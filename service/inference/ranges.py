"""The distribution of the range of several independent standard normal variables, which bounds gaps of many slices.

    P(range <= q) = K ∫ φ(x) (Φ(x + q) - Φ(x))^(K-1) dx

It is that of the studentised range with infinitely many degrees of freedom. Knows numbers only. Sources: Tukey 1953,
"The problem of multiple comparisons"; Hayter 1984, "A proof of the conjecture that the Tukey-Kramer multiple
comparisons procedure is conservative".
"""

import math
from functools import cache, lru_cache

import numpy as np

from service.curves.arrays import FloatArray

_QUADRATURE_POINTS, _FARTHEST_PLACE = 200, 8.0
_GREATEST_RANGE = 40.0
_QUANTILE_HALVINGS = 60


def range_probability(q: float, count: int) -> float:
    """The probability that the range of `count` variables is at most q; 0.95 for 3.3145 and three of them."""
    places, weights = _quadrature()
    x = _FARTHEST_PLACE * places
    density = np.exp(-x * x / 2) / math.sqrt(2 * math.pi)
    between = np.array([_normal(each + q) - _normal(each) for each in x.tolist()])
    return float(_FARTHEST_PLACE * count * (weights * density) @ between ** (count - 1))


@lru_cache(maxsize=1000)
def range_quantile(level: float, count: int) -> float:
    """The q that the range of `count` variables, 2 or more, exceeds with probability (1 - level)/2.

    With 0.95 and 2, 3, 10 and 500 variables, q/√2 is 2.2414, 2.6038, 3.3828 and 5.1105.
    """
    low, high = 0.0, _GREATEST_RANGE
    for _ in range(_QUANTILE_HALVINGS):
        middle = (low + high) / 2
        low, high = (middle, high) if range_probability(middle, count) < (1 + level) / 2 else (low, middle)
    return high


@cache
def _quadrature() -> tuple[FloatArray, FloatArray]:
    """The points and the weights of Gauss and Legendre on [-1, 1]."""
    return np.polynomial.legendre.leggauss(_QUADRATURE_POINTS)


def _normal(x: float) -> float:
    return math.erfc(-x / math.sqrt(2)) / 2
