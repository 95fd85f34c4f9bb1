"""The stratified bootstrap: replicates of statistics under resampling within each class, and interval ends from them.

    1. A resample is a count for every example, drawn within its class (draws.py), or with its cluster
       (cluster_draws.py).
    2. Counts are summed onto the rows of the whole sample's table, without sorting, and areas read off (resampled.py).
    3. The percentile interval ends at the quantiles (1 - level)/2 and (1 + level)/2 of the replicates.
    4. BCa moves these quantiles by the bias of the replicates and by an acceleration, from leaving out each example.

Knows strata and statistics of cumulated counts, not which statistic has which interval. Sources: Efron & Tibshirani
1993, "An introduction to the bootstrap", sections 13.3, 14.3 and 15.4.
"""

import math
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from statistics import NormalDist
from typing import Any

import numpy as np

from service.curves.arrays import LARGEST_EXACT_INTEGER, FloatArray
from service.curves.clock import takes_long
from service.inference.cluster_draws import ClusterDraws
from service.inference.draws import CROWD, CountArray, draws
from service.inference.resampled import ReplicateEvaluator, Statistics
from service.inference.strata import Strata

MOST_LEFT_OUT = 500
"""The jackknife leaves out each kind of example in turn; if there are more kinds, each of this many random groups."""

_JACKKNIFE = 2
"""The random stream of those groups; the resamples of the evaluations have streams 0 and 1."""
_BLOCK_NUMBERS = 1 << 17
"""Numbers in a block of resamples that stay in the processor's cache."""
REPLICATES_WITHIN = 1e-9
"""Replicates this close to the estimate, or differences this close to 0, count as equal: they differ by rounding."""

_NORMAL = NormalDist()


@dataclass(frozen=True, slots=True, eq=False)
class LeftOut:
    """A statistic without one example of each kind in turn: `values` (g,), and how many `examples` each kind has.

    If groups are left out instead, there is one value for each group, and `examples` is 1 for each.
    """

    values: FloatArray
    examples: FloatArray


def can_resample(strata: Strata) -> bool:
    """Whether examples can be drawn: a whole number of each kind, and at most 2^53 in total."""
    return strata.drawn and all(
        bool((np.floor(each.examples) == each.examples).all()) and each.size <= LARGEST_EXACT_INTEGER
        for each in (strata.positives, strata.negatives)
    )


def replicates(
    strata: Strata, statistics: Statistics, resamples: int, seed: int, stream: int = 0
) -> dict[Any, FloatArray]:
    """Statistics of B resamples, (E, B) each, of strata that `can_resample`.

    Two evaluations get the same resamples. Different streams of a seed are independent. Clusters are drawn whole.
    """
    takes_long()
    if strata.clustered is not None:
        return _of_clusters(strata, statistics, resamples, ClusterDraws(strata, seed, stream))
    seeds = [np.random.SeedSequence(seed, spawn_key=(stream, number)) for number in range(2)]
    of_positives, positives = draws(strata.positives.examples, seeds[0])
    of_negatives, negatives = draws(strata.negatives.examples, seeds[1])
    evaluator = ReplicateEvaluator(strata, statistics, (of_positives, of_negatives))
    found = {name: np.empty((len(strata.table_rows), resamples)) for name in statistics}
    for block in _blocks(resamples, evaluator.width):
        drawn = (each.counts(block.stop - block.start) for each in (positives, negatives))
        for name, values in evaluator.evaluate(*drawn).items():
            found[name][:, block] = values
    return found


def _of_clusters(
    strata: Strata, statistics: Statistics, resamples: int, draws_of_clusters: ClusterDraws
) -> dict[Any, FloatArray]:
    """The same, drawing clusters."""
    evaluator = ReplicateEvaluator(strata, statistics)
    found = {name: np.empty((len(strata.table_rows), resamples)) for name in statistics}
    for block in _blocks(resamples, evaluator.width):
        for name, values in evaluator.evaluate(*draws_of_clusters.counts(block.stop - block.start)).items():
            found[name][:, block] = values
    return found


def jackknife(strata: Strata, statistics: Statistics, seed: int) -> dict[Any, list[tuple[LeftOut, LeftOut]]]:
    """Statistics without one example, of positives and of negatives, for each evaluation; for `bca_ends`.

    All examples of a kind are alike. More than 500 kinds are dealt at random into 500 groups, and each statistic leaves
    out one group.
    """
    both = strata.positives, strata.negatives
    evaluator = ReplicateEvaluator(strata, statistics)
    few = all(each.examples.max() < 1 << 8 and each.size < 1 << 31 for each in both)
    dtype: type[np.number[Any]] = np.uint8 if few else np.float64
    whole = [each.examples[np.newaxis, :].astype(dtype) for each in both]
    per_class = []
    for number, stratum in enumerate(both):
        examples = stratum.examples if stratum.examples.size <= MOST_LEFT_OUT else np.ones(MOST_LEFT_OUT)
        parts = _parts(stratum.examples, np.random.SeedSequence(seed, spawn_key=(_JACKKNIFE, number)))
        found = {name: np.empty((len(strata.table_rows), examples.size)) for name in statistics}
        for block in _blocks(examples.size, evaluator.width):
            counts = np.repeat(whole[number], block.stop - block.start, axis=0)
            counts -= np.stack([next(parts) for _ in counts]).astype(dtype)
            for name, values in evaluator.evaluate(*whole[:number], counts, *whole[number + 1 :]).items():
                found[name][:, block] = values
        per_class.append({name: [LeftOut(row, examples) for row in values] for name, values in found.items()})
    return {name: list(zip(per_class[0][name], per_class[1][name], strict=True)) for name in statistics}


