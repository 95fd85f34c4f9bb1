"""A gate's intervals, slow and obvious: the interval of a metric or a difference, by the papers' formulas.

Errors come from all pairs of a positive and a negative. A bootstrapped interval has no numbers here, only the name of
its method. Nothing here may import the service.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from fractions import Fraction
from typing import Any

import mpmath

from tests import reference_inference as inference
from tests import reference_partial
from tests import reference_score as score
from tests import reference_spread as spread
from tests.reference import Row, with_ends
from tests.reference_gate import (
    PARTIAL,
    Evaluation,
    Exact,
    Rule,
    examples,
    is_called,
    is_lower,
    is_of_row,
    row_of,
    value,
)
from tests.reference_inference import Placements, placements
from tests.reference_pr import AREAS, HULL_AREAS
from tests.support.strategies import Data, Rows

BOOTSTRAPS = ("bootstrap", "bca")
WITHOUT_INTERVAL = (*HULL_AREAS, "pr_trapezoid")
STATISTICS = {"brier": "logit", "log_loss": "log"}
"""{statistic: the method of its interval}, whose numbers tests/inference/test_probability_errors.py has."""
INTERVAL_METRICS = (
    "roc",
    "gini",
    *STATISTICS,
    "pr",
    "average_precision",
    "partial",
    "tpr_at_fpr",
    "precision_at_recall",
)
SHARES = ("recall", "fpr")
SPANS = dict.fromkeys(("mcc", "kappa", "youden", "markedness"), 2) | dict.fromkeys(
    ("lift", "lr_positive", "lr_negative"), float("inf")
)
"""{metric: how far apart two values may be}, if not 1."""
FEWEST = 2


@dataclass(frozen=True)
class Interval:
    """The ends, if there is a formula for them, and the method."""

    method: str
    lower: Any = None
    upper: Any = None
    error: Any = None


def placed(evaluation: Evaluation) -> Placements:
    """The placement values of its examples."""
    found = examples(evaluation)
    return placements(
        [example.score for example in found],
        [example.positive for example in found],
        [float(example.weight) for example in found],
    )


def has_interval(rule: Rule) -> bool:
    """Whether a metric has intervals: hull areas and the best of all rows have none."""
    if rule["metric"] in WITHOUT_INTERVAL:
        return False
    if is_of_row(rule):
        return "best" not in rule
    return rule["metric"] in INTERVAL_METRICS


def has_intervals(evaluation: Evaluation, rule: Rule) -> bool:
    """Whether it is a sweep with at least two effective examples of each class."""
    return has_interval(rule) and evaluation.table().sweep and min(effective(evaluation)) >= FEWEST


def effective(evaluation: Evaluation) -> tuple[Fraction, Fraction]:
    """The effective numbers of positives and of negatives."""
    if isinstance(evaluation, Rows) and not evaluation.table().whole:
        return Fraction(evaluation.positives), Fraction(evaluation.negatives)
    found = examples(evaluation)
    weights = [[each.weight for each in found if each.positive == of] for of in (True, False)]
    return inference.effective(weights[0]), inference.effective(weights[1])


def method_of(rule: Rule, method: str, *, difference: bool) -> str | None:
    """The method of an interval; None if there is none."""
    metric = rule["metric"]
    if is_of_row(rule):
        return "score"
    if metric in STATISTICS:
        return "wald" if difference else STATISTICS[metric]
    if metric not in (*AREAS, PARTIAL, "gini"):
        return method if method in BOOTSTRAPS else "bootstrap" if difference else "score"
    if method in BOOTSTRAPS:
        return method
    if method == "delong":
        return "delong" if metric in ("roc", "gini") else None
    return "mover" if difference else "logit"


def interval(  # noqa: C901, PLR0911  # a case for each kind of interval
    evaluation: Evaluation, rule: Rule, level: float, method: str
) -> Interval | None:
    """The interval of the value; None if there is none. If resamples have no value, there may be none, too."""
    if rule["metric"] == "gini":
        return of_gini(interval(evaluation, {"metric": "roc"}, level, method), less=1)
    found, metric = value(evaluation, rule), rule["metric"]
    if found is None or not has_intervals(evaluation, rule):
        return None
    if metric in STATISTICS:
        return Interval(STATISTICS[metric])
    if metric == PARTIAL and float(found) in {0, 1}:
        return exact_partial(evaluation, rule, found, level)
    if metric in AREAS and found in {0, 1}:
        return exact(evaluation, metric, found, level)
    made_by = method_of(rule, method, difference=False)
    if made_by is None:
        return None
    if made_by == "score" or found in {0, 1}:
        return Interval("score", *score_ends(evaluation, rule, found, float(inference.normal_quantile(level))))
    if made_by in BOOTSTRAPS:
        return Interval(made_by) if evaluation.table().whole or isinstance(evaluation, Data) else None
    rounded = float(found)
    if metric == PARTIAL:
        error = spread.standard_error(evaluation, rule)
        lower, upper = inference.logit_ends(rounded, error, level)
        lowest = exact_partial(evaluation, rule, Fraction(1), level).lower
        return Interval("logit", min(lower, lowest), upper, error)
    if metric != "roc":
        error = spread.standard_error(evaluation, rule)
        sizes = effective(evaluation)
        ends = inference.pr_logit_ends(rounded, error, (float(sizes[0]), float(sizes[1])), level)
        return capped(evaluation, metric, level, Interval("logit", *ends, error))
    places = placed(evaluation)
    error = inference.root(inference.covariance(places, places))
    if made_by == "delong":
        lower, upper = inference.normal_ends(rounded, error, level)
        return Interval("delong", max(lower, 0), min(upper, 1), error)
    return capped(evaluation, metric, level, Interval("logit", *inference.logit_ends(rounded, error, level), error))


def of_gini(roc: Interval | None, less: int) -> Interval | None:
    """That of 2 roc - 1, or of the difference of two."""
    if roc is None or roc.lower is None:
        return roc
    error = None if roc.error is None else 2 * roc.error
    return Interval(roc.method, 2 * roc.lower - less, 2 * roc.upper - less, error)


def capped(evaluation: Evaluation, metric: str, level: float, found: Interval) -> Interval:
    """No data show more than those with an area of 1, or of 0."""
    lower = min(found.lower, exact(evaluation, metric, Fraction(1), level).lower)
    upper = found.upper
    if metric == "roc":
        upper = max(upper, exact(evaluation, metric, Fraction(0), level).upper)
    return Interval(found.method, lower, upper, found.error)


def exact_partial(evaluation: Evaluation, rule: Rule, found: Exact, level: float) -> Interval:
    """For a mean height of 1, the least with a share of each class misranked; for 0, the tpr at the end of the range.

    Over tpr it is the curve of the negatives, from the other end.
    """
    table, trials = evaluation.table(), [float(each) for each in effective(evaluation)]
    if found:
        half = (1 - level) / 2
        lows = []
        for part in range(101):
            above = Fraction(1 - half ** (part / 100 / trials[1]))
            below = Fraction(1 - half ** ((1 - part / 100) / trials[0]))
            corners = [(0, above), (1 - below, above), (1 - below, 1)]
            rows = [Row(tp * table.positives, fp * table.negatives) for tp, fp in corners]
            lows.append(float(reference_partial.mean(with_ends(rows, table.positives, table.negatives), rule)))
        return Interval("exact", min(lows), 1)
    if rule["over"] == "recall":
        return Interval("exact", 0, 1)
    roc = [(float(row.fp / table.negatives), float(row.tp / table.positives)) for row in table.rows]
    end, floor = rule.get("to", 1.0), rule.get("min_tpr", 0.0)
    if rule["over"] == "tpr":
        roc, end = [(1 - tpr, 1 - fpr) for fpr, tpr in reversed(roc)], 1 - rule.get("from", 0.0)
        trials.reverse()
    _, highest = score.tpr_at_fpr_ends(roc, end, 0.0, trials, float(inference.normal_quantile(level)))
    return Interval("exact", 0, max(highest - floor, 0) / (1 - floor))


def called_trials(evaluation: Evaluation, rule: Rule, *, of: bool) -> float:
    """The number of trials of the share of a class that a decision calls positive."""
    if isinstance(evaluation, Rows):
        return float(effective(evaluation)[0 if of else 1])
    found = [each for each in examples(evaluation) if each.positive == of]
    return float(trials_of([(each.weight, Fraction(is_called_by(evaluation, each, rule))) for each in found]))


def is_called_by(evaluation: Data, example: Any, rule: Rule) -> bool:
    """Whether a decision calls an example of a sample positive."""
    threshold = rule["at_threshold"] if "at_threshold" in rule else row_of(evaluation, rule).threshold
    return threshold is not None and is_called(evaluation, example, threshold)


def trials_of(values: list[tuple[Fraction, Fraction]]) -> Fraction:
    """How many equally weighted examples would give a mean this variance; no more than the weights themselves allow."""
    total = sum(weight for weight, _ in values)
    mean = sum(weight * value for weight, value in values) / total
    spread = sum(weight * (value - mean) ** 2 for weight, value in values) / total
    variance = sum((weight * (value - mean)) ** 2 for weight, value in values) / total**2
    kish = inference.effective([weight for weight, _ in values])
    return min(kish, spread / variance) if variance else kish


def score_ends(evaluation: Evaluation, rule: Rule, found: Exact, z: float) -> score.Ends:
    """The score interval of a metric at a threshold, from recall and fpr there, or at a place of a curve."""
    table, metric = evaluation.table(), rule["metric"]
    positives, negatives = table.positives, table.negatives
    trials = [float(each) for each in effective(evaluation)]
    totals = float(positives), float(negatives)
    if is_of_row(rule):
        row = row_of(evaluation, rule)
        trials = [called_trials(evaluation, rule, of=of) for of in (True, False)]
        classes = [(float(row.tp / positives), trials[0]), (float(row.fp / negatives), trials[1])]
        return score.rate_ends(metric, rule.get("at"), classes, totals, z)
    roc = [(float(row.fp / negatives), float(row.tp / positives)) for row in table.rows]
    if metric == "tpr_at_fpr":
        return score.tpr_at_fpr_ends(roc, rule["at"], float(found), trials, z)
    return score.precision_at_recall_ends(roc, rule["at"], float(found), trials, z, totals=totals)


def exact(evaluation: Evaluation, metric: str, found: Exact, level: float) -> Interval:
    """For an area of 0 or 1: the farthest area under which such data have half the probability outside, or more.

    For roc that is Clopper and Pearson's, so many trials with one outcome.
    """
    positives, negatives = effective(evaluation)
    with mpmath.workdps(inference.DIGITS):
        half = (1 - mpmath.mpf(level)) / 2
        if metric == "roc":
            chance = half ** (1 / inference.exactly(min(positives, negatives)))
            return Interval("exact", chance, 1) if found else Interval("exact", 0, 1 - chance)
        table = evaluation.table()
        totals = inference.exactly(table.positives), inference.exactly(table.negatives)
        lower = min(
            separated_area(
                totals,
                1 - half ** (mpmath.mpf(part) / 100 / inference.exactly(negatives)),
                1 - half ** ((1 - mpmath.mpf(part) / 100) / inference.exactly(positives)),
            )
            for part in range(1, 101)
        )
        return Interval("exact", max(lower, 0), 1)


def separated_area(totals: tuple[Any, Any], above: Any, below: Any) -> Any:
    """The area under a PR curve if a share of the negatives is above all positives, and a share of these below all.

    Precision is t/(t + n) for the n that are called before.
    """
    positives, negatives = totals
    turn = (1 - below) * positives
    first, rest = above * negatives, negatives
    climbs = turn - first * mpmath.log((turn + first) / first)
    climbs += (positives - turn) - rest * mpmath.log((positives + rest) / (turn + rest))
    return climbs / positives


def difference_interval(  # noqa: C901, PLR0911  # a case for each kind of interval
    current: Evaluation, baseline: Evaluation, rule: Rule, level: float, method: str, *, paired: bool
) -> Interval | None:
    """The interval of the current value less the baseline's, or less 1 - r of it for a relative drop of r."""
    both, kept = (current, baseline), 1.0 - rule.get("max_relative_drop", 0.0)
    if rule["metric"] == "gini":
        roc = difference_interval(*both, {"metric": "roc"}, level, method, paired=paired)
        return of_gini(roc, less=0)
    values = [value(each, rule) for each in both]
    made_by = method_of(rule, method, difference=True)
    if None in values or made_by is None or not all(has_intervals(each, rule) for each in both):
        return None
    if kept == 1 and paired and same(current, baseline):
        return Interval(made_by, 0, 0, None if made_by == "score" else 0)
    if rule["metric"] in STATISTICS:
        return Interval(made_by)
    z = float(inference.normal_quantile(level))
    if is_of_row(rule):
        if paired and kept == 1:
            return paired_rate_interval(current, baseline, rule, z)
        if paired and rule["metric"] not in SHARES:
            return Interval("score")
        of_each = [score_ends(each, rule, found, z) for each, found in zip(both, values, strict=True)]
        apart = 1 - phi(current, baseline, rule) if paired else 1
        return combined("score", *parts_of(values, of_each, kept), span=SPANS.get(rule["metric"], 1), apart=apart)
    if any(each in {0, 1} or float(each) in {0, 1} for each in values):
        method = "exact" if rule["metric"] in (*AREAS, PARTIAL) else "score"
        return combined(method, *parts_of(values, singles(both, rule, level), kept))
    if made_by in BOOTSTRAPS:
        drawn = all(isinstance(each, Data) or each.table().whole for each in both)
        return Interval(made_by) if drawn else None
    both_values = float(values[0]), float(values[1])
    if made_by == "mover":
        found = spread.difference(*both, rule, both_values, paired=paired, kept=kept)
        return Interval("mover", *found.ends(z), found.error)
    error = difference_error(current, baseline, paired=paired, kept=kept)
    lower, upper = inference.normal_ends(both_values[0] - kept * both_values[1], error, level)
    return Interval("delong", max(lower, -kept), min(upper, 1), error)


