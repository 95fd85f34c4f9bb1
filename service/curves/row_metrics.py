"""Metrics of a confusion matrix: functions of tp, fp and the totals P and N, one for each name.

    a quotient of two counts   the nearest double, if all counts are whole
    all others                 within 4 units in the last place; what cancels is computed without rounding
    undefined                  NaN: 0/0, and x/0, never 0 or 1

No metric has a rule of its own for ties or weights: tp, fp, P and N are those of the table, whatever it counts. Knows
tables only. Sources: Jaccard 1901; Youden 1950; Cohen 1960; Matthews 1975; van Rijsbergen 1979 for F-beta; Powers 2011,
"Evaluation: from precision, recall and F-measure to ROC, informedness, markedness and correlation".
"""

from collections.abc import Callable
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np

from service.curves.arrays import FloatArray, blocks
from service.curves.clock import in_time
from service.curves.confusion import ConfusionTable
from service.curves.double_double import difference_of_products
from service.curves.target_prevalence import TargetPrevalence

_INEXACT_FROM = 2.0**49
"""Below this total, sums of ten counts are exact."""

Counted = Any
"""Counts, (n,): doubles, or Python's integers in an array of objects."""


@dataclass(frozen=True, eq=False)
class Matrices:
    """Confusion matrices, (n,), of one data set, or each with its own totals; `whole` says that all are integers.

    If three of four positives and one of six negatives are called positive, precision and recall are 3/4.
    With a target, these are data sampled class by class, and `in_use` has their shares where the model is used.
    """

    tp: Counted
    fp: Counted
    positives: Any
    negatives: Any
    whole: bool = False
    target: TargetPrevalence | None = None

    @property
    def fn(self) -> Counted:
        """False negatives."""
        return self.positives - self.tp

    @property
    def tn(self) -> Counted:
        """True negatives."""
        return self.negatives - self.fp

    @property
    def total(self) -> Any:  # noqa: ANN401  # a double or an integer
        """All examples, P + N."""
        return self.positives + self.negatives

    @property
    def called(self) -> Counted:
        """How many are called positive, tp + fp."""
        return self.tp + self.fp

    @property
    def exact(self) -> "Matrices":
        """The same, with sums that are exact if all counts are integers."""
        if not self.whole or np.max(self.total, initial=0) < _INEXACT_FROM:
            return self
        counts = (self.tp, self.fp, self.positives, self.negatives)
        return Matrices(*map(_integers, np.broadcast_arrays(*counts)))

    @property
    def in_use(self) -> "Matrices":
        """The matrices where the model is used."""
        return self._in_use or self

    @cached_property
    def _in_use(self) -> "Matrices | None":
        """None without a target: what holds itself is freed late."""
        if self.target is None:
            return None
        true, false = self.target.true, self.target.false
        return Matrices(true(self.tp), false(self.fp), true(self.positives), false(self.negatives))

    @cached_property
    def youden(self) -> FloatArray:
        """The recall less the fpr, (tp N - fp P)/(P N), without cancellation: 3/4 - 1/6 in the example."""
        (positives, down), (negatives, across) = np.frexp(self.positives), np.frexp(self.negatives)
        tp, fp = np.ldexp(self.tp, -down), np.ldexp(self.fp, -across)
        sides = np.full(tp.shape, negatives), np.full(tp.shape, positives)
        return divided(difference_of_products(tp, sides[0], fp, sides[1]), sides[0] * sides[1])

    @property
    def growth(self) -> FloatArray:
        """P N/((tp + fp)(tn + fn)): markedness is youden times this."""
        return divided(self.positives, self.called) * divided(self.negatives, self.fn + self.tn)


def _integers(counts: FloatArray) -> Counted:
    return np.array([int(count) for count in counts.ravel().tolist()], object).reshape(counts.shape)


def divided(part: Counted, whole: Counted) -> FloatArray:
    """The quotient; NaN where the divisor is 0, or the quotient above all doubles."""
    part, whole = np.broadcast_arrays(part, whole)
    found = np.full(part.shape, np.nan, dtype=part.dtype)
    with np.errstate(over="ignore"):
        np.divide(part, whole, out=found, where=whole != 0)
    quotient: FloatArray = found.astype(np.float64)
    quotient[np.isinf(quotient)] = np.nan
    return quotient


