"""The schema of a gate's request: an evaluation, perhaps a baseline, and rules.

Knows which bounds and places each metric takes; nothing of bytes, nor of verdicts.
"""

import json
from dataclasses import dataclass
from typing import Any, ClassVar

from marshmallow import ValidationError, post_load

from service.charts.picture import Pictures
from service.curves.confusion import Evaluation
from service.curves.indices import INDICES
from service.curves.partial_areas import OVER, PartialRange
from service.inference.gate import GateOptions
from service.inference.intervals import resamples_show
from service.inference.rules import (
    AREAS,
    BOUNDS,
    LESS_IS_BETTER,
    METRIC_NAMES,
    PARTIAL,
    RANGE_KEYS,
    RATES,
    Metric,
    Rule,
)
from service.wire.requests.evaluation_schemas import EvaluationSchema
from service.wire.requests.fields import Choice, Flag, Number, Whole, invalid, missing_field
from service.wire.requests.interval_schemas import IntervalsSchema, Level, level_too_high
from service.wire.requests.object_schemas import ObjectField, ObjectList
from service.wire.requests.partial_schemas import RangeSchema, range_of
from service.wire.requests.picture_schemas import DrawnSchema, charts_field, charts_of
from service.wire.wrong import Wrong

MOST_RULES = 100
"""The most rules in a gate."""

NARROWEST_RANGE = 1e-9
"""The least width of a rule's range; below it, the cuts at both ends have too few digits for an interval."""

FAIL_STATUSES = (409, 412, 424)
"""The statuses with which a failed gate may be answered, for clients that only look at statuses."""

_NUMBERS = ("at", "at_threshold", *BOUNDS)


