"""The schema of a gate's request: an evaluation, perhaps a baseline, and rules.

Knows which rules an evaluation and its baseline take together; nothing of bytes, nor of verdicts.
"""

import json
from dataclasses import dataclass
from typing import Any, ClassVar

from marshmallow import ValidationError, post_load

from service.charts.picture import Pictures
from service.curves.class_scores import ClassScores
from service.curves.confusion import Evaluation
from service.curves.evaluation import CurvesWarning
from service.curves.sample import Sample
from service.inference.intervals import resamples_show
from service.inference.rules import Rule
from service.inference.verdicts import GateOptions
from service.wire.requests.class_gates_schemas import ClassRulesSchema, LabelsOrClasses, ScoresOrClasses
from service.wire.requests.evaluation_schemas import ClusteredFields, EvaluationSchema, SampleFields
from service.wire.requests.fields import Flag, Whole, invalid, missing_field
from service.wire.requests.gate_classes import refuse_rules_of_classes
from service.wire.requests.gate_folds import folds_of
from service.wire.requests.gate_slices import SlicedEvaluationSchema, slicings_of
from service.wire.requests.id_pairing import Identified, Unpaired, in_order_of
from service.wire.requests.interval_schemas import IntervalsSchema, level_too_high, refuse_bca
from service.wire.requests.object_schemas import ObjectField, ObjectList, ObjectSchema
from service.wire.requests.picture_schemas import DrawnSchema, charts_field, charts_of
from service.wire.requests.prevalence_schemas import at_prevalence, refuse_rules_beside_prevalence, target_field
from service.wire.requests.rule_schemas import RuleSchema
from service.wire.wrong import Wrong

MOST_RULES = 100
"""The most rules in a gate."""

_OR_SEVERAL = {
    "scores": "Or an object with a column for each of 2 to 100 classes, as in `/v1/classes`.",
    "labels": "With an object of scores, the class of each row, or an object of memberships, as in `/v1/classes`.",
}

FAIL_STATUSES = (409, 412, 424)
"""The statuses with which a failed gate may be answered, for clients that only look at statuses."""


@dataclass(frozen=True, slots=True, eq=False)
class GatesRequest:
    """A checked request for a verdict; `fail_status` is the HTTP status if it is not passed.

    warnings  about the names of classes.
    """

    evaluation: Evaluation | ClassScores
    baseline: Evaluation | ClassScores | None
    options: GateOptions
    fail_status: int
    charts: Pictures
    warnings: tuple[CurvesWarning, ...] = ()

    @property
    def rows(self) -> int:
        """The rows of the longer table."""
        return max(self.evaluation.rows, self.baseline.rows if self.baseline else 0)


def _scores_and_labels() -> tuple[ScoresOrClasses, LabelsOrClasses]:
    """The fields, as in a sample, or of several classes."""
    of_sample = SampleFields().fields
    scores, labels = (f"{of_sample[name].about} {told}" for name, told in _OR_SEVERAL.items())  # type: ignore[attr-defined]  # ours
    return ScoresOrClasses(scores, infinite=True), LabelsOrClasses(labels)


class BaselineSchema(ClusteredFields, SlicedEvaluationSchema):
    """The evaluation that changes are measured from."""

    scores, labels = _scores_and_labels()

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
        _check_rules(data, has_baseline=baseline is not None)
        refuse_rules_of_classes(data["rules"])
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
    """A request for a verdict: an evaluation, with its rules and options; `scores` may be an object, by class."""

    component = "GatesRequest"
    about = (
        "One evaluation, and the rules that it must meet. The evaluation is `scores` with `labels` (and perhaps "
        "`weights`), or `counts`, or `groups`, or a `dataset`. `rules` is needed. Or `scores` is an object with a "
        "column for each of several classes, and `labels` are as in `/v1/classes`; so is the `baseline`."
    )

    of_classes: ClassVar[ObjectSchema]

    def load(self, data: Any, **options: Any) -> Any:  # noqa: ANN401  # marshmallow's
        """Load a request, by the schema of classes if `scores` is an object."""
        if isinstance(data, dict) and isinstance(data.get("scores"), dict):
            return self.of_classes.load(data, **options)
        return super().load(data, **options)

    scores, labels = _scores_and_labels()
    charts = charts_field("gates")
    fail_status = Whole(
        "The status of the answer if the gate is not passed; 200 by default.", choices=FAIL_STATUSES, example=424
    )

    @post_load
    def build(self, data: dict[str, Any], **_: object) -> GatesRequest:
        """Build the request, if its fields are compatible."""
        return GatesRequest(*self.checked(data), data.get("fail_status", 200), charts_of("gates", data))


_OF_GATES = GatesRequestSchema().fields


class ClassGatesRequestSchema(ClassRulesSchema, DrawnSchema):
    """The same about several classes."""

    component = "ClassGatesRequest"
    about = "Scores of several classes, and the rules that they must meet."

    rules = _OF_GATES["rules"]
    missing = _OF_GATES["missing"]
    charts = _OF_GATES["charts"]
    fail_status = _OF_GATES["fail_status"]

    @post_load
    def build(self, data: dict[str, Any], **_: object) -> GatesRequest:
        """Build the request, if its fields are compatible."""
        _check_rules(data, has_baseline="baseline" in data)
        given, baseline, options, told = self.checked(data)
        drawn = charts_of("gates", data)
        return GatesRequest(given, baseline, options, data.get("fail_status", 200), drawn, told)


GatesRequestSchema.of_classes = ClassGatesRequestSchema()


def _check_rules(data: dict[str, Any], *, has_baseline: bool) -> None:
    """Refuse a request without rules, or with rules that lack a baseline or have one name."""
    if "rules" not in data:
        example = json.dumps([RuleSchema.example])
        raise invalid("missing", f"Give a list of rules, such as {example}; null and [] count as absent.", "rules")
    for row, rule in enumerate(data["rules"]):
        if rule.is_change and not has_baseline:
            fault = Wrong("missing", f"{rule.kind} needs a baseline.")
            raise ValidationError({"rules": {row: {rule.kind: [fault]}}})
    _check_names(data["rules"])


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


def _paired(evaluation: Identified, baseline: Identified) -> Evaluation:
    """The baseline, with its rows in the order of the evaluation's if both have ids."""
    try:
        return in_order_of(evaluation, baseline, "the evaluation")
    except Unpaired as error:
        raise ValidationError({"baseline": {error.field: [error.wrong]}}) from None
