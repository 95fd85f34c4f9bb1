"""A gate's checks, slow and obvious: what the contract says of values, intervals and verdicts, restated plainly.

Values are fractions, or mpmath numbers where there is a logarithm; errors come from all pairs of a positive and a
negative. What is bootstrapped has no numbers here, only the name of its method. Nothing here may import the service.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from fractions import Fraction
from typing import Any

import mpmath

from tests import reference_inference as inference
from tests import reference_pr
from tests.reference import Row, Table, correctly_rounded, roc_area, roc_hull_area
from tests.reference_inference import Placements, placements
from tests.reference_operating_points import value_at
from tests.reference_tradeoff import INDICES
from tests.reference_tradeoff import value as index_of
from tests.strategies import Data, Rows

Evaluation = Data | Rows
Exact = Fraction | mpmath.mpf
Rule = Mapping[str, Any]

AREAS: dict[str, Callable[[Table], Exact]] = {
    "roc": roc_area,
    "roc_hull": roc_hull_area,
    "pr": reference_pr.pr_area,
    "pr_trapezoid": reference_pr.pr_trapezoid,
    "pr_achievable": reference_pr.pr_achievable_area,
    "average_precision": reference_pr.average_precision,
}
HULL_AREAS = ("roc_hull", "pr_achievable")
WITHOUT_INTERVAL = (*HULL_AREAS, "pr_trapezoid")
BOOTSTRAPS = ("bootstrap", "bca")
LONGEST_TRAPEZOID = 10**7
FEWEST = 2
SLACK = Fraction(1, 2**52)
"""Two values are rounded, and then their difference: so much more than what was meant may a drop be."""


@dataclass(frozen=True)
class Interval:
    """The ends, where there is a formula for them, and the method."""

    method: str
    lower: Any = None
    upper: Any = None
    error: Any = None


@dataclass(frozen=True)
class Example:
    """One example; the higher the score, the more positive."""

    score: float
    positive: bool
    weight: Fraction


def value(evaluation: Evaluation, rule: Rule) -> Exact | None:
    """The metric of an evaluation; None where there is none."""
    table, metric = evaluation.table(), rule["metric"]
    if metric in AREAS:
        if not table.sweep and metric not in HULL_AREAS:
            return None
        if metric == "pr_trapezoid" and not (table.whole and table.positives <= LONGEST_TRAPEZOID):
            return None
        return AREAS[metric](table)
    if "at_threshold" not in rule:
        return value_at(table, metric, rule["at"])
    row = row_at(evaluation, rule["at_threshold"])
    return None if row is None else of_row(row, table, rule)


def of_row(row: Row, table: Table, rule: Rule) -> Exact | None:
    """A rate or an index of one row."""
    metric = rule["metric"]
    if metric == "precision":
        return row.tp / (row.tp + row.fp) if row.tp + row.fp else None
    if metric == "recall":
        return row.tp / table.positives
    if metric == "fpr":
        return row.fp / table.negatives
    return index_of(metric, row, table.positives, Fraction(rule["at"])) if row.tp else Fraction(0)


def row_at(evaluation: Evaluation, threshold: float) -> Row | None:
    """What a threshold calls positive. Counts know that only of the thresholds that they list."""
    if isinstance(evaluation, Rows):
        found = {(row.tp, row.fp) for row in evaluation.table().rows if row.threshold == threshold}
        return Row(*found.pop()) if len(found) == 1 else None
    called = [example for example in examples(evaluation) if is_called(evaluation, example, threshold)]
    return Row(
        sum((example.weight for example in called if example.positive), Fraction(0)),
        sum((example.weight for example in called if not example.positive), Fraction(0)),
    )


def examples(evaluation: Evaluation) -> list[Example]:
    """The examples that weigh anything. Of whole counts they are so many at each row, the first row scoring highest."""
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


def placed(evaluation: Evaluation) -> Placements:
    """The placement values of its examples."""
    found = examples(evaluation)
    return placements(
        [example.score for example in found],
        [example.positive for example in found],
        [float(example.weight) for example in found],
    )


def has_intervals(evaluation: Evaluation, metric: str) -> bool:
    """Not hull areas, nor what is no sweep, nor with fewer than two of a class."""
    if metric in WITHOUT_INTERVAL or not evaluation.table().sweep:
        return False
    if isinstance(evaluation, Rows) and not evaluation.table().whole:
        return min(evaluation.positives, evaluation.negatives) >= FEWEST
    sizes = [sum(example.positive == of for example in examples(evaluation)) for of in (True, False)]
    return min(sizes) >= FEWEST


def effective(weights: list[Fraction]) -> Fraction:
    """So many examples of equal weight tell as much."""
    return sum(weights) ** 2 / sum(weight**2 for weight in weights)


def trials(evaluation: Evaluation, rule: Rule) -> Fraction:
    """How many trials a 0 or 1 stands for: the examples that the metric is a share of, else the smaller class."""
    found = examples(evaluation)
    of_class = {of: effective([each.weight for each in found if each.positive == of]) for of in (True, False)}
    if rule["metric"] == "recall":
        return of_class[True]
    if rule["metric"] == "fpr":
        return of_class[False]
    if rule["metric"] == "precision":
        return effective([each.weight for each in found if is_called(evaluation, each, rule["at_threshold"])])
    return min(of_class.values())


def is_called(evaluation: Evaluation, example: Example, threshold: float) -> bool:
    """Whether a threshold calls an example positive."""
    if isinstance(evaluation, Data):
        return example.score >= (-threshold if is_lower(evaluation) else threshold)
    row = next(number for number, row in enumerate(evaluation.table().rows) if row.threshold == threshold)
    return example.score >= 1 - row


def method_of(metric: str, method: str, *, difference: bool) -> str:
    """What an interval is made by; a method that a metric does not have is the bootstrap."""
    if method in BOOTSTRAPS:
        return method
    if metric == "roc":
        return "delong" if difference or method == "delong" else "logit"
    if metric in {"pr", "average_precision"} and not difference and method != "delong":
        return "logit"
    return "bootstrap"


def interval(evaluation: Evaluation, rule: Rule, level: float, method: str) -> Interval | None:
    """Of the value; None where there is none. Where resamples have no value there may be none, either."""
    found, metric = value(evaluation, rule), rule["metric"]
    if found is None or not has_intervals(evaluation, metric):
        return None
    if found in {0, 1}:
        return exact(found, trials(evaluation, rule), level)
    made_by = method_of(metric, method, difference=False)
    if made_by in BOOTSTRAPS:
        return Interval(made_by) if evaluation.table().whole or isinstance(evaluation, Data) else None
    rounded = float(found)
    if metric != "roc":
        positives = effective([example.weight for example in examples(evaluation) if example.positive])
        error = mpmath.sqrt(rounded * (1 - rounded) / float(positives))
        return Interval("logit", *inference.boyd_eng_page_ends(rounded, float(positives), level), error)
    places = placed(evaluation)
    error = inference.root(inference.covariance(places, places))
    if made_by == "delong":
        lower, upper = inference.normal_ends(rounded, error, level)
        return Interval("delong", max(lower, 0), min(upper, 1), error)
    return Interval("logit", *inference.logit_ends(rounded, error, level), error)


def exact(found: Exact, number: Fraction, level: float) -> Interval:
    """Clopper and Pearson's: so many trials with one outcome are as likely as half of what is outside."""
    with mpmath.workdps(inference.DIGITS):
        chance = ((1 - mpmath.mpf(level)) / 2) ** (mpmath.mpf(number.denominator) / number.numerator)
        return Interval("exact", chance, 1) if found else Interval("exact", 0, 1 - chance)


