"""The schema of a gate's request: an evaluation, perhaps a baseline, and rules.

Knows which bounds and places each metric takes; nothing of bytes, nor of verdicts.
"""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from marshmallow import ValidationError, fields, post_load

from service.charts.picture import Pictures
from service.curves.confusion import Evaluation
from service.curves.indices import INDICES
from service.curves.partial_areas import PartialRange
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
from service.wire.requests.fields import Choice, Flag, Number, ObjectList, invalid, missing_field
from service.wire.requests.interval_schemas import IntervalsSchema, Level, level_too_high
from service.wire.requests.partial_schemas import RangeSchema, range_of
from service.wire.requests.picture_schemas import DrawnSchema, charts_field, charts_of
from service.wire.usual_names import nearest
from service.wire.wrong import Wrong

MOST_RULES = 100
"""The most rules in a gate."""

NARROWEST_RANGE = 1e-9
"""The least width of a rule's range; below it, the cuts at both ends have too few digits for an interval."""

FAIL_STATUSES = (409, 412, 424)
"""The statuses with which a failed gate may be answered, for clients that only look at statuses."""

_NUMBERS = ("at", "at_threshold", *BOUNDS)


class FailStatus(fields.Field[int]):
    """One of FAIL_STATUSES; 409.0 is one, too."""

    choices = FAIL_STATUSES

    def _deserialize(self, value: object, attr: str | None, data: Mapping[str, Any] | None, **_: object) -> int:
        number = Number().deserialize(value, attr, data)
        if number not in self.choices:
            raise ValidationError([Wrong("not_one_of", f"Must be one of {', '.join(map(str, self.choices))}.")])
        return int(number)


_CALLED_HERE = {
    "auc": "roc",
    "pauc": "partial",
    "partial_auc": "partial",
    "auroc": "roc",
    "roc_auc": "roc",
    "ap": "average_precision",
    "auprc": "pr",
    "pr_auc": "pr",
    "auc_pr": "pr",
    "f1": "f_measure with at 0.5 (and at_threshold, if you deploy a threshold)",
    "f1_score": "f_measure with at 0.5 (and at_threshold, if you deploy a threshold)",
    "tpr": "recall",
    "sensitivity": "recall",
    "ppv": "precision",
}
"""{other names of metrics: our names}"""


class MetricName(Choice):
    """The name of a metric; for a name from other libraries, or a misspelled one, the error gives ours."""

    def _deserialize(self, value: object, attr: str | None, data: Mapping[str, Any] | None, **kwargs: object) -> str:
        try:
            return super()._deserialize(value, attr, data, **kwargs)
        except ValidationError:
            meant = _meant(value, self.choices)
            if meant is None:
                raise
            names = ", ".join(self.choices)
            raise ValidationError([Wrong("not_one_of", f"Did you mean {meant}? Must be one of {names}.")]) from None


def _meant(value: object, names: tuple[str, ...]) -> str | None:
    if not isinstance(value, str):
        return None
    return _CALLED_HERE.get(value.lower()) or nearest(value, names)


class RuleSchema(RangeSchema):
    """One rule; which fields it takes depends on the metric."""

    example = '{"metric": "roc", "min": 0.9}'

    metric = MetricName(METRIC_NAMES)
    at = Number(minimum=0, maximum=1)
    at_threshold = Number(infinite=True)
    min = Number(minimum=0, maximum=1)
    max = Number(minimum=0, maximum=1)
    max_drop = Number(minimum=-1, maximum=1)
    confidence = Level()
    prove = Choice(("drop",))

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

    @post_load
    def build(self, data: dict[str, Any], **_: object) -> Evaluation:
        """Build the evaluation."""
        return self.evaluation(data)


class GatesRequestSchema(DrawnSchema, EvaluationSchema):
    """A request for a verdict: an evaluation, with its rules and options."""

    charts = charts_field("gates")
    baseline = fields.Nested(BaselineSchema)
    paired = Flag()
    intervals = fields.Nested(IntervalsSchema)
    rules = ObjectList(RuleSchema(), minimum=1, maximum=MOST_RULES)
    fail_status = FailStatus()
    missing = missing_field()
    heir = "baseline"

    @post_load
    def build(self, data: dict[str, Any], **_: object) -> GatesRequest:
        """Build the request, if its fields are compatible."""
        evaluation, baseline = self.evaluation(data), data.get("baseline")
        if "rules" not in data:
            example = f"[{RuleSchema.example}]"
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
