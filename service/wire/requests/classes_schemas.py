"""The schema of a request for classes: scores for each class, and the class, or the classes, of each row.

Knows classes; nothing of bytes.
"""

from dataclasses import dataclass
from typing import Any

import numpy as np
from marshmallow import ValidationError, post_load

from service.charts.picture import Pictures
from service.curves.arrays import BoolArray, FloatArray
from service.curves.class_decisions import ClassDecisionOptions
from service.curves.class_scores import ClassScores
from service.curves.classes import FEWEST_CLASSES, MOST_CLASSES
from service.curves.clock import in_time
from service.curves.errors import counted_rows, enumerated
from service.curves.evaluation import CurvesWarning
from service.curves.row_metrics import ROW_METRICS
from service.inference.intervals import IntervalOptions
from service.wire import columns
from service.wire.requests.class_names import matched, without_affixes
from service.wire.requests.column_fields import LabelColumn, NumberColumn
from service.wire.requests.evaluation_schemas import ClusteredFields
from service.wire.requests.fields import (
    Choice,
    ChoiceSet,
    Field,
    Flag,
    JsonSchema,
    Number,
    Text,
    invalid,
    missing_field,
)
from service.wire.requests.interval_schemas import ClosedIntervalsSchema
from service.wire.requests.object_schemas import ObjectField
from service.wire.requests.picture_schemas import DrawnSchema, charts_field, charts_of
from service.wire.wrong import Wrong

_CLASS_NAME = Text("The name of a class.", minimum=1, maximum=100)


class _ByClass(Field):
    """An object of columns, one for each class, by name."""

    def __init__(self, column: Field, about: str, example: object, component: str = "") -> None:
        super().__init__(about, example=example, component=component)
        self.column = column

    def read(self, value: object) -> dict[str, Any]:
        """Read all columns."""
        if not isinstance(value, dict):
            message = f"Must be an object with a column for each class, such as {self.example_text}."
            raise Wrong("not_an_object", message)
        if not FEWEST_CLASSES <= len(value) <= MOST_CLASSES:
            raise Wrong("wrong_length", f"Must have {FEWEST_CLASSES} to {MOST_CLASSES} classes, not {len(value)}.")
        read: dict[str, Any] = {}
        errors: dict[str, Any] = {}
        for name, column in in_time(value.items()):
            try:
                _CLASS_NAME.deserialize(name)
                read[name] = self._column(column)
            except ValidationError as error:
                errors[name] = error.messages
        if errors:
            raise ValidationError(errors)
        return read

    def _column(self, column: object) -> object:
        if column is None or column == []:
            raise ValidationError([Wrong("not_a_column", "Must be a list with a value for each row.")])
        return self.column.deserialize(column)

    def shape(self) -> JsonSchema:
        """An object of columns."""
        bounds = {"minProperties": FEWEST_CLASSES, "maxProperties": MOST_CLASSES}
        return {"type": "object", **bounds, "additionalProperties": self.column.shape()}


class _ClassLabels(Field):
    """A column that names the class of each row, or an object with a column of memberships for each class."""

    def __init__(self, about: str) -> None:
        super().__init__(about)
        self.by_class = _ByClass(
            LabelColumn("Whether each row belongs to the class."), about, {"cat": [1, 0], "dog": [0, 1]}
        )

    def read(self, value: object) -> Any:  # noqa: ANN401  # Labels by class, or Categories
        """Read either."""
        if isinstance(value, dict):
            return self.by_class.deserialize(value)
        try:
            return columns.categories(value)
        except Wrong as error:
            if error.code != "not_a_slice":
                raise
            message = "Labels must be text, integers or booleans, all of one kind."
            cell = value[error.row] if isinstance(value, list) and error.row is not None else None
            if isinstance(cell, str) and not columns.is_unicode(cell):
                message = error.detail
            raise Wrong("not_a_label", message, error.row) from None

    def shape(self) -> JsonSchema:
        """A list, or an object of lists."""
        return {}


