"""POST /v1/columns from bytes to bytes: how each format's columns are listed, and what is refused."""

import datetime as dt
import json
import math
from decimal import Decimal
from functools import partial

import numpy as np
import pyarrow as pa
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from service.answer import answer, response_media_types
from service.curves.clock import TooMuchWork
from service.request import Effort, Request
from service.wire.columns.listed import MOST_VALUES
from service.wire.formats.table_columns import MOST_COLUMNS
from service.wire.limits import Limits
from service.wire.media_types import ARROW_FILE, ARROW_STREAM, CSV, JSON, PARQUET, SVG
from tests.properties.bodies import arrow_body, arrow_file_body, chunked, parquet_body
from tests.support import asking
from tests.support.asking import LIMITS

ask = partial(asking.ask, "columns")
answered = partial(asking.answered, "columns")
refusals = partial(asking.refusals, "columns")


def listed(body, **kwargs):
    """The rows of the answer: [(name, type, missing, values, more)]."""
    found = answered(body, **kwargs)
    assert list(found) == ["rows", "columns"]
    assert list(found["columns"]) == ["name", "type", "missing", "values", "more"]
    return list(zip(*found["columns"].values(), strict=True))


def of_arrow(**columns):
    return listed(arrow_body(pa.table(columns)), content_type=ARROW_STREAM)


def first_values(cells):
    """How a column of these cells is listed, cell by cell: missing, values, more."""
    missing, found = 0, []
    for cell in cells:
        if cell is None or (isinstance(cell, float) and math.isnan(cell)):
            missing += 1
        elif not any(type(cell) is type(other) and cell == other for other in found):
            found.append(cell)
    shown = [cell for cell in found[:MOST_VALUES] if cell not in {math.inf, -math.inf} and len(str(cell)) <= 200]
    return missing, shown, len(shown) < len(found)


class TestJson:
    def test_each_kind(self):
        assert listed(
            {
                "n": [1, 0.5, None, 1.0],
                "b": [True, False, True, True],
                "t": ["a", "", "b", "a"],
                "m": [1, True, "a", 1],
                "l": [[1], [2], [], None],
                "o": [{}, {}, {}, {}],
                "z": [None, None, None, None],
            }
        ) == [
            ("n", "number", 1, [1, 0.5], False),
            ("b", "boolean", 0, [True, False], False),
            ("t", "text", 0, ["a", "", "b"], False),
            ("m", "mixed", 0, [1, True, "a"], False),
            ("l", "list", 1, [], True),
            ("o", "object", 0, [], True),
            ("z", "null", 4, [], False),
        ]

    def test_long_lists_of_numbers_are_listed_as_short_ones(self):
        short, long = [0.5, -0.0, 3, 0.5], [0.5, -0.0, 3, 0.5] * 500
        assert listed({"n": long}) == listed({"n": short}) == [("n", "number", 0, [0.5, 0, 3], False)]
        (many,) = listed({"n": list(range(5000))})
        assert many == ("n", "number", 0, list(range(20)), True)

    def test_null_and_empty_columns_are_absent(self):
        assert listed({"a": [1], "b": None, "c": []}) == listed({"a": [1]})

    def test_names_that_operations_give_a_meaning_are_names_like_others(self):
        names = ["y_score", "y_true", "counts", "evaluations", "rows", "columns", "__proto__"]
        assert [row[0] for row in listed({name: [1] for name in names})] == names

    @pytest.mark.parametrize("value", [10**30, -(10**30), "x" * 201, "\ud800"])
    def test_what_no_answer_can_show_is_left_out(self, value):
        (row,) = listed({"a": [1 if isinstance(value, int) else "x", value]})
        assert row[2:] == (0, [1 if isinstance(value, int) else "x"], True)

    def test_integers_are_not_rounded(self):
        whole = [2**53 + 1, -(2**63), 2**64 - 1]
        assert json.loads(ask({"a": whole}).body)["columns"]["values"] == [whole]

    def test_half_a_pair_in_a_name_is_replaced(self):
        assert listed('{"a\\ud800": [1]}') == [("a?", "number", 0, [1], False)]

    @pytest.mark.parametrize(
        ("body", "expected"),
        [
            ({}, [("", "missing")]),
            ({"a": [], "b": None}, [("", "missing")]),
            ({"a": [1, 2], "b": [1]}, [("/b", "lengths_differ")]),
            ({"a": [1], "b": 1, "c": "x"}, [("/b", "not_a_column"), ("/c", "not_a_column")]),
            ({"a": {"0": 1}}, [("/a", "not_a_column")]),
            ("[[1, 2]]", [("", "not_an_object")]),
            ({"columns": ["a"], "data": [[1]]}, [("", "not_an_object")]),
        ],
    )
    def test_a_body_that_is_not_a_table(self, body, expected):
        assert refusals(body) == expected

    def test_only_some_wrong_columns_are_reported(self):
        assert len(refusals({f"a{number}": 1 for number in range(1000)})) == 20

    def test_too_many_columns(self):
        assert refusals({f"a{number}": [1] for number in range(MOST_COLUMNS + 1)}) == [("", "too_many_columns")]

    def test_the_csv_dialect_is_for_csv_only(self):
        assert refusals({"a": [1]}, delimiter="semicolon") == [("/delimiter", "exclusive")]


