"""The one table that every curve is a view of: a confusion matrix per threshold.

    sort the rows of a sample by score, the most positive first
    add up the positives (tp) and the negatives (fp) so far
    keep the last row of each score; a first row calls nothing positive

Knows how to build the table from a sample, from counts, and from another table cut at given thresholds; nothing of what
is read off it. Source: Davis & Goadrich 2006, section 2 and theorem 3.1; Fawcett 2006 for ties.
"""

from dataclasses import dataclass, replace
from functools import cached_property
from typing import TypeAlias

import numpy as np

from service.curves.arrays import (
    LARGEST_EXACT_INTEGER,
    BoolArray,
    FloatArray,
    IntArray,
    are_integers,
    with_infinite_last,
)
from service.curves.clock import still_time
from service.curves.counts import Counts
from service.curves.errors import RisingThresholds
from service.curves.histogram import Histogram
from service.curves.sample import Sample
from service.curves.sweep import sweep
from service.curves.target_prevalence import TargetPrevalence
from service.curves.threshold_columns import ThresholdColumns, numbered_threshold_columns, threshold_columns

Evaluation: TypeAlias = Sample | Counts | Histogram
"""What a table is built from."""


@dataclass(frozen=True, eq=False)
class ConfusionTable:
    """Confusion matrices over one data set, ordered by (fp, tp): the origin (0, 0) first, (P, N) last.

    thresholds  (n,) row k calls positive what scores at or above thresholds[k] (at or below, if `lower_is_positive`);
                NaN without a threshold, as at the origin.
    tp, fp      (n,) float64.
    positives, negatives   the totals P and N.
    lower_is_positive      whether thresholds ascend as more is called positive.
    counted                whether the counts are known to be integers up to 2^53 of one sweep, as for a sample without
                           weights.
    of_scores              whether each row adds exactly the examples that score at its threshold to the row before.
    target                 how common positives are where the model is used; None if as common as here.
    """

    thresholds: FloatArray
    tp: FloatArray
    fp: FloatArray
    positives: float
    negatives: float
    lower_is_positive: bool = False
    counted: bool = False
    of_scores: bool = False
    target: TargetPrevalence | None = None

    @property
    def fn(self) -> FloatArray:
        """False negatives, P - tp."""
        return self.positives - self.tp

    @property
    def tn(self) -> FloatArray:
        """True negatives, N - fp."""
        return self.negatives - self.fp

    @cached_property
    def precision(self) -> FloatArray:
        """Precision tp/(tp + fp) per row, (n,), read-only; NaN where nothing is called positive.

        For the scores of `from_sample`: NaN, 1, 1, 2/3, 3/4.
        """
        if self.target is not None:
            return self.in_use.precision
        out = self.tp + self.fp
        is_large = self.positives + self.negatives >= LARGEST_EXACT_INTEGER and self.whole
        beyond = np.flatnonzero(out >= LARGEST_EXACT_INTEGER) if is_large else ()
        np.divide(self.tp[self.origins :], out[self.origins :], out=out[self.origins :])
        out[: self.origins] = np.nan
        for row in beyond:
            still_time()
            out[row] = int(self.tp[row]) / (int(self.tp[row]) + int(self.fp[row]))
        return out

    @property
    def in_use(self) -> "ConfusionTable":
        """The same rows as shares of all examples where the model is used; the table itself without a target.

        With a target of 0.1, the totals are 0.1 and 0.9, and a row that calls half of the positives and a third of the
        negatives positive has tp 0.05 and fp 0.3.
        """
        return self._in_use or self

    @cached_property
    def _in_use(self) -> "ConfusionTable | None":
        """None without a target: what holds itself is freed late."""
        if self.target is None:
            return None
        true, false = self.target.true, self.target.false
        return replace(
            self,
            tp=true(self.tp),
            fp=false(self.fp),
            positives=true(self.positives),
            negatives=false(self.negatives),
            counted=False,
            target=None,
        )

    @cached_property
    def origins(self) -> int:
        """How many rows call nothing positive; they come first."""
        without_fp = int(self.fp.searchsorted(0, side="right"))
        return int(self.tp[:without_fp].searchsorted(0, side="right"))

    @property
    def rises(self) -> bool:
        """Whether one sweep over thresholds could give all rows: tp never falls as fp rises."""
        return self.counted or self._rises

    @cached_property
    def _rises(self) -> bool:
        return bool(np.all(self.tp[1:] >= self.tp[:-1]))

    @property
    def integral(self) -> bool:
        """Whether every count is an integer, of any size; the totals are those of the last row."""
        return self.counted or self._has_integers

    @cached_property
    def _has_integers(self) -> bool:
        return are_integers(self.tp) and are_integers(self.fp)

    @property
    def whole(self) -> bool:
        """Whether every count is an integer up to 2^53, so that all rational results are exact."""
        return self.counted or (max(self.positives, self.negatives) <= LARGEST_EXACT_INTEGER and self.integral)

    @cached_property
    def swept(self) -> sweep.SweptAreas:
        """The areas of the rows, if they rise."""
        return sweep.areas(self.tp, self.fp)

    @classmethod
    def of(cls, evaluation: Evaluation) -> "ConfusionTable":
        """Build the table of any evaluation; that of groups has a row at the end of each. Raises RisingThresholds."""
        if isinstance(evaluation, Counts):
            return cls.from_counts(evaluation)
        return cls.from_groups(evaluation) if isinstance(evaluation, Histogram) else cls.from_sample(evaluation)

    @classmethod
    def from_sample(cls, sample: Sample) -> "ConfusionTable":
        """Sweep the threshold down over the sample: one row per distinct score, -0.0 and 0.0 being one.

        Scores 0.9, 0.8, 0.7, 0.6, of which the first, second and fourth are positive, give tp 0, 1, 2, 2, 3 and fp 0,
        0, 0, 1, 1. Weighted sums are rounded once, whatever the order of rows.
        """
        return cls._of_columns(sample, threshold_columns(sample))

    @classmethod
    def from_sample_with_rows(cls, sample: Sample) -> tuple["ConfusionTable", IntArray]:
        """Build the table of a sample, and the row at which each example is first called positive, (n,).

        The row is 0 for an example of weight 0. Faster than finding the rows later, slower than the table alone.
        """
        columns, rows = numbered_threshold_columns(sample)
        return cls._of_columns(sample, columns), rows

    @classmethod
    def _of_columns(cls, sample: Sample, columns: ThresholdColumns) -> "ConfusionTable":
        positives, negatives = float(columns.tp[-1]), float(columns.fp[-1])
        counted = sample.weights is None
        return cls(
            *columns,
            positives,
            negatives,
            sample.lower_is_positive,
            counted=counted,
            of_scores=True,
            target=_target(sample, positives, negatives),
        )

    @classmethod
    def from_groups(cls, groups: Histogram) -> "ConfusionTable":
        """Sweep the threshold down over groups: one row per group, which calls all of it positive.

        Exact groups of examples give the very table of the sample that they group.
        """
        counted = groups.is_counted
        tp, fp = running_sums(*groups.masses, counted=counted)
        return cls(
            np.concatenate(([np.nan], groups.ends)),
            tp,
            fp,
            float(tp[-1]),
            float(fp[-1]),
            groups.lower_is_positive,
            counted=counted,
            of_scores=groups.is_exact,
            target=_target(groups, float(tp[-1]), float(fp[-1])),
        )

    @classmethod
    def from_counts(cls, counts: Counts) -> "ConfusionTable":
        """Order rows of counts by (fp, tp) and add (0, 0) and (P, N) where missing, without a threshold.

        Rows with equal counts stay, in the order of their thresholds. Raises RisingThresholds when a sweep's thresholds
        are out of order, and when an infinite one calls something positive, or not everything.
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
            target=_target(counts, counts.positives, counts.negatives),
        )
        _check_infinite(counts, ranks)
        if table.rises:
            _check_order(ranks, order, lower_is_positive=counts.lower_is_positive)
        return table.with_ends()

    def at_thresholds(self, cuts: FloatArray) -> "ConfusionTable":
        """Build the table that is left when a sample's scores are cut only at `cuts`, given in any order.

        A cut need not be a score; it calls positive what scores at or beyond it. (0, 0) and (P, N) are added where
        missing.
        """
        direction = 1.0 if self.lower_is_positive else -1.0
        ordered = direction * np.unique(direction * cuts + 0.0)
        return replace(self.select(self.rows_at(ordered)), thresholds=ordered + 0.0).with_ends()

    def rows_at(self, cuts: FloatArray) -> IntArray:
        """For each cut, the row that calls positive what scores at or beyond it, (k,); the table is not of counts."""
        direction = 1.0 if self.lower_is_positive else -1.0
        sought = with_infinite_last(cuts, lower_is_positive=self.lower_is_positive)
        return np.searchsorted(direction * self.thresholds[1:], direction * sought, side="right")

    def select(self, rows: IntArray | BoolArray | slice) -> "ConfusionTable":
        """Keep the given rows, in order."""
        columns = self.thresholds[rows], self.tp[rows], self.fp[rows]
        totals = self.positives, self.negatives
        return ConfusionTable(*columns, *totals, self.lower_is_positive, self.counted, target=self.target)

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


def running_sums(positives: FloatArray, negatives: FloatArray, *, counted: bool) -> tuple[FloatArray, FloatArray]:
    """The tp and fp of groups: running sums of positives and of negatives from 0 on, (m + 1,) each.

    Each sum is rounded once, whatever the order of the groups in it; `counted` says that every sum is an exact integer.
    """
    if not counted:
        return sweep.running_sums(positives), sweep.running_sums(negatives)
    tp, fp = np.zeros(positives.size + 1), np.zeros(negatives.size + 1)
    positives.cumsum(out=tp[1:])
    negatives.cumsum(out=fp[1:])
    return tp, fp


def _target(evaluation: Evaluation, positives: float, negatives: float) -> TargetPrevalence | None:
    """The target of an evaluation, for its totals."""
    return None if evaluation.target is None else evaluation.target.of(positives, negatives)


def _check_infinite(counts: Counts, ranks: FloatArray) -> None:
    """Raise RisingThresholds if the threshold above all scores calls something positive, or the one below not all."""
    something = (counts.tp > 0) | (counts.fp > 0)
    not_all = (counts.tp < counts.positives) | (counts.fp < counts.negatives)
    for rank, wrong, what in (
        (-np.inf, something, "nothing positive, so tp and fp are 0"),
        (np.inf, not_all, "everything positive, so fn and tn are 0"),
    ):
        rows = np.flatnonzero((ranks == rank) & wrong)
        if rows.size:
            threshold = rank if counts.lower_is_positive else -rank
            instead = "; if scores are infinite, replace it by a number that no finite score reaches."
            detail = f"A threshold of {threshold} calls {what} there{instead}"
            raise RisingThresholds(detail, "threshold", int(rows[0]))


def _check_order(ranks: FloatArray, order: IntArray, *, lower_is_positive: bool) -> None:
    """Raise RisingThresholds if thresholds move towards more positive scores while the counts of a sweep rise."""
    known = order[~np.isnan(ranks[order])]
    back = np.flatnonzero(ranks[known][1:] < ranks[known][:-1])
    if back.size:
        row = int(known[back[0] + 1])
        verb = "falls" if lower_is_positive else "rises"
        raise RisingThresholds(f"The threshold {verb} here while tp or fp rises.", "threshold", row)