ValueOfRows = Callable[[Matrices], FloatArray]
"""A metric of each of some matrices, (n,); NaN where undefined."""

OF_EITHER_CLASS = frozenset(
    (
        *("balanced_accuracy", "recall", "sensitivity", "tpr", "specificity", "fpr", "fnr", "youden"),
        *("lr_positive", "lr_negative"),
    )
)
"""The metrics that are functions of recall and fpr alone, whatever the prevalence."""


@dataclass(frozen=True, slots=True)
class RowMetric:
    """A metric: its name, what it is, and its value.

    formula   its value, without regard to a target.
    better    1 if more is better, -1 if less is, 0 if neither is.
    low, high the ends of its range.
    """

    name: str
    about: str
    formula: ValueOfRows
    better: int = 1
    low: float = 0.0
    high: float = 1.0

    def value(self, of: Matrices) -> FloatArray:
        """Its value where the model is used, (n,); NaN where undefined."""
        return self.formula(of if self.name in OF_EITHER_CLASS else of.in_use)


def values_of(name: str, table: ConfusionTable) -> FloatArray:
    """A metric of every row of a table, (n,)."""
    found = np.empty(table.tp.size)
    for rows in in_time(blocks(found.size)):
        tp, fp = table.tp[rows], table.fp[rows]
        found[rows] = ROW_METRICS[name].value(matrices_of(table, tp, fp))
    return found


def matrices_of(table: ConfusionTable, tp: FloatArray, fp: FloatArray) -> Matrices:
    """Matrices of a table's data, with these tp and fp of some of its rows, (n,)."""
    return Matrices(tp, fp, table.positives, table.negatives, table.integral, table.target)


def _quotient(part: Callable[[Matrices], Counted], whole: Callable[[Matrices], Counted]) -> ValueOfRows:
    def value(of: Matrices) -> FloatArray:
        exact = of.exact
        return divided(part(exact), whole(exact))

    return value


_precision = _quotient(lambda of: of.tp, lambda of: of.called)
_recall = _quotient(lambda of: of.tp, lambda of: of.positives)
_specificity = _quotient(lambda of: of.tn, lambda of: of.negatives)
_fpr = _quotient(lambda of: of.fp, lambda of: of.negatives)
_fnr = _quotient(lambda of: of.fn, lambda of: of.positives)


def _mcc(of: Matrices) -> FloatArray:
    """(tp tn - fp fn)/√((tp + fp)(tn + fn) P N), which is youden √growth: √(markedness youden) with their sign."""
    return np.clip(of.youden * np.sqrt(of.growth), -1, 1)


def _markedness(of: Matrices) -> FloatArray:
    """(tp tn - fp fn)/((tp + fp)(tn + fn)), which is precision + npv - 1."""
    return _or_0_of_one_class(of, np.clip(of.youden * of.growth, -1, 1), of.called * (of.fn + of.tn))


def _kappa(of: Matrices) -> FloatArray:
    """(o - e)/(1 - e) = 2 (tp tn - fp fn)/((tp + fp) N + P (fn + tn)), with accuracy o and what chance gives, e."""
    below = divided(of.called, of.positives) + divided(of.fn + of.tn, of.negatives)
    found = np.clip(divided(2 * of.youden, below), -1, 1)
    return _or_0_of_one_class(of, found, of.called * of.negatives + (of.fn + of.tn) * of.positives)


def _or_0_of_one_class(of: Matrices, found: FloatArray, divisor: Counted) -> FloatArray:
    """What was found, but 0 over the divisor where there is one class, which has no youden."""
    one_class = (np.asarray(of.positives) == 0) | (np.asarray(of.negatives) == 0)
    return np.where(one_class, divided(np.zeros(1), divisor), found) if one_class.any() else found


def _lift(of: Matrices) -> FloatArray:
    return divided(_precision(of), divided(of.positives, of.total))


_OF_CALLED = "tp / (tp + fp): of what is called positive, the share that is. `null` if nothing is."
_OF_POSITIVES = "tp / positives: of the positives, the share that is called so."

