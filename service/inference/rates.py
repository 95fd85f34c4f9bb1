"""Score intervals of metrics at a deployed threshold, and of a curve at one place.

Recall is a proportion of the positives and fpr one of the negatives, and the two are independent. Every other metric of
a row is a function of the two, and its interval covers its range over all ways to split the error between them
(Newcombe 2011). The place at which a curve is read is such a proportion, too: it estimates where a threshold lies. So
both axes have an error, as in Schäfer 1994, "Efficient confidence bounds for ROC curves". Knows tables, indices and
proportions; nothing of samples, verdicts or resamples.
"""

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np

from service.curves.budget import SCORE_ENDS, spend
from service.curves.confusion import ConfusionTable
from service.curves.exact import FloatArray
from service.curves.indices import INDICES, Rows
from service.inference.score import Ends, PairedShares, Share, range_including, split, wilson


@dataclass(frozen=True, slots=True)
class Rate:
    """Precision, recall, fpr or an index at λ, as a function of recall and fpr, for totals P and N."""

    metric: str
    at: float | None
    positives: float
    negatives: float

    def __call__(self, recall: FloatArray, fpr: FloatArray) -> FloatArray:
        """The metric for each recall and fpr, (n,); NaN where undefined."""
        if self.metric == "recall":
            return recall
        if self.metric == "fpr":
            return fpr
        tp, fp = recall * self.positives, fpr * self.negatives
        if self.metric == "precision":
            with np.errstate(invalid="ignore"):
                return tp / (tp + fp)
        values = np.zeros(tp.size)
        rows = np.flatnonzero(tp)
        weight = np.full(rows.size, self.at)
        with np.errstate(divide="ignore"):  # in the logarithm of a precision that underflows
            values[rows] = INDICES[self.metric].value(Rows(tp[rows], fp[rows], self.positives), weight, 1 - weight)
        return np.minimum(values, 1)


def rate_ends(rate: Rate, value: float, shares: tuple[Share, Share], z: float) -> Ends:
    """The interval of a rate with this value, from recall and fpr."""
    spend(SCORE_ENDS)
    recall, fpr = shares
    of_recall, of_fpr = split(z)
    return range_including(value, rate(recall.ends(of_recall), fpr.ends(of_fpr)))


def paired_rate_ends(rate: Rate, difference: float, shares: tuple[PairedShares, PairedShares], z: float) -> Ends:
    """The interval of the difference of a rate, from those of recall and fpr, for paired examples.

    The means of the two recalls and of the two fprs are kept, as far as the differences allow; their errors have only a
    second-order effect.
    """
    first, second = zip(
        *(_apart(each, each.ends(direction)) for each, direction in zip(shares, split(z), strict=True)), strict=True
    )
    return range_including(difference, rate(*first) - rate(*second))


def _apart(shares: PairedShares, differences: FloatArray) -> tuple[FloatArray, FloatArray]:
    """Two proportions with these differences, (n,), around the mean of those observed."""
    half = differences / 2
    middle = np.clip(sum(shares.values) / 2, np.abs(half), 1 - np.abs(half))
    return middle + half, middle - half


def tpr_at_fpr_ends(table: ConfusionTable, at: float, value: float, trials: tuple[float, float], z: float) -> Ends:
    """The interval of the true positive rate at a false positive rate.

    The true threshold for this rate is one whose rate in the sample is within its error; at each, the tpr is a
    proportion of the positives. On a vertical step it may be anywhere.
    """
    positives, negatives = trials
    of_tpr, of_fpr = split(z)
    places = Share(at, negatives).quantiles(of_fpr)
    read = _read(table.fp / table.negatives, table.tp / table.positives, places)
    return range_including(value, np.concatenate([wilson(tpr, positives, of_tpr) for tpr in read]))


def precision_at_recall_ends(
    table: ConfusionTable, at: float, value: float, trials: tuple[float, float], z: float
) -> Ends:
    """The interval of the precision at a recall ρ, ρP/(ρP + fpr N), likewise: fpr is a proportion of the negatives.

    At recall 0 there is no threshold, and the interval is [0, 1].
    """
    tp = at * table.positives
    if tp == 0:
        return 0.0, 1.0
    positives, negatives = trials
    of_fpr, of_recall = split(z)
    places = Share(at, positives).quantiles(of_recall)
    read = _read(table.tp / table.positives, table.fp / table.negatives, places)
    fp = np.concatenate([wilson(fpr, negatives, of_fpr) for fpr in read]) * table.negatives
    return range_including(value, tp / (tp + fp))


ON_CURVES: dict[str, Callable[[ConfusionTable, float, float, tuple[float, float], float], Ends]] = {
    "tpr_at_fpr": tpr_at_fpr_ends,
    "precision_at_recall": precision_at_recall_ends,
}
"""The metrics of a curve that have intervals. Others take the best of all rows, fitted to the data like a hull."""


def _read(along: FloatArray, across: FloatArray, places: FloatArray) -> tuple[FloatArray, FloatArray]:
    """The first and the last height of a rising polygon at places within it, (n,) each.

    np.interp takes the last of several rows at one place; on mirrored rows that is the first.
    """
    first, last = np.interp(-places, -along[::-1], across[::-1]), np.interp(places, along, across)
    return np.clip(first, 0, 1), np.clip(last, 0, 1)  # rounding may exceed the range
