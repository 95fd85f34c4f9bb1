"""The schema of a request for trade-offs: an evaluation, the indices, and the range or density of lambda.

Knows the options of trade-offs; nothing of bytes.
"""

from dataclasses import dataclass
from typing import Any

from marshmallow import fields, post_load

from service.charts.picture import Pictures
from service.curves.confusion import Evaluation
from service.curves.density import BetaDensity
from service.curves.indices import INDICES
from service.curves.tradeoff import TradeoffOptions
from service.wire.requests.evaluation_schemas import EvaluationSchema
from service.wire.requests.fields import ChoiceSet, Number, NumberColumn, invalid, missing_field
from service.wire.requests.object_schemas import ObjectSchema
from service.wire.requests.picture_schemas import DrawnSchema, charts_field, charts_of


class LambdaDensitySchema(ObjectSchema):
    """A Beta density over lambda."""

    example = '{"a": 2, "b": 2}'

    a = Number(minimum=0.01, maximum=1000)
    b = Number(minimum=0.01, maximum=1000)

    @post_load
    def build(self, data: dict[str, Any], **_: object) -> BetaDensity:
        """Build the density, which needs both."""
        for name in ("a", "b"):
            if name not in data:
                raise invalid("missing", "A density needs both a and b.", name)
        return BetaDensity(**data)


@dataclass(frozen=True, slots=True, eq=False)
class TradeoffsRequest:
    """A checked request for trade-offs."""

    evaluation: Evaluation
    options: TradeoffOptions
    charts: Pictures

    @property
    def rows(self) -> int:
        """The rows of its table."""
        return self.evaluation.rows


class TradeoffsRequestSchema(DrawnSchema, EvaluationSchema):
    """A request for trade-offs: an evaluation and its options side by side."""

    charts = charts_field("tradeoffs")
    indices = ChoiceSet(tuple(INDICES))
    min_precision = Number(minimum=0, maximum=1)
    min_recall = Number(minimum=0, maximum=1)
    lambda_range = NumberColumn(minimum=0, maximum=1, length=2)
    lambda_density = fields.Nested(LambdaDensitySchema)
    at_lambda = NumberColumn(minimum=0, maximum=1)
    missing = missing_field()

    @post_load
    def build(self, data: dict[str, Any], **_: object) -> TradeoffsRequest:
        """Build the request."""
        evaluation = self.evaluation(data)
        if "lambda_range" in data:
            start, end = data["lambda_range"].tolist()
            if start >= end:
                raise invalid("not_rising", "The first number of the range must be below the second.", "lambda_range")
            data["lambda_range"] = (start, end)
        options = {name: data[name] for name in TradeoffOptions.__slots__ if name in data}
        return TradeoffsRequest(evaluation, TradeoffOptions(**options), charts_of("tradeoffs", data))
