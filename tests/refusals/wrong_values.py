"""Wrong values for each kind of field, each with its code, the row that the error points to, and the sentence."""

from __future__ import annotations

import json
from collections.abc import Iterator
from functools import singledispatch
from math import inf, nextafter
from typing import Any, NamedTuple

from marshmallow import fields

from service.wire.requests import fields as own
from service.wire.requests.class_gates_schemas import LabelsOrClasses, ScoresOrClasses
from service.wire.requests.column_fields import ClusterColumn, IdColumn, LabelColumn, NumberColumn
from service.wire.requests.dataset_schemas import Where
from service.wire.requests.gate_classes import NamesOfClasses
from service.wire.requests.object_schemas import ObjectField, ObjectList
from service.wire.requests.prevalence_schemas import ShareOfPositives
from service.wire.requests.slice_columns import CategoryColumns, ColumnNames

BEYOND_DOUBLES = 2**53 + 1
FROM_PANDAS = "This is an object of rows, as pandas' to_json and to_dict write; it must be a list:"


class Wrong(NamedTuple):
    """A value that a field refuses; `row` comes after the field's own pointer."""

    value: Any
    code: str
    sentence: str
    row: str = ""


NOT_NUMBERS = [
    ("0.5", "not_a_number", "'0.5' is a string; send 0.5 without quotes."),
    ("low", "not_a_number", "This is a string; it must be a number."),
    (True, "not_a_number", "This is a boolean; it must be a number."),
    ({"0": 0.5}, "not_a_number", "This is an object; it must be a number."),
    (BEYOND_DOUBLES, "not_exact", "This integer has no exact double, and rocpr does not round it."),
    (10**400, "not_exact", "This integer has no exact double, and rocpr does not round it."),
]
"""Values that are not numbers, alone or in a list."""

NOT_ONE_NUMBER = [*NOT_NUMBERS, ([0.5], "not_a_number", "This is a list; it must be one number.")]
A_LIST = ([0.5], "not_a_number", "This is a list; it must be a number.")


@singledispatch
def wrong_values(field: fields.Field[Any]) -> Iterator[Wrong]:
    """All wrong values listed here for a field's kind."""
    raise NotImplementedError(type(field))


@wrong_values.register
def _(field: ObjectField) -> Iterator[Wrong]:
    for value in (1, "text", True, [1], [{}]):
        such = f", such as {json.dumps(field.schema.example)}" if field.schema.example else ""
        yield Wrong(value, "not_an_object", f"Must be an object{such}.")
    for value in (1, None, []):
        yield Wrong({"foo": value}, "unknown_field", "Unknown field; the known names are", "/foo")
        yield Wrong({"_schema": value}, "unknown_field", "Unknown field; the known names are", "/_schema")


@wrong_values.register
def _(field: Where) -> Iterator[Wrong]:  # noqa: ARG001  # chosen by its type
    for value in (1, "text", [{}], True):
        yield Wrong(value, "not_an_object", "Must be an object of filters,")
    for value in ([1, "a"], [True, 1], [[1]], [None], {"a": 1}):
        yield Wrong({"a/b": value}, "not_a_label", "Must be all strings, all numbers or all booleans.", "/a~1b")


@wrong_values.register
def _(field: CategoryColumns) -> Iterator[Wrong]:  # noqa: ARG001  # chosen by its type
    for value in (1, "text", [{}], True):
        yield Wrong(value, "not_an_object", "Must be an object of columns, such as")
    many = {f"column {number}": ["a"] * 6 for number in range(11)}
    yield Wrong(many, "wrong_length", "Must have 0 to 10 columns, not 11.")


@wrong_values.register
def _(field: ColumnNames) -> Iterator[Wrong]:  # noqa: ARG001  # chosen by its type
    for value in (1, "text", True, {"0": "a"}):
        yield Wrong(value, "not_a_list", "Must be a list of the names of columns, such as")
    yield Wrong([f"column {number}" for number in range(11)], "wrong_length", "At most 10 columns can be named")
    yield Wrong(["a", 1], "not_a_string", "Must be the name of a column, a string.", "/1")
    yield Wrong(["a", "a"], "duplicate", "A column is named twice.", "/1")


@wrong_values.register
def _(field: ObjectList) -> Iterator[Wrong]:
    for value in (1, "text", True, {"0": {}}):
        yield Wrong(value, "not_a_list", "Must be a list of objects")
    bounds = f"Must have {field.minimum} to {field.maximum} items, not"
    for size in {max(field.minimum - 1, 0), field.maximum + 1} - {0}:
        yield Wrong([{}] * size, "wrong_length", f"{bounds} {size}.")


