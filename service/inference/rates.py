"""Score intervals of metrics at a deployed threshold, and of a curve at one place.

    at a threshold   recall is a proportion of the positives, fpr one of the negatives, and they are independent; every
                     other metric of the row is a function of both, and its interval the range over all ways to split
                     the error between them (Newcombe 2011)
    on a curve       the place at which it is read is such a proportion, too: it estimates where a threshold lies; the
                     interval covers the heights at all places within the error, each with what is left for the height

So both axes of a curve have an error, as in Schäfer 1994, "Efficient confidence bounds for ROC curves". Knows tables,
indices and proportions; nothing of samples, verdicts or resamples.
"""

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import TypeAlias

import numpy as np

from service.curves.arrays import FloatArray
from service.curves.clock import still_time
from service.curves.confusion import ConfusionTable
from service.curves.indices import INDICES, Rows
from service.curves.row_metrics import ROW_METRICS, Matrices
from service.curves.target_prevalence import TargetPrevalence
from service.inference.proportions import Ends, PairedShares, Share, range_including, split, widened, wilson

Polygon: TypeAlias = tuple[FloatArray, FloatArray]
"""A rising polygon: the places of its rows, and their heights."""

SHARES = ("recall", "fpr")
"""The metrics of a row that are proportions: of the positives, and of the negatives."""

_HALF_TURN = np.sin(np.radians(np.arange(-90.0, 91.0)))
"""The place's share of an error, for directions from all of it below the place to all of it above, degree by degree."""
_HEIGHTS = 1001
"""How many heights, evenly spaced, choose the rows in reach that are tried."""
_BETWEEN, _ROUNDS = 129, 3
"""Each round after the first narrows the search to a 64th: the end is within 1e-11 if all rows in reach were tried."""


@dataclass(frozen=True, slots=True)
class Rate:
    """A metric of a row or, with a `weight`, an index at this λ, for totals P and N, and where the model is used."""

    metric: str
    weight: float | None
    positives: float
    negatives: float
    target: TargetPrevalence | None = None

    def __call__(self, recall: FloatArray, fpr: FloatArray) -> FloatArray:
        """The metric for each recall and fpr, (n,); NaN where undefined."""
        if self.metric == "recall":
            return recall
        if self.metric == "fpr":
            return fpr
        return self.of_counts(recall * self.positives, fpr * self.negatives)

    def of_counts(self, tp: FloatArray, fp: FloatArray, *, whole: bool = False) -> FloatArray:
        """The metric for each tp and fp, (n,), which may be known to be integers; NaN where undefined."""
        if self.weight is None:
            matrices = Matrices(tp, fp, self.positives, self.negatives, whole, self.target)
            return ROW_METRICS[self.metric].value(matrices)
        values, positives = np.zeros(tp.size), self.positives
        if self.target is not None:
            tp, fp, positives = self.target.true(tp), self.target.false(fp), self.target.true(positives)
        rows = np.flatnonzero(tp)
        weight = np.full(rows.size, self.weight)
        values[rows] = INDICES[self.metric].value(Rows(tp[rows], fp[rows], positives), weight, 1 - weight)
        return np.minimum(values, 1)


def rate_ends(rate: Rate, value: float, shares: tuple[Share, Share], z: float, correlation: float = 0.0) -> Ends:
    """The interval of a rate with this value, from recall and fpr, which common clusters correlate."""
    still_time()
    recall, fpr = shares
    of_recall, of_fpr = split(widened(z, _freedom(rate, shares)), 0.0 if rate.metric in SHARES else correlation)
    return range_including(value, rate(recall.ends(of_recall), fpr.ends(of_fpr)))


def _freedom(rate: Rate, shares: tuple[Share, Share] | tuple[PairedShares, PairedShares]) -> float:
    """That of the class that decides a rate, or the lesser."""
    freedoms = [each.freedom for each in shares]
    return freedoms[SHARES.index(rate.metric)] if rate.metric in SHARES else min(freedoms)


def paired_rate_ends(
    rate: Rate, difference: float, shares: tuple[PairedShares, PairedShares], z: float, correlation: float = 0.0
) -> Ends:
    """The interval of the difference of a rate, from those of recall and fpr, for paired examples.

    The means of the two recalls and of the two fprs are kept, as far as the differences allow; their errors have only a
    second-order effect.
    """
    directions = split(widened(z, _freedom(rate, shares)), correlation)
    first, second = zip(
        *(_apart(each, each.ends(direction)) for each, direction in zip(shares, directions, strict=True)), strict=True
    )
    return range_including(difference, rate(*first) - rate(*second))


def _apart(shares: PairedShares, differences: FloatArray) -> tuple[FloatArray, FloatArray]:
    """Two proportions with these differences, (n,), around the mean of those observed."""
    half = differences / 2
    middle = np.clip(sum(shares.values) / 2, np.abs(half), 1 - np.abs(half))
    return middle + half, middle - half