def percentile_ends(values: FloatArray, level: float) -> tuple[float, float]:
    """The quantiles of the replicates (B,) that leave (1 - level)/2 on either side, interpolated linearly.

    An undefined replicate could have any value: it counts as below all and above all. An end that depends on one is
    NaN.
    """
    outside = (1 - level) / 2
    return _quantile(values, outside), -_quantile(-values, outside)


def bca_ends(values: FloatArray, estimate: float, left_out: Sequence[LeftOut], level: float) -> tuple[float, float]:
    """The quantiles of the replicates (B,) after correction for bias and acceleration (equations 14.10, 15.36).

        α' = Φ(z0 + (z0 + z_α)/(1 - a (z0 + z_α)))        z0 = Φ⁻¹(share of the replicates below the estimate)

    where those equal to it count half. With U = (n - 1)(mean - value) of the n examples or groups of each class

        a = Σ_classes ΣU³/n³ / (6 (Σ_classes ΣU²/n²)^(3/2))

    Both are NaN if a replicate is undefined or all are on one side of the estimate.
    """
    equal = np.isclose(values, estimate, rtol=0, atol=REPLICATES_WITHIN)
    share = float(np.mean((values < estimate) & ~equal) + np.mean(equal) / 2)
    undefined = np.isnan(values).any() or any(np.isnan(each.values).any() for each in left_out)
    if undefined or not 0 < share < 1:
        return math.nan, math.nan
    bias, acceleration = _NORMAL.inv_cdf(share), _acceleration(left_out)
    quantile = _NORMAL.inv_cdf((1 - level) / 2)
    shares = []
    for moved in (bias + quantile, bias - quantile):
        slope = 1 - acceleration * moved
        shares.append(_NORMAL.cdf(bias + moved / slope if slope > 0 else math.copysign(math.inf, moved)))
    return _quantile(values, shares[0]), _quantile(values, shares[1])


def _acceleration(left_out: Sequence[LeftOut]) -> float:
    influences = []
    for each in left_out:
        size = each.examples.sum()
        influences.append((size - 1) / size * (each.examples @ each.values / size - each.values))
    largest = max(float(np.abs(influence).max()) for influence in influences)
    if largest == 0:
        return 0.0
    # The acceleration does not depend on scale, but powers of small values might underflow.
    cubes = squares = 0.0
    for each, influence in zip(left_out, influences, strict=True):
        cubes += float(each.examples @ (influence / largest) ** 3)
        squares += float(each.examples @ (influence / largest) ** 2)
    return cubes / (6 * float(squares**1.5))


def _quantile(values: FloatArray, share: float) -> float:
    """The value at `share` of the way through the sorted values, interpolated linearly; NaN comes first."""
    ordered = np.sort(np.where(np.isnan(values), -np.inf, values))
    at = share * (ordered.size - 1)
    below = math.floor(at)
    low, high = float(ordered[below]), float(ordered[min(below + 1, ordered.size - 1)])
    if low == -math.inf:
        return math.nan
    return low + (high - low) * (at - below)


def _parts(examples: FloatArray, seed: np.random.SeedSequence) -> Iterator[CountArray]:
    """The parts to leave out in turn, each as the number of examples of each kind, (kinds,)."""
    kinds = examples.size
    if kinds <= MOST_LEFT_OUT:
        yield from np.eye(kinds, dtype=np.uint8)
        return
    random, left = np.random.Generator(np.random.PCG64(seed)), examples.astype(np.int64)
    if examples.sum() <= CROWD * kinds:
        dealt = random.permutation(np.repeat(np.arange(kinds), left))
        yield from (np.bincount(dealt[group::MOST_LEFT_OUT], minlength=kinds) for group in range(MOST_LEFT_OUT))
        return
    for groups in range(MOST_LEFT_OUT, 0, -1):
        part = random.binomial(left, 1 / groups)
        left -= part
        yield part


def _blocks(resamples: int, width: int) -> Iterator[slice]:
    """Split this many resamples of `width` numbers each into blocks."""
    step = max(1, _BLOCK_NUMBERS // width)
    for start in range(0, resamples, step):
        yield slice(start, min(start + step, resamples))