ROW_METRICS: dict[str, RowMetric] = {
    each.name: each
    for each in (
        RowMetric(
            "accuracy",
            "(tp + tn) / (positives + negatives).",
            _quotient(lambda of: of.tp + of.tn, lambda of: of.total),
        ),
        RowMetric(
            "balanced_accuracy",
            "The mean of recall and specificity.",
            lambda of: (_recall(of) + _specificity(of)) / 2,
        ),
        RowMetric("precision", _OF_CALLED, _precision),
        RowMetric("ppv", f"Precision by its clinical name, {_OF_CALLED}", _precision),
        RowMetric("recall", _OF_POSITIVES, _recall),
        RowMetric("sensitivity", f"Recall by its clinical name, {_OF_POSITIVES}", _recall),
        RowMetric("tpr", f"Recall by its name on ROC curves, {_OF_POSITIVES}", _recall),
        RowMetric("specificity", "tn / negatives: of the negatives, the share that is called so.", _specificity),
        RowMetric(
            "npv",
            "tn / (tn + fn): of what is called negative, the share that is. `null` if nothing is.",
            _quotient(lambda of: of.tn, lambda of: of.tn + of.fn),
        ),
        RowMetric("fpr", "fp / negatives: of the negatives, the share that is called positive.", _fpr, better=-1),
        RowMetric("fnr", "fn / positives: of the positives, the share that is called negative.", _fnr, better=-1),
        RowMetric(
            "f1",
            "2 tp / (2 tp + fn + fp), the harmonic mean of precision and recall.",
            _quotient(lambda of: 2 * of.tp, lambda of: 2 * of.tp + of.fn + of.fp),
        ),
        RowMetric(
            "f2",
            "5 tp / (5 tp + 4 fn + fp): F-beta at beta 2, for which recall counts more.",
            _quotient(lambda of: 5 * of.tp, lambda of: 5 * of.tp + 4 * of.fn + of.fp),
        ),
        RowMetric(
            "f0_5",
            "5 tp / (5 tp + fn + 4 fp): F-beta at beta 0.5, for which precision counts more.",
            _quotient(lambda of: 5 * of.tp, lambda of: 5 * of.tp + of.fn + 4 * of.fp),
        ),
        RowMetric(
            "jaccard",
            "tp / (tp + fp + fn), the intersection over the union.",
            _quotient(lambda of: of.tp, lambda of: of.tp + of.fp + of.fn),
        ),
        RowMetric(
            "mcc",
            "Matthews's correlation of what is called and what is positive, (tp tn - fp fn) / √((tp + fp)(tn + fn) "
            "positives negatives). `null` if everything or nothing is called positive.",
            _mcc,
            low=-1.0,
        ),
        RowMetric(
            "kappa",
            "Cohen's kappa, (accuracy - e) / (1 - e), with the accuracy e that chance would give.",
            _kappa,
            low=-1.0,
        ),
        RowMetric("youden", "Youden's J, recall - fpr; also informedness.", lambda of: of.youden, low=-1.0),
        RowMetric(
            "markedness",
            "precision + npv - 1. `null` if everything or nothing is called positive.",
            _markedness,
            low=-1.0,
        ),
        RowMetric(
            "share",
            "(tp + fp) / (positives + negatives): the share of all rows that is called positive.",
            _quotient(lambda of: of.called, lambda of: of.total),
            better=0,
        ),
        RowMetric(
            "lift",
            "Precision over the share of positives: how many times more positives than in as many rows at random. "
            "`null` if nothing is called positive.",
            _lift,
            high=np.inf,
        ),
        RowMetric(
            "lr_positive",
            "The positive likelihood ratio, recall / fpr. `null` without false positives.",
            lambda of: divided(_recall(of), _fpr(of)),
            high=np.inf,
        ),
        RowMetric(
            "lr_negative",
            "The negative likelihood ratio, fnr / specificity. `null` without true negatives.",
            lambda of: divided(_fnr(of), _specificity(of)),
            better=-1,
            high=np.inf,
        ),
    )
}
"""{name: metric}, in the order of answers."""
