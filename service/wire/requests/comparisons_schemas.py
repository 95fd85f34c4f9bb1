"""The schema of a request for a comparison: several evaluations, each with its name.

Knows the options of comparisons; nothing of bytes.
"""

from dataclasses import dataclass
from typing import Any

from marshmallow import ValidationError, post_load

from service.charts.picture import Pictures
from service.curves.comparison import MOST_EVALUATIONS
from service.curves.confusion import Evaluation
from service.curves.indices import INDICES
from service.wire.requests.evaluation_schemas import EvaluationSchema
from service.wire.requests.fields import ChoiceSet, ObjectList, Text, invalid, missing_field
from service.wire.requests.picture_schemas import DrawnSchema, charts_field, charts_of
from service.wire.wrong import Wrong

LONGEST_CURVE_NAME = 100
"""The most characters in the name of an evaluation."""


@dataclass(frozen=True, slots=True, eq=False)
class ComparisonsRequest:
    """A checked request for a comparison: the evaluations by name, in order."""

    evaluations: dict[str, Evaluation]
    indices: frozenset[str]
    charts: Pictures

    @property
    def rows(self) -> int:
        """The rows of the longest table."""
        return max(evaluation.rows for evaluation in self.evaluations.values())


class NamedEvaluationSchema(EvaluationSchema):
    """One of several evaluations."""

    name = Text(minimum=1, maximum=LONGEST_CURVE_NAME)

    @post_load
    def build(self, data: dict[str, Any], **_: object) -> tuple[str, Evaluation]:
        """Build the evaluation, with its name."""
        if "name" not in data:
            raise invalid("missing", "When there are several evaluations, each needs a name.", "name")
        return data["name"], self.evaluation(data)


class ComparisonsRequestSchema(DrawnSchema):
    """A request for a comparison: two evaluations or more, and options."""

    charts = charts_field("comparisons")
    evaluations = ObjectList(NamedEvaluationSchema(), minimum=2, maximum=MOST_EVALUATIONS)
    indices = ChoiceSet(tuple(INDICES))
    missing = missing_field()

    @post_load
    def build(self, data: dict[str, Any], **_: object) -> ComparisonsRequest:
        """Build the request, if the names are distinct."""
        if "evaluations" not in data:
            raise invalid("missing", "Give a list of evaluations; null and [] count as absent.", "evaluations")
        evaluations: dict[str, Evaluation] = {}
        for position, (name, evaluation) in enumerate(data["evaluations"]):
            if name in evaluations:
                earlier = list(evaluations).index(name)
                fault = Wrong("duplicate", f"evaluations[{earlier}] already has this name.")
                raise ValidationError({"evaluations": {position: {"name": [fault]}}})
            evaluations[name] = evaluation
        indices = data.get("indices", frozenset(INDICES))
        return ComparisonsRequest(evaluations, indices, charts_of("comparisons", data))
