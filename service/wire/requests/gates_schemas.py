"""The schema of a gate's request: an evaluation, perhaps a baseline, and rules.

Knows which bounds and places each metric takes; nothing of bytes, nor of verdicts.
"""

import json
from dataclasses import dataclass
from typing import Any, ClassVar

from marshmallow import ValidationError, post_load

from service.charts.picture import Pictures
from service.curves.confusion import Evaluation
from service.curves.decisions import Decision
from service.curves.indices import INDICES
from service.curves.operating_points import METRICS
from service.curves.partial_areas import OVER, PartialRange
from service.curves.reliability import ReliabilityOptions
from service.curves.row_metrics import ROW_METRICS
from service.curves.sample import Sample
from service.inference.intervals import resamples_show
from service.inference.metric import METRIC_NAMES, OF_ALL_SCORES, PARTIAL, Metric
from service.inference.rules import BIN_KEYS, BOUNDS, CHANGES, DECISION_KEYS, INCONCLUSIVE, RANGE_KEYS, Rule
from service.inference.verdicts import GateOptions
from service.wire.requests.curve_table_schemas import ReliabilitySchema
from service.wire.requests.decisions_schemas import WAYS_IN_WORDS, DecisionFields, decision_of
from service.wire.requests.evaluation_schemas import ClusteredFields, EvaluationSchema
from service.wire.requests.fields import Choice, Flag, Number, Text, Whole, beyond, invalid, missing_field
from service.wire.requests.gate_folds import FoldsOfRule, folds_of, refuse_wrong_folds
from service.wire.requests.gate_slices import SlicedEvaluationSchema, SlicesOfRule, refuse_wrong_slices, slicings_of
from service.wire.requests.id_pairing import Identified, Unpaired, in_order_of
from service.wire.requests.interval_schemas import IntervalsSchema, Level, level_too_high, refuse_bca
from service.wire.requests.object_schemas import ObjectField, ObjectList
from service.wire.requests.partial_schemas import RangeSchema, range_of
from service.wire.requests.picture_schemas import DrawnSchema, charts_field, charts_of
from service.wire.requests.prevalence_schemas import at_prevalence, refuse_rules_beside_prevalence, target_field
from service.wire.wrong import Wrong

MOST_RULES = 100
"""The most rules in a gate."""

NARROWEST_RANGE = 1e-9
"""The least width of a rule's range; below it, the cuts at both ends have too few digits for an interval."""

FAIL_STATUSES = (409, 412, 424)
"""The statuses with which a failed gate may be answered, for clients that only look at statuses."""


