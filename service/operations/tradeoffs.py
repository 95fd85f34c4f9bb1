"""`POST /v1/tradeoffs`: optimal trade-off curves by one or several indices."""

from service.curves.indices import INDICES
from service.curves.tradeoff import Tradeoff, Tradeoffs, evaluate_tradeoffs
from service.operations.curves import TOTALS
from service.operations.operation import Operation, Selection
from service.wire.answers.parts import (
    ABSENT,
    AnswerColumn,
    Nested,
    Rows,
    Stacked,
    Table,
    Value,
    count,
    exact,
    number,
    score,
    text,
)
from service.wire.formats.tables import one_evaluation
from service.wire.limits import Limits
from service.wire.problems import invalid_value
from service.wire.requests.picture_schemas import DRAWS
from service.wire.requests.tradeoffs_schemas import TradeoffsRequest, TradeoffsRequestSchema

INDEX = text("index", "The index.")
NAMES = tuple(INDICES)

_OPTIMAL = (
    number("lambda_from", "The lowest λ of the interval."),
    number("lambda_to", "The highest λ of the interval."),
    score("threshold", "The threshold of the best row; `null` where the row has none.", null=True),
    count("tp", "Its true positives."),
    count("fp", "Its false positives."),
    number("precision", "Its precision, tp / (tp + fp); the value of every index at λ = 0."),
    number("recall", "Its recall, tp / positives; the value of every index at λ = 1."),
)
_AT = (
    exact("at_lambda", "The requested λ."),
    number("value", "The greatest value of the index there."),
    score(
        "threshold",
        "The threshold of the row with this value; `null` if the row has none. Where two intervals meet, it is the row "
        "of the upper one.",
        null=True,
    ),
)
_AREA = number(
    "area",
    "The mean height of the optimal trade-off curve over `lambda_range`; with `lambda_density`, its mean under that "
    "density.",
)
_UNINFORMATIVE = number(
    "uninformative_from",
    "From this λ to the end of `lambda_range`, the best row is the one that calls everything positive. `null` if that "
    "row is best on no interval.",
    null=True,
)
_BOUNDS = (
    number("lower", "With open groups only, the lowest area possible.", sometimes=True),
    number("upper", "With open groups only, the highest area possible.", sometimes=True),
)


def _value(column: AnswerColumn) -> Value:
    """A column's cell, in an object of its own."""
    return Value(column.name, column.about, lambda found: getattr(found, column.name), column.null, column.kind)


def _row_of_areas(found: Tradeoff) -> dict[str, float | None]:
    row = {"area": found.area, "uninformative_from": found.uninformative_from}
    return row if found.bounds is None else row | {"lower": found.bounds.lower, "upper": found.bounds.upper}


def _evaluate(checked: TradeoffsRequest, _selection: Selection, limits: Limits) -> Tradeoffs:
    at_lambda = checked.options.at_lambda
    if at_lambda is not None and at_lambda.size > limits.max_interpolated_rows:
        message = f"There are {at_lambda.size} values to read off; the limit is {limits.max_interpolated_rows}."
        raise invalid_value("/at_lambda", "too_many_points", message)
    return evaluate_tradeoffs(checked.evaluation, checked.options)


_OPTIMAL_ABOUT = (
    "The optimal trade-off curve: intervals of λ in rising order, which cover `lambda_range` without gaps, and the row "
    "that is best on each. No interval is empty, and each begins where the one before ends. If rows have equal counts, "
    "it is the first of them in the table."
)
_AT_ABOUT = "The optimal trade-off curve at the requested λ. Absent without `at_lambda`."

TRADEOFFS = Operation(
    name="tradeoffs",
    schema=TradeoffsRequestSchema(),
    form=one_evaluation(
        "indices", "min_precision", "min_recall", "lambda_range", "lambda_density", "at_lambda", drawn=DRAWS
    ),
    evaluate=_evaluate,
    answer=(
        *TOTALS,
        Nested(
            "tradeoffs",
            "The results of each index. An index that `indices` leaves out is absent.",
            lambda found: found.tradeoffs,
            keys=NAMES,
            parts=(
                Table("optimal", _OPTIMAL_ABOUT, lambda found: found.optimal, columns=_OPTIMAL),
                _value(_AREA),
                _value(_UNINFORMATIVE),
                Value(
                    "bounds",
                    "With open groups only, the lowest and the highest area possible.",
                    lambda found: found.bounds or ABSENT,
                    schema="Bounds",
                ),
                Table("at", _AT_ABOUT, lambda found: found.at or ABSENT, columns=_AT),
            ),
        ),
    ),
    tables=(
        Stacked(
            "optimal",
            _OPTIMAL_ABOUT,
            lambda found: {name: each.optimal for name, each in found.tradeoffs.items()},
            columns=_OPTIMAL,
            key=INDEX,
            keys=NAMES,
        ),
        Rows(
            "area",
            "A row for each index.",
            lambda found: {name: _row_of_areas(each) for name, each in found.tradeoffs.items()},
            columns=(_AREA, _UNINFORMATIVE, *_BOUNDS),
            key=INDEX,
            keys=NAMES,
        ),
        Stacked(
            "at",
            _AT_ABOUT,
            lambda found: {name: each.at for name, each in found.tradeoffs.items()},
            columns=_AT,
            needs="at_lambda, the values to read off",
            key=INDEX,
            keys=NAMES,
        ),
    ),
    asked=lambda checked: {"optimal", "area"} | ({"at"} if checked.options.at_lambda is not None else set()),
)