def paired_rate_interval(current: Evaluation, baseline: Evaluation, rule: Rule, z: float) -> Interval:
    """Tango's intervals of recall and fpr; tests/inference/test_rates.py has those of functions of the two."""
    if rule["metric"] not in SHARES:
        return Interval("score")
    b, c, trials = discordant(current, baseline, rule)
    return Interval("score", score.tango_end(b, c, trials, -z), score.tango_end(b, c, trials, z))


def discordant(current: Evaluation, baseline: Evaluation, rule: Rule) -> tuple[float, float, float]:
    """The shares of the class that only the first, and only the second calls positive; and the trials."""
    of = rule["metric"] == "recall"
    pairs = [
        (each.weight, is_called_by(current, each, rule), is_called_by(baseline, other, rule))
        for each, other in zip(examples(current), examples(baseline), strict=True)
        if each.positive == of
    ]
    total = sum(weight for weight, _, _ in pairs)
    b = sum((weight for weight, ours, theirs in pairs if ours and not theirs), Fraction(0)) / total
    c = sum((weight for weight, ours, theirs in pairs if theirs and not ours), Fraction(0)) / total
    values = [(weight, Fraction(ours - theirs)) for weight, ours, theirs in pairs]
    return float(b), float(c), float(trials_of(values))


def phi(current: Evaluation, baseline: Evaluation, rule: Rule) -> float:
    """The correlation of being called positive by one and by the other, in the class of the rate.

    From the variances of both shares and of their difference, each with its effective number of examples.
    """
    shares = [float(value(each, rule)) for each in (current, baseline)]
    trials = [called_trials(each, rule, of=rule["metric"] == "recall") for each in (current, baseline)]
    variances = [share * (1 - share) / each for share, each in zip(shares, trials, strict=True)]
    b, c, both = discordant(current, baseline, rule)
    product = math.sqrt(variances[0] * variances[1])
    found = (sum(variances) - (b + c - (b - c) ** 2) / both) / 2 / product if product else 0.0
    return min(max(found, -1.0), 1.0)