class RuleSchema(RangeSchema):
    """One rule; which fields it takes depends on the metric."""

    component = "Rule"
    about = (
        "One condition: a metric, where to read it if it needs that, and exactly one of `min`, `max` and `max_drop`."
    )
    example: ClassVar = {"metric": "roc", "min": 0.9}

    metric = Choice(
        METRIC_NAMES,
        "The metric to compare with the bound. Required. `partial` is the mean height of the curve over a range, like "
        "`mean` from `/v1/curves`: the area divided by that of its box, between 0 and 1.",
    )
    at = Number(
        "The recall of `precision_at_recall`, the precision of `recall_at_precision`, the false positive rate of "
        "`tpr_at_fpr` or the λ of an index. These need it; other metrics do not take it.",
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
    at_threshold = Number(
        "The threshold in use, for `precision`, `recall` and `fpr`, which need it, and for an index, which is "
        "otherwise read at its best threshold.",
        infinite=True,
    )
    min = Number("The lowest value that passes.", minimum=0, maximum=1)
    max = Number("The highest value that passes.", minimum=0, maximum=1)
    max_drop = Number(
        "How much lower than the baseline's the value may be; if negative, how much higher it must be. Not for `fpr`, "
        "because lower fpr is better.",
        minimum=-1,
        maximum=1,
    )
    confidence = Level(
        "A two-sided confidence level: the unfavourable end of the interval must meet the bound, not only the value. "
        "Not for hull areas, `pr_trapezoid`, `recall_at_precision` or an index without `at_threshold`, which have no "
        "interval. Resamples allow a level of at most 1 - 2/(`resamples` + 1)."
    )
    prove = Choice(
        ("drop",),
        "`drop` reverses `max_drop` with `confidence`: the check fails only if the favourable end of the interval is "
        "beyond the bound, so that the drop is proven.",
    )

    @post_load
    def build(self, data: dict[str, Any], **_: object) -> Rule:
        """Build the rule, if its fields are compatible."""
        if "metric" not in data:
            raise invalid("missing", "A rule needs a metric.", "metric")
        _check_place(data)
        part = _part_of(data)
        bounds = [name for name in BOUNDS if name in data]
        if len(bounds) != 1:
            code = "exclusive" if bounds else "missing"
            raise invalid(code, "A rule needs exactly one of min, max and max_drop.", *bounds[1:2])
        if "max_drop" in data and data["metric"] in LESS_IS_BETTER:
            raise invalid("exclusive", "Lower fpr is better: use max, not max_drop.", "max_drop")
        if (
            "confidence" in data
            and Metric(data["metric"], data.get("at"), data.get("at_threshold"), part).family is None
        ):
            message = (
                f"{data['metric']} is the best value that the data allow: it has no interval, so it takes no "
                "confidence."
            )
            if data["metric"] == "pr_trapezoid":
                message = "pr_trapezoid has no interval, so it takes no confidence; pr has one."
            if data["metric"] in INDICES:
                message += " With at_threshold, the threshold in use, it has one."
            raise invalid("exclusive", message, "confidence")
        if "prove" in data and not {"max_drop", "confidence"} <= set(data):
            raise invalid("exclusive", "prove needs max_drop and confidence.", "prove")
        data |= {name: data[name] + 0.0 for name in _NUMBERS if name in data}  # -0.0 is 0.0
        return Rule(**data, part=part)


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
    needed = {"at_threshold"} if metric in RATES else set() if metric in (*AREAS, PARTIAL) else {"at"}
    allowed = needed | ({"at_threshold"} if metric in INDICES else set())
    for name in ("at", "at_threshold"):
        if name in needed and name not in data:
            told = ", its lambda: 0 is precision, 1 is recall" if metric in INDICES else ""
            raise invalid("missing", f"{metric} needs {name}{told}.", name)
        if name in data and name not in allowed:
            raise invalid("exclusive", f"{metric} does not take {name}.", name)


def _check_levels(options: GateOptions) -> None:
    """Refuse a higher confidence than the resamples can support."""
    resamples = options.how.resamples
    for row, rule in enumerate(options.rules):
        if options.takes_resamples(rule) and not resamples_show(options.level(rule), resamples):
            fault = Wrong("out_of_range", level_too_high(resamples))
            asked = {"rules": {row: {"confidence": [fault]}}}
            raise ValidationError(asked if rule.confidence else {"intervals": {"level": [fault]}})


@dataclass(frozen=True, slots=True, eq=False)
class GatesRequest:
    """A checked request for a verdict; `fail_status` is the HTTP status if it is not passed."""

    evaluation: Evaluation
    baseline: Evaluation | None
    options: GateOptions
    fail_status: int
    charts: Pictures

    @property
    def rows(self) -> int:
        """The rows of the longer table."""
        return max(self.evaluation.rows, self.baseline.rows if self.baseline else 0)


class BaselineSchema(EvaluationSchema):
    """The evaluation that drops are measured from."""

    component = "Baseline"
    about = (
        "The evaluation that `max_drop` is measured from, such as that of the model in use: `scores` with `labels` "
        "(and perhaps `weights`), or `counts`, or `groups`. It can differ from the evaluation in kind and in data. "
        "The label that means positive, and the direction of the scores, are the evaluation's unless it has its own."
    )

    @post_load
    def build(self, data: dict[str, Any], **_: object) -> Evaluation:
        """Build the evaluation."""
        return self.evaluation(data)


class GatesRequestSchema(DrawnSchema, EvaluationSchema):
    """A request for a verdict: an evaluation, with its rules and options."""

    component = "GatesRequest"
    about = (
        "One evaluation, and the rules that it must meet. The evaluation is `scores` with `labels` (and perhaps "
        "`weights`), or `counts`, or `groups`, or a `dataset`. `rules` is needed."
    )

    charts = charts_field("gates")
    baseline = ObjectField(BaselineSchema())
    paired = Flag(
        "If true, evaluation and baseline have the same examples in the same order: both must be samples with equal "
        "labels and weights row by row, otherwise the answer is 422, `not_paired`. False by default."
    )
    intervals = ObjectField(IntervalsSchema())
    rules = ObjectList(
        RuleSchema(),
        "What the classifier must meet: 1 to 100 rules. Each gets a check in the answer.",
        minimum=1,
        maximum=MOST_RULES,
    )
    fail_status = Whole(
        "The status of the answer if the gate is not passed; 200 by default.", choices=FAIL_STATUSES, example=424
    )
    missing = missing_field()
    heir = "baseline"
    json_only = EvaluationSchema.json_only | {"baseline"}

    @post_load
    def build(self, data: dict[str, Any], **_: object) -> GatesRequest:
        """Build the request, if its fields are compatible."""
        evaluation, baseline = self.evaluation(data), data.get("baseline")
        if "rules" not in data:
            example = json.dumps([RuleSchema.example])
            raise invalid("missing", f"Give a list of rules, such as {example}; null and [] count as absent.", "rules")
        if baseline is None:
            for row, rule in enumerate(data["rules"]):
                if rule.max_drop is not None:
                    fault = Wrong("missing", "max_drop needs a baseline.")
                    raise ValidationError({"rules": {row: {"max_drop": [fault]}}})
        paired = data.get("paired", False)
        if paired and baseline is None:
            raise invalid("missing", "paired needs a baseline.", "paired")
        options = GateOptions(tuple(data["rules"]), paired=paired, intervals=data.get("intervals"))
        _check_levels(options)
        return GatesRequest(evaluation, baseline, options, data.get("fail_status", 200), charts_of("gates", data))
