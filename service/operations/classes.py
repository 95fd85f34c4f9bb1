"""`POST /v1/classes`: scores for several classes, each class against the rest."""

from dataclasses import replace
from typing import Any

from service.curves.area_columns import SHARED_AREAS
from service.curves.classes import AVERAGES, Classes, evaluate_classes
from service.operations.operation import Operation, Selection
from service.operations.shared_cells import SHARED_AREA_COLUMNS, reason_of
from service.wire.answers.parts import ABSENT, AnswerTable, AnswerValue, Cells, Part, tables_of
from service.wire.formats.inputs import CLASSES
from service.wire.formats.tables import OF_CLASSES, TableForm
from service.wire.limits import Limits
from service.wire.requests.classes_schemas import ClassesRequest, ClassesRequestSchema
from service.wire.requests.query_fields import query_fields


def _classes(found: Classes) -> dict[str, Any]:
    own = ("positives", "negatives", *SHARED_AREAS, "reason")
    return {"name": list(found.names)} | {name: getattr(found.areas, name) for name in own}


def _averages(found: Classes) -> dict[str, Any]:
    return {"average": list(AVERAGES)} | {each.name: getattr(found.averages, each.name) for each in _AVERAGED}


def _pairs(found: Classes) -> Any:  # noqa: ANN401  # columns by name, or ABSENT
    if found.pairs is None:
        return ABSENT
    sides = {"name": found.pairs.number, "against": found.pairs.against}
    return {name: [found.names[place] for place in side] for name, side in sides.items()} | {"roc": found.pairs.roc}


_AVERAGED = (
    Cells.number("roc", "The area under the ROC curve.", null=True),
    Cells.number("pr", "The area under the precision-recall curve.", null=True),
    Cells.number("average_precision", "Average precision.", null=True),
)

_ANSWER: tuple[Part, ...] = (
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
            reason_of("class"),
        ),
    ),
    AnswerTable(
        "averages",
        "Averages over the classes, as columns of equal length.",
        _averages,
        component="ClassAverages",
        columns=(Cells.text("average", "The names `macro`, `weighted` and `micro`."), *_AVERAGED),
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
)


def _evaluate(checked: ClassesRequest, selection: Selection, _limits: Limits) -> Classes:
    classes = evaluate_classes(checked.given, selection.drawing)
    return replace(classes, warnings=checked.warnings + classes.warnings)


OPERATION = Operation(
    name="classes",
    schema=ClassesRequestSchema(),
    form=TableForm(query_fields("classes", ClassesRequestSchema()), (CLASSES,), OF_CLASSES),
    evaluate=_evaluate,
    answer=_ANSWER,
    tables=tables_of(_ANSWER),
    asked=lambda checked: {"classes", "averages"} | ({"pairs"} if checked.given.exclusive else set()),
)
