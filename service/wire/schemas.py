"""The schemas of the requests: an evaluation or several, with the options of one operation beside them.

A loaded schema is what the operation evaluates. Knows the operations' options; nothing of bytes.
"""

import dataclasses
from dataclasses import dataclass
from typing import Any

from marshmallow import ValidationError, fields, post_load, pre_load

from service.curves.comparison import MOST_EVALUATIONS
from service.curves.counts import Counts
from service.curves.density import BetaDensity
from service.curves.evaluation import INCLUDES, KEEPS, CurvesOptions
from service.curves.indices import INDICES
from service.curves.pr import AtRecall, Every
from service.curves.sample import Sample
from service.curves.tradeoff import TradeoffOptions
from service.inference.intervals import IntervalOptions
from service.wire.evaluation_schemas import EvaluationSchema, ObjectSchema, SampleSchema, inheriting
from service.wire.fields import Choice, ChoiceSet, Fault, Number, NumberColumn, ObjectList, Text, invalid
from service.wire.interval_schemas import MOST_OPERATING_POINTS, IntervalsSchema, OperatingPointSchema
from service.wire.work import comparisons_work, curves_work, tradeoffs_work

LONGEST_NAME = 100
"""How many characters the name of an evaluation has."""


class InterpolationSchema(ObjectSchema):
    """Where to interpolate: exactly one of a step in true positives and a list of recalls."""

    every = Number(exclusive_minimum=0)
    at_recall = NumberColumn(minimum=0, maximum=1)

    @post_load
    def build(self, data: dict[str, Any], **_: object) -> Every | AtRecall:
        """Build the one that is given."""
        if len(data) != 1:
            raise invalid("exclusive", "Give exactly one of every and at_recall.")
        return Every(data["every"]) if "every" in data else AtRecall(data["at_recall"])


@dataclass(frozen=True, slots=True, eq=False)
class CurvesRequest:
    """A checked request for curves, and for intervals of their areas where it has options of those."""

    evaluation: Sample | Counts
    options: CurvesOptions
    intervals: IntervalOptions | None = None

    @property
    def rows(self) -> int:
        """The rows of the longest table."""
        samples = (self.evaluation, self.options.tuning)
        return max(0 if table is None else table.rows for table in samples)

    @property
    def work(self) -> int:
        """What its tables, its points and its resamples take."""
        return curves_work(self)


class CurvesRequestSchema(EvaluationSchema):
    """A request for curves: an evaluation and its options side by side."""

    include = ChoiceSet(INCLUDES)
    keep = Choice(KEEPS)
    interpolation = fields.Nested(InterpolationSchema)
    thresholds = NumberColumn()
    tuning = fields.Nested(SampleSchema)
    intervals = fields.Nested(IntervalsSchema)
    operating_points = ObjectList(OperatingPointSchema(), minimum=0, maximum=MOST_OPERATING_POINTS)
    sample_only = (*EvaluationSchema.sample_only, "thresholds", "tuning")

    @pre_load
    def drop_absent(self, data: Any, **kwargs: object) -> Any:  # noqa: ANN401  # anything that JSON can hold
        """Let a tuning sample inherit what labels and scores mean."""
        data = super().drop_absent(data, **kwargs)
        return inheriting(data, "tuning") if isinstance(data, dict) else data

    @post_load
    def build(self, data: dict[str, Any], **_: object) -> CurvesRequest:
        """Build the request, when its fields go together."""
        evaluation = self.evaluation(data)
        tuning: Sample | None = data.get("tuning")
        if tuning is not None and "thresholds" in data:
            raise invalid("exclusive", "Give thresholds or a tuning sample, not both.", "thresholds")
        if tuning is not None and tuning.lower_is_positive != evaluation.lower_is_positive:
            message = "The tuning sample's thresholds cannot be applied to scores that run the other way."
            raise invalid("exclusive", message, "tuning")
        names = ("include", "keep", "interpolation", "thresholds", "tuning", "operating_points")
        options = CurvesOptions(**{name: data[name] for name in names if name in data})
        return CurvesRequest(evaluation, options, data.get("intervals"))


