"""The standard errors of areas, and the spread of the difference of two, without resampling.

With u the influence of an example and ū the weighted mean over its class, an example moves the area by v = w (u - ū)/Σ
c w, and the variance of the area is the sum over both classes of

    m/(m-1) · Σ c v²      over kinds of c examples of weight w each,

where m is their effective number, (Σ c w)²/Σ c w². With equal weights it is DeLong's (for the ROC curve). The variance
of a difference uses the differences of influences; the variance of a - f b uses
the influences of the first less f times the influences of the second.

If examples are in clusters, let V1 and V0 be the sums of v over the positives and the negatives of a cluster, and m1
and m0 the effective clusters of both classes; with c(m) = m/(m-1) the variance is, at least 0,

    c(m1) Σ V1² + c(m0) Σ V0² + 2 c(min(m1, m0)) Σ V1 V0

and that of a difference of evaluations with clusters in common the same of the differences of V, each times the root of
its c. One example in each cluster gives the first formula.

Knows strata with two or more effective examples in each class, and influences; nothing of intervals. Sources: DeLong,
DeLong & Clarke-Pearson 1988 for the area under the ROC curve; Sun & Xu 2014 for midranks, which a table's rows give;
Efron 1982, section 6.3, for the areas under the PR curve; Obuchowski 1997, "Nonparametric analysis of clustered ROC
curve data", for clusters.
"""

import math
from collections.abc import Sequence
from dataclasses import dataclass, replace

import numpy as np

from service.curves.arrays import FloatArray
from service.inference.clustering import LEAST_FREEDOM, ClassClusters, correction, design_effect
from service.inference.partial_influence import Area, influences, is_of_precision
from service.inference.strata import Strata, Stratum


@dataclass(frozen=True, slots=True)
class AreaError:
    """The uncertainty of one area.

    error          its standard error.
    trials         the effective numbers of positives and of negatives for its exact ends.
    units          those of clusters, or again of examples.
    freedom        the degrees of freedom of the error; infinite if examples are independent.
    design_effect  the variance over that of independent examples; None if they are, or if clusters show no spread.
    stand_ins      of an area under a PR curve, those of the strata; else infinite.
    """

    error: float
    trials: tuple[float, float]
    units: tuple[float, float]
    freedom: float = math.inf
    design_effect: float | None = None
    stand_ins: float = math.inf