class ClassIntervalsSchema(ClosedIntervalsSchema):
    """The level and the method of the intervals of classes."""

    component = "ClassIntervalOptions"
    about = (
        "Requests intervals of `roc`, `pr` and `average_precision` for each class and, if labels name one class for "
        "each row, for their averages, by the methods of `/v1/curves` that do not resample. `{}` takes all defaults."
    )


@dataclass(frozen=True, slots=True, eq=False)
class ClassesRequest:
    """A checked request for classes."""

    given: ClassScores
    charts: Pictures = ()
    warnings: tuple[CurvesWarning, ...] = ()
    decided: ClassDecisionOptions | None = None
    intervals: IntervalOptions | None = None

    @property
    def rows(self) -> int:
        """The rows of its columns."""
        return self.given.rows


class ClassesRequestSchema(DrawnSchema):
    """A request for classes."""

    component = "ClassesRequest"
    about = "Scores for each class, the labels, and the options, side by side."

    charts = charts_field("classes")
    scores = _ByClass(
        NumberColumn("The scores of the rows for the class.", infinite=True),
        "For each of 2 to 100 classes, by its name of 1 to 100 characters, the scores of the rows. The higher, the "
        "more likely a row belongs to the class, unless `lower_is_positive`. They need not be probabilities.",
        {"cat": [0.9, 0.2], "dog": [0.1, 0.8]},
        component="ClassScores",
    )
    labels = _ClassLabels(
        "Multiclass: a list with the class of each row, one for each score: text, integers or booleans; `3` and `3.0` "
        'are the class "3", `true` the class "true". Multilabel: an object with a list for each class of `scores`, by '
        "name, that says which rows belong to it: 0 and 1, false and true, or -1 and 1."
    )
    weights = NumberColumn(
        "The importance of each row, one for each score; 1 by default. A row of weight 0 counts as absent.", minimum=0
    )
    clusters = ClusteredFields().fields["clusters"]
    lower_is_positive = Flag(
        "If true, a row with a lower score is more likely to belong to the class. False by default."
    )
    decide = Choice(
        ("highest",),
        "How to predict one class for each row: `highest`, the one with the greatest score (the least, with "
        "`lower_is_positive`); if e classes tie, each gets 1 / e of the row. For labels that name one class a row.",
    )
    at_threshold = Number(
        "Predict every class whose score is at or above this (at or below, with `lower_is_positive`)."
    )
    metrics = ChoiceSet(
        tuple(ROW_METRICS),
        "The metrics of `classes` and `averages`, with `decide` or `at_threshold`; `precision`, `recall` and `f1` by "
        "default.",
    )
    top = NumberColumn(
        "For each of these numbers k, 1 to 100, the share of rows whose class is among the k with the greatest scores. "
        "For labels that name one class for each row.",
        minimum=1,
        maximum=MOST_CLASSES,
        example=(1, 3),
    )
    intervals = ObjectField(ClassIntervalsSchema())
    missing = missing_field()

    @post_load
    def build(self, data: dict[str, Any], **_: object) -> ClassesRequest:
        """Build the request, if every class has scores and all columns have equal length."""
        given, told = class_scores_of(data)
        decided = _decided(data, exclusive=given.exclusive)
        return ClassesRequest(given, charts_of("classes", data), told, decided, data.get("intervals"))


def class_scores_of(data: dict[str, Any]) -> tuple[ClassScores, tuple[CurvesWarning, ...]]:
    """The scores and labels of all classes, and warnings about their names."""
    for name in ("scores", "labels"):
        if name not in data:
            message = "Give scores, an object with a column for each class, and labels; null and [] count as absent."
            raise invalid("missing", message, name)
    scores: dict[str, FloatArray] = data["scores"]
    rows = next(iter(scores.values())).size
    labels = data["labels"]
    exclusive = isinstance(labels, columns.Categories)
    told: tuple[CurvesWarning, ...] = ()
    if exclusive:
        _check_lengths({"labels": labels.numbers}, rows)
        _check_lengths(scores, rows, "scores")
        members, told = _of_names(labels, [*scores])
        scores = dict(zip(members, scores.values(), strict=True))
    else:
        members = _of_columns(labels, [*scores])
        _check_lengths(members, rows, "labels")
        _check_lengths(scores, rows, "scores")
    weights = data.get("weights")
    if weights is not None:
        _check_lengths({"weights": weights}, rows)
    clusters = data.get("clusters")
    if clusters is not None:
        _check_lengths({"clusters": clusters.numbers}, rows)
    given = ClassScores(
        tuple(scores),
        [*scores.values()],
        [members[name] for name in scores],
        weights,
        data.get("lower_is_positive", False),
        exclusive,
        clusters,
    )
    return given, told


