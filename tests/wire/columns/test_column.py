"""A column is read once in each way, and says the same in every format."""

import numpy as np
import pyarrow as pa
import pytest

from service.wire.columns import Column, categories, contents, distinct_labels, items, labels, numbers, typed_column
from service.wire.wrong import Wrong


def test_a_column_is_read_once_in_each_way():
    column = Column(pa.array([0, 1, 1]))
    assert numbers(column, nullable=False) is numbers(column, nullable=False)
    for label in (None, "1", "0"):
        assert labels(column, label) is labels(column, label)
    assert categories(column) is categories(column)


def test_labels_tell_a_positive_label_by_type_and_value():
    """1 and true are equal and hash alike, but are two labels."""
    column = Column.of([1, 2, 3])
    assert labels(column, 1).positive.tolist() == [True, False, False]
    with pytest.raises(Wrong):
        labels(column, positive_label=True)
    assert labels(column, 1.0).positive.tolist() == [True, False, False]


def test_negative_zero_is_the_label_zero():
    for column in (Column.of([0.0, -0.0, 1.0]), Column(pa.array([0.0, -0.0, 1.0]))):
        assert labels(column, 0).positive.tolist() == [True, True, False]
        assert categories(column).values == (0, 1)


def test_items_are_those_of_a_list():
    for column in ([1, "a", None, 1], [0.5, 2], ["\ud800", True], [[1], {}]):
        assert items(column) == column
    assert items(Column.of([1, "a", None, 1])) == [1, "a", None, 1]
    assert items("ab") is items(Column(pa.array([1]))) is None


def test_rows_are_taken():
    for column in ([1, "a", None, "b"], [0.5, None, 1, 2], ["x", "y", None, "z"]):
        taken = Column.of(column).take(np.array([2, 3]))
        assert taken.to_list() == column[2:]
        assert taken.is_missing(words=False).tolist() == [each is None for each in column[2:]]


def test_a_value_that_is_not_a_column_is_refused():
    for unreadable in (None, 3, "text", {}):
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
    columns = [texts, Column(pa.array(texts), "csv"), typed_column(cells), typed_column(cells.dictionary_encode())]
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
