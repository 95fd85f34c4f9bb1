"""A column that several evaluations share: it is read once in each way, and different ways are kept apart."""

import numpy as np
import pytest

from service.wire.columns import ColumnError, Labels, SharedColumn, categories, contents, labels, numbers


class Counted:
    """A column that counts how often it is read, and how."""

    def __init__(self):
        self.readings = []


@numbers.register
def _(column: Counted, *, nullable: bool):
    column.readings.append(nullable)
    return np.array([1.0, np.nan if nullable else 2.0])


@labels.register
def _(column: Counted, positive_label: object):
    column.readings.append(positive_label)
    if positive_label == "refused":
        raise ColumnError("not_a_label", "No such label.", 1)
    return Labels(np.array([positive_label is True, isinstance(positive_label, float)]))


def test_numbers_are_read_once():
    inner = Counted()
    shared = SharedColumn(inner)
    first = numbers(shared, nullable=False)
    assert numbers(shared, nullable=False) is first
    assert shared.numbers(nullable=False) is first
    assert inner.readings == [False]
    np.testing.assert_array_equal(first, [1.0, 2.0])


def test_nullable_numbers_are_another_reading():
    inner = Counted()
    shared = SharedColumn(inner)
    for nullable in (False, True, False, True):
        assert np.isnan(numbers(shared, nullable=nullable)).any() == nullable
    assert inner.readings == [False, True]


def test_labels_are_read_once_for_each_positive_label():
    inner = Counted()
    shared = SharedColumn(inner)
    for label in ("a", None, "b", "a", None, "b"):
        labels(shared, label)
    assert labels(shared, "a") is shared.labels("a")
    assert inner.readings == ["a", None, "b"]


def test_labels_tell_a_positive_label_by_type_and_value():
    """1, true and 1.0 are equal and hash alike, but are three labels."""
    inner = Counted()
    shared = SharedColumn(inner)
    expected = [(1, [False, False]), (True, [True, False]), (1.0, [False, True])]
    for label, column in [*expected, *expected]:
        np.testing.assert_array_equal(labels(shared, label).positive, column)
    assert [type(label) for label in inner.readings] == [int, bool, float]


@pytest.mark.parametrize("positive_label", ["numbers", False, True])
def test_numbers_and_labels_are_not_mistaken_for_each_other(positive_label):
    shared = SharedColumn(Counted())
    assert numbers(shared, nullable=False).dtype == np.float64
    assert labels(shared, positive_label).positive.dtype == np.bool_
    assert numbers(shared, nullable=True).dtype == np.float64


def test_a_refusal_is_passed_on_to_every_reader():
    shared = SharedColumn(Counted())
    for _ in range(2):
        with pytest.raises(ColumnError) as caught:
            labels(shared, "refused")
        assert (caught.value.code, caught.value.row) == ("not_a_label", 1)


def test_reads_as_the_column_itself_does():
    column = [0, 1, 1, 0]
    np.testing.assert_array_equal(numbers(SharedColumn([0.5, None]), nullable=True), [0.5, np.nan])
    for label in (None, 1, 0):
        np.testing.assert_array_equal(labels(SharedColumn(column), label).positive, labels(column, label).positive)


def test_a_value_that_is_not_a_column_is_refused():
    for unreadable in (None, 3, "text", {}, SharedColumn(None)):
        for read in (lambda it: numbers(it, nullable=False), lambda it: labels(it, 1)):
            with pytest.raises(ColumnError) as caught:
                read(unreadable)
            assert caught.value.code == "not_a_column"
            assert caught.value.row is None
            assert caught.value.detail == str(caught.value)


@pytest.mark.parametrize(
    ("read", "told"),
    [
        (lambda it: numbers(it, nullable=False), "Must be a list of numbers, such as [0.9, 0.2]."),
        (lambda it: labels(it, 1), "Must be a list of labels, such as [1, 0]."),
        (contents, "Must be a list, such as [0.9, 0.2]."),
        (categories, 'Must be a list of strings, integers or booleans, such as ["DE", "FR"].'),
    ],
)
def test_says_what_a_column_would_be(read, told):
    with pytest.raises(ColumnError) as caught:
        read(3)
    assert caught.value.detail == told


@pytest.mark.parametrize("column", [[0, 1, 1], ["a", "b", "a"], ["a", 1, 1], [True, 0]])
def test_a_positive_label_of_two_leaves_nothing_to_say_of_the_rest(column):
    assert labels(column, column[0]).rest is None
