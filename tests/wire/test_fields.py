"""Columns as fields: bounds point to the first row beyond them, and -0.0 is 0.0, whoever owns the memory."""

import numpy as np
import pytest
from marshmallow import ValidationError

from service.wire.columns import numbers
from service.wire.fields import NumberColumn


class Owned:
    """A column whose memory belongs to the caller, or not."""

    def __init__(self, values: list[float], *, writeable: bool):
        self.values = np.array(values)
        self.values.flags.writeable = writeable


@numbers.register
def _(column: Owned, *, nullable: bool):  # noqa: ARG001  # the signature of a reading
    return column.values


@pytest.mark.parametrize("writeable", [False, True])
@pytest.mark.parametrize("values", [[-0.0], [1.0, -0.0], [-1.0, -0.0, np.nan], [0.0, np.nan, -0.0], [-3.0, -0.0, 2.0]])
def test_negative_zero_is_zero(values, writeable):
    given = Owned(values, writeable=writeable)
    column = NumberColumn(nullable=True).deserialize(given)
    np.testing.assert_array_equal(column, values)
    assert not np.signbit(column[column == 0]).any()
    if not writeable:
        assert np.signbit(given.values[given.values == 0]).any()


def test_a_column_above_zero_is_taken_as_it_is():
    given = Owned([1.0, 5e-324], writeable=False)
    assert NumberColumn(minimum=0).deserialize(given) is given.values


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
    with pytest.raises(ValidationError) as caught:
        NumberColumn(minimum=0, maximum=2).deserialize(Owned(values, writeable=True))
    (fault,) = caught.value.messages
    assert (fault.code, fault.row) == (code, row)


def test_bounds_are_inclusive():
    column = NumberColumn(minimum=0, maximum=2).deserialize(Owned([0.0, 2.0, -0.0], writeable=True))
    np.testing.assert_array_equal(column, [0, 2, 0])


def test_bounds_hold_beside_nulls():
    field = NumberColumn(nullable=True, minimum=0, maximum=1)
    for values, row in (([np.nan, -5.0], 1), ([2.0, np.nan], 0)):
        with pytest.raises(ValidationError) as raised:
            field.deserialize(Owned(values, writeable=True))
        assert raised.value.messages[0].row == row
