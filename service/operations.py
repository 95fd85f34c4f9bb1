"""The operations: schema, tables and evaluation of each. One entry here makes an operation.

Knows the mathematics, the statistics and the schemas; nothing of bytes.
"""

from collections.abc import Callable, Collection
from dataclasses import dataclass, replace
from typing import Any, Protocol

from marshmallow import Schema

from service.charts.picture import Picture, Pictures
from service.curves.classes import Classes, evaluate_classes
from service.curves.comparison import Comparison, evaluate_comparison
from service.curves.drawing import DrawingOptions
from service.curves.tradeoff import Tradeoffs, evaluate_tradeoffs
from service.inference.bounded import has_bounds
from service.inference.curves_with_intervals import EvaluatedCurves, evaluate_with_intervals
from service.inference.gate import Gate, evaluate_gate
from service.inference.sliced import Sliced, evaluate_slices
from service.wire.answers.answer_tables import TABLES
from service.wire.answers.encoders import Shown
from service.wire.answers.repeated_names import refuse_many_best, refuse_many_slices
from service.wire.formats.listings import every_column
from service.wire.formats.tables import (
    TableForm,
    evaluation_and_baseline,
    one_column_a_class,
    one_evaluation,
    one_evaluation_with_soft_labels,
    one_sample_in_slices,
    several_evaluations,
)
from service.wire.limits import Limits
from service.wire.problems import invalid_value
from service.wire.requests.classes_schemas import ClassesRequest, ClassesRequestSchema
from service.wire.requests.columns_schemas import ColumnsRequestSchema
from service.wire.requests.comparisons_schemas import ComparisonsRequest, ComparisonsRequestSchema
from service.wire.requests.curves_schemas import CurvesRequest, CurvesRequestSchema
from service.wire.requests.gates_schemas import GatesRequest, GatesRequestSchema
from service.wire.requests.slices_schemas import SlicesRequest, SlicesRequestSchema
from service.wire.requests.tradeoffs_schemas import TradeoffsRequest, TradeoffsRequestSchema


class Checked(Protocol):
    """A request that passed its schema."""

    @property
    def rows(self) -> int:
        """The rows of its longest table."""

    @property
    def charts(self) -> Pictures:
        """The pictures requested within its answer."""


@dataclass(frozen=True, slots=True)
class Operation:
    """What `answer` needs to know about an operation, besides its encoders.

    form         the form of a body that is a table, and the query parameters that go with it.
    tables       the tables of an answer for formats that hold only one, the default first.
    evaluate     from the checked request and what to encode of the result (None for everything) to the result.
    included     the tables that a checked request includes; by default all.
    status       the HTTP status of a result; by default 200.
    """

    schema: Schema
    form: TableForm
    tables: tuple[str, ...]
    evaluate: Callable[[Any, Shown, Limits], Any]
    included: Callable[[Any], Collection[str]] | None = None
    status: Callable[[Any, Any], int] = lambda _checked, _result: 200

    def first_table(self, checked: Checked) -> str:
        """Choose the table of a single-table answer if none is named."""
        included = self.tables if self.included is None else self.included(checked)
        return next(name for name in self.tables if name in included)

    @property
    def parameters(self) -> tuple[str, ...]:
        """The query parameters that go with a table, except `table`."""
        return self.form.parameters


def _evaluate_curves(checked: CurvesRequest, shown: Shown, limits: Limits) -> EvaluatedCurves:
    options, intervals = checked.options, checked.intervals
    include, points, ranges, costs = options.include, options.operating_points, options.partial, options.costs
    if isinstance(shown, Picture):
        include, ranges, costs = frozenset({"auc"}), (), costs if shown.chart == "costs" else None
    elif isinstance(table := shown, str):
        _check_curves_table(checked, table)
        include &= {"auc" if table == "bounds" else table}
        points = points if table == "operating_points" else ()
        ranges = ranges if table == "partial" else ()
        costs = costs if table == "costs" else None
        intervals = intervals if table == "intervals" else None
    options = replace(
        options,
        include=include,
        operating_points=points,
        partial=ranges,
        costs=costs,
        max_interpolated_rows=limits.max_interpolated_rows,
    )
    return evaluate_with_intervals(checked.evaluation, options, intervals, _drawing(shown))


def _drawing(shown: Shown) -> DrawingOptions | None:
    """The options for drawing; the pictures of one answer differ only in their chart."""
    pictures = (shown,) if isinstance(shown, Picture) else shown
    if not isinstance(pictures, tuple):
        return None
    calibration = any(picture.chart == "calibration" for picture in pictures)
    return DrawingOptions(pictures[0].side, pictures[0].marks, calibration=calibration)


