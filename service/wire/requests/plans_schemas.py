"""The schema of a request for plans: a pilot or assumptions, with rules and a power.

Knows how a pilot and assumptions exclude each other; nothing of bytes, nor of plans.
"""

from dataclasses import dataclass, replace
from typing import Any, ClassVar

from marshmallow import post_load

from service.charts.picture import Pictures
from service.curves.confusion import Evaluation
from service.inference.assumed import RAREST, Assumptions, typical_samples
from service.inference.plans import POWER
from service.inference.rules import Rule
from service.inference.verdicts import GateOptions
from service.wire.requests.fields import Number, invalid
from service.wire.requests.gate_slices import SlicedEvaluationSchema
from service.wire.requests.gates_schemas import RulesRequestSchema
from service.wire.requests.id_pairing import Identified
from service.wire.requests.object_schemas import ObjectField, ObjectSchema

_AREA = 'between 0.5 and 1, as in `"roc": 0.85`'


class AssumptionsSchema(ObjectSchema):
    """What is taken to be true where there is no pilot."""

    component = "Assumptions"
    about = (
        "In place of a pilot: what you take to be true. A typical sample is made of it, with 1,000 examples of the "
        "rarer class and normal scores of equal variance, and plans are made from that as from a pilot. `roc` is "
        "needed; with `baseline_roc` there is a baseline with the same examples."
    )
    example: ClassVar = {"roc": 0.85, "prevalence": 0.1}

    roc = Number(f"The area under the ROC curve, {_AREA}.", exclusive_minimum=0.5, exclusive_maximum=1, example=0.85)
    baseline_roc = Number("That of the baseline.", exclusive_minimum=0.5, exclusive_maximum=1, example=0.85)
    correlation = Number(
        "How the scores of both models correlate within a class; needed with `baseline_roc`. Two versions of one model "
        "often have 0.7 or more.",
        minimum=-1,
        maximum=1,
        example=0.7,
    )
    prevalence = Number("The proportion of positives; 0.5 by default.", minimum=RAREST, maximum=1 - RAREST, example=0.1)
    cluster_size = Number(
        "How many rows come from one patient, user or the like; 1 by default. Plans have 1 + (`cluster_size` - 1) "
        "`icc` times the rows (Kish 1965).",
        minimum=1,
        maximum=10_000,
        example=5,
    )
    icc = Number("How alike such rows are: 0, by default, for not at all, 1 for copies.", minimum=0, maximum=1)

    @post_load
    def build(self, data: dict[str, Any], **_: object) -> Assumptions:
        """Build the assumptions, if they go together."""
        if "roc" not in data:
            raise invalid("missing", "Assumptions need roc.", "roc")
        if "baseline_roc" in data and "correlation" not in data:
            raise invalid("missing", "With baseline_roc, say how the scores correlate, as in 0.7.", "correlation")
        if "correlation" in data and "baseline_roc" not in data:
            raise invalid(
                "exclusive", "correlation is that with a baseline, whose area is baseline_roc.", "correlation"
            )
        return Assumptions(**data)


@dataclass(frozen=True, slots=True, eq=False)
class PlansRequest:
    """A checked request for plans."""

    evaluation: Evaluation
    baseline: Evaluation | None
    options: GateOptions
    power: float
    design_effect: float = 1.0
    charts: Pictures = ()

    @property
    def rows(self) -> int:
        """The rows of the longer table."""
        return max(self.evaluation.rows, self.baseline.rows if self.baseline else 0)


class PlansRequestSchema(RulesRequestSchema):
    """A request for plans: a pilot, with rules and a power."""

    component = "PlansRequest"
    about = (
        "A pilot: an evaluation, perhaps a `baseline`; or `assumptions` in its place; and the rules whose numbers of "
        "rows are asked for. `rules` is needed, and only rules with `confidence` have plans."
    )

    assumptions = ObjectField(AssumptionsSchema())

    power = Number(
        "The probability with which each rule should pass, from 0.5 to 0.99; 0.8 by default.",
        minimum=0.5,
        maximum=0.99,
        example=0.9,
    )

    json_only = RulesRequestSchema.json_only | {"assumptions"}

    @post_load
    def build(self, data: dict[str, Any], **_: object) -> PlansRequest:
        """Build the request, if its fields are compatible."""
        power = data.get("power", POWER)
        if "assumptions" not in data:
            return PlansRequest(*self.checked(data), power)
        for name in (*SlicedEvaluationSchema().fields, "clusters", "prevalence", "baseline"):
            if name in data and not (name == "where" and not data[name]):  # {} filters nothing
                raise invalid("exclusive", "This is of a pilot, but there are assumptions in its place.", name)
        if data.get("paired") is False:
            raise invalid("exclusive", "The assumed models have the same examples: leave out paired.", "paired")
        assumed: Assumptions = data["assumptions"]
        model, baseline = typical_samples(assumed)
        compared = None if baseline is None else Identified(baseline)
        rules = [_as_assumed(rule, assumed) for rule in data.get("rules", ())]
        both = data | {"rules": rules, "paired": compared is not None}
        return PlansRequest(*self.with_rules(both, Identified(model), compared), power, assumed.design_effect)


def _as_assumed(rule: Rule, given: Assumptions) -> Rule:
    """A rule on roc, with the assumed area as what is true, unless it says otherwise; the sample is only near it."""
    if rule.metric != "roc" or rule.expected is not None or rule.confidence is None:
        return rule
    if not rule.is_change:
        return replace(rule, expected=given.roc)
    return rule if given.baseline_roc is None else replace(rule, expected=rule.change(given.roc, given.baseline_roc))
