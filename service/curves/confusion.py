"""The one table that every curve is a view of: a confusion matrix per threshold.

Knows how the table comes from a sample, from counts, and from another table cut at given thresholds; nothing of what is
read off it. Source: Davis & Goadrich 2006, section 2 and theorem 3.1; Fawcett 2006 for ties.
"""

from dataclasses import dataclass, replace
from functools import cached_property

import numpy as np

from service.curves.counts import Counts
from service.curves.errors import RisingThresholds
from service.curves.exact import LARGEST_EXACT_INTEGER, BoolArray, FloatArray, IntArray, prefix_sums
from service.curves.sample import Sample


@dataclass(frozen=True, eq=False)
class ConfusionTable:
    """Confusion matrices over one data set, ordered by (fp, tp): the origin (0, 0) first, (P, N) last.

    thresholds  (n,) row k calls positive what scores at or above thresholds[k] (at or below, if `lower_is_positive`);
                NaN where there is none, as at the origin.
    tp, fp      (n,) float64.
    positives, negatives   the totals P and N.
    lower_is_positive      whether thresholds ascend as more is called positive.
    """

    thresholds: FloatArray
    tp: FloatArray
    fp: FloatArray
    positives: float
    negatives: float
    lower_is_positive: bool = False

    @property
    def fn(self) -> FloatArray:
        """False negatives, P - tp."""
        return self.positives - self.tp

    @property
    def tn(self) -> FloatArray:
        """True negatives, N - fp."""
        return self.negatives - self.fp

    @cached_property
    def sweep(self) -> bool:
        """Whether one sweep over thresholds could give all rows: fp and tp rise together."""
        return bool(np.all(self.tp[1:] >= self.tp[:-1]))

    @cached_property
    def integral(self) -> bool:
        """Whether every count is an integer, of any size; the totals are those of the last row."""
        return all(bool(np.all(np.floor(column) == column)) for column in (self.tp, self.fp))

    @property
    def whole(self) -> bool:
        """Whether every count is an integer up to 2^53, so that all rational results are exact."""
        return max(self.positives, self.negatives) <= LARGEST_EXACT_INTEGER and self.integral

    @classmethod
    def of(cls, evaluation: Sample | Counts) -> "ConfusionTable":
        """Build the table of either kind of evaluation. Raises RisingThresholds for counts."""
        return cls.from_counts(evaluation) if isinstance(evaluation, Counts) else cls.from_sample(evaluation)

    @classmethod
    def from_sample(cls, sample: Sample) -> "ConfusionTable":
        """Sweep the threshold down over the sample: one row per distinct score, -0.0 and 0.0 being one.

        Weighted sums are within one ulp of exact, whatever the order of rows.
        """
        weights = sample.weights
        scores, labels = sample.scores, sample.labels
        if weights is not None and not weights.all():
            present = weights > 0
            scores, labels, weights = scores[present], labels[present], weights[present]
        # Ranks ascend from the most positive score; 0.0 ± x has no -0.0.
        ranks = scores + 0.0 if sample.lower_is_positive else 0.0 - scores
        if weights is None:
            ranks, labels = _sort(ranks, labels)
        else:
            order = np.argsort(ranks)
            ranks, labels, weights = ranks[order], labels[order], weights[order]
        ends = np.append(np.flatnonzero(ranks[1:] != ranks[:-1]), ranks.size - 1)
        if weights is None:
            tp = np.cumsum(labels, dtype=np.int64)[ends].astype(np.float64)
            fp = (ends + 1) - tp
        else:
            tp = prefix_sums(np.where(labels, weights, 0.0), ends)
            fp = prefix_sums(np.where(labels, 0.0, weights), ends)
        thresholds = ranks[ends] if sample.lower_is_positive else 0.0 - ranks[ends]
        return cls(
            np.concatenate(([np.nan], thresholds)),
            np.concatenate(([0.0], tp)),
            np.concatenate(([0.0], fp)),
            float(tp[-1]),
            float(fp[-1]),
            sample.lower_is_positive,
        )

    @classmethod
    def from_counts(cls, counts: Counts) -> "ConfusionTable":
        """Order rows of counts by (fp, tp) and add (0, 0) and (P, N) where missing, without a threshold.

        Rows with equal counts stay, in the order of their thresholds. Raises RisingThresholds when a sweep's thresholds
        are out of order.
        """
        thresholds = np.full(counts.tp.size, np.nan) if counts.thresholds is None else counts.thresholds
        ranks = thresholds if counts.lower_is_positive else -thresholds
        order = np.lexsort((np.where(np.isnan(ranks), -np.inf, ranks), counts.tp, counts.fp))
        table = cls(
            thresholds[order] + 0.0,
            counts.tp[order] + 0.0,
            counts.fp[order] + 0.0,
            counts.positives,
            counts.negatives,
            counts.lower_is_positive,
        )
        if table.sweep:
            _check_order(ranks, order, lower_is_positive=counts.lower_is_positive)
        return table.with_ends()

    def at_thresholds(self, cuts: FloatArray) -> "ConfusionTable":
        """Build the table that a sample's table leaves when its scores are cut at `cuts` alone, in any order.

        A cut need not be a score: it calls positive what scores at or beyond it. (0, 0) and (P, N) are added where
        missing.
        """
        direction = 1.0 if self.lower_is_positive else -1.0
        ranks = np.unique(direction * cuts + 0.0)
        rows = np.searchsorted(direction * self.thresholds[1:], ranks, side="right")
        return replace(self, thresholds=direction * ranks + 0.0, tp=self.tp[rows], fp=self.fp[rows]).with_ends()

    def select(self, rows: IntArray | BoolArray) -> "ConfusionTable":
        """Keep the given rows, in order."""
        return replace(self, thresholds=self.thresholds[rows], tp=self.tp[rows], fp=self.fp[rows])

    def with_ends(self) -> "ConfusionTable":
        """Add (0, 0) and (P, N), without thresholds, where they are missing."""
        first = [] if self.tp.size and self.tp[0] == 0 and self.fp[0] == 0 else [0.0]
        complete = self.tp.size and self.tp[-1] == self.positives and self.fp[-1] == self.negatives
        last = np.empty(0) if complete else np.ones(1)
        return replace(
            self,
            thresholds=np.concatenate((np.full(len(first), np.nan), self.thresholds, np.full(last.size, np.nan))),
            tp=np.concatenate((first, self.tp, last * self.positives)),
            fp=np.concatenate((first, self.fp, last * self.negatives)),
        )


def _sort(ranks: FloatArray, labels: BoolArray) -> tuple[FloatArray, BoolArray]:
    """Sort finite ranks ascending and carry the labels along, in one sort of 8-byte keys.

    The bits of a double without its sign order as integers; shifted up by one they leave room for the label.
    """
    below = ranks < 0
    split = int(np.count_nonzero(below))
    keys = (ranks.view(np.uint64) << np.uint64(1)) | labels
    keys = np.concatenate((np.sort(keys[below])[::-1], np.sort(keys[~below])))
    ranks = (keys >> np.uint64(1)).view(np.float64)
    np.negative(ranks[:split], out=ranks[:split])
    return ranks, (keys & np.uint64(1)).astype(np.bool_)


def _check_order(ranks: FloatArray, order: IntArray, *, lower_is_positive: bool) -> None:
    """Refuse thresholds that move towards the more positive scores while the counts of a sweep rise."""
    known = order[~np.isnan(ranks[order])]
    back = np.flatnonzero(ranks[known][1:] < ranks[known][:-1])
    if back.size:
        row = int(known[back[0] + 1])
        verb = "falls" if lower_is_positive else "rises"
        raise RisingThresholds(f"The threshold {verb} here while tp or fp rises.", "threshold", row)
