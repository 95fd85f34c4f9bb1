"""`POST /v1/classes`: scores for several classes, each class against the rest."""

from collections.abc import Mapping
from dataclasses import fields
from itertools import product
from typing import Any

from service.curves.area_columns import SHARED_AREAS
from service.curves.arrays import FloatArray
from service.curves.classes import AVERAGES, Classes, evaluate_classes
from service.inference.class_averages import ClassesWithIntervals, class_intervals
from service.operations.operation import Operation, Selection
from service.operations.row_cells import METRIC_CELLS, with_metrics
from service.operations.shared_cells import SHARED_AREA_COLUMNS, area_ends, reason_of
from service.wire.answers.parts import ABSENT, AnswerObject, AnswerRow, AnswerTable, AnswerValue, Cells, Part, tables_of
from service.wire.formats.inputs import CLASSES
from service.wire.formats.tables import OF_CLASSES, TableForm
from service.wire.limits import Limits
from service.wire.requests.classes_schemas import ClassesRequest, ClassesRequestSchema
from service.wire.requests.query_fields import query_fields


def _classes(found: ClassesWithIntervals) -> dict[str, Any]:
    own = ("positives", "negatives", *SHARED_AREAS, "reason")
    table = {"name": list(found.names)} | {name: getattr(found.areas, name) for name in own}
    if found.intervals is not None:
        table |= _ends(found.intervals.of_classes)
    matrices = found.decisions.matrices
    return table if matrices is None else table | with_metrics(matrices, _COUNTS, matrices.metrics)


def _averages(found: ClassesWithIntervals) -> dict[str, Any]:
    table = {"average": list(AVERAGES)} | {each.name: getattr(found.averages, each.name) for each in _AVERAGED}
    if found.intervals is not None:
        table |= _ends(found.intervals.of_averages)
    matrices = found.decisions.matrices
    return table if matrices is None else table | {**matrices.averages}


def _ends(intervals: Mapping[str, FloatArray]) -> dict[str, FloatArray]:
    return {
        f"{area}_{end}": column
        for area, ends in intervals.items()
        for end, column in zip(("lower", "upper"), ends, strict=True)
    }


def _confusion(found: ClassesWithIntervals) -> Any:  # noqa: ANN401  # columns by name, or ABSENT
    confusion = found.decisions.confusion
    if confusion is None:
        return ABSENT
    name, predicted = zip(*product(found.names, repeat=2), strict=True)
    return {"name": name, "predicted": predicted, "count": confusion.ravel()}


def _top(found: ClassesWithIntervals) -> Any:  # noqa: ANN401  # columns by name, or ABSENT
    top = found.decisions.top
    return {"k": [*top], "accuracy": [*top.values()]} if top else ABSENT


def _pairs(found: ClassesWithIntervals) -> Any:  # noqa: ANN401  # columns by name, or ABSENT
    if found.pairs is None:
        return ABSENT
    sides = {"name": found.pairs.number, "against": found.pairs.against}
    return {name: [found.names[place] for place in side] for name, side in sides.items()} | {"roc": found.pairs.roc}


_AVERAGED = (
    Cells.number("roc", "The area under the ROC curve.", null=True),
    Cells.number("pr", "The area under the precision-recall curve.", null=True),
    Cells.number("average_precision", "Average precision.", null=True),
)

_COUNTS = (
    Cells.count("tp", "With `decide` or `at_threshold`, the rows of the class that are called so.", sometimes=True),
    Cells.count("fp", "The other rows that are called so.", sometimes=True),
    Cells.count("fn", "The rows of the class that are not called so.", sometimes=True),
    Cells.count("tn", "The other rows that are not called so.", sometimes=True),
)

