"""A list of numbers lifted out of a JSON body is read like the list itself."""

import itertools

import numpy as np
import pytest

from service.wire.columns import items, labels, numbers
from service.wire.formats.json_columns import NumberList
from service.wire.wrong import Wrong


def number_list(column: list[float]) -> NumberList:
    return NumberList(np.array(column, np.float64), min(column), max(column))


LABELS = (
    [0, 1, 1],
    [1, 1],
    [0, 0],
    [-1, -1],
    [1, -1, -1],
    [0.0, -0.0],
    [2, 7],
    [0.5, 1],
    [-1, 0],
    [0, 1, -1],
    [3, 1, 2],
)
POSITIVE_LABELS = (None, 1, 0, -1, 1.0, 2, 7.0, True, False, "1", 2**53 + 1, 10**400, 0.5)


@pytest.mark.parametrize(("column", "positive_label"), [*itertools.product(LABELS, POSITIVE_LABELS)])
def test_labels_read_as_those_of_a_list(column, positive_label):
    def read(column: object) -> object:
        try:
            return labels(column, positive_label).positive.tolist()
        except Wrong as error:
            return error.code, error.detail, error.row

    assert read(number_list(column)) == read(column)


def test_items_are_those_of_a_list():
    assert items(number_list([1, 2])) == [1, 2]
    assert items([1, "a"]) == [1, "a"]
    assert items("ab") is None


def test_numbers_are_those_of_a_list():
    column = [0.5, -3.0, 2.0]
    np.testing.assert_array_equal(numbers(number_list(column), nullable=False), numbers(column, nullable=False))