def _decided(data: dict[str, Any], *, exclusive: bool) -> ClassDecisionOptions | None:
    """The options of decisions, if there are any and they go together."""
    for name in ("decide", "top"):
        if name in data and not exclusive:
            raise invalid("exclusive", "This is for labels that name one class for each row.", name)
    if "decide" in data and "at_threshold" in data:
        raise invalid("exclusive", "Give decide or at_threshold, not both.", "at_threshold")
    if "metrics" in data and not {"decide", "at_threshold"} & data.keys():
        raise invalid("missing", "metrics need decide or at_threshold.", "decide")
    top = data.get("top", np.empty(0))
    fractional = np.flatnonzero(top != np.floor(top))
    if fractional.size:
        fault = Wrong("not_whole", "Must be a whole number.", int(fractional[0]))
        raise ValidationError({"top": [fault]})
    given: dict[str, Any] = {name: data[name] for name in ("decide", "at_threshold") if name in data}
    if not given and not top.size:
        return None
    if "metrics" in data:
        given["metrics"] = tuple(name for name in ROW_METRICS if name in data["metrics"])
    return ClassDecisionOptions(**given, top=tuple(dict.fromkeys(map(int, top))))


def _check_lengths(given: dict[str, Any], rows: int, within: str | None = None) -> None:
    for name, column in given.items():
        if column.size != rows:
            fault = Wrong(
                "lengths_differ", f"This column has {counted_rows(column.size)}; the first one of scores has {rows}."
            )
            raise ValidationError({within: {name: [fault]}} if within else {name: [fault]})


def _of_names(labels: columns.Categories, names: list[str]) -> tuple[dict[str, BoolArray], tuple[CurvesWarning, ...]]:
    """Match labels with classes by name. Returns the rows of each class, and warnings."""
    values = [value for value in labels.values if value is not None]
    places = matched(values, names)
    told: tuple[CurvesWarning, ...] = ()
    if None in places and (shorter := without_affixes(values, names)) is not None:
        names, told = shorter[0], (shorter[1],)
        places = matched(values, names)
    if None in places or len(values) < len(labels.values):
        raise _unknown_class(labels, [*places, None], names)
    classes = np.array(places)[labels.numbers]
    return {name: classes == place for place, name in enumerate(names)}, told


def _unknown_class(labels: columns.Categories, places: list[int | None], names: list[str]) -> ValidationError:
    unknown = np.array([place is None for place in places])
    row = int(unknown[labels.numbers].argmax())
    value = labels.values[labels.numbers[row]]
    fault = Wrong("not_a_label", "This has no value; it must name a class.", row)
    if value is not None:
        detail = (
            f"There are no scores for the class {columns.shown(value)}; there are for "
            f"{enumerated([*map(columns.shown, names)])}. "
            "Name each column of scores after its class; for a table, scores=cat=p1,dog=p2 says which is which."
        )
        fault = Wrong("unknown_class", detail, row)
    return ValidationError({"labels": [fault]})


def _of_columns(labels: dict[str, columns.Labels], names: list[str]) -> dict[str, BoolArray]:
    """Match columns of labels with classes by name."""
    for name in labels:
        if name not in names:
            detail = f"There are no scores for this class; there are for {enumerated([*map(columns.shown, names)])}."
            raise ValidationError({"labels": {name: [Wrong("unknown_class", detail)]}})
    for name in names:
        if name not in labels:
            raise ValidationError({"labels": [Wrong("missing", f"There are no labels for {columns.shown(name)}.")]})
    return {name: np.asarray(each.positive) for name, each in labels.items()}
