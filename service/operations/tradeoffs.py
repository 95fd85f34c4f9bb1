"""`POST /v1/tradeoffs`: optimal trade-off curves by one or several indices."""

from service.curves.tradeoff import Tradeoff, Tradeoffs, evaluate_tradeoffs
from service.operations.operation import Operation, Selection
from service.operations.shared_cells import INDEX_KEY, INDEX_NAMES, PREVALENCE_VALUE, TOTAL_VALUES
from service.wire.answers.parts import ABSENT, AnswerTable, AnswerValue, Cells, KeyedRows, Nested, StackedTable
from service.wire.formats.inputs import PLAIN
from service.wire.formats.tables import one_evaluation
from service.wire.limits import Limits
from service.wire.problems import invalid_value
from service.wire.requests.query_fields import query_fields
from service.wire.requests.tradeoffs_schemas import TradeoffsRequest, TradeoffsRequestSchema

_OPTIMAL_CELLS = (
    Cells.number("lambda_from", "The lowest λ of the interval."),
    Cells.number("lambda_to", "The highest λ of the interval."),
    Cells.score("threshold", "The threshold of the best row; `null` where the row has none.", null=True),
    Cells.count("tp", "Its true positives."),
    Cells.count("fp", "Its false positives."),
    Cells.number("precision", "Its precision, tp / (tp + fp); the value of every index at λ = 0."),
    Cells.number("recall", "Its recall, tp / positives; the value of every index at λ = 1."),
)
_READ_OFF = (
    Cells.exact("at_lambda", "The requested λ."),
    Cells.number("value", "The greatest value of the index there."),
    Cells.score(
        "threshold",
        "The threshold of the row with this value; `null` if the row has none. Where two intervals meet, it is the row "
        "of the upper one.",
        null=True,
    ),
)
_MEAN = Cells.number(
    "area",
    "The mean height of the optimal trade-off curve over `lambda_range`; with `lambda_density`, its mean under that "
    "density.",
)
_UNINFORMATIVE = Cells.number(
    "uninformative_from",
    "From this λ to the end of `lambda_range`, the best row is the one that calls everything positive. `null` if that "
    "row is best on no interval.",
    null=True,
)
_BOUNDS = (
    Cells.number("lower", "With open groups only, the lowest area possible.", sometimes=True),
    Cells.number("upper", "With open groups only, the highest area possible.", sometimes=True),
)


def _value(column: Cells) -> AnswerValue:
    """One cell of a column, as a value of a JSON answer."""
    return AnswerValue(
        column.name, column.about, lambda found: getattr(found, column.name), column.null, kind=column.kind
    )


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

OPERATION = Operation(
    name="tradeoffs",
    schema=TradeoffsRequestSchema(),
    form=one_evaluation(query_fields("tradeoffs", TradeoffsRequestSchema()), PLAIN),
    evaluate=_evaluate,
    answer=(
        *TOTAL_VALUES,
        PREVALENCE_VALUE,
        Nested(
            "tradeoffs",
            "The results of each index. An index that `indices` leaves out is absent.",
            lambda found: found.tradeoffs,
            keys=INDEX_NAMES,
            inner="Tradeoff",
            parts=(
                AnswerTable(
                    "optimal",
                    _OPTIMAL_ABOUT,
                    lambda found: found.optimal,
                    columns=_OPTIMAL_CELLS,
                    component="OptimalTradeoff",
                ),
                _value(_MEAN),
                _value(_UNINFORMATIVE),
                AnswerValue(
                    "bounds",
                    "With open groups only, the lowest and the highest area possible.",
                    lambda found: found.bounds or ABSENT,
                    sometimes=True,
                    component="Bounds",
                ),
                AnswerTable(
                    "at",
                    _AT_ABOUT,
                    lambda found: found.at or ABSENT,
                    columns=_READ_OFF,
                    sometimes=True,
                    component="TradeoffReading",
                ),
            ),
        ),
    ),
    tables=(
        StackedTable(
            "optimal",
            _OPTIMAL_ABOUT,
            lambda found: {name: each.optimal for name, each in found.tradeoffs.items()},
            columns=_OPTIMAL_CELLS,
            key=INDEX_KEY,
            keys=INDEX_NAMES,
        ),
        KeyedRows(
            "area",
            "A row for each index.",
            lambda found: {name: _row_of_areas(each) for name, each in found.tradeoffs.items()},
            columns=(_MEAN, _UNINFORMATIVE, *_BOUNDS),
            key=INDEX_KEY,
            keys=INDEX_NAMES,
        ),
        StackedTable(
            "at",
            _AT_ABOUT,
            lambda found: {name: each.at for name, each in found.tradeoffs.items()},
            columns=_READ_OFF,
            needs="at_lambda, the values to read off",
            key=INDEX_KEY,
            keys=INDEX_NAMES,
        ),
    ),
    asked=lambda checked: {"optimal", "area"} | ({"at"} if checked.options.at_lambda is not None else set()),
)