class TestCsv:
    listed = staticmethod(partial(listed, content_type=CSV))

    def test_each_kind(self):
        assert self.listed("n,b,t,z,mixed\n1.0,true,x,,1\n,FALSE,y,,true\n-2e3,true,,,0\n") == [
            ("n", "number", 1, ["1.0", "-2e3"], False),
            ("b", "boolean", 0, ["true", "FALSE"], False),
            ("t", "text", 1, ["x", "y"], False),
            ("z", "null", 3, [], False),
            ("mixed", "text", 0, ["1", "true", "0"], False),
        ]

    def test_numbers_are_what_operations_read(self):
        numbers = "a,b\n0,0\n" + "".join(f"{row},{row}\n" for row in range(1, 2000))
        types = [row[1] for row in self.listed(numbers + "2000,x\n")]
        assert types == ["number", "text"]
        assert [row[1] for row in self.listed("a,b,c\n12345678901234567890,nan,1e999\n")] == ["text"] * 3

    def test_decimal_commas(self):
        body = "a;b\n0,5;1\n1,5;0\n"
        assert self.listed(body, delimiter="semicolon", decimal="comma")[0] == ("a", "number", 0, ["0,5", "1,5"], False)
        assert self.listed(body, delimiter="semicolon")[0][1] == "text"

    def test_columns_of_one_name_are_listed_and_not_read(self):
        assert self.listed("a,b,a\n1,2,3\n") == [
            ("a", "duplicate", None, [], True),
            ("b", "number", 0, ["2"], False),
            ("a", "duplicate", None, [], True),
        ]
        assert answered("a,a\n1,2\n3,4\n", content_type=CSV)["rows"] == 2

    @pytest.mark.parametrize("body", ["scores,labels\n", "a\n"])
    def test_a_header_alone(self, body):
        assert refusals(body, content_type=CSV) == [("", "no_rows")]

    @pytest.mark.parametrize(("body", "code"), [("a,b\n1\n", "malformed_body"), ("", "malformed_body")])
    def test_a_body_that_is_not_csv(self, body, code):
        assert ask(body, content_type=CSV).problem == code

    @pytest.mark.parametrize("name", ["scores", "labels", "table", "title", "include"])
    def test_other_options_are_refused(self, name):
        assert refusals("a\n1\n", content_type=CSV, **{name: "a"})[0][0] == f"/{name}"


class TestArrow:
    def test_each_type(self):
        assert of_arrow(
            f=pa.array([0.5, math.nan, math.inf, None]),
            h=pa.array(np.array([1.5, 2, math.nan, -0.0], np.float16)),
            i=pa.array([2**62 + 1, None, -1, -1]),
            d=pa.array([Decimal("1.50"), Decimal("2.00"), None, Decimal("1.50")]),
            e=pa.array([Decimal("1.5"), None, None, None], pa.decimal32(5, 1)),
            b=pa.array([True, None, False, True]),
            t=pa.array(["a", None, "", "a"]),
            v=pa.array(["a", None, "", "a"], pa.string_view()),
            n=pa.nulls(4),
            when=pa.array([dt.datetime(2026, 1, 31, tzinfo=dt.UTC)] * 4, pa.timestamp("us")),
            items=pa.array([[1], None, [], [2]]),
        ) == [
            ("f", "number", 2, [0.5], True),
            ("h", "number", 1, [1.5, 2, 0], False),
            ("i", "number", 1, [2**62 + 1, -1], False),
            ("d", "number", 1, [1.5, 2], False),
            ("e", "number", 3, [1.5], False),
            ("b", "boolean", 1, [True, False], False),
            ("t", "text", 1, ["a", ""], False),
            ("v", "text", 1, ["a", ""], False),
            ("n", "null", 4, [], False),
            ("when", "timestamp[us]", 0, ["2026-01-31"], False),
            ("items", "list<item: int64>", None, [], True),
        ]

    @pytest.mark.parametrize("rows", [5, 3000])
    def test_dictionaries_hold_nulls_and_texts_more_than_once(self, rows):
        texts = pa.array(["a", "b", None, "a", "unused"])
        codes = [3, None, 2, 1, *[0] * (rows - 4)]
        column = pa.DictionaryArray.from_arrays(pa.array(codes, pa.int32()), texts)
        assert of_arrow(t=pa.chunked_array([column, column])) == [("t", "text", 4, ["a", "b"], False)]

    def test_long_texts_of_a_dictionary_are_not_written_out(self):
        """Each of a million rows refers to a megabyte of text."""
        column = pa.DictionaryArray.from_arrays(pa.array(np.zeros(10**6, np.int8)), pa.array(["x" * 10**6]))
        assert of_arrow(t=column) == [("t", "text", 0, [], True)]

    @pytest.mark.parametrize(("scale", "values"), [(1000, []), (-1000, []), (-2, [500])])
    def test_decimals_of_any_scale(self, scale, values):
        """If the scale is out of bounds, pyarrow writes a sentence instead of digits."""
        cells = pa.py_buffer((5).to_bytes(16, "little"))
        column = pa.Array.from_buffers(pa.decimal128(5, scale), 1, [None, cells])
        assert of_arrow(d=column) == [("d", "number", 0, values, not values)]

    def test_columns_of_nothing_that_is_read(self):
        found = answered(arrow_body(pa.table({"a": [[1], [2]]})), content_type=ARROW_STREAM)
        assert (found["rows"], found["columns"]["type"]) == (2, ["list<item: int64>"])

    def test_the_time_zone_of_a_type_is_text_of_a_caller(self):
        zone = pa.table({"a": pa.array([0], pa.timestamp("us", tz="\n" + "z" * 100_000))})
        ((_, kind, *_),) = listed(arrow_body(zone), content_type=ARROW_STREAM)
        assert len(kind) < 70
        assert kind.isprintable()