def difference_interval(
    current: Evaluation, baseline: Evaluation, rule: Rule, level: float, method: str, *, paired: bool
) -> Interval | None:
    """Of the current value less the baseline's."""
    values = [value(each, rule) for each in (current, baseline)]
    metric = rule["metric"]
    if None in values or not all(has_intervals(each, metric) for each in (current, baseline)):
        return None
    if not (paired and same(current, baseline)) and any(each in {0, 1} for each in values):
        return combined(values, [interval(each, rule, level, method) for each in (current, baseline)])
    made_by = method_of(metric, method, difference=True)
    if made_by in BOOTSTRAPS:
        drawn = all(isinstance(each, Data) or each.table().whole for each in (current, baseline))
        return Interval(made_by) if drawn else None
    error = difference_error(current, baseline, paired=paired)
    lower, upper = inference.normal_ends(float(values[0]) - float(values[1]), error, level)
    return Interval("delong", max(lower, -1), min(upper, 1), error)


def combined(values: list[Any], singles: list[Interval | None]) -> Interval | None:
    """MOVER: from the intervals of both, as if they were independent."""
    if None in singles:
        return None
    if any(single.lower is None for single in singles):
        return Interval("exact")
    ends = [(single.lower, single.upper) for single in singles]
    lower, upper = inference.mover_ends([float(each) for each in values], *ends)
    return Interval("exact", max(lower, -1), min(upper, 1))


