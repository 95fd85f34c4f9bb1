"""A column that several evaluations share: it is read once in each way, and different ways are kept apart."""

import numpy as np
import pyarrow as pa
import pytest

from service.wire.columns import Labels, SharedColumn, categories, contents, labels, numbers
from service.wire.formats.arrow_columns import ArrowColumn
from service.wire.formats.distinct_labels import distinct_labels
from service.wire.formats.text_columns import TextColumn
from service.wire.wrong import Wrong


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
        raise Wrong("not_a_label", "No such label.", 1)
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
        with pytest.raises(Wrong) as caught:
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
            with pytest.raises(Wrong) as caught:
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
    with pytest.raises(Wrong) as caught:
        read(3)
    assert caught.value.detail == told


@pytest.mark.parametrize("column", [[0, 1, 1], ["a", "b", "a"], ["a", 1, 1], [True, 0]])
def test_a_positive_label_of_two_leaves_nothing_to_say_of_the_rest(column):
    assert labels(column, column[0]).rest is None


def of_texts(texts, positive):
    """What each kind of column, and an engine, says of the same labels."""
    cells = pa.chunked_array([pa.array(texts)])
    columns = [texts, TextColumn(cells), ArrowColumn(cells), ArrowColumn(cells.dictionary_encode())]
    values, counts = np.unique(texts, return_counts=True)
    return {labels(column, positive).rest for column in columns if "" not in texts or column is not columns[1]} | {
        distinct_labels(values.tolist(), counts, positive).rest
    }


@pytest.mark.parametrize("text", ["NA", "N/A", "n/a", "#N/A", "<NA>", "NaN", "nan", "NULL", "null", "None", ""])
def test_a_negative_label_that_may_mean_none_is_named(text):
    told = "'yes', in 2 rows, is positive; all other labels are negative: {}in 1."
    doubt = f" {text!r}, in 1 row, may mean that there is no label: if so, leave out such rows."
    assert of_texts([text, "yes", "yes"], "yes") == {told.format(f"{text!r} ") + doubt}
    (rest,) = of_texts(["yes", "no", text, "no", "yes"], "yes")
    assert rest.endswith(f"are negative: 'no' in 2 and {text!r} in 1.{doubt}")


def test_a_class_that_is_called_none_is_positive_if_it_is_named():
    assert of_texts(["None", "mild", "None"], "None") == {None}


def test_rare_labels_that_may_mean_none_are_named_all():
    (rest,) = of_texts([*"aabbccddeeffgg", "NA", "null", "null"], "a")
    assert rest.endswith(" 'NA' and 'null', in 3 rows, may mean that there is no label: if so, leave out such rows.")


@pytest.mark.parametrize("text", ["none", "no", "na", "0", "unknown"])
def test_other_words_are_labels(text):
    assert of_texts(["yes", text], "yes") == {None}
