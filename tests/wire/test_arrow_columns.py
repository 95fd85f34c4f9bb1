"""Typed columns: which types are read, what of them is refused and where, and that nothing is rounded."""

import numpy as np
import pyarrow as pa
import pytest

from service.wire.arrow_columns import ArrowColumn, validate
from service.wire.columns import ColumnError, labels, numbers

WIDE = 2**53


def column(cells, kind=None, chunks=1):
    array = cells if isinstance(cells, pa.Array) else pa.array(cells, kind)
    size = -(-len(array) // chunks)
    return ArrowColumn(pa.chunked_array([array.slice(start, size) for start in range(0, len(array), size)]))


def read(cells, kind=None, **options):
    return numbers(column(cells, kind, options.pop("chunks", 1)), nullable=options.pop("nullable", False))


def refused(read, *args, **kwargs):
    with pytest.raises(ColumnError) as caught:
        read(*args, **kwargs)
    return caught.value.code, caught.value.row


@pytest.mark.parametrize(
    "kind",
    [
        *(pa.int8(), pa.int16(), pa.int32(), pa.int64(), pa.uint8(), pa.uint16(), pa.uint32(), pa.uint64()),
        *(pa.float16(), pa.float32(), pa.float64()),
    ],
)
@pytest.mark.parametrize("chunks", [1, 3])
def test_every_type_of_number_is_read(kind, chunks):
    cells = np.array([3, 0, 7, 5], kind.to_pandas_dtype())
    values = read(pa.array(cells), chunks=chunks)
    assert values.dtype == np.float64
    assert values.tolist() == [3, 0, 7, 5]


def test_floats_in_one_piece_are_not_copied():
    cells = np.array([0.1, -0.0, 5e-324])
    assert np.shares_memory(read(pa.array(cells)), cells)


@pytest.mark.parametrize(
    ("cells", "kind", "row"),
    [
        ([1, WIDE, WIDE + 1], pa.int64(), 2),
        ([-WIDE - 1], pa.int64(), 0),
        ([1, 2**63 - 1], pa.int64(), 1),
        ([2**64 - 1], pa.uint64(), 0),
        ([2**63, 2**63 + 1], pa.uint64(), 1),
    ],
)
def test_an_integer_that_no_double_holds_is_refused(cells, kind, row):
    assert refused(read, cells, kind) == ("not_exact", row)


def test_large_integers_that_a_double_holds_are_read():
    exact = [2**62, -(2**63), WIDE + 2, -WIDE]
    assert read(exact, pa.int64()).tolist() == exact
    assert read([2**64 - 2**11], pa.uint64()).tolist() == [2**64 - 2**11]


@pytest.mark.parametrize("kind", [pa.float16(), pa.float32(), pa.float64()])
@pytest.mark.parametrize("cell", [np.nan, np.inf, -np.inf])
def test_what_is_not_finite_is_refused(kind, cell):
    cells = np.array([1, cell], kind.to_pandas_dtype())
    for nullable in (False, True):
        assert refused(read, pa.array(cells), nullable=nullable) == ("not_finite", 1)


def test_a_null_is_no_number_but_may_be_allowed():
    assert refused(read, [1.0, None]) == ("not_a_number", 1)
    assert refused(read, [None, None], pa.null()) == ("not_a_number", 0)
    np.testing.assert_array_equal(read([1.5, None, 2], nullable=True, chunks=2), [1.5, np.nan, 2])
    np.testing.assert_array_equal(read([None, None], pa.null(), nullable=True), [np.nan, np.nan])
    np.testing.assert_array_equal(read([WIDE, None], pa.int64(), nullable=True), [WIDE, np.nan])


def test_columns_of_other_types_are_refused_whole():
    assert refused(read, ["1"]) == ("not_a_number", None)
    assert refused(read, [True]) == ("not_a_number", None)
    assert refused(numbers, ArrowColumn(None), nullable=True) == ("not_a_number", None)
    assert refused(labels, ArrowColumn(None), None) == ("not_a_label", None)


@pytest.mark.parametrize(
    ("cells", "positive"),
    [
        ([0, 1, 1], [False, True, True]),
        ([-1, 1, -1], [False, True, False]),
        ([-1.0, 1.0], [False, True]),
        ([False, True], [False, True]),
        ([1, 1], [True, True]),
        ([0, 0], [False, False]),
    ],
)
def test_labels_of_default_kinds(cells, positive):
    for chunks in (1, 2):
        found = labels(column(cells, chunks=chunks), None)
        assert found.dtype == np.bool_
        assert found.tolist() == positive


@pytest.mark.parametrize(
    ("cells", "row"),
    [
        ([0, 1, 2], 2),
        ([0, -1, 1], 1),
        ([1, -1, 0, 5], 2),
        ([5, 0, -1], 0),
        ([1, 0.5], 1),
        (["0", "1"], 0),
        ([1, None], 1),
        ([1.0, float("nan")], 1),
    ],
)
def test_labels_that_need_a_positive_label(cells, row):
    assert refused(labels, column(cells), None) == ("not_a_label", row)


@pytest.mark.parametrize(
    ("cells", "label", "positive"),
    [
        ([3, 7, 3], "7", [False, True, False]),
        ([3, 7, 3], "3.0", [True, False, True]),
        ([0.5, 2], "0.5", [True, False]),
        ([True, False], "false", [False, True]),
        ([True, False], "1", [False, False]),
        ([1, 0], "true", [False, False]),
        ([1, 0], '"1"', [False, False]),
        ([1, 0], "yes", [False, False]),
        ([WIDE, 0], str(WIDE + 1), [False, False]),
        ([WIDE + 1, 0], str(float(WIDE)), [False, False]),
        ([WIDE + 1, WIDE], str(WIDE + 1), [True, False]),
        ([0.0, -0.0], "0", [True, True]),
        ([7, 7], "7", [True, True]),
        ([7, 7], "8", [False, False]),
        (["a", "b", "a"], "a", [True, False, True]),
        (["1", "01"], "1", [True, False]),
        (["", "é"], "", [True, False]),
        (["a", "b"], "c", [False, False]),
        (["a", "b"], "\ud800", [False, False]),
    ],
)
def test_a_positive_label_is_told_by_type_and_value(cells, label, positive):
    kinds = [None, pa.large_string(), "dictionary"] if isinstance(cells[0], str) else [None]
    for kind in kinds:
        array = pa.array(cells).dictionary_encode() if kind == "dictionary" else pa.array(cells, kind)
        assert labels(column(array), label).tolist() == positive
        assert labels(column(array, chunks=2), label).tolist() == positive


@pytest.mark.parametrize("cells", [[1, 2, 1, 3, 2], ["a", "b", "a", "c", "b"]])
def test_a_third_label_is_refused_where_it_comes(cells):
    for chunks in (1, 2, 5):
        assert refused(labels, column(cells, chunks=chunks), "1") == ("not_a_label", 3)


def encoded(indices, dictionary):
    return pa.DictionaryArray.from_arrays(pa.array(indices, pa.int8()), pa.array(dictionary, pa.string()))


def test_dictionaries_need_be_neither_equal_nor_free_of_doubles():
    chunks = [encoded([0, 1, 0], ["a", "b"]), encoded([0, 1], ["b", "a"]), encoded([2, 1, 0], ["a", "b", "a"])]
    cells = ArrowColumn(pa.chunked_array(chunks))
    validate([cells.cells])
    assert labels(cells, "a").tolist() == [True, False, True, False, True, True, False, True]


def test_only_texts_that_are_there_count():
    assert labels(column(encoded([2, 0], ["a", "b", "c"])), "c").tolist() == [True, False]
    assert refused(labels, column(encoded([0, 1, 2], ["a", "b", "c"])), "a") == ("not_a_label", 2)


def test_a_null_in_a_dictionary_is_no_label():
    assert refused(labels, column(encoded([0, 1, 0], ["a", None])), "a") == ("not_a_label", 1)
    assert labels(column(encoded([0, 2], ["a", None, "b"])), "a").tolist() == [True, False]


def test_an_index_out_of_its_dictionary_is_found():
    array = pa.DictionaryArray.from_arrays(pa.array([0, 7]), pa.array(["a"]), safe=False)
    with pytest.raises(pa.ArrowInvalid):
        validate([pa.chunked_array([array])])