class LambdaDensitySchema(ObjectSchema):
    """A Beta density over lambda."""

    a = Number(minimum=0.01, maximum=1000)
    b = Number(minimum=0.01, maximum=1000)

    @post_load
    def build(self, data: dict[str, Any], **_: object) -> BetaDensity:
        """Build the density, which needs both."""
        for name in ("a", "b"):
            if name not in data:
                raise invalid("missing", "A density needs a and b.", name)
        return BetaDensity(**data)


@dataclass(frozen=True, slots=True, eq=False)
class TradeoffsRequest:
    """A checked request for trade-offs."""

    evaluation: Sample | Counts
    options: TradeoffOptions

    @property
    def rows(self) -> int:
        """The rows of its table."""
        return self.evaluation.rows

    @property
    def work(self) -> int:
        """What its table takes, and what is read off."""
        return tradeoffs_work(self)


class TradeoffsRequestSchema(EvaluationSchema):
    """A request for trade-offs: an evaluation and its options side by side."""

    indices = ChoiceSet(tuple(INDICES))
    min_precision = Number(minimum=0, maximum=1)
    min_recall = Number(minimum=0, maximum=1)
    lambda_range = NumberColumn(minimum=0, maximum=1, length=2)
    lambda_density = fields.Nested(LambdaDensitySchema)
    at_lambda = NumberColumn(minimum=0, maximum=1)

    @post_load
    def build(self, data: dict[str, Any], **_: object) -> TradeoffsRequest:
        """Build the request."""
        evaluation = self.evaluation(data)
        if "lambda_range" in data:
            start, end = data["lambda_range"].tolist()
            if start >= end:
                raise invalid("not_rising", "The range has to rise: its first number below its second.", "lambda_range")
            data["lambda_range"] = (start, end)
        options = {field.name: data[field.name] for field in dataclasses.fields(TradeoffOptions) if field.name in data}
        return TradeoffsRequest(evaluation, TradeoffOptions(**options))


@dataclass(frozen=True, slots=True, eq=False)
class ComparisonsRequest:
    """A checked request for a comparison: the evaluations by name, in their order."""

    evaluations: dict[str, Sample | Counts]
    indices: frozenset[str]

    @property
    def rows(self) -> int:
        """The rows of the longest table."""
        return max(evaluation.rows for evaluation in self.evaluations.values())

    @property
    def work(self) -> int:
        """What its tables take, and comparing every curve with every other."""
        return comparisons_work(self)


class NamedEvaluationSchema(EvaluationSchema):
    """One of several evaluations."""

    name = Text(minimum=1, maximum=LONGEST_NAME)

    @post_load
    def build(self, data: dict[str, Any], **_: object) -> tuple[str, Sample | Counts]:
        """Build the evaluation, with its name."""
        if "name" not in data:
            raise invalid("missing", "Each of several evaluations needs a name.", "name")
        return data["name"], self.evaluation(data)


class ComparisonsRequestSchema(ObjectSchema):
    """A request for a comparison: two evaluations or more, and options."""

    evaluations = ObjectList(NamedEvaluationSchema(), minimum=2, maximum=MOST_EVALUATIONS)
    indices = ChoiceSet(tuple(INDICES))

    @post_load
    def build(self, data: dict[str, Any], **_: object) -> ComparisonsRequest:
        """Build the request, when the names are distinct."""
        if "evaluations" not in data:
            raise invalid("missing", "Give a list of evaluations; null and [] read as absent.", "evaluations")
        evaluations: dict[str, Sample | Counts] = {}
        for position, (name, evaluation) in enumerate(data["evaluations"]):
            if name in evaluations:
                earlier = list(evaluations).index(name)
                fault = Fault("duplicate", f"Evaluation {earlier} has this name, too; they are counted from 0.")
                raise ValidationError({"evaluations": {position: {"name": [fault]}}})
            evaluations[name] = evaluation
        return ComparisonsRequest(evaluations, data.get("indices", frozenset(INDICES)))
