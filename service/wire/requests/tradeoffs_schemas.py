"""The schema of a request for trade-offs: an evaluation, the indices, and the range or density of lambda.

Knows the options of trade-offs; nothing of bytes.
"""

from dataclasses import dataclass
from typing import Any, ClassVar

from marshmallow import post_load

from service.charts.picture import Pictures
from service.curves.confusion import Evaluation
from service.curves.density import BetaDensity
from service.curves.indices import INDICES
from service.curves.tradeoff import TradeoffOptions
from service.wire.requests.column_fields import NumberColumn
from service.wire.requests.evaluation_schemas import EvaluationSchema
from service.wire.requests.fields import ChoiceSet, Number, invalid, missing_field
from service.wire.requests.object_schemas import ObjectField, ObjectSchema
from service.wire.requests.picture_schemas import DrawnSchema, charts_field, charts_of
from service.wire.requests.prevalence_schemas import at_prevalence, target_field


class LambdaDensitySchema(ObjectSchema):
    """A Beta density over lambda."""

    component = "LambdaDensity"
    about = (
        "How much each λ counts in `area`: the density of the beta distribution with the parameters `a` and `b`, "
        "proportional to `l^(a - 1) (1 - l)^(b - 1)`, scaled to an integral of 1 over `lambda_range`. Both are "
        "needed. If both are 1, all λ count equally; if both are 2, those in the middle count most; if `a` is above "
        "`b`, recall counts more. By default all count equally."
    )
    example: ClassVar = {"a": 2, "b": 2}

    a = Number(
        "The first parameter: the greater it is, the more the λ near 1 count, where recall matters.",
        minimum=0.01,
        maximum=1000,
    )
    b = Number(
        "The second parameter: the greater it is, the more the λ near 0 count, where precision matters.",
        minimum=0.01,
        maximum=1000,
    )

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

    component = "TradeoffsRequest"
    about = (
        "One evaluation and its options in one object. The evaluation is `scores` with `labels` (and perhaps "
        "`weights`), or `counts`, or `groups`, or a `dataset`."
    )

    charts = charts_field("tradeoffs")
    indices = ChoiceSet(tuple(INDICES), "The indices that the answer has; all by default.", component="TradeoffIndex")
    min_precision = Number(
        "Consider only rows with at least this precision, compared as the double that the answer shows. 0 by default.",
        minimum=0,
        maximum=1,
    )
    min_recall = Number(
        "Consider only rows with at least this recall, compared as the double that the answer shows. 0 by default.",
        minimum=0,
        maximum=1,
    )
    lambda_range = NumberColumn(
        "The lowest and the highest λ that matter: `optimal` covers this range, and `area` is a mean over it. By "
        "default 0 and 1.",
        minimum=0,
        maximum=1,
        length=2,
    )
    lambda_density = ObjectField(LambdaDensitySchema())
    at_lambda = NumberColumn(
        "The values of λ to read the optimal trade-off curve at, one row of `at` each, in this order. They need not "
        "be within `lambda_range`. The server limits their number (100,000 by default).",
        minimum=0,
        maximum=1,
    )
    prevalence = target_field()
    missing = missing_field()

    @post_load
    def build(self, data: dict[str, Any], **_: object) -> TradeoffsRequest:
        """Build the request."""
        evaluation = at_prevalence(self.evaluation(data), data)
        if "lambda_range" in data:
            start, end = data["lambda_range"].tolist()
            if start >= end:
                raise invalid("not_rising", "The first number of the range must be below the second.", "lambda_range")
            data["lambda_range"] = (start, end)
        options = {name: data[name] for name in TradeoffOptions.__slots__ if name in data}
        return TradeoffsRequest(evaluation, TradeoffOptions(**options), charts_of("tradeoffs", data))