def same(current: Evaluation, baseline: Evaluation) -> bool:
    """The same scores, read in the same direction."""
    return current.scores == baseline.scores and is_lower(current) == is_lower(baseline)


def difference_error(current: Evaluation, baseline: Evaluation, *, paired: bool) -> Any:
    """DeLong's, from all pairs of a positive and a negative."""
    one, other = placed(current), placed(baseline)
    variance = inference.covariance(one, one) + inference.covariance(other, other)
    return inference.root(inference.difference_variance(one, other) if paired else variance)


def p_value(current: Evaluation, baseline: Evaluation, *, paired: bool) -> Any:
    """Of no difference between the areas under the ROC curves; None if there is a difference but no error."""
    error = difference_error(current, baseline, paired=paired)
    apart = value(current, {"metric": "roc"}) - value(baseline, {"metric": "roc"})
    if error == 0:
        return None if apart else 1
    return inference.p_value(float(apart), error)


def verdict(rule: Rule, found: float | None, before: float | None, ends: Mapping[str, Any] | None) -> str:
    """The status of a rule, from the numbers that an answer shows: bounds are inclusive."""
    numbers = [found, before] if "max_drop" in rule else [found]
    if None in numbers or ("confidence" in rule and ends is None):
        return "undecided"
    if "max_drop" in rule:
        change = Fraction(found) - Fraction(before)
        if "confidence" in rule:
            change = Fraction(ends["upper"] if rule.get("prove") == "drop" else ends["lower"])
        return "passed" if change >= -Fraction(rule["max_drop"]) - SLACK else "failed"
    if "min" in rule:
        return "passed" if (ends["lower"] if "confidence" in rule else found) >= rule["min"] else "failed"
    return "passed" if (ends["upper"] if "confidence" in rule else found) <= rule["max"] else "failed"


def near(number: float | None, exact_value: Exact | None, tolerance: float = 1e-12) -> bool:
    """Whether a number is the exact one, to within a relative tolerance; None is near None alone."""
    if number is None or exact_value is None:
        return number is None and exact_value is None
    if isinstance(exact_value, Fraction):
        exact_value = correctly_rounded(exact_value)
    return abs(mpmath.mpf(number) - exact_value) <= tolerance * max(1, abs(exact_value))


def metrics() -> list[dict[str, Any]]:
    """One of each metric, as a rule names it."""
    curves = [{"metric": name, "at": 0.6} for name in ("precision_at_recall", "recall_at_precision", "tpr_at_fpr")]
    rates = [{"metric": name, "at_threshold": 0.5} for name in ("precision", "recall", "fpr")]
    indices = [{"metric": name, "at": 0.3} for name in INDICES]
    return (
        [{"metric": name} for name in AREAS]
        + curves
        + rates
        + indices
        + [index | {"at_threshold": 0.5} for index in indices]
    )
