"""The schema of one rule of a gate: a metric, where to read it, and a bound.

Knows which bounds and places each metric takes; nothing of bytes, of evaluations, nor of verdicts.
"""

from typing import Any, ClassVar

from marshmallow import ValidationError, post_load

from service.curves.decisions import Decision
from service.curves.indices import INDICES
from service.curves.operating_points import METRICS
from service.curves.partial_areas import OVER, PartialRange
from service.curves.reliability import ReliabilityOptions
from service.curves.row_metrics import ROW_METRICS
from service.inference.average_estimates import OVERALL
from service.inference.metric import METRIC_NAMES, OF_ALL_SCORES, PARTIAL, Metric
from service.inference.rules import BIN_KEYS, BOUNDS, CALLED, CHANGES, DECISION_KEYS, INCONCLUSIVE, RANGE_KEYS, Rule
from service.wire.requests.curve_table_schemas import ReliabilitySchema
from service.wire.requests.decisions_schemas import WAYS_IN_WORDS, DecisionFields, decision_of
from service.wire.requests.fields import Choice, Number, Text, Whole, beyond, invalid
from service.wire.requests.gate_classes import ClassesOfRule, refuse_wrong_classes
from service.wire.requests.gate_folds import FoldsOfRule, refuse_wrong_folds
from service.wire.requests.gate_slices import SlicesOfRule, refuse_wrong_slices
from service.wire.requests.interval_schemas import Level
from service.wire.requests.partial_schemas import RangeSchema, range_of

NARROWEST_RANGE = 1e-9
"""The least width of a rule's range; below it, the cuts at both ends have too few digits for an interval."""