def one_minus_rate_correlation(
    rate: Rate, shares: Sequence[tuple[Share, Share]], pairs: tuple[PairedShares, PairedShares]
) -> float:
    """1 - ρ for a rate of two models of the same examples, from ρ_c of their recalls and of their fprs.

        ρ = Σ_c m_c n_c ρ_c/√(Σ_c m_c² Σ_c n_c²)

    m_c and n_c are the moves of both rates between Wilson's ends of one standard error of recall, or of fpr. For recall
    ρ is φ of the four-fold table of called positives: 0.9 and 0.85 of 100 trials, of which 0.09 are discordant, have
    0.6068.
    """
    moves = [_moves_of(rate, *each) for each in shares]
    within = [_of_pairs(*each) for each in zip(*shares, pairs, strict=True)]
    lengths = float(np.linalg.norm(moves[0]) * np.linalg.norm(moves[1]))
    found = float(moves[0] * within @ moves[1]) / lengths if lengths > 0 else 0.0
    return 1 - min(max(found, -1.0), 1.0)


def _moves_of(rate: Rate, recall: Share, fpr: Share) -> FloatArray:
    """How far a standard error of recall, and one of fpr, move a rate; 0 where it is undefined, (2,)."""
    way, still = np.array([-1.0, 1.0]), np.ones(2)
    ends = rate(recall.ends(way), fpr.value * still), rate(recall.value * still, fpr.ends(way))
    moves: FloatArray = np.nan_to_num(np.array([upper - lower for lower, upper in ends]))
    return moves


def _of_pairs(one: Share, other: Share, pairs: PairedShares) -> float:
    """The correlation of two proportions of the same trials; 0 if one shows no spread."""
    of_each = [each.value * (1 - each.value) / each.trials for each in (one, other)]
    product = math.sqrt(of_each[0] * of_each[1])
    of_difference = max(pairs.discordant - pairs.difference**2, 0.0) / pairs.trials
    return (sum(of_each) - of_difference) / (2 * product) if product > 0 else 0.0


def tpr_at_fpr_ends(table: ConfusionTable, at: float, value: float, trials: tuple[float, float], z: float) -> Ends:
    """The interval of the true positive rate at a false positive rate.

    The true threshold for this rate is one whose rate in the sample is within its error; at each, the tpr is a
    proportion of the positives. On a vertical step it may be anywhere.
    """
    curve = table.fp / table.negatives, table.tp / table.positives
    positives, negatives = trials
    return range_including(value, _curve_ends(curve, Share(at, negatives), positives, z))


def precision_at_recall_ends(
    table: ConfusionTable, at: float, value: float, trials: tuple[float, float], z: float
) -> Ends:
    """The interval of the precision at a recall ρ, ρP/(ρP + fpr N), likewise: fpr is a proportion of the negatives.

    At recall 0 there is no threshold, and the interval is [0, 1].
    """
    tp = at * table.in_use.positives
    if tp == 0:
        return 0.0, 1.0
    curve = table.tp / table.positives, table.fp / table.negatives
    positives, negatives = trials
    fp = _curve_ends(curve, Share(at, positives), negatives, z) * table.in_use.negatives
    return range_including(value, tp / (tp + fp))


ON_CURVES: dict[str, Callable[[ConfusionTable, float, float, tuple[float, float], float], Ends]] = {
    "tpr_at_fpr": tpr_at_fpr_ends,
    "precision_at_recall": precision_at_recall_ends,
}
"""The metrics of a curve that have intervals. Others take the best of all rows, fitted to the data like a hull."""


def _curve_ends(curve: Polygon, place: Share, trials: float, z: float) -> FloatArray:
    """The interval of a curve's height at a place, (2,); both are proportions, the height one of `trials`."""
    still_time()
    along, across = curve
    spread = math.sqrt(place.value * (1 - place.value) / place.trials)
    # np.interp reads the top of a vertical step. On the mirrored curve that is its foot, and the lower end is the
    # upper one.
    lower = -_curve_end((-along[::-1], -across[::-1]), -place.value, spread, trials, -z)
    return np.array([lower, _curve_end(curve, place.value, spread, trials, z)])


def _curve_end(curve: Polygon, place: float, spread: float, trials: float, z: float) -> float:
    """The upper end of the interval of a curve's height at a place; mirrored if z < 0.

    It is the highest of Wilson's ends of the heights at all places q within the error, each with what is left of the
    error for the height, v² = z² - ((q - place)/spread)². The search starts from places in each direction and at the
    rows in reach, as the end jumps at a step; then it goes on between the neighbours of the highest.
    """
    along, across = curve
    reach = abs(z) * spread
    places = np.union1d(place + reach * _HALF_TURN, _corners(curve, place - reach, place + reach))
    places = np.clip(places, along[0], along[-1])
    highest = -math.inf
    for _ in range(_ROUNDS):
        left = np.sqrt(np.maximum(z * z - ((places - place) / (spread or 1)) ** 2, 0))
        heights = np.minimum(np.abs(np.interp(places, along, across)), 1)  # rounding may exceed 1
        ends = math.copysign(1, z) * wilson(heights, trials, np.copysign(left, z))
        best = int(ends.argmax())
        highest = max(highest, float(ends[best]))
        places = np.linspace(places[max(best - 1, 0)], places[min(best + 1, places.size - 1)], _BETWEEN)
    return highest


def _corners(curve: Polygon, start: float, end: float) -> FloatArray:
    """The places, from start to end, of the rows before and after each rise of over a thousandth of all there."""
    along, across = curve
    rows = slice(along.searchsorted(start), along.searchsorted(end, side="right"))
    along, across = along[rows], across[rows]
    if along.size == 0:
        return along
    after = across.searchsorted(np.linspace(across[0], across[-1], _HEIGHTS))
    places: FloatArray = along[np.concatenate((after, np.maximum(after - 1, 0)))]
    return places
