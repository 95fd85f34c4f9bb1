"""Texts chosen so that pyarrow's hash is the same for all: they are numbered no more slowly where others wait."""

import json
from unittest.mock import Mock

import numpy as np
import pyarrow as pa
import pytest

from service.answer import answer
from service.curves.clock import at_most
from service.request import Effort, Request
from service.wire.columns import column as columns
from service.wire.columns.column import encoded
from tests.properties.bodies import arrow_body
from tests.support.asking import LIMITS, refusals

ARROW = "application/vnd.apache.arrow.stream"
EFFORT = Effort(60, 1 << 20, 1 << 20)
COLUMNS = [
    [],
    ["a"],
    [None],
    ["a" * 9, None, "b", "a" * 9, "", None],
    ["\N{GREEK SMALL LETTER ALPHA}" * 5, "\N{GREEK SMALL LETTER ALPHA}" * 6],
]


@pytest.fixture
def lengths(monkeypatch):
    """The lengths of columns that pyarrow may not number, because their texts may collide."""
    found = []

    def from_arrays(indices, dictionary):
        found.append(len(indices))
        return pa.DictionaryArray.from_arrays(indices, dictionary)

    numbered = Mock(wraps=pa, DictionaryArray=Mock(from_arrays=from_arrays), Bool8Type=pa.Bool8Type)
    monkeypatch.setattr(columns, "pa", numbered)
    return found


@pytest.mark.parametrize("kind", [pa.string(), pa.large_string()], ids=str)
@pytest.mark.parametrize("column", COLUMNS, ids=range(len(COLUMNS)))
def test_either_hash_gives_the_same_numbers(column, kind):
    whole = pa.array([*column, *column], kind)
    for cells in (whole, whole.slice(1), whole.slice(0, len(column))):
        plain = encoded(cells)
        with at_most(60):
            keyed = encoded(cells)
        keyed.validate(full=True)
        assert (plain.to_pylist(), plain.type) == (cells.to_pylist(), keyed.type)
        assert keyed.equals(plain)


def csv(column):
    rows = "".join(f"0.{row % 10},{row % 2},{text}\n" for row, text in enumerate(column))
    return f"scores,labels,text\n{rows}".encode()


@pytest.mark.parametrize(
    ("operation", "query"),
    [
        ("curves", (("labels", "text"), ("positive_label", "long 1"))),
        ("curves", (("labels", "text"), ("positive_label", "none of them"))),
        ("slices", (("slices", "text"),)),
        ("columns", ()),
    ],
)
def test_long_texts_are_numbered_by_a_hash_with_a_secret(operation, query, lengths):
    for texts, is_keyed in ((["long 1", "long 2"] * 20, True), (["one", "other"] * 20, False)):
        request = Request(operation, "/", "text/csv", "application/json", query, csv(texts))
        for effort, is_asked in ((EFFORT, True), (None, False)):
            lengths.clear()
            answer(request, LIMITS, effort)
            assert (40 in lengths) == (is_keyed and is_asked)


def test_so_are_those_of_json_and_dictionaries(lengths):
    rows = [f"text {row}" for row in range(50)]
    document = {"scores": [0.5] * 50, "labels": [0, 1] * 25, "slices": {"text": rows}}
    table = pa.table({"scores": np.arange(50.0), "labels": pa.array(rows).dictionary_encode()})
    for request in (
        Request("slices", "/", "application/json", "application/json", (), json.dumps(document).encode()),
        Request("curves", "/", ARROW, "application/json", (("positive_label", "text 7"),), arrow_body(table)),
    ):
        lengths.clear()
        assert answer(request, LIMITS, EFFORT).status == 200
        assert 50 in lengths


def test_a_null_in_a_dictionary_of_views_is_no_empty_text():
    texts = pa.array(["a", None], pa.string_view())
    labels = pa.DictionaryArray.from_arrays(pa.array([0, 1, 0], pa.int8()), texts)
    body = arrow_body(pa.table({"scores": [0.1, 0.2, 0.3], "labels": labels}))
    assert refusals("curves", body, content_type=ARROW, positive_label="a") == [("/labels/1", "not_a_label")]
