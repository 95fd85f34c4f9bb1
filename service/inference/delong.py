"""The standard error of areas under the ROC curve, and of the difference of two, without resampling.

Sources: DeLong, DeLong & Clarke-Pearson 1988; Sun & Xu 2014 for midranks, which are what a table's rows count.
Knows strata of two effective examples or more in each class; nothing of intervals.

The placement u of an example is the part of the other class that scores higher than it, ties counting one half. For
positives its mean ū is 1 - area, for negatives the area, and the variance of the area is the sum over both classes of

    m/(m-1) · Σ c w² (u - ū)² / (Σ c w)²      over kinds of c examples that weigh w each,

m being the effective number of them, (Σ c w)²/Σ c w². It is theirs where all weights are equal.
"""

import math

import numpy as np

from service.curves.exact import FloatArray
from service.inference.strata import Strata


def standard_error(strata: Strata, evaluation: int = 0) -> float:
    """The standard error of the area of one of the evaluations, 0 or 1."""
    return _error(strata, _placements(strata, evaluation))


def paired_error(strata: Strata) -> float:
    """The standard error of the difference of the areas of two evaluations of the same examples.

    It is that of the differences of their placements, so that evaluations which are nearly the same lose no digits.
    """
    one, other = _placements(strata, 0), _placements(strata, 1)
    return _error(strata, [u - v for u, v in zip(one, other, strict=True)])


def unpaired_error(current: Strata, baseline: Strata) -> float:
    """The standard error of the difference of the areas of two evaluations of different examples."""
    return math.hypot(standard_error(current), standard_error(baseline))


def _placements(strata: Strata, evaluation: int) -> list[FloatArray]:
    """Twice the mass of the other class above each kind, of both classes, (n,): exact where counts are whole."""
    table = strata.tables[evaluation]
    placements = []
    for kinds, others in zip(strata.classes, (table.fp, table.tp), strict=True):
        above = np.zeros(others.size)
        np.add(others[1:], others[:-1], out=above[1:])
        placements.append(above.take(kinds.rows[evaluation]))
    return placements


def _error(strata: Strata, placements: list[FloatArray]) -> float:
    """The root of the sum of the squares of all components."""
    columns = _components(strata, placements)
    largest = max(float(np.abs(column).max()) for column in columns)
    if largest == 0:
        return 0.0
    # The square of a small component might be below the range of a double.
    return largest * math.sqrt(sum(float(((column / largest) ** 2).sum()) for column in columns))


def _components(strata: Strata, placements: list[FloatArray]) -> list[FloatArray]:
    """What each kind adds to the error, per class, (n,): √(c m/(m-1)) · w (u - ū) / Σ c w."""
    totals = strata.tables[0].negatives, strata.tables[0].positives
    columns = []
    for kinds, others, placed in zip(strata.classes, totals, placements, strict=True):
        size = kinds.effective
        weights = 1.0 if kinds.weights is None else kinds.weights / kinds.weights.max()
        masses = kinds.examples * weights
        total = float(masses.sum())
        # Placements that are all equal deviate by exactly 0, as their mean might not.
        deviations = placed - placed.min()
        deviations -= float((masses * deviations).sum()) / total
        deviations *= np.sqrt(kinds.examples) * weights
        deviations *= math.sqrt(size / (size - 1)) / total / (2 * others)
        columns.append(deviations)
    return columns