_ANSWER: tuple[Part, ...] = (
    AnswerObject(
        "clusters",
        "How many clusters there are among the rows of positive weight, if `clusters` says which rows belong together.",
        lambda found: found.clusters or ABSENT,
        sometimes=True,
        component="ClassClusters",
        columns=(Cells.whole("count", "All clusters."), Cells.whole("largest", "The rows of the largest.")),
    ),
    AnswerTable(
        "classes",
        "The classes in the order of the request, as columns of equal length.",
        _classes,
        component="ClassTable",
        columns=(
            Cells.text("name", "The name of the class."),
            Cells.count(
                "positives",
                "The rows of the class; with weights, their weight, `null` if it is beyond the range of a double.",
                null=True,
            ),
            Cells.count(
                "negatives",
                "The other rows; with weights, their weight, `null` if it is beyond the range of a double.",
                null=True,
            ),
            *SHARED_AREA_COLUMNS,
            *area_ends("class"),
            reason_of("class"),
            *_COUNTS,
            *METRIC_CELLS,
        ),
    ),
    AnswerTable(
        "averages",
        "Averages over the classes, as columns of equal length.",
        _averages,
        component="ClassAverages",
        columns=(
            Cells.text("average", "The names `macro`, `weighted` and `micro`."),
            *_AVERAGED,
            *area_ends("average"),
            *METRIC_CELLS,
        ),
    ),
    AnswerValue(
        "hand_till",
        "For multiclass: the mean of `roc` over all pairs of classes with positives, the measure M of Hand and Till "
        "(2001); `null` if there are none.",
        lambda found: ABSENT if found.pairs is None else found.hand_till,
        null=True,
        sometimes=True,
        kind="number",
    ),
    AnswerTable(
        "pairs",
        "For multiclass, every ordered pair of classes, as columns of equal length.",
        _pairs,
        sometimes=True,
        component="ClassPairs",
        columns=(
            Cells.text("name", "The class whose scores are compared."),
            Cells.text("against", "The other class."),
            Cells.number(
                "roc",
                "The probability that a row of the class has a greater score for it than a row of the other, ties "
                "counting one half; `null` if one of the two has no rows.",
                null=True,
            ),
        ),
        needs="labels that name one class for each row",
    ),
    AnswerTable(
        "confusion",
        "With `decide`, the confusion matrix: a row for each class and what it is called.",
        _confusion,
        sometimes=True,
        component="ClassConfusion",
        columns=(
            Cells.text("name", "The class."),
            Cells.text("predicted", "The class that is predicted for the rows."),
            Cells.count("count", "How many rows; a fraction where classes tie, with weights their weight."),
        ),
        needs="the option decide",
    ),
    AnswerRow(
        "overall",
        "With `decide`, numbers of the whole confusion matrix.",
        lambda found: found.decisions.overall or ABSENT,
        sometimes=True,
        component="ClassOverall",
        columns=(
            Cells.number("accuracy", "The share of rows that are called their class.", null=True),
            Cells.number("balanced_accuracy", "The mean recall of the classes that have rows.", null=True),
            Cells.number("kappa", "Cohen's kappa; `null` if chance would give an accuracy of 1.", null=True),
            Cells.number(
                "mcc",
                "The correlation of true and predicted classes (Gorodkin 2004); `null` if either is the same for "
                "all rows.",
                null=True,
            ),
            Cells.number(
                "log_loss",
                "The mean of -ln(the score for the row's class), which is at least 2^-52; `null` unless each row's "
                "scores are probabilities that add up to 1 within 1e-6.",
                null=True,
            ),
        ),
        needs="the option decide",
    ),
    AnswerTable(
        "top",
        "With `top`, how often the class is among the k with the greatest scores.",
        _top,
        sometimes=True,
        component="ClassTop",
        columns=(
            Cells.whole("k", "How many classes."),
            Cells.number(
                "accuracy",
                "The share of rows whose class is among them; a row counts in part if classes tie for the last place.",
            ),
        ),
        needs="the option top",
    ),
)


def _evaluate(checked: ClassesRequest, selection: Selection, _limits: Limits) -> ClassesWithIntervals:
    found = evaluate_classes(checked.given, selection.drawing, checked.decided)
    parts = {each.name: getattr(found, each.name) for each in fields(Classes)}
    parts["warnings"] = checked.warnings + found.warnings
    parts["clusters"] = checked.given.cluster_counts
    wanted = selection.picture is None and (selection.has("classes") or selection.has("averages"))
    if checked.intervals is None or not wanted:
        return ClassesWithIntervals(**parts)
    intervals = class_intervals(checked.given, found, checked.intervals)
    parts["warnings"] += intervals.warnings
    return ClassesWithIntervals(**parts, intervals=intervals)


def _asked(checked: ClassesRequest) -> set[str]:
    decided = checked.decided
    of_decisions = {"confusion", "overall"} if decided and decided.decide else set()
    pairs = {"pairs"} if checked.given.exclusive else set()
    return {"classes", "averages", *pairs, *of_decisions, *({"top"} if decided and decided.top else set())}


OPERATION = Operation(
    name="classes",
    schema=ClassesRequestSchema(),
    form=TableForm(query_fields("classes", ClassesRequestSchema()), (CLASSES,), OF_CLASSES),
    evaluate=_evaluate,
    answer=_ANSWER,
    tables=tables_of(_ANSWER),
    asked=_asked,
)
