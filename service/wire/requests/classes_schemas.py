"""The schema of a request for classes: scores for each class, and the class, or the classes, of each row.

Knows classes; nothing of bytes.
"""

from dataclasses import dataclass
from typing import Any

import numpy as np
from marshmallow import ValidationError, fields, post_load

from service.charts.picture import Pictures
from service.curves.arrays import BoolArray, FloatArray
from service.curves.classes import FEWEST_CLASSES, MOST_CLASSES, ClassScores
from service.curves.clock import in_time
from service.curves.errors import counted_rows, enumerated
from service.curves.evaluation import CurvesWarning
from service.wire import columns
from service.wire.requests.class_names import matched, without_affixes
from service.wire.requests.fields import Flag, LabelColumn, NumberColumn, Text, invalid, missing_field
from service.wire.requests.picture_schemas import DrawnSchema, charts_field, charts_of
from service.wire.wrong import Wrong

_CLASS_NAME = Text(minimum=1, maximum=100)
"""The names that a class may have."""


class _ByClass(fields.Field[dict[str, Any]]):
    """An object of columns, one for each class, by name."""

    def __init__(self, column: fields.Field[Any], example: str) -> None:
        super().__init__()
        self.column = column
        self.example = example

    def _deserialize(self, value: object, *_: object, **__: object) -> dict[str, Any]:
        if not isinstance(value, dict):
            message = f"Must be an object with a column for each class, such as {self.example}."
            raise ValidationError([Wrong("not_an_object", message)])
        if not FEWEST_CLASSES <= len(value) <= MOST_CLASSES:
            message = f"Must have {FEWEST_CLASSES} to {MOST_CLASSES} classes, not {len(value)}."
            raise ValidationError([Wrong("wrong_length", message)])
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


class _ClassLabels(fields.Field[Any]):
    """A column that names the class of each row, or an object with a column of memberships for each class."""

    def __init__(self) -> None:
        super().__init__()
        self.by_class = _ByClass(LabelColumn(), '{"cat": [1, 0], "dog": [0, 1]}')

    def _deserialize(self, value: object, *_: object, **__: object) -> dict[str, columns.Labels] | columns.Categories:
        if isinstance(value, dict):
            return self.by_class.deserialize(value)
        try:
            return columns.categories(value)
        except Wrong as error:
            if error.code != "not_a_slice":
                raise ValidationError([error]) from None
            message = "Labels must be text, integers or booleans, all of one kind."
            cell = value[error.row] if isinstance(value, list) and error.row is not None else None
            if isinstance(cell, str) and not columns.is_unicode(cell):
                message = error.detail
            raise ValidationError([Wrong("not_a_label", message, error.row)]) from None


@dataclass(frozen=True, slots=True, eq=False)
class ClassesRequest:
    """A checked request for classes."""

    given: ClassScores
    charts: Pictures = ()
    warnings: tuple[CurvesWarning, ...] = ()

    @property
    def rows(self) -> int:
        """The rows of its columns."""
        return self.given.rows


class ClassesRequestSchema(DrawnSchema):
    """A request for classes."""

    charts = charts_field("classes")
    scores = _ByClass(NumberColumn(infinite=True), '{"cat": [0.9, 0.2], "dog": [0.1, 0.8]}')
    labels = _ClassLabels()
    weights = NumberColumn(minimum=0)
    lower_is_positive = Flag()
    missing = missing_field()

    @post_load
    def build(self, data: dict[str, Any], **_: object) -> ClassesRequest:
        """Build the request, if every class has scores and all columns have equal length."""
        for name in ("scores", "labels"):
            if name not in data:
                message = (
                    "Give scores, an object with a column for each class, and labels; null and [] count as absent."
                )
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
        given = ClassScores(
            tuple(scores),
            [*scores.values()],
            [members[name] for name in scores],
            weights,
            data.get("lower_is_positive", False),
            exclusive,
        )
        return ClassesRequest(given, charts_of("classes", data), told)


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