@wrong_values.register
def _(field: NumberColumn) -> Iterator[Wrong]:
    for value in ("0.5", 0.5, True):
        yield Wrong(value, "not_a_column", "Must be a list of numbers, such as [0.9, 0.2].")
    yield Wrong({"0": 0.5}, "not_a_column", FROM_PANDAS)
    right = 0.5 if field.exclusive_maximum is not None else 1 if field.maximum is None else field.maximum
    size = field.length or 2
    for value, code, sentence in [*NOT_NUMBERS, A_LIST, *_beyond(field)]:
        yield Wrong([right] * (size - 1) + [value], code, sentence, f"/{size - 1}")
    if not field.nullable:
        yield Wrong([right] * (size - 1) + [None], "not_a_number", "This is null; it must be a number.", f"/{size - 1}")
    if field.length is not None:
        for other in (field.length - 1, field.length + 1):
            yield Wrong([right] * other, "wrong_length", f"Must have {field.length} numbers, not {other}.")


@wrong_values.register
def _(field: ScoresOrClasses) -> Iterator[Wrong]:
    """An object has columns of several classes."""
    yield from (wrong for wrong in wrong_values.dispatch(NumberColumn)(field) if not isinstance(wrong.value, dict))


@wrong_values.register
def _(field: LabelsOrClasses) -> Iterator[Wrong]:
    yield from wrong_values.dispatch(LabelColumn)(field)


@wrong_values.register
def _(field: NamesOfClasses) -> Iterator[Wrong]:  # noqa: ARG001  # chosen by its type
    for value in (1, "some", True, {"0": "a"}):
        yield Wrong(value, "not_one_of", 'Must be "all", or a list of names of classes.')
    yield Wrong(["a", 1], "not_a_string", "Must be a string.")


@wrong_values.register
def _(field: IdColumn) -> Iterator[Wrong]:  # noqa: ARG001  # chosen by its type
    for value in ("a", 1, True):
        yield Wrong(value, "not_a_column", 'Must be a list of strings or integers, such as ["a1", "a2"].')
    yield Wrong({"0": "a"}, "not_a_column", FROM_PANDAS)
    yield Wrong([1, 0.5], "not_an_id", "An id is text or an integer; this number is not an integer.", "/1")
    for value in ([1], True):
        told = "The values of this column must be text, integers or booleans, all of one kind."
        yield Wrong([1, value], "not_an_id", told, "/1")
    yield Wrong(["a", None], "missing", "This row has no id.", "/1")
    yield Wrong(["a", "b", "a"], "duplicate", "1 id occurs more than once, in 2 rows: 'a' (rows 0 and 2).", "/2")


@wrong_values.register
def _(field: LabelColumn) -> Iterator[Wrong]:  # noqa: ARG001  # chosen by its type
    for value in ("1", 1, True):
        yield Wrong(value, "not_a_column", "Must be a list of labels, such as [1, 0].")
    yield Wrong({"0": 1}, "not_a_column", FROM_PANDAS)
    told = "Labels must be 0 and 1, false and true, or -1 and 1;"
    for value in (2, "x", True, 0.5):
        yield Wrong([1, 0, value, 1], "not_a_label", told, "/2")


@wrong_values.register
def _(field: ClusterColumn) -> Iterator[Wrong]:  # noqa: ARG001  # chosen by its type
    for value in ("a", 1, True):
        yield Wrong(value, "not_a_column", "Must be a list of strings, integers or booleans,")
    yield Wrong({"0": 1}, "not_a_column", FROM_PANDAS)
    for value in (2, True, 0.5, ["a"]):
        told = "The values of this column must be text, integers or booleans, all of one kind."
        yield Wrong(["a", "b", value, "a"], "not_a_cluster", told, "/2")
    yield Wrong([1, 2.5], "not_a_cluster", "A cluster is text, an integer or a boolean;", "/1")
    yield Wrong(["a", None, "b"], "missing", "This row has no cluster.", "/1")


@wrong_values.register
def _(field: own.Scalar) -> Iterator[Wrong]:  # noqa: ARG001  # chosen by its type
    for value in ([1], {"0": 1}):
        yield Wrong(value, "not_a_label", _of_list(value, "Must be a string, a number or a boolean."))


