"""Typed columns: which types are read, which cells are refused, and that nothing is rounded."""

from collections import Counter
from decimal import Decimal
from fractions import Fraction
from functools import partial

import numpy as np
import pyarrow as pa
import pytest

from service.wire.columns import is_readable, labels, numbers, shown, typed_column, unreadable_column
from service.wire.formats.validation import UNREADABLE, validate
from service.wire.problems import Problem
from service.wire.wrong import Wrong
from tests.support.raising import raised

WIDE = 2**53


def column(cells, kind=None, chunks=1):
    array = cells if isinstance(cells, pa.Array) else pa.array(cells, kind)
    size = -(-len(array) // chunks)
    return typed_column(pa.chunked_array([array.slice(start, size) for start in range(0, len(array), size)]))


def read(cells, kind=None, **options):
    return numbers(column(cells, kind, options.pop("chunks", 1)), nullable=options.pop("nullable", False))


def refused(read, *args, **kwargs):
    error = raised(Wrong, read, *args, **kwargs)
    return error.code, error.row


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
def test_nan_is_refused_and_infinity_is_not(kind):
    for nullable in (False, True):
        missing = np.array([1, np.nan], kind.to_pandas_dtype())
        assert refused(read, pa.array(missing), nullable=nullable) == ("not_finite", 1)
        infinite = np.array([1, np.inf, -np.inf], kind.to_pandas_dtype())
        assert read(pa.array(infinite), nullable=nullable).tolist() == [1, np.inf, -np.inf]


def test_a_null_is_not_a_number_but_may_be_allowed():
    assert refused(read, [1.0, None]) == ("not_a_number", 1)
    assert refused(read, [None, None], pa.null()) == ("not_a_number", 0)
    np.testing.assert_array_equal(read([1.5, None, 2], nullable=True, chunks=2), [1.5, np.nan, 2])
    np.testing.assert_array_equal(read([None, None], pa.null(), nullable=True), [np.nan, np.nan])
    np.testing.assert_array_equal(read([WIDE, None], pa.int64(), nullable=True), [WIDE, np.nan])


def test_columns_of_other_types_are_refused_whole():
    for cells, what in ((["1"], "text"), ([True], "booleans")):
        error = raised(Wrong, read, cells)
        assert (error.code, error.row) == ("not_a_number", None)
        assert error.detail == f"This is a column of {what}; it must hold numbers."
    assert refused(numbers, unreadable_column("list"), nullable=True) == ("not_a_number", None)
    assert refused(labels, unreadable_column("list"), None) == ("not_a_label", None)


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
        assert found.positive.dtype == np.bool_
        assert found.positive.tolist() == positive


@pytest.mark.parametrize(
    ("cells", "row"),
    [
        ([0, 1, 2], 2),
        ([0, -1, 1], 1),
        ([1, -1, 0, 5], 2),
        ([5, 0, -1], 0),
        ([1, 0.5], 1),
        (["0", "no"], 1),
        (["0", "1", "-1"], 2),
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
        ([WIDE + 1, WIDE], str(WIDE + 1), [True, False]),
        ([0.0, -0.0], "0", [True, True]),
        ([7, 7], "7", [True, True]),
        (["a", "b", "a"], "a", [True, False, True]),
        (["1", "1.0.1"], "1", [True, False]),
        (["TRUE", "False", " 1"], "true", [True, False, True]),
        ([True, False], "1", [True, False]),
        ([1, 0], "True", [True, False]),
        (["", "é"], "", [True, False]),
    ],
)
def test_a_positive_label_is_recognised_by_type_and_value(cells, label, positive):
    kinds = [None, pa.large_string(), pa.string_view()] if isinstance(cells[0], str) else [None]
    arrays = [pa.array(cells, kind) for kind in kinds]
    for array in (*arrays, *(array.dictionary_encode() for array in arrays if kinds[1:])):
        assert labels(column(array), label).positive.tolist() == positive
        assert labels(column(array, chunks=2), label).positive.tolist() == positive


@pytest.mark.parametrize(
    ("cells", "label"),
    [
        ([True, False], "2"),
        ([True, False], "yes"),
        ([1, 2], "true"),
        ([1, 0], '"1"'),
        ([1, 0], "yes"),
        ([WIDE, 0], str(WIDE + 1)),
        ([WIDE + 1, 0], str(float(WIDE))),
        ([7, 7], "8"),
        (["a", "b"], "c"),
        (["a", "b"], "\ud800"),
        ([1, 2, 3], "4"),
        ([1, 2, 3], "1e999"),
        ([1, 2, 3], str(10**40)),
    ],
)
def test_a_positive_label_that_does_not_occur(cells, label):
    for chunks in (1, 2):
        with pytest.raises(Wrong, match=r"^No label equals positive_label, .*; the labels are ") as caught:
            labels(column(cells, chunks=chunks), label)
        assert (caught.value.code, caught.value.row) == ("one_class", None)


@pytest.mark.parametrize(
    ("cells", "label"),
    [
        ([1, 2, 1, 3, 2, 3, 3], "1"),
        ([*"1213233"], "1"),
        ([WIDE, WIDE + 1, WIDE, 3, 2, 3, 3], str(WIDE)),
        ([0.5, 0.25, 0.5, 3, 2, 3, 3], "0.5"),
    ],
)
def test_of_three_labels_one_is_positive_and_the_rest_are_reported(cells, label):
    told = [f"{shown(cell)} in {count}" for cell, count in Counter(cells).most_common() if str(cell) != label]
    for chunks in (1, 2, 5):
        found = labels(column(cells, chunks=chunks), label)
        assert found.positive.tolist() == [str(cell) == label for cell in cells]
        assert found.rest.startswith(f"{shown(cells[0])}, in 2 rows, is positive; all other labels are negative: ")
        assert all(part in found.rest for part in told)


@pytest.mark.parametrize(
    "texts", [["0", "1"], ["false", "true"], ["-1", "1"], [" 0", "1.0"], ["FALSE", "True"], ["-1e0", "+1"]]
)
def test_texts_are_the_labels_that_they_would_be_in_csv(texts):
    for array in (pa.array([*texts, texts[0]]), pa.array([*texts, texts[0]], pa.string_view())):
        for cells in (array, array.dictionary_encode()):
            assert labels(column(cells, chunks=2), None).positive.tolist() == [False, True, False]


DECIMALS = [pa.decimal32(9, 3), pa.decimal64(18, 3), pa.decimal128(38, 3), pa.decimal256(76, 3)]


@pytest.mark.parametrize("kind", DECIMALS, ids=str)
def test_decimals_are_the_nearest_doubles(kind):
    digits = ["0.001", "-0.3", "123456.789", "0.000", "7.000"]
    if kind.precision > 20:
        digits += ["9007199254740993.001", "0.1", "123456789012345678901234567890.123"]
    array = pa.array([*map(Decimal, digits), None], kind)
    for chunks in (1, 3):
        values = numbers(column(array, chunks=chunks), nullable=True)
        assert values[:-1].tolist() == [float(Fraction(text)) for text in digits]
        assert np.isnan(values[-1])
        assert refused(numbers, column(array, chunks=chunks), nullable=False) == ("not_a_number", len(digits))
    whole = pa.array([Decimal(0), Decimal(1), Decimal(1)], kind)
    assert labels(column(whole), None).positive.tolist() == [False, True, True]
    assert labels(column(whole), "0").positive.tolist() == [True, False, False]


@pytest.mark.parametrize(
    ("cells", "label"), [(["a", None], "a"), ([True, None], "true"), ([1, None], "1"), ([0.5, None], "0.5")]
)
def test_a_null_is_not_a_label_whichever_is_positive(cells, label):
    for chunks in (1, 2):
        assert refused(labels, column(cells, chunks=chunks), label) == ("not_a_label", 1)


def encoded(indices, dictionary):
    return pa.DictionaryArray.from_arrays(pa.array(indices, pa.int8()), pa.array(dictionary, pa.string()))


def test_dictionaries_need_be_neither_equal_nor_free_of_doubles():
    chunks = [encoded([0, 1, 0], ["a", "b"]), encoded([0, 1], ["b", "a"]), encoded([2, 1, 0], ["a", "b", "a"])]
    cells = pa.chunked_array(chunks)
    validate([cells], 0)
    assert labels(typed_column(cells), "a").positive.tolist() == [True, False, True, False, True, True, False, True]


def test_only_texts_that_are_there_count():
    assert labels(column(encoded([2, 0], ["a", "b", "c"])), "c").positive.tolist() == [True, False]
    assert labels(column(encoded([0, 1], ["a", "b", "c"])), "a").rest is None
    assert "'c' in 1" in labels(column(encoded([0, 1, 2], ["a", "b", "c"])), "a").rest


def test_a_null_in_a_dictionary_is_not_a_label():
    assert refused(labels, column(encoded([0, 1, 0], ["a", None])), "a") == ("not_a_label", 1)
    assert labels(column(encoded([0, 2], ["a", None, "b"])), "a").positive.tolist() == [True, False]


@pytest.mark.parametrize("index", [-1, 2, 7])
def test_an_index_out_of_its_dictionary_is_found(index):
    array = pa.DictionaryArray.from_arrays(pa.array([1, 0, index]), pa.array(["a", "b"]), safe=False)
    validate([pa.chunked_array([array[:2]])], 0)
    with pytest.raises(pa.ArrowInvalid):
        validate([pa.chunked_array([array])], 0)


DICTIONARIES = [
    pa.array([2, 1, 2]),
    pa.array([2, 1, 2], pa.uint8()),
    pa.array([0.5, -0.5, 0.5]),
    pa.array([0.5, -0.5, 0.5], pa.float32()),
    pa.array([0.5, -0.5, 0.5]).cast(pa.float16()),
]


@pytest.mark.parametrize("cells", DICTIONARIES, ids=lambda cells: str(cells.type))
def test_a_dictionary_of_numbers_is_these_numbers(cells):
    parts = pa.chunked_array([cells.dictionary_encode(), cells[::-1].dictionary_encode()])
    assert is_readable(parts.type)
    validate([parts], 0)
    values = numbers(typed_column(parts), nullable=False)
    assert values.tolist() == cells.to_pylist() + cells.to_pylist()[::-1]
    assert labels(typed_column(parts), str(cells[1])).positive.tolist() == [False, True, False] * 2


def test_a_dictionary_of_booleans_is_these_booleans():
    parts = pa.chunked_array([pa.array([True, False, True]).dictionary_encode()])
    assert labels(typed_column(parts), None).positive.tolist() == [True, False, True]
    assert refused(numbers, typed_column(parts), nullable=False) == ("not_a_number", None)


def test_a_null_counts_within_a_dictionary_of_numbers_and_outside():
    for indices, entries in (([0, 1, 0], [1.5, None]), ([0, None, 0], [1.5]), ([0, 1, 0], [None, None])):
        kind = pa.null() if entries == [None, None] else pa.float64()
        array = pa.DictionaryArray.from_arrays(pa.array(indices, pa.int8()), pa.array(entries, kind))
        plain = typed_column(pa.chunked_array([array]))
        assert refused(numbers, plain, nullable=False) == ("not_a_number", 0 if kind == pa.null() else 1)
        assert numbers(plain, nullable=True).size == 3


def test_dictionaries_of_other_types_are_not_read():
    for entries in (pa.array([{"a": 1}]), pa.array([1]).cast(pa.duration("ms")), pa.array([[1]])):
        assert not is_readable(pa.dictionary(pa.int8(), entries.type))


def views(lengths, text, null=()):
    """An array whose cells are prefixes, of these lengths, of the same text."""
    table = np.zeros((len(lengths), 4), np.int32)
    table[:, 0] = lengths
    table[:, 1] = np.frombuffer(text[:4], np.int32)
    valid = pa.array([row not in null for row in range(len(lengths))])
    buffers = [valid.buffers()[1] if null else None, pa.py_buffer(table.tobytes()), pa.py_buffer(text)]
    return pa.Array.from_buffers(pa.string_view(), len(lengths), buffers)


def test_views_that_repeat_a_long_text_are_counted_before_they_are_looked_at():
    """To validate every cell would mean reading 100 GB of text."""
    array = views([10_000_000] * 10_000, b"a" * 10_000_000)
    encoded = pa.DictionaryArray.from_arrays(pa.array([0], pa.int8()), array)
    for column in ([array], [encoded], [array.slice(5000)]):
        problem = raised(Problem, validate, [pa.chunked_array(column)], 1 << 28)
        assert problem.type.code == "body_too_large"
        assert problem.detail == "The text of all string_view columns together is longer than the limit."


def test_views_have_room_for_all_columns_together():
    array = views([600] * 3, b"a" * 600)
    validate([pa.chunked_array([array]), pa.chunked_array([array])], 3600)
    validate([pa.chunked_array([array.slice(1), array.slice(2)]), pa.chunked_array([array.slice(3)])], 1800)
    with pytest.raises(Problem):
        validate([pa.chunked_array([array]), pa.chunked_array([array])], 3599)
    # The view of a null is ignored.
    validate([pa.chunked_array([views([600, -5], b"a" * 600, null=[1])])], 600)


def test_views_that_show_what_is_not_there_are_found():
    for length in (601, -600):
        with pytest.raises(UNREADABLE):
            validate([pa.chunked_array([views([600, length], b"a" * 600)])], 10_000)


@pytest.mark.parametrize("kind", ["timestamp[ms]", "timestamp[us, tz=" + "Z" * 1000, "a\x1b[1mb"])
def test_a_type_that_is_not_read_is_named_in_short_and_printable(kind):
    for read, rest in (
        (partial(numbers, nullable=True), "; numbers must be"),
        (partial(labels, positive_label=None), "; la"),
    ):
        error = raised(Wrong, read, unreadable_column(kind))
        shown, found, _ = error.detail.removeprefix("This column is ").partition(rest)
        assert found
        assert shown == kind.replace("\x1b", "")[:60]
        assert shown.isprintable()
