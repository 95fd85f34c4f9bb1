"""A gate's checks, slow and obvious: what the contract says about values, intervals and verdicts, restated plainly.

Values are fractions, or mpmath numbers if there is a logarithm; errors come from all pairs of a positive and a
negative. A bootstrapped interval has no numbers here, only the name of its method. Nothing here may import the service.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from fractions import Fraction
from typing import Any

import mpmath

from tests import reference_calibration as calibration
from tests import reference_metrics, reference_partial
from tests.reference import Row, Table, correctly_rounded
from tests.reference_operating_points import value_at
from tests.reference_pr import AREAS, HULL_AREAS
from tests.reference_tradeoff import INDICES
from tests.reference_tradeoff import value as index_of
from tests.support.strategies import Data, Rows

Evaluation = Data | Rows
Exact = Fraction | mpmath.mpf
Rule = Mapping[str, Any]

PARTIAL = "partial"
WAYS = ("at_threshold", "at_share", "at_fpr", "at_recall", "best")
"""What names a row, of which a rule of a row has one."""
OF_PROBABILITIES = ("brier", "miscalibration", "log_loss", "ece", "calibration_slope", "calibration_intercept")
STATISTICS = ("gini", "ks", "prg", "eer", *OF_PROBABILITIES)
LESS_IS_BETTER = (*reference_metrics.LESS_IS_BETTER, "eer", "brier", "miscalibration", "log_loss", "ece")
NEITHER_IS_BETTER = ("share", "calibration_slope", "calibration_intercept")
LONGEST_TRAPEZOID = 10**7
SLACK = Fraction(1, 2**52)
"""The tolerance for a drop, because two values and then their difference are rounded."""


@dataclass(frozen=True)
class Example:
    """One example; the higher the score, the more positive."""

    score: float
    positive: bool
    weight: Fraction


def value(evaluation: Evaluation, rule: Rule) -> Exact | None:  # noqa: PLR0911  # a case for each kind of metric
    """The metric of an evaluation; None if it has no value."""
    table, metric = evaluation.table(), rule["metric"]
    if metric in AREAS:
        if not table.sweep and metric not in HULL_AREAS:
            return None
        if metric == "pr_trapezoid" and not (table.whole and table.positives <= LONGEST_TRAPEZOID):
            return None
        return AREAS[metric](table)
    if metric == PARTIAL:
        return reference_partial.mean(table, rule) if table.sweep else None
    if metric in STATISTICS:
        return statistic(evaluation, rule)
    if not is_of_row(rule):
        return value_at(table, metric, rule["at"])
    row = row_of(evaluation, rule)
    return None if row is None else of_row(row, table, rule)


def is_of_row(rule: Rule) -> bool:
    """Whether a rule is about one row of the table."""
    return any(way in rule for way in WAYS)


def row_of(evaluation: Evaluation, rule: Rule) -> Row | None:
    """The row that a rule is about."""
    if "at_threshold" in rule:
        return row_at(evaluation, rule["at_threshold"])
    return reference_metrics.chosen(evaluation.table(), rule)


def statistic(  # noqa: PLR0911  # a case for each statistic
    evaluation: Evaluation, rule: Rule
) -> Exact | float | None:
    """A number of all scores."""
    table, metric = evaluation.table(), rule["metric"]
    if metric == "ks":
        return calibration.ks(table)[0]
    if metric not in OF_PROBABILITIES:
        if not table.sweep:
            return None
        if metric == "gini":
            return 2 * AREAS["roc"](table) - 1
        return calibration.gain_area(table) if metric == "prg" else calibration.equal_errors(table)[0]
    lower = is_lower(evaluation)
    if isinstance(evaluation, Rows) or not all(0 <= score <= 1 for score in evaluation.scores):
        return None
    if metric in ("brier", "miscalibration"):
        return calibration.brier_parts(table, lower_is_positive=lower)[metric == "miscalibration"]
    found = examples(evaluation)
    chances = [1 + Fraction(each.score) if lower else Fraction(each.score) for each in found]
    if metric == "log_loss":
        return calibration.log_loss(
            (chance, each.weight * each.positive, each.weight * (not each.positive))
            for chance, each in zip(chances, found, strict=True)
        )
    labels, masses = [each.positive for each in found], [each.weight for each in found]
    return calibration.ece(chances, labels, masses, rule.get("bins", 15), rule.get("by", "width"))


def of_row(row: Row, table: Table, rule: Rule) -> Exact | None:
    """A rate or an index of one row."""
    metric = rule["metric"]
    if "at" not in rule and metric in reference_metrics.of_row(table, row):
        return reference_metrics.of_row(table, row)[metric]
    return index_of(metric, row, table.positives, Fraction(rule.get("at", 0.5))) if row.tp else Fraction(0)


def row_at(evaluation: Evaluation, threshold: float) -> Row | None:
    """The counts that a threshold calls positive. Counts know them only for their own thresholds."""
    if isinstance(evaluation, Rows):
        found = {(row.tp, row.fp) for row in evaluation.table().rows if row.threshold == threshold}
        return Row(*found.pop()) if len(found) == 1 else None
    called = [example for example in examples(evaluation) if is_called(evaluation, example, threshold)]
    return Row(
        sum((example.weight for example in called if example.positive), Fraction(0)),
        sum((example.weight for example in called if not example.positive), Fraction(0)),
    )


def examples(evaluation: Evaluation) -> list[Example]:
    """The examples with a weight above 0. Whole counts give that many at each row, the first row scoring highest."""
    if isinstance(evaluation, Data):
        weights = evaluation.weights or [1.0] * len(evaluation.scores)
        sign = -1.0 if is_lower(evaluation) else 1.0
        rows = zip(evaluation.scores, evaluation.labels, weights, strict=True)
        return [Example(sign * score, label, Fraction(weight)) for score, label, weight in rows if weight > 0]
    found = []
    for number, (a, b) in enumerate(evaluation.table().steps()):
        found += [Example(-number, positive=True, weight=Fraction(1))] * int(b.tp - a.tp)
        found += [Example(-number, positive=False, weight=Fraction(1))] * int(b.fp - a.fp)
    return found


def is_lower(evaluation: Evaluation) -> bool:
    """Whether low scores are positive."""
    return isinstance(evaluation, Data) and evaluation.lower_is_positive


def is_called(evaluation: Evaluation, example: Example, threshold: float) -> bool:
    """Whether a threshold calls an example positive."""
    if isinstance(evaluation, Data):
        return example.score >= (-threshold if is_lower(evaluation) else threshold)
    row = next(number for number, row in enumerate(evaluation.table().rows) if row.threshold == threshold)
    return example.score >= 1 - row


def verdict(rule: Rule, found: float | None, before: float | None, ends: Mapping[str, Any] | None) -> str:
    """The status of a rule, from the numbers in an answer: bounds are inclusive."""
    change = next((kind for kind in ("max_drop", "max_rise") if kind in rule), None)
    if found is None or (change and before is None) or ("confidence" in rule and ends is None):
        return "undecided"
    if change:
        turned = 1 if change == "max_rise" else -1
        worse = turned * (Fraction(found) - Fraction(before))
        ends = ends and {"lower": turned * Fraction(ends["lower"]), "upper": turned * Fraction(ends["upper"])}
        slack = SLACK * max(1, abs(Fraction(found)), abs(Fraction(before)))
        return met(worse, ends, Fraction(rule[change]) + slack, rule)
    if "min" in rule:
        ends = ends and {"lower": -Fraction(ends["lower"]), "upper": -Fraction(ends["upper"])}
        return met(-Fraction(found), ends, -Fraction(rule["min"]), rule)
    return met(Fraction(found), ends, Fraction(rule["max"]), rule)


def met(number: Fraction, ends: Mapping[str, Any] | None, most: Fraction, rule: Rule) -> str:
    """Whether a number is small enough or, with confidence, its interval."""
    if "confidence" not in rule:
        return "passed" if number <= most else "failed"
    low, *_, high = sorted([number, *ends.values()])
    if high <= most:
        return "passed"
    if low > most:
        return "failed"
    told = "pass" if "prove" in rule else rule.get("inconclusive", "fail")
    return {"fail": "failed", "pass": "passed", "undecided": "undecided"}[told]


def near(number: float | None, exact_value: Exact | None, tolerance: float = 1e-12) -> bool:
    """Whether a number is the exact one, within a relative tolerance; None is near only None."""
    if number is None or exact_value is None:
        return number is None and exact_value is None
    if isinstance(exact_value, Fraction):
        exact_value = correctly_rounded(exact_value)
    return abs(mpmath.mpf(number) - exact_value) <= tolerance * max(1, abs(exact_value))


def metrics() -> list[dict[str, Any]]:
    """One example of each metric, as a rule names it."""
    curves = [{"metric": name, "at": 0.6} for name in ("precision_at_recall", "recall_at_precision", "tpr_at_fpr")]
    names = (*reference_metrics.QUOTIENTS, "balanced_accuracy", "mcc", "kappa", "youden", "markedness", "lift")
    rates = [{"metric": name, "at_threshold": 0.5} for name in (*names, "lr_positive", "lr_negative")]
    budgets = [
        {"metric": "precision", "at_share": 0.4},
        {"metric": "recall", "at_fpr": 0.3},
        {"metric": "specificity", "at_recall": 0.6},
        {"metric": "f1", "at_share": 0.0},
        {"metric": "recall", "best": "f1"},
        {"metric": "precision", "best": "recall", "max_fpr": 0.25},
        {"metric": "share", "best": "precision", "min_recall": 0.6},
    ]
    indices = [{"metric": name, "at": 0.3} for name in INDICES]
    ranges = [
        {"over": "fpr", "from": 0.0, "to": 0.387},
        {"over": "fpr", "from": 0.161, "to": 0.713, "min_tpr": 0.213},
        {"over": "tpr", "from": 0.287, "to": 1.0},
        {"over": "recall", "from": 0.187, "to": 0.913},
    ]
    return (
        [{"metric": name} for name in AREAS]
        + [{"metric": PARTIAL} | part for part in ranges]
        + curves
        + rates
        + budgets
        + indices
        + [index | {"at_threshold": 0.5} for index in indices]
        + [{"metric": "kulczynski", "at_share": 0.3}]
        + [{"metric": name} for name in STATISTICS if not name.startswith("calibration")]
        + [{"metric": "ece", "bins": 4, "by": "mass"}]
    )


def kinds_of_bounds(rule: Rule) -> list[str]:
    """The bounds that a metric takes, if there is a baseline."""
    if rule["metric"] in NEITHER_IS_BETTER:
        return ["min", "max"]
    return ["min", "max", "max_rise" if rule["metric"] in LESS_IS_BETTER else "max_drop"]