def parts_of(values: list[Any], ends: list[score.Ends], kept: float) -> tuple[list[Any], list[score.Ends]]:
    """A value and a share of another one, and their intervals."""
    return [float(values[0]), kept * float(values[1])], [ends[0], (kept * ends[1][0], kept * ends[1][1])]


def combined(method: str, values: list[Any], ends: list[score.Ends], span: float = 1, apart: float = 1) -> Interval:
    """MOVER, from the intervals of both; `apart` is 1 less their correlation."""
    (a, b), ((la, ua), (lb, ub)) = (float(each) for each in values), ends
    x, y, u, v = a - la, ub - b, ua - a, b - lb
    lower = a - b - mpmath.sqrt(abs(x**2 + y**2 - 2 * (1 - apart) * x * y))
    upper = a - b + mpmath.sqrt(abs(u**2 + v**2 - 2 * (1 - apart) * u * v))
    return Interval(method, max(lower, -span), min(upper, span))


def same(current: Evaluation, baseline: Evaluation) -> bool:
    """Whether both have the same scores, in the same direction."""
    return current.scores == baseline.scores and is_lower(current) == is_lower(baseline)


def difference_error(current: Evaluation, baseline: Evaluation, *, paired: bool, kept: float = 1.0) -> Any:
    """DeLong's, from all pairs of a positive and a negative."""
    one, other = placed(current), placed(baseline)
    if kept != 1:
        shared = inference.covariance(one, other) if paired else 0
        found = inference.covariance(one, one) + kept**2 * inference.covariance(other, other) - 2 * kept * shared
        return inference.root(max(found, 0))
    variance = inference.covariance(one, one) + inference.covariance(other, other)
    return inference.root(inference.difference_variance(one, other) if paired else variance)


