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
from service.wire.requests.fields import ChoiceSet, Text, invalid, missing_field
from service.wire.requests.object_schemas import ObjectList
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

    component = "NamedEvaluation"
    about = (
        "One classifier: its name and its evaluation, which is `scores` with `labels` (and perhaps `weights`), or "
        "`counts`, or `groups` of one score each. The positives of all evaluations must be equal, and so must the "
        "negatives."
    )

    name = Text(
        "Its name in the answer, without control characters. It is required, and no two evaluations may have the same.",
        minimum=1,
        maximum=LONGEST_CURVE_NAME,
    )

    @post_load
    def build(self, data: dict[str, Any], **_: object) -> tuple[str, Evaluation]:
        """Build the evaluation, with its name."""
        if "name" not in data:
            raise invalid("missing", "When there are several evaluations, each needs a name.", "name")
        return data["name"], self.evaluation(data)


class ComparisonsRequestSchema(DrawnSchema):
    """A request for a comparison: two evaluations or more, and options."""

    component = "ComparisonsRequest"
    about = "The classifiers to compare, and the options."

    charts = charts_field("comparisons")
    evaluations = ObjectList(
        NamedEvaluationSchema(),
        "The classifiers, 2 to 50 of them, each evaluated on the same data.",
        minimum=2,
        maximum=MOST_EVALUATIONS,
    )
    indices = ChoiceSet(
        tuple(INDICES), "The indices that `best_tradeoff` has; all by default.", component="TradeoffIndex"
    )
    missing = missing_field()
    json_only = frozenset({"evaluations"})

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