class RuleSchema(DecisionFields, SlicesOfRule, FoldsOfRule, RangeSchema):
    """One rule; which fields it takes depends on the metric."""

    component = "Rule"
    about = (
        "One condition: a metric, where to read it if it needs that, and exactly one of `min`, `max`, `max_drop`, "
        "`max_rise` and, with `slices`, `max_gap`. A metric of the confusion matrix, such as `recall`, is of one row: "
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
        tuple(CHANGES.values()),
        "`drop` reverses `max_drop` with `confidence`, and `rise` reverses `max_rise`: the check fails only if the "
        "favourable end of the interval is beyond the bound, so that the change is proven.",
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
        "of the difference, the drop or the rise. Needs `confidence`."
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
        metric = Metric(data["metric"], data.get("at"), decision, part, bins)
        _check_bound(data, metric)
        refuse_wrong_folds(data)
        refuse_wrong_slices(data, metric)
        if "confidence" in data and metric.family is None:
            raise invalid("exclusive", _why_not_certain(metric), "confidence")
        return Rule(**data, decision=decision, part=part, bins=bins)


def _check_bound(data: dict[str, Any], metric: Metric) -> None:
    """Refuse several bounds or none, one in the wrong direction, and one that no value could have."""
    bounds = [name for name in BOUNDS if name in data]
    if len(bounds) != 1:
        code = "exclusive" if bounds else "missing"
        raise invalid(code, "A rule needs exactly one of min, max, max_drop, max_rise and max_gap.", *bounds[1:2])
    kind = bounds[0]
    if kind in CHANGES and metric.better == 0:
        raise invalid("exclusive", f"Neither more nor less {metric.name} is better: use min or max.", kind)
    if kind in CHANGES and (metric.better < 0) != (kind == "max_rise"):
        other, better = ("max_drop", "Higher") if kind == "max_rise" else ("max_rise", "Lower")
        raise invalid("exclusive", f"{better} {metric.name} is better: use {other}, not {kind}.", kind)
    ends = {"max_gap": (0.0, metric.span)} | dict.fromkeys(CHANGES, (-metric.span, metric.span))
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
    given, is_index = [name for name in DECISION_KEYS if name in data], metric in INDICES
    if metric in METRICS and "at" not in data and not (is_index and given):
        told = ", its lambda: 0 is precision, 1 is recall" if is_index else ""
        raise invalid("missing", f"{metric} needs at{told}.", "at")
    if "at" in data and metric not in METRICS:
        advice = " Did you mean at_threshold?" if metric in ROW_METRICS and not given else ""
        raise invalid("exclusive", f"{metric} does not take at.{advice}", "at")
    if given and metric not in ROW_METRICS and not is_index:
        raise invalid("exclusive", f"{metric} does not take {given[0]}.", given[0])
    if not given and metric in ROW_METRICS and not is_index:
        raise invalid("missing", f"{metric} needs one of {WAYS_IN_WORDS}.", "at_threshold")


def _check_names(rules: list[Rule]) -> None:
    """Refuse two rules of one name."""
    first: dict[str, int] = {}
    for row, rule in enumerate(rules):
        if rule.name is not None and first.setdefault(rule.name, row) != row:
            fault = Wrong("duplicate", f"rules[{first[rule.name]}] already has this name.")
            raise ValidationError({"rules": {row: {"name": [fault]}}})


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


class BaselineSchema(ClusteredFields, SlicedEvaluationSchema):
    """The evaluation that changes are measured from."""

    component = "Baseline"
    about = (
        "The evaluation that `max_drop` and `max_rise` are measured from, such as that of the model in use: `scores` "
        "with `labels` (and perhaps `weights`), or `counts`, or `groups`. It can differ from the evaluation in kind "
        "and in data. The label that means positive, and the direction of the scores, are the evaluation's unless it "
        "has its own."
    )

    @post_load
    def build(self, data: dict[str, Any], **_: object) -> Identified:
        """Build the evaluation."""
        return self.identified(data)


class RulesRequestSchema(ClusteredFields, SlicedEvaluationSchema):
    """An evaluation, perhaps a baseline, and rules about them."""

    baseline = ObjectField(BaselineSchema())
    paired = Flag(
        "If true, evaluation and baseline have the same examples in the same order: both must be samples with equal "
        "labels and weights row by row, and equal clusters if both have some, otherwise the answer is 422, "
        "`not_paired`. False by default; with `ids`, true."
    )
    intervals = ObjectField(IntervalsSchema())
    rules = ObjectList(
        RuleSchema(),
        "What the classifier must meet: 1 to 100 rules. Each has its place in the answer.",
        minimum=1,
        maximum=MOST_RULES,
    )
    prevalence = target_field()
    missing = missing_field()
    heir = "baseline"
    json_only = EvaluationSchema.json_only | {"baseline", "slices"}

    def checked(self, data: dict[str, Any]) -> tuple[Evaluation, Evaluation | None, GateOptions]:
        """The evaluation, the baseline and the rules, if all fields are compatible."""
        return self.with_rules(data, self.identified(data), data.get("baseline"))

    def with_rules(
        self, data: dict[str, Any], evaluation: Identified, baseline: Identified | None
    ) -> tuple[Evaluation, Evaluation | None, GateOptions]:
        """The same, of these evaluations."""
        if "rules" not in data:
            example = json.dumps([RuleSchema.example])
            raise invalid("missing", f"Give a list of rules, such as {example}; null and [] count as absent.", "rules")
        if baseline is None:
            for row, rule in enumerate(data["rules"]):
                if rule.is_change:
                    fault = Wrong("missing", f"{rule.kind} needs a baseline.")
                    raise ValidationError({"rules": {row: {rule.kind: [fault]}}})
        _check_names(data["rules"])
        refuse_rules_beside_prevalence(data, data["rules"])
        paired = data.get("paired", False)
        if paired and baseline is None:
            raise invalid("missing", "paired needs a baseline.", "paired")
        if baseline is not None and baseline.ids is not None and data.get("paired") is False:
            raise invalid("exclusive", "ids pair the rows; leave out paired.", "paired")
        compared = None if baseline is None else _paired(evaluation, baseline)
        paired = paired or (baseline is not None and baseline.ids is not None)
        intervals, ours = data.get("intervals"), (evaluation.evaluation, evaluation.slices)
        theirs = compared, None if baseline is None else baseline.slices
        slicings = slicings_of(data["rules"], intervals, paired, ours, theirs)
        slicings |= folds_of(data["rules"], intervals, paired, *ours)
        options = GateOptions(tuple(data["rules"]), paired, intervals, slicings)
        _check_levels(options)
        has_gap = any(rule.max_gap is not None for rule in data["rules"])
        if has_gap and isinstance(ours[0], Sample) and ours[0].clusters is not None:
            message = "A gap takes slices as independent, but clusters may span them: leave out max_gap or clusters."
            raise invalid("exclusive", message, "clusters")
        refuse_bca(options.intervals, (evaluation.evaluation, compared))
        of_target = None if compared is None else at_prevalence(compared, data)
        return at_prevalence(evaluation.evaluation, data), of_target, options


class GatesRequestSchema(RulesRequestSchema, DrawnSchema):
    """A request for a verdict: an evaluation, with its rules and options."""

    component = "GatesRequest"
    about = (
        "One evaluation, and the rules that it must meet. The evaluation is `scores` with `labels` (and perhaps "
        "`weights`), or `counts`, or `groups`, or a `dataset`. `rules` is needed."
    )

    charts = charts_field("gates")
    fail_status = Whole(
        "The status of the answer if the gate is not passed; 200 by default.", choices=FAIL_STATUSES, example=424
    )

    @post_load
    def build(self, data: dict[str, Any], **_: object) -> GatesRequest:
        """Build the request, if its fields are compatible."""
        return GatesRequest(*self.checked(data), data.get("fail_status", 200), charts_of("gates", data))


def _paired(evaluation: Identified, baseline: Identified) -> Evaluation:
    """The baseline, with its rows in the order of the evaluation's if both have ids."""
    try:
        return in_order_of(evaluation, baseline, "the evaluation")
    except Unpaired as error:
        raise ValidationError({"baseline": {error.field: [error.wrong]}}) from None