def p_value(  # a case for each kind of interval
    current: Evaluation, baseline: Evaluation, rule: Rule, method: str, *, paired: bool
) -> Any:
    """The p-value of no difference, where its interval has a formula; None if there is no error."""
    both = (current, baseline)
    rule = {"metric": "roc"} if rule["metric"] == "gini" else rule
    values = [value(each, rule) for each in both]
    if paired and same(*both):
        return 1
    if is_of_row(rule):
        return score.mcnemar_p_value(*discordant(*both, rule))
    if values[0] == values[1]:
        return 1
    if any(each in {0, 1} or float(each) in {0, 1} for each in values):
        return inference.inverted(
            lambda z: ends_of(combined("exact", values, singles(both, rule, float(mpmath.erf(z / mpmath.sqrt(2)))))),
            farthest=8.0,
        )
    both_values = float(values[0]), float(values[1])
    if method == "delong":
        error = difference_error(*both, paired=paired)
        return inference.p_value(both_values[0] - both_values[1], error) if error else None
    found = spread.difference(*both, rule, both_values, paired=paired)
    return inference.inverted(found.ends) if found.error else None


def singles(both: tuple[Evaluation, Evaluation], rule: Rule, level: float) -> list[score.Ends]:
    """The ends of the intervals of both values."""
    return [ends_of(interval(each, rule, level, "logit")) for each in both]


def ends_of(found: Interval | None) -> score.Ends:
    """The ends of an interval that there is."""
    assert found is not None
    return found.lower, found.upper
