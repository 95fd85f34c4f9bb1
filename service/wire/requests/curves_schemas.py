"""The schema of a request for curves: an evaluation and options.

Knows the options of curves; nothing of bytes.
"""

from dataclasses import dataclass
from typing import Any

from marshmallow import fields, post_load

from service.charts.picture import Pictures
from service.curves.confusion import Evaluation
from service.curves.costs import LARGEST_COST, CostOptions
from service.curves.evaluation import INCLUDES, KEEPS, CurvesOptions
from service.curves.pr import AtRecall, Every
from service.curves.sample import Sample
from service.inference.intervals import IntervalOptions
from service.wire.requests.evaluation_schemas import EvaluationSchema, SampleSchema
from service.wire.requests.fields import Choice, ChoiceSet, Number, NumberColumn, ObjectList, invalid, missing_field
from service.wire.requests.interval_schemas import MOST_OPERATING_POINTS, IntervalsSchema, OperatingPointSchema
from service.wire.requests.object_schemas import ObjectSchema
from service.wire.requests.partial_schemas import PartialSchema
from service.wire.requests.picture_schemas import MarkedSchema, charts_field, charts_of


class InterpolationSchema(ObjectSchema):
    """Where to interpolate: exactly one of a step in true positives and a list of recalls."""

    example = '{"every": 10}'

    every = Number(exclusive_minimum=0)
    at_recall = NumberColumn(minimum=0, maximum=1)

    @post_load
    def build(self, data: dict[str, Any], **_: object) -> Every | AtRecall:
        """Build the one that is given."""
        if len(data) != 1:
            raise invalid("exclusive", "Give exactly one of every and at_recall.")
        return Every(data["every"]) if "every" in data else AtRecall(data["at_recall"])


MOST_PARTIAL = 100
"""The most partial areas in one request."""


MOST_PREVALENCES = 1000
"""The most prevalences in one request."""


class CostsSchema(ObjectSchema):
    """What errors cost, and at which prevalences."""

    example = '{"prevalence": [0.01, 0.1], "fn_cost": 5}'

    prevalence = NumberColumn(minimum=0, maximum=1)
    fn_cost = Number(exclusive_minimum=0, maximum=LARGEST_COST)
    fp_cost = Number(exclusive_minimum=0, maximum=LARGEST_COST)

    @post_load
    def build(self, data: dict[str, Any], **_: object) -> CostOptions:
        """Build the options; {} means errors of equal cost, at the prevalence of the data."""
        prevalences = data.get("prevalence", ())
        if len(prevalences) > MOST_PREVALENCES:
            message = f"There are {len(prevalences)} prevalences; the limit is {MOST_PREVALENCES}."
            raise invalid("wrong_length", message, "prevalence")
        return CostOptions(**data)


@dataclass(frozen=True, slots=True, eq=False)
class CurvesRequest:
    """A checked request for curves, and for intervals of their areas if it has options for those."""

    evaluation: Evaluation
    options: CurvesOptions
    intervals: IntervalOptions | None = None
    charts: Pictures = ()

    @property
    def rows(self) -> int:
        """The rows of the longest table."""
        samples = (self.evaluation, self.options.tuning)
        return max(0 if table is None else table.rows for table in samples)


class CurvesRequestSchema(MarkedSchema, EvaluationSchema):
    """A request for curves: an evaluation and its options side by side."""

    charts = charts_field("curves")
    soft_labels = NumberColumn(minimum=0, maximum=1)
    include = ChoiceSet(INCLUDES)
    keep = Choice(KEEPS)
    interpolation = fields.Nested(InterpolationSchema)
    thresholds = NumberColumn(infinite=True)
    tuning = fields.Nested(SampleSchema)
    intervals = fields.Nested(IntervalsSchema)
    operating_points = ObjectList(OperatingPointSchema(), minimum=0, maximum=MOST_OPERATING_POINTS)
    partial = ObjectList(PartialSchema(), minimum=0, maximum=MOST_PARTIAL)  # type: ignore[assignment]  # marshmallow removes fields from the class
    costs = fields.Nested(CostsSchema)
    missing = missing_field()
    sample_only = (*EvaluationSchema.sample_only, "soft_labels", "thresholds", "tuning")
    not_of_groups = (*EvaluationSchema.not_of_groups, "soft_labels")
    heir = "tuning"

    @post_load
    def build(self, data: dict[str, Any], **_: object) -> CurvesRequest:
        """Build the request, if its fields are compatible."""
        soft = "soft_labels" in data
        evaluation = self.soft_sample(data) if soft else self.evaluation(data)
        if soft and "intervals" in data:
            message = "Soft labels are probabilities, not observed classes: they have no intervals."
            raise invalid("exclusive", message, "intervals")
        tuning: Sample | None = data.get("tuning")
        if tuning is not None and "thresholds" in data:
            raise invalid("exclusive", "Give thresholds or a tuning sample, not both.", "thresholds")
        if tuning is not None and tuning.lower_is_positive != evaluation.lower_is_positive:
            message = "The tuning sample's thresholds cannot be applied to scores that rank the other way."
            raise invalid("exclusive", message, "tuning")
        options = CurvesOptions(**{name: data[name] for name in CurvesOptions.__slots__ if name in data})
        return CurvesRequest(evaluation, options, data.get("intervals"), charts_of("curves", data))
