"""The standard errors of areas, and the spread of the difference of two, without resampling.

With u the influence of an example and ū the weighted mean over its class, an example moves the area by v = w (u - ū)/Σ
c w, and the variance of the area is the sum over both classes of

    m/(m-1) · Σ c v²      over kinds of c examples of weight w each,

where m is their effective number, (Σ c w)²/Σ c w². With equal weights it is DeLong's (for the ROC curve). The variance
of a difference uses the differences of influences.

Knows strata with two or more effective examples in each class, and influences; nothing of intervals. Sources: DeLong,
DeLong & Clarke-Pearson 1988 for the area under the ROC curve; Sun & Xu 2014 for midranks, which a table's rows give;
Efron 1982, section 6.3, for the areas under the PR curve.
"""

import math
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from service.curves.arrays import FloatArray
from service.inference.partial_influence import Area, influences
from service.inference.strata import Strata, Stratum


@dataclass(frozen=True, slots=True)
class Spread:
    """The uncertainty of the difference of the areas of two evaluations.

    error    its standard error.
    jump     how far a single example moves it: Σ c |v|³/Σ c v² over all examples.
    errors   the standard errors of both areas.
    one_minus_correlation   1 - ρ, where ρ is the correlation of the areas; 1 if the examples are different.
    fewest   the effective size of the smaller class.
    """

    error: float
    jump: float
    errors: tuple[float, float]
    one_minus_correlation: float
    fewest: float

    def times(self, factor: float) -> "Spread":
        """The spread with this many times the examples: errors are divided by its root, and the jump by it."""
        root = math.sqrt(factor)
        one, other = self.errors
        return Spread(
            self.error / root,
            self.jump / factor,
            (one / root, other / root),
            self.one_minus_correlation,
            self.fewest * factor,
        )


@dataclass(frozen=True, slots=True, eq=False)
class _Moves:
    """How far each kind of a class moves an area: `by` (n,) for one of its `examples`, in units of `unit`.

    The largest of `by` is between 1/2 and 1, unless all are 0; then `unit` is 0, too.
    """

    by: FloatArray
    examples: FloatArray
    unit: float
    effective: float

    def power(self, exponent: int, unit: float) -> float:
        """Σ c |v|^exponent, in a unit that avoids overflow and underflow."""
        return float(self.examples @ (np.abs(self.by) * (self.unit / unit)) ** exponent)


def standard_error(strata: Strata, area: Area = "roc") -> float:
    """The standard error of an area; of the first evaluation, if there are two."""
    return _error(_moves(strata, _influences(strata, 0, area)))


def paired_spread(strata: Strata, area: Area = "roc") -> Spread:
    """The spread of the difference of the areas of two evaluations of the same examples.

    It is computed from the differences of influences, so that nearly equal evaluations lose no digits.
    """
    one, other = (_influences(strata, evaluation, area) for evaluation in range(2))
    moves = _moves(strata, [(u - v, unit) for (u, unit), (v, _) in zip(one, other, strict=True)])
    errors = _error(_moves(strata, one)), _error(_moves(strata, other))
    return _spread(moves, errors)


def unpaired_spread(current: Strata, baseline: Strata, area: Area = "roc") -> Spread:
    """The spread of the difference of the areas of two evaluations of different examples."""
    one, other = (_moves(strata, _influences(strata, 0, area)) for strata in (current, baseline))
    return _spread([*one, *other], (_error(one), _error(other)), one_minus_correlation=1.0)


def _spread(moves: Sequence[_Moves], errors: tuple[float, float], one_minus_correlation: float | None = None) -> Spread:
    error, unit = _error(moves), _largest(moves)
    jump = 0.0
    if unit > 0:
        jump = unit * sum(each.power(3, unit) for each in moves) / sum(each.power(2, unit) for each in moves)
    one, other = errors
    if one_minus_correlation is None:
        one_minus_correlation = max(error**2 - (one - other) ** 2, 0.0) / (2 * one * other) if one * other > 0 else 1.0
    return Spread(error, jump, errors, one_minus_correlation, min(each.effective for each in moves))


def _influences(strata: Strata, evaluation: int, area: Area) -> list[tuple[FloatArray, float]]:
    """The influence of each kind in both classes, and its divisor."""
    found = influences(strata.tables[evaluation], area)
    return [
        (rows.take(stratum.rows[evaluation]), unit) for stratum, (rows, unit) in zip(strata.classes, found, strict=True)
    ]


def _moves(strata: Strata, influences: Sequence[tuple[FloatArray, float]]) -> list[_Moves]:
    return [_moves_of(stratum, *each) for stratum, each in zip(strata.classes, influences, strict=True)]


def _moves_of(stratum: Stratum, influences: FloatArray, unit: float) -> _Moves:
    weights = 1.0 if stratum.weights is None else stratum.weights / stratum.weights.max()
    masses = stratum.examples * weights
    total = float(masses.sum())
    # Equal influences must deviate by exactly 0, although their mean is rounded.
    deviations = influences - influences.min()
    deviations -= float((masses * deviations).sum()) / total
    by = deviations * weights
    largest, exponent = math.frexp(float(np.abs(by).max()))
    scale = math.ldexp(1 / total / abs(unit), exponent) if largest > 0 else 0.0
    return _Moves(np.ldexp(by, -exponent), stratum.examples, scale, stratum.effective)


def _largest(moves: Sequence[_Moves]) -> float:
    return max(float(np.abs(each.by).max()) * each.unit for each in moves)


def _error(moves: Sequence[_Moves]) -> float:
    """The standard error: the root of the sum of m/(m - 1) Σ c v² over all classes."""
    unit = _largest(moves)
    if unit == 0:
        return 0.0
    # The square of a small move might underflow.
    return unit * math.sqrt(sum(each.effective / (each.effective - 1) * each.power(2, unit) for each in moves))