def _check_curves_table(checked: CurvesRequest, table: str) -> None:
    """Refuse a table that the request does not include."""
    options = checked.options
    asked_for = {
        "operating_points": options.operating_points,
        "partial": options.partial,
        "costs": options.costs,
        "intervals": checked.intervals,
    }
    if table == "bounds" and not has_bounds(checked.evaluation, options):
        raise invalid_value("/table", "missing", "This table needs open groups, whose score_from is below score_to.")
    table = "auc" if table == "bounds" else table
    if table in asked_for and not asked_for[table]:
        raise invalid_value("/table", "missing", f"This table needs the option {table}.")
    if table not in asked_for and table not in options.include:
        raise invalid_value("/table", "not_one_of", "include does not name this table.")


def _evaluate_tradeoffs(checked: TradeoffsRequest, shown: Shown, limits: Limits) -> Tradeoffs:
    at_lambda = checked.options.at_lambda
    if shown == "at" and at_lambda is None:
        raise invalid_value("/table", "missing", "This table needs at_lambda, the values to read off.")
    if at_lambda is not None and at_lambda.size > limits.max_interpolated_rows:
        message = f"There are {at_lambda.size} values to read off; the limit is {limits.max_interpolated_rows}."
        raise invalid_value("/at_lambda", "too_many_points", message)
    return evaluate_tradeoffs(checked.evaluation, checked.options)


def _evaluate_comparison(checked: ComparisonsRequest, shown: Shown, limits: Limits) -> Comparison:
    comparison = evaluate_comparison(checked.evaluations, checked.indices, _drawing(shown))
    refuse_many_best(comparison, limits)
    return comparison


def _evaluate_gate(checked: GatesRequest, _shown: Shown, _limits: Limits) -> Gate:
    return evaluate_gate(checked.evaluation, checked.baseline, checked.options)


def _evaluate_classes(checked: ClassesRequest, shown: Shown, _limits: Limits) -> Classes:
    if shown == "pairs" and not checked.given.exclusive:
        raise invalid_value("/table", "missing", "There are no pairs where a row may belong to several classes.")
    classes = evaluate_classes(checked.given, _drawing(shown))
    return replace(classes, warnings=checked.warnings + classes.warnings)


def _evaluate_slices(checked: SlicesRequest, shown: Shown, limits: Limits) -> Sliced:
    if shown == "operating_points" and not checked.points:
        raise invalid_value("/table", "missing", "This table needs the option operating_points.")
    of_each = {"overall": 0, "slices": 1, "operating_points": len(checked.points)}
    refuse_many_slices(checked.slicing, of_each.get(str(shown), 1 + len(checked.points)), limits)
    return evaluate_slices(checked.sample, checked.slicing, checked.points, checked.intervals)


_DRAWS = ("charts", "side", "theme", "title")

OPERATIONS = {
    "curves": Operation(
        CurvesRequestSchema(),
        one_evaluation_with_soft_labels(
            *("include", "keep", "interpolation", "thresholds", "intervals", "operating_points", "partial", "costs"),
            drawn=(*_DRAWS, "mark"),
        ),
        tuple(TABLES["curves"]),
        _evaluate_curves,
        lambda checked: checked.options.include,
    ),
    "tradeoffs": Operation(
        TradeoffsRequestSchema(),
        one_evaluation(
            "indices", "min_precision", "min_recall", "lambda_range", "lambda_density", "at_lambda", drawn=_DRAWS
        ),
        tuple(TABLES["tradeoffs"]),
        _evaluate_tradeoffs,
    ),
    "comparisons": Operation(
        ComparisonsRequestSchema(),
        several_evaluations("indices", drawn=_DRAWS),
        tuple(TABLES["comparisons"]),
        _evaluate_comparison,
    ),
    "gates": Operation(
        GatesRequestSchema(),
        evaluation_and_baseline("paired", "intervals", "rules", "fail_status", drawn=_DRAWS),
        (),
        _evaluate_gate,
        status=lambda checked, gate: 200 if gate.passed else checked.fail_status,
    ),
    "slices": Operation(
        SlicesRequestSchema(),
        one_sample_in_slices("operating_points", "intervals", drawn=_DRAWS),
        tuple(TABLES["slices"]),
        _evaluate_slices,
    ),
    "classes": Operation(
        ClassesRequestSchema(), one_column_a_class(drawn=_DRAWS), tuple(TABLES["classes"]), _evaluate_classes
    ),
    "columns": Operation(ColumnsRequestSchema(), every_column(), (), lambda checked, _shown, _limits: checked.listing),
}
"""{name: operation}; its path is /v1/ and its name."""