class RuleSchema(DecisionFields, SlicesOfRule, FoldsOfRule, ClassesOfRule, RangeSchema):
    """One rule; which fields it takes depends on the metric."""

    component = "Rule"
    about = (
        "One condition: a metric, where to read it if it needs that, and exactly one of `min`, `max`, `max_drop`, "
        "`max_relative_drop`, `max_rise` and, with `slices`, `max_gap`. A metric of the confusion matrix, such as "
        "`recall`, is of one row: "
        "it needs exactly one of `at_threshold`, `at_share`, `at_fpr`, `at_recall` and `best`, which may have limits. "
        "With a baseline, the row is chosen in each model."
    )
    example: ClassVar = {"metric": "roc", "min": 0.9}

    metric = Choice(
        METRIC_NAMES,
        "The metric to compare with the bound. Required. `partial` is the mean height of the curve over a range, like "
        "`mean` from `/v1/curves`: the area divided by that of its box, between 0 and 1.",
    )
    at = Number(
        "The recall of `precision_at_recall`, the precision of `recall_at_precision`, the false positive rate of "
        "`tpr_at_fpr` or the λ of an index. These need it, an index of one row takes 0.5 by default; other metrics do "
        "not take it.",
        minimum=0,
        maximum=1,
    )
    over = Choice(
        OVER,
        "The rate that the range of `partial` runs over. `partial` needs it; other metrics do not take it.",
    )
    to = Number("Where it ends, at least 1e-9 above where it begins; 1 by default.", minimum=0, maximum=1)
    min_tpr = Number(
        "For `partial` over `fpr`, the lowest true positive rate that counts.", minimum=0, exclusive_maximum=1
    )
    bins = Whole("For `ece`, how many bins; 15 by default.", minimum=1, maximum=100)
    by = ReliabilitySchema().fields["by"]
    min = Number("The lowest value that passes, within the range of the metric.")
    max = Number("The highest value that passes, within the range of the metric.")
    max_drop = Number(
        "How much lower than the baseline's the value may be; if negative, how much higher it must be. For metrics of "
        "which more is better."
    )
    max_relative_drop = Number(
        "How much lower than the baseline's the value may be, as a share of that: with 0.05 it must be at least 0.95 "
        "times the baseline's. For metrics of which more is better and that are never negative.",
        minimum=0,
        exclusive_maximum=1,
    )
    max_rise = Number(
        "How much higher than the baseline's the value may be; if negative, how much lower it must be. For metrics of "
        "which less is better: `fpr`, `fnr`, `lr_negative`, `eer`, `brier`, `miscalibration`, `log_loss`, `ece`."
    )
    confidence = Level(
        "A two-sided confidence level: the unfavourable end of the interval must meet the bound, not only the value. "
        "Not for what has no interval: hull areas, `pr_trapezoid`, `recall_at_precision`, an index or a metric at its "
        "best row, `ks`, `prg`, `eer`, `ece` and `miscalibration`. Resamples allow a level of at most "
        "1 - 2/(`resamples` + 1)."
    )
    prove = Choice(
        tuple(dict.fromkeys(CHANGES.values())),
        "`drop` reverses `max_drop` and `max_relative_drop` with `confidence`, and `rise` reverses `max_rise`: the "
        "check fails only if the favourable end of the interval is beyond the bound, so that the change is proven.",
    )

    inconclusive = Choice(
        tuple(INCONCLUSIVE),
        "With `confidence`, what becomes of the check if the interval lies on both sides of the bound: `fail` by "
        "default; `pass`, so that only proof fails it, which for a difference is what `prove` says; or `undecided`.",
    )
    severity = Choice(
        ("fail", "warn"),
        "With `warn`, the check has its status, but counts neither for `passed` nor for the `status` of the gate.",
    )
    expected = Number(
        "For `rows_needed` and `/v1/plans`, the value that is taken to be true instead of the present one; for a bound "
        "of the difference, the drop or the rise; with `slices`, that of every slice. Needs `confidence`."
    )
    name = Text(
        "What reports call the rule, instead of its metric; unique among the rules.",
        minimum=1,
        maximum=100,
        example="no worse than in use",
    )

    @post_load
    def build(self, data: dict[str, Any], **_: object) -> Rule:
        """Build the rule, if its fields are compatible."""
        if "metric" not in data:
            raise invalid("missing", "A rule needs a metric.", "metric")
        _check_place(data)
        bins = _bins_of(data)
        data = {name: value + 0.0 if isinstance(value, float) else value for name, value in data.items()}  # -0.0 is 0.0
        part, decision = _part_of(data), _decision_of(data)
        called = CALLED if "decide" in data else decision
        metric = Metric(data["metric"], data.get("at"), called, part, bins)
        _check_bound(data, metric)
        refuse_wrong_folds(data)
        refuse_wrong_slices(data, metric)
        refuse_wrong_classes(data, decision)
        if "confidence" in data and metric.family is None and "average" not in data:
            raise invalid("exclusive", _why_not_certain(metric), "confidence")
        return Rule(**data, decision=decision, part=part, bins=bins)


def _check_bound(data: dict[str, Any], metric: Metric) -> None:
    """Refuse several bounds or none, one in the wrong direction, and one that no value could have."""
    bounds = [name for name in BOUNDS if name in data]
    if len(bounds) != 1:
        code = "exclusive" if bounds else "missing"
        raise invalid(code, f"A rule needs exactly one of {', '.join(BOUNDS[:-1])} and {BOUNDS[-1]}.", *bounds[1:2])
    kind = bounds[0]
    if kind in CHANGES:
        _check_direction(kind, metric)
    ends = dict.fromkeys(CHANGES, (-metric.span, metric.span)) | {"max_gap": (0.0, metric.span)}
    ends["max_relative_drop"] = (-1.0, 1.0)
    low, high = ends.get(kind, metric.limits)
    if not low <= data[kind] <= high:
        raise ValidationError({kind: [beyond(low, "below") if data[kind] < low else beyond(high, "above")]})
    proved = data.get("prove")
    if proved is not None and not (proved == CHANGES.get(kind) and "confidence" in data):
        raise invalid("exclusive", f"prove = {proved} needs max_{proved} and confidence.", "prove")
    for name in ("inconclusive", "expected"):
        if name in data and "confidence" not in data:
            raise invalid("exclusive", f"{name} needs confidence.", name)
    if "expected" in data and not low <= data["expected"] <= high:
        raise ValidationError({"expected": [beyond(low, "below") if data["expected"] < low else beyond(high, "above")]})
    if "inconclusive" in data and proved is not None:
        raise invalid("exclusive", "prove says what inconclusive would: give one of them.", "inconclusive")


