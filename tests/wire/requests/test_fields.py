"""Columns as fields: bounds point to the first row beyond them; -0.0 becomes 0.0, whoever owns the memory; numbers."""

import json

import numpy as np
import pyarrow as pa
import pytest
from marshmallow import ValidationError, pre_load

from service.wire.columns import Column
from service.wire.problems import MAX_ERRORS
from service.wire.requests.column_fields import NumberColumn
from service.wire.requests.fields import Number, Text, Whole
from service.wire.requests.object_schemas import ObjectList, ObjectSchema
from tests.support.raising import raised


def numbered(values):
    """A column of numbers; NaN is null."""
    return Column(pa.array(np.array(values), from_pandas=True))


@pytest.mark.parametrize("values", [[-0.0], [1.0, -0.0], [-1.0, -0.0, np.nan], [0.0, np.nan, -0.0], [-3.0, -0.0, 2.0]])
def test_negative_zero_is_zero(values):
    given = np.array(values)
    column = NumberColumn("", nullable=True).deserialize(numbered(given))
    np.testing.assert_array_equal(column, values)
    assert not np.signbit(column[column == 0]).any()
    assert given.tobytes() == np.array(values).tobytes()


@pytest.mark.parametrize("values", [[1.0, 5e-324], [-1.0, 0.0, 2.0]])
def test_a_column_without_negative_zero_is_taken_as_it_is(values):
    given = np.array(values)
    assert np.shares_memory(NumberColumn("").deserialize(given), given)


@pytest.mark.parametrize(
    ("values", "code", "row"),
    [
        ([0.0, 1.0, -5e-324, -1.0], "negative", 2),
        ([1.0, 2.5, 3.0], "out_of_range", 1),
        ([3.0, -1.0], "negative", 1),
        ([-1.0, 3.0], "negative", 0),
    ],
)
def test_points_to_the_first_row_beyond_a_bound(values, code, row):
    error = raised(ValidationError, lambda: NumberColumn("", minimum=0, maximum=2).deserialize(numbered(values)))
    (fault,) = error.messages
    assert (fault.code, fault.row) == (code, row)


def test_bounds_are_inclusive():
    column = NumberColumn("", minimum=0, maximum=2).deserialize(numbered([0.0, 2.0, -0.0]))
    np.testing.assert_array_equal(column, [0, 2, 0])


def test_bounds_hold_with_nulls():
    field = NumberColumn("", nullable=True, minimum=0, maximum=1)
    for values, row in (([np.nan, -5.0], 1), ([2.0, np.nan], 0)):
        assert raised(ValidationError, field.deserialize, numbered(values)).messages[0].row == row


def test_an_exclusive_bound_is_the_only_number_that_is_left_out():
    field = Number("", exclusive_minimum=0, exclusive_maximum=1)
    assert field.deserialize(1 - 2**-53) == 1 - 2**-53
    assert field.deserialize(5e-324) == 5e-324


@pytest.mark.parametrize(("value", "expected"), [(2, 2), (2.0, 2), (-0.0, 0), (10, 10)])
def test_a_whole_number_is_an_integer_however_it_is_written(value, expected):
    found = Whole("", minimum=0, maximum=10).deserialize(value)
    assert (found, type(found)) == (expected, int)


class Counting(ObjectSchema):
    """A schema that counts what it loads."""

    at = Number("", maximum=1)
    loaded = 0

    @pre_load
    def count(self, data, **_):
        Counting.loaded += 1
        return data


@pytest.mark.parametrize(("item", "looked_at"), [({"at": 2}, MAX_ERRORS), ({"at": 2, "on": 1, "off": 0}, 7), (1, 20)])
def test_a_list_of_objects_is_checked_until_the_list_of_errors_is_full(item, looked_at, monkeypatch):
    monkeypatch.setattr(Counting, "loaded", 0)
    items = ObjectList(Counting(), "", minimum=1, maximum=1000)
    error = raised(ValidationError, items.deserialize, [{"at": 0}] * 5 + [item] * 900 + [{"at": 0}] * 5)
    assert list(error.messages) == [*range(5, 5 + looked_at)]
    assert Counting.loaded == 5 + looked_at


@pytest.mark.parametrize(("text", "is_right"), [("", False), ("a", True), ("abc", True), ("abcd", False)])
def test_the_shortest_and_the_longest_text(text, is_right):
    if is_right:
        assert Text("", minimum=1, maximum=3).deserialize(text) == text
    else:
        with pytest.raises(ValidationError):
            Text("", minimum=1, maximum=3).deserialize(text)


def schemas_with_an_example(of: type[ObjectSchema] = ObjectSchema) -> list[type[ObjectSchema]]:
    found = [each for sub in of.__subclasses__() for each in (sub, *schemas_with_an_example(sub))]
    return [each for each in dict.fromkeys(found) if each.example]


@pytest.mark.parametrize("schema", schemas_with_an_example())
def test_an_example_that_is_shown_is_right(schema: type[ObjectSchema]) -> None:
    schema().load(schema.example)
    error = raised(ValidationError, lambda: schema().load(3))
    assert error.messages["_schema"][0].detail == f"Must be an object, such as {json.dumps(schema.example)}."