@dataclass(frozen=True, slots=True)
class Spread:
    """The uncertainty of the difference of the areas of two evaluations.

    error    its standard error.
    jump     how far a single example, or cluster, moves it: Σ c |v|³/Σ c v² over all examples.
    errors   the standard errors of both areas.
    one_minus_correlation   1 - ρ, where ρ is the correlation of the areas; 1 if the examples are different.
    fewest   the effective size of the smaller class, or what its negatives can stand for if that is less; with
             clusters the least degrees of freedom.
    design_effect           as for one area.
    kept     the share of the second area that is subtracted.
    """

    error: float
    jump: float
    errors: tuple[float, float]
    one_minus_correlation: float
    fewest: float
    design_effect: float | None = None
    kept: float = 1.0

    def times(self, factor: float) -> "Spread":
        """The spread with this many times the examples: errors are divided by its root, and the jump by it."""
        root = math.sqrt(factor)
        one, other = self.errors
        return Spread(
            self.error / root,
            self.jump / factor,
            (one / root, other / root),
            self.one_minus_correlation,
            max(self.fewest * factor, LEAST_FREEDOM),
            self.design_effect,
            self.kept,
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
    clusters: ClassClusters | None

    def power(self, exponent: int, unit: float) -> float:
        """Σ c |v|^exponent, in a unit that avoids overflow and underflow."""
        return float(self.examples @ (np.abs(self.by) * (self.unit / unit)) ** exponent)

    def of_clusters(self, count: int, unit: float) -> FloatArray:
        """V of each cluster, (count,), in a unit."""
        assert self.clusters is not None  # noqa: S101  # only those of clustered examples are asked for
        return self.clusters.sums(self.examples * self.by * (self.unit / unit), count)


_Evaluated = Sequence[_Moves]
"""The moves of the positives and the negatives of one evaluation, or of the difference of two that are paired."""


def standard_error(strata: Strata, area: Area = "roc") -> float:
    """The standard error of an area; of the first evaluation, if there are two."""
    return area_error(strata, area).error


def area_error(strata: Strata, area: Area = "roc") -> AreaError:
    """The uncertainty of an area; of the first evaluation, if there are two."""
    moves = _moves(strata, _influences(strata, 0, area))
    if strata.clustered is None:
        return AreaError(_error(moves), strata.effective, strata.effective, stand_ins=_stand_ins(strata, area))
    error, effect = _clustered_error([moves])
    classes = strata.clustered
    trials = classes[0].trials(effect or 1.0), classes[1].trials(effect or 1.0)
    freedom = min(each.freedom(effect or 1.0) for each in classes)
    return AreaError(error, trials, strata.units, freedom, effect, _stand_ins(strata, area))


def _stand_ins(strata: Strata, area: Area) -> float:
    return strata.stand_ins if is_of_precision(area) else math.inf


def paired_spread(strata: Strata, area: Area = "roc", kept: float = 1.0) -> Spread:
    """The spread of the first area less a share of the second, of two evaluations of the same examples.

    It is computed from the differences of influences, so that nearly equal evaluations lose no digits.
    """
    one, other = (_influences(strata, evaluation, area) for evaluation in range(2))
    moves = _moves(strata, [(u - kept * v, unit) for (u, unit), (v, _) in zip(one, other, strict=True)])
    of_each = [_moves(strata, one)], [_moves(strata, other)]
    if strata.clustered is not None:
        found = _clustered_spread([moves], of_each, kept)
    else:
        found = _spread(moves, (_error(of_each[0][0]), _error(of_each[1][0])), kept)
    return replace(found, fewest=min(found.fewest, _stand_ins(strata, area)))


def unpaired_spread(current: Strata, baseline: Strata, area: Area = "roc", kept: float = 1.0) -> Spread:
    """The same of two evaluations of different examples, which may share clusters."""
    one, other = (_moves(strata, _influences(strata, 0, area)) for strata in (current, baseline))
    part = [replace(each, unit=kept * each.unit) for each in other]
    if current.clustered is not None or baseline.clustered is not None:
        found = _clustered_spread([one, part], ([one], [other]), kept)
    else:
        found = _spread([*one, *part], (_error(one), _error(other)), kept, one_minus_correlation=1.0)
    return replace(found, fewest=min(found.fewest, *(_stand_ins(each, area) for each in (current, baseline))))


def error_of_mean(folds: Sequence[Strata], *, difference: bool) -> float:
    """The standard error of the mean area under the ROC curve of several evaluations, or of that of their differences.

    √(Σ var)/V, if their examples differ. Clusters, which all of them have or none, may be in several: what one moves in
    each is added up. With `difference`, each has the paired examples of two evaluations.
    """
    evaluated = [_moves(each, _roc_influences(each, difference=difference)) for each in folds]
    unit = _largest([moves for each in evaluated for moves in each])
    if unit == 0:
        return 0.0
    if folds[0].clustered is None:
        variance = sum(correction(each.effective) * each.power(2, unit) for moves in evaluated for each in moves)
    else:
        sums = np.zeros((4, _count(evaluated)))
        for moves in evaluated:
            found = _scaled_sums([moves], unit)
            sums[:, : found.shape[1]] += found
        one, other, both_one, both_other = sums
        variance = max(float(one @ one + other @ other + 2 * (both_one @ both_other)), 0.0)
    return unit * math.sqrt(variance) / len(folds)


def _roc_influences(strata: Strata, *, difference: bool) -> list[tuple[FloatArray, float]]:
    one = _influences(strata, 0, "roc")
    if not difference:
        return one
    other = _influences(strata, 1, "roc")
    return [(u - v, unit) for (u, unit), (v, _) in zip(one, other, strict=True)]


def _spread(
    moves: Sequence[_Moves], errors: tuple[float, float], kept: float, one_minus_correlation: float | None = None
) -> Spread:
    error, unit = _error(moves), _largest(moves)
    jump = 0.0
    if unit > 0:
        jump = unit * sum(each.power(3, unit) for each in moves) / sum(each.power(2, unit) for each in moves)
    if one_minus_correlation is None:
        one_minus_correlation = _apart(error, (errors[0], kept * errors[1]))
    return Spread(error, jump, errors, one_minus_correlation, min(each.effective for each in moves), kept=kept)


def _apart(error: float, errors: tuple[float, float]) -> float:
    """1 - ρ, from the errors of a difference and of both areas."""
    one, other = errors
    return max(error**2 - (one - other) ** 2, 0.0) / (2 * one * other) if one * other > 0 else 1.0


def _clustered_spread(
    evaluated: Sequence[_Evaluated], of_each: tuple[Sequence[_Evaluated], Sequence[_Evaluated]], kept: float
) -> Spread:
    """The spread of a difference, of which at least one evaluation has clusters."""
    error, effect = _clustered_error(evaluated)
    one, other = (_clustered_error(each)[0] for each in of_each)
    classes = [each for moves in evaluated for each in moves]
    unit, jump = _largest(classes), 0.0
    if unit > 0:
        powers = [_powers(evaluated, exponent, unit) for exponent in (3, 2)]
        jump = unit * powers[0] / powers[1] if powers[1] > 0 else 0.0
    fewest = min(each.clusters.freedom(effect or 1.0) if each.clusters else each.effective for each in classes)
    return Spread(error, jump, (one, other), min(_apart(error, (one, kept * other)), 2.0), fewest, effect, kept)


def _clustered_error(evaluated: Sequence[_Evaluated]) -> tuple[float, float | None]:
    """The standard error of an area, or of the first less the second, and its design effect.

    If clusters are exactly alike, they show no spread: it is that of independent examples.
    """
    classes = [each for moves in evaluated for each in moves]
    unit = _largest(classes)
    if unit == 0:
        return 0.0, None
    of_rows = sum(correction(each.effective) * each.power(2, unit) for each in classes)
    free = [each for each in classes if each.clusters is None]
    variance = sum(correction(each.effective) * each.power(2, unit) for each in free)
    one, other, both_one, both_other = _scaled_sums(evaluated, unit)
    variance += max(float(one @ one + other @ other + 2 * (both_one @ both_other)), 0.0)
    effect = design_effect(variance, of_rows)
    return unit * math.sqrt(of_rows if effect is None else variance), effect


def _scaled_sums(evaluated: Sequence[_Evaluated], unit: float) -> FloatArray:
    """√c V1, √c V0, and both with the c of their product, of the first evaluation less the second, (4, count)."""
    count = _count(evaluated)
    sums = np.zeros((4, count))
    for sign, (positives, negatives) in zip((1.0, -1.0), evaluated, strict=False):
        if positives.clusters is None or negatives.clusters is None:
            continue
        units = positives.clusters.effective, negatives.clusters.effective
        factors = [sign * math.sqrt(correction(each)) for each in (*units, min(units))]
        of_each = positives.of_clusters(count, unit), negatives.of_clusters(count, unit)
        sums[0] += factors[0] * of_each[0]
        sums[1] += factors[1] * of_each[1]
        sums[2] += factors[2] * of_each[0]
        sums[3] += factors[2] * of_each[1]
    return sums


def _powers(evaluated: Sequence[_Evaluated], exponent: int, unit: float) -> float:
    """Σ |V|^exponent over the clusters of a difference, and over examples without one."""
    sums, found = np.zeros(_count(evaluated)), 0.0
    for sign, moves in zip((1.0, -1.0), evaluated, strict=False):
        for each in moves:
            if each.clusters is None:
                found += each.power(exponent, unit)
            else:
                sums += sign * each.of_clusters(sums.size, unit)
    return found + float((np.abs(sums) ** exponent).sum())


def _count(evaluated: Sequence[_Evaluated]) -> int:
    """One more than the greatest number of a cluster."""
    of_kinds = [each.clusters.of_kinds for moves in evaluated for each in moves if each.clusters is not None]
    return 1 + max((int(each.max()) for each in of_kinds), default=0)


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
    by = np.ldexp(by, -exponent)
    # The influences of one class may be turned around, which matters where classes are added.
    return _Moves(by if unit > 0 else -by, stratum.examples, scale, stratum.effective, stratum.clusters)


def _largest(moves: Sequence[_Moves]) -> float:
    return max(float(np.abs(each.by).max()) * each.unit for each in moves)


def _error(moves: Sequence[_Moves]) -> float:
    """The standard error: the root of the sum of m/(m - 1) Σ c v² over all classes."""
    unit = _largest(moves)
    if unit == 0:
        return 0.0
    # The square of a small move might underflow.
    return unit * math.sqrt(sum(correction(each.effective) * each.power(2, unit) for each in moves))