def _check_direction(kind: str, metric: Metric) -> None:
    """Refuse a bound of a change in the direction that is better, and of one that is a share of negative values."""
    if metric.better == 0:
        raise invalid("exclusive", f"Neither more nor less {metric.name} is better: use min or max.", kind)
    if (metric.better < 0) != (kind == "max_rise"):
        other, better = ("max_drop", "Higher") if kind == "max_rise" else ("max_rise", "Lower")
        raise invalid("exclusive", f"{better} {metric.name} is better: use {other}, not {kind}.", kind)
    if kind == "max_relative_drop" and metric.limits[0] < 0:
        told = f"{metric.name} may be negative, and then a share of it is a stricter bound: use max_drop."
        raise invalid("exclusive", told, kind)


def _why_not_certain(metric: Metric) -> str:
    """Why a metric without intervals takes no confidence."""
    if metric.name == "pr_trapezoid":
        return "pr_trapezoid has no interval, so it takes no confidence; pr has one."
    if metric.decision is not None:
        return (
            "The best row is chosen on the same data, so the metric has no interval and takes no confidence: fix its "
            "threshold with at_threshold."
        )
    if metric.name in OF_ALL_SCORES:
        return f"{metric.name} has no interval, so it takes no confidence."
    told = f"{metric.name} is the best value that the data allow: it has no interval, so it takes no confidence."
    return told + (" With at_threshold, the threshold in use, it has one." if metric.name in INDICES else "")


def _decision_of(data: dict[str, Any]) -> Decision | None:
    """Take the decision out of a rule, and refuse one that says two things."""
    given = {name: data.pop(name) for name in DECISION_KEYS if name in data}
    return decision_of(given) if given else None


def _bins_of(data: dict[str, Any]) -> ReliabilityOptions | None:
    """Take the bins of ece out of a rule, and refuse those of another metric."""
    given = {name: data.pop(name) for name in BIN_KEYS if name in data}
    for name in given:
        if data["metric"] != "ece":
            raise invalid("exclusive", f"{data['metric']} does not take {name}; ece does.", name)
    return ReliabilityOptions(**given) if given else None


def _part_of(data: dict[str, Any]) -> PartialRange | None:
    """Take the range of a partial area out of a rule, and refuse one that another metric has."""
    given = {name: data.pop(name) for name in RANGE_KEYS if name in data}
    if data["metric"] == PARTIAL:
        part = range_of(given)
        if part.end - part.start < NARROWEST_RANGE:
            message = f"The range is narrower than {NARROWEST_RANGE:g}, too narrow for a rule."
            raise invalid("out_of_range", message, "to" if "to" in given else "from")
        return part
    for name in given:
        raise invalid("exclusive", f"{data['metric']} does not take {name}; partial does.", name)
    return None


def _check_place(data: dict[str, Any]) -> None:
    """Refuse a metric without its place, and a place that the metric does not take."""
    metric = data["metric"]
    given, is_index = [name for name in (*DECISION_KEYS, "decide") if name in data], metric in INDICES
    if metric in METRICS and "at" not in data and not (is_index and given):
        told = ", its lambda: 0 is precision, 1 is recall" if is_index else ""
        raise invalid("missing", f"{metric} needs at{told}.", "at")
    if "at" in data and metric not in METRICS:
        advice = " Did you mean at_threshold?" if metric in ROW_METRICS and not given else ""
        raise invalid("exclusive", f"{metric} does not take at.{advice}", "at")
    if given and metric not in ROW_METRICS and not is_index:
        raise invalid("exclusive", f"{metric} does not take {given[0]}.", given[0])
    if not given and metric in ROW_METRICS and not is_index:
        if "classes" in data or "average" in data:
            ways = "" if data.get("average") == OVERALL else " or at_threshold"
            raise invalid("missing", f'{metric} of classes needs decide = "highest"{ways}.', "decide")
        raise invalid("missing", f"{metric} needs one of {WAYS_IN_WORDS}.", "at_threshold")