class TestParquet:
    TABLE = pa.table({"x": [0.5, 1.5], "t": ["a", "b"], "y": [1, 0]})
    LIMITS = Limits(5000, 100, 1 << 16)

    def listed(self, table, **kwargs):
        body = parquet_body(table, **kwargs)
        return listed(body, content_type=PARQUET, limits=self.LIMITS)

    def test_a_column_that_is_encoded_otherwise_is_listed(self):
        encodings = {"use_dictionary": False, "column_encoding": {"t": "DELTA_BYTE_ARRAY"}}
        assert self.listed(self.TABLE, **encodings) == [
            ("x", "number", 0, [0.5, 1.5], False),
            ("t", "text", 0, ["a", "b"], False),
            ("y", "number", 0, [1, 0], False),
        ]

    def test_where_others_wait_a_smaller_limit_leaves_nothing_out(self):
        rows = np.arange(4000.0)
        request = Request("columns", "/v1/columns", PARQUET, JSON, (), parquet_body(pa.table({"a": rows, "b": rows})))
        with pytest.raises(TooMuchWork):
            answer(request, LIMITS, Effort(60, 40_000, 1 << 20))

    def test_a_damaged_column_is_refused(self):
        body = bytearray(parquet_body(self.TABLE, compression="none"))
        body[4:24] = bytes(20)
        assert ask(bytes(body), content_type=PARQUET).problem == "malformed_body"


BODIES = {
    JSON: lambda table: json.dumps(table.to_pydict()).encode(),
    ARROW_STREAM: arrow_body,
    ARROW_FILE: arrow_file_body,
    PARQUET: parquet_body,
}


SETTINGS = settings(max_examples=25, deadline=None, derandomize=True, database=None)

CELLS = {
    "number": st.one_of(st.sampled_from([0.5, 1.0, -2.0]), st.floats(allow_nan=False, allow_infinity=False)),
    "boolean": st.booleans(),
    "text": st.text(st.characters(codec="utf-8"), max_size=2),
}
TYPES = {"number": pa.float64(), "boolean": pa.bool_(), "text": pa.string()}


@SETTINGS
@given(st.data())
def test_formats_agree_with_each_other_and_with_cells_read_one_by_one(data):
    rows = data.draw(st.integers(1, 60))
    repeats = data.draw(st.sampled_from([1, 40]))
    columns, expected = {}, []
    for kind, cells in CELLS.items():
        drawn = data.draw(st.lists(st.one_of(st.none(), cells), min_size=rows, max_size=rows)) * repeats
        columns[kind] = pa.array(drawn, TYPES[kind])
        without_any = all(cell is None for cell in drawn)
        expected.append((kind, kind, *first_values(drawn)) if not without_any else (kind, None))
    table = pa.table(columns)
    for content_type, body in BODIES.items():
        for row, known in zip(listed(body(table), content_type=content_type), expected, strict=True):
            assert row == known if known[1] else row[2:] == (rows * repeats, [], False)


@SETTINGS
@given(st.integers(1, 3000), st.integers(0, 30), st.integers(500, 2000))
def test_values_that_come_late_are_found(first, others, chunks):
    cells = [0] * first + list(range(1, others + 1))
    for column in (pa.array(cells), pa.array(map(str, cells)), pa.array(map(str, cells)).dictionary_encode()):
        table = chunked(pa.table({"a": column}), chunks)
        ((_, _, missing, values, more),) = listed(arrow_body(table), content_type=ARROW_STREAM)
        assert (missing, values, more) == first_values(column.to_pylist())


def test_the_answer_is_json_alone():
    assert response_media_types("columns") == (JSON,)
    assert refusals({"a": [1]}, table="points") == [("/table", "exclusive")]
    assert SVG not in response_media_types("columns")


@pytest.mark.parametrize("content_type", BODIES)
def test_rows_have_the_limit_of_all_operations(content_type):
    few = Limits(max_rows=2, max_interpolated_rows=2)
    body = BODIES[content_type](pa.table({"a": [1, 2, 3]}))
    assert ask(body, content_type=content_type, limits=few).problem == "too_many_rows"