@wrong_values.register
def _(field: own.Number) -> Iterator[Wrong]:
    for value, code, sentence in [*NOT_ONE_NUMBER, *_beyond(field)]:
        yield Wrong(value, code, sentence)


@wrong_values.register
def _(field: ShareOfPositives) -> Iterator[Wrong]:
    for value, code, sentence in NOT_ONE_NUMBER:
        yield Wrong(value, code, sentence)
    for value in (nextafter(field.minimum or 0, 0), nextafter(field.maximum or 1, 1), 0, 1, -0.5, 1e300):
        yield Wrong(value, "out_of_range", "Must be a share of positives between 0 and 1, at least 1e-09 from either.")


@wrong_values.register
def _(field: own.Whole) -> Iterator[Wrong]:
    for value, code, sentence in NOT_ONE_NUMBER:
        yield Wrong(value, code, sentence)
    if field.choices:
        for value in (200, 404, 410, field.choices[0] + 0.5, -field.choices[0]):
            yield Wrong(value, "not_one_of", "Must be one of 409, 412, 424.")
        return
    yield Wrong(field.minimum + 0.5, "not_whole", "Must be a whole number.")
    for value in (field.minimum - 1, field.maximum + 1, -1e300):
        yield Wrong(value, "out_of_range", f"Must be a whole number from {field.minimum} to {field.maximum}.")


@wrong_values.register
def _(field: own.Flag) -> Iterator[Wrong]:  # noqa: ARG001  # chosen by its type
    for value in (0, 1, "true", [True], {}):
        yield Wrong(value, "not_a_boolean", _of_list(value, "Must be true or false."))


@wrong_values.register
def _(field: own.Text) -> Iterator[Wrong]:
    for value in (1, True, ["text"], {"name": "text"}):
        yield Wrong(value, "not_a_string", _of_list(value, "Must be a string."))
    for size in {field.minimum - 1, field.maximum + 1} - {-1}:
        told = f"Must have {field.minimum} to {field.maximum} characters, not {size}."
        yield Wrong("x" * size, "wrong_length", told)
    for value in ("a\nb", "\x00", "\x7f", "\ud800"):
        yield Wrong(value, "not_text", "This contains a control character, or half of a surrogate pair.")


@wrong_values.register
def _(field: own.Choice) -> Iterator[Wrong]:
    told = _told(field)
    for value in (*_not_choices(field), [field.choices[0]]):
        yield Wrong(value, "not_one_of", _of_list(value, told))


@wrong_values.register
def _(field: own.ChoiceSet) -> Iterator[Wrong]:
    names = ", ".join(field.choices)
    for value in (field.choices[0], {"0": field.choices[0]}, 1, True):
        some = f"a list with any of {names}" if field.choices[1:] else f'["{names}"]'
        yield Wrong(value, "not_a_list", f"Must be {some}.")
    for value in (*_not_choices(field), None, [field.choices[0]]):
        yield Wrong([field.choices[0], value], "not_one_of", _of_list(value, _told(field)), "/1")


def _of_list(value: object, told: str) -> str:
    return f"This is a list; it must be{told.removeprefix('Must be')}" if isinstance(value, list) else told


def _told(field: own.Choice | own.ChoiceSet) -> str:
    return f"Must be one of {', '.join(field.choices)}." if field.choices[1:] else f"Must be {field.choices[0]}."


def _not_choices(field: own.Choice | own.ChoiceSet) -> list[Any]:
    return ["", "some", field.choices[0].upper(), 1, True]


def _beyond(field: own.Number | NumberColumn) -> Iterator[tuple[float, str, str]]:
    """The next doubles beyond the bounds of a number, and one far away."""
    if field.minimum is not None:
        code = "negative" if field.minimum == 0 else "out_of_range"
        yield nextafter(field.minimum, -inf), code, f"This is below {field.minimum:g}."
        yield -1e300, code, f"This is below {field.minimum:g}."
    if field.maximum is not None:
        yield nextafter(field.maximum, inf), "out_of_range", f"This is above {field.maximum:g}."
        yield 1e300, "out_of_range", f"This is above {field.maximum:g}."
    if (bound := field.exclusive_minimum) is not None:
        for value in (bound, -1):
            yield value, "out_of_range", f"This must be above {bound:g}."
    if (bound := field.exclusive_maximum) is not None:
        for value in (bound, 95):
            yield value, "out_of_range", f"This must be below {bound:g}."
