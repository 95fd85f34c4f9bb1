"""CSV: the quoting of RFC 4180, and numbers as people write them."""

import json
import math
import re

import numpy as np
import pyarrow as pa
import pytest

from service.wire.columns import Column, labels, numbers
from service.wire.formats import csv_format
from service.wire.formats.csv_format import CsvTable, Dialect
from service.wire.formats.table_columns import LONGEST_HEADER
from service.wire.problems import Problem
from service.wire.wrong import Wrong
from tests.support.asking import LIMITS, ask, refusals
from tests.support.raising import raised


def column(*cells):
    return Column(pa.array(cells, pa.string()), "csv")


@pytest.mark.parametrize(
    "body",
    [
        b"a,b\n1,2\n3,4\n",
        b"a,b\r\n1,2\r\n3,4",
        b"\xef\xbb\xbfa,b\n1,2\n3,4",
        b'"a","b"\n"1","2"\n"3","4"\n',
        b'"x\ny",a,b\n"1,\n""",1,2\n"""",3,4\n',
        b"other,b,other,a\n,2,,1\n,4,,3\n",
        b"a,b\n\n1,2\n\n3,4\n\n",
        b"a,b,c\n1,2,\0\n3,4,\0\n",
    ],
)
def test_reads_columns_by_name(body):
    table = CsvTable(body, LIMITS).read(["b", "a"])
    assert {name: column.cells.to_pylist() for name, column in table.items()} == {"b": ["2", "4"], "a": ["1", "3"]}


@pytest.mark.parametrize(
    "body",
    [
        b"",
        b"\n",
        b"a,b\n1\n",
        b"a,b\n1,2,3\n",
        b'a,b\n1,"2\n3,4\n',
        b'"a,b\n1,2\n',
        b'a,b\n"1"2,3\n',
        b"a" * 200_000 + b",b\n1,2\n",
        b'a,b\n1"2",3\n',
        b'a,b\n1,"2"" \n',
        b"a,b\n\xff,2\n",
        b"\xff,b\n1,2\n",
        b"a,b,\0\n1,2,3\n3,4,5\n",
        b"a,b,c\0d\n1,2,3\n3,4,5\n5,6,7\n",
    ],
)
def test_refuses_what_is_not_a_table(body):
    assert raised(Problem, lambda: CsvTable(body, LIMITS).read(["b", "a"])).type.code == "malformed_body"


@pytest.mark.parametrize(
    ("body", "told"),
    [
        ("scores;labels\n0,9;1\n0,4;0\n", "separated by semicolons"),
        ("\ufeffscores;labels\r\n0.9;1\r\n0.4;0\r\n", "separated by semicolons"),
        ('"scores";"labels"\n"0.9";1\n"0.4";0\n', "separated by semicolons"),
        ("scores\tlabels\n0.9\t1\n0.4\t0\n", "separated by tabs"),
        ("a,b;c\n0.9,1\n0.4,0\n", None),
        ("scores\n0;9\n", None),
    ],
)
def test_another_separator_is_reported(body, told):
    """Whether its quotes are invalid or its columns would not be found; and what to do."""
    for options in ({}, {"scores": "scores", "labels": "labels"}):
        problem = json.loads(ask("curves", body, content_type="text/csv", **options).body)
        assert problem["status"] == (422 if told is None else 400)
        assert ("look separated" in problem["detail"]) is (told is not None)
        if told is not None:
            name = told.split()[-1].removesuffix("s")
            comma = ", and decimal=comma if its numbers have decimal commas" if name == "semicolon" else ""
            advice = f"set delimiter={name}{comma}."
            assert problem["detail"] == f"The values look {told}, but the delimiter is a comma: {advice}"


ROWS = b"scores,labels\n" + b"0.5,1\n" * 2_000


@pytest.mark.parametrize("end", [b"0.5,1,\xfa\n", b"\xfa\n", b"0.5,\xc3", b"0.5,\xc3\n1,1\n"])
def test_text_that_is_not_utf8_is_reported_wherever_it_is(end, monkeypatch, capfd):
    place = len(ROWS) + next(at for at, byte in enumerate(end) if byte > 0x7F)
    for step in (1, 7, 1 << 20):
        monkeypatch.setattr(csv_format, "_CHECKED_BYTES", step)
        with pytest.raises(Problem, match=f"The body is not UTF-8: byte {place} is invalid. Save it as CSV UTF-8."):
            CsvTable(ROWS + end, LIMITS).read(["scores", "labels"])
    assert capfd.readouterr().err == ""


@pytest.mark.parametrize("step", [1, 2, 3, 7, 1 << 20])
def test_text_may_be_cut_within_a_character(step, monkeypatch):
    monkeypatch.setattr(csv_format, "_CHECKED_BYTES", step)
    table = CsvTable("größe,😀\n1,ß\n".encode(), LIMITS)
    assert table.read(["😀"])["😀"].cells.to_pylist() == ["ß"]


@pytest.mark.parametrize("shift", [0, 1])
def test_a_header_that_is_too_long_is_reported_even_if_cut_within_a_character(shift):
    problem = raised(Problem, CsvTable, b"x" * shift + "é,".encode() * LONGEST_HEADER + b"\n1\n", LIMITS)
    assert [error.code for error in problem.errors] == ["too_many_columns"]


def test_of_a_body_of_one_line_that_line_is_shown():
    assert CsvTable(b"scores,labels0.9,10.8,0", LIMITS).header_is == "the only line, split at commas, is"
    for lines in (b"scores,labels\n", b"scores,labels\r0.5,1"):
        assert CsvTable(lines, LIMITS).header_is == "the header, split at commas, is"


def test_a_name_may_hold_a_semicolon():
    assert ask("curves", "a;b,y\n1,1\n0,0\n", content_type="text/csv", scores="a;b", labels="y").status == 200
    assert ask("curves", '"a;\nb",y\n1,1\n0,0\n', content_type="text/csv", scores="a;\nb", labels="y").status == 200


def test_a_table_without_rows_is_a_problem():
    for body in (b"a,b", b"a,b\n", b"a,b\r\n\r\n"):
        with pytest.raises(Problem) as caught:
            CsvTable(body, LIMITS).read(["a"])
        assert [error.code for error in caught.value.errors] == ["no_rows"]


def test_a_row_of_another_length_is_reported_by_its_number():
    for body, row in ((b"a,b\n1\n", 2), (b"a,b\n1,2\n3,4\n5,6,7\n", 4), (b'a,b\n\n"1\n",2\n\r\n5,6,7', 5)):
        with pytest.raises(Problem, match=f"^Row {row} has . fields? but the header, row 1, has 2[.]") as caught:
            CsvTable(body, LIMITS).read(["a"])
        assert caught.value.type.code == "malformed_body"


def test_a_name_that_two_columns_have_is_a_problem_when_it_is_read():
    table = CsvTable(b"a,a,b\n1,2,3\n", LIMITS)
    assert table.read(["b"])["b"].cells.to_pylist() == ["3"]
    assert [error.code for error in raised(Problem, table.read, ["a"]).errors] == ["duplicate"]


def test_reads_decimal_numbers_as_people_write_them():
    cells = ["1", "+1", " 1", "1 ", "\t1", "001", "1.", ".5", "-.5", "1e5", "1E+05", "-0", "5e-324", "9007199254740992"]
    expected = [1, 1, 1, 1, 1, 1, 1, 0.5, -0.5, 1e5, 1e5, 0, 5e-324, 2.0**53]
    np.testing.assert_array_equal(numbers(column(*cells), nullable=False), expected)


@pytest.mark.parametrize(
    "cell", ["", " ", "x", "1_0", "0x10", "1,5,6", "1 2", "--1", "+-1", "1e", "e5", ".", "1d5", "١", "1\n", "\u00a01"]
)
def test_refuses_what_is_not_a_decimal_number(cell):
    error = raised(Wrong, numbers, column("1", " 2", cell), nullable=False)
    assert (error.code, error.row) == ("not_a_number", 2)
    if cell.isspace() or not cell:
        assert error.detail == "This is blank; it must be a number. Leave out rows without one, or set missing=drop."
    elif cell.isascii():
        assert error.detail == f"{cell.strip(' ')!r} is not a decimal number."


@pytest.mark.parametrize("cell", ["NA", "N/A", "null", "None", " NULL "])
def test_a_cell_that_says_there_is_no_number_is_refused_with_advice(cell):
    error = raised(Wrong, numbers, column("1", cell), nullable=False)
    assert error.detail == f"{cell.strip()!r} is not a decimal number. Leave out rows without one, or set missing=drop."


def test_the_beginning_of_a_long_cell_is_repeated():
    with pytest.raises(Wrong, match=f"^'{'x' * 24}'\\.\\.\\. is not a decimal number.$"):
        numbers(column("x" * 1000), nullable=False)


@pytest.mark.parametrize("cell", ["nan", "NaN", "1e400", "-1e400", "1" + "0" * 400])
def test_refuses_what_is_not_finite(cell):
    error = raised(Wrong, numbers, column("1", cell), nullable=False)
    assert error.row == 1
    assert error.code in {"not_finite", "not_a_number"}
    assert error.detail.endswith(" Leave out rows without one, or set missing=drop.") == (cell.lower() == "nan")


def test_reads_what_is_infinite():
    assert numbers(column("1", "inf", "-Infinity"), nullable=False).tolist() == [1, math.inf, -math.inf]


def test_refuses_an_integer_that_no_double_holds():
    error = raised(Wrong, numbers, column("1", "0" * 5000 + "9007199254740993"), nullable=False)
    assert (error.code, error.row) == ("not_exact", 1)


def test_an_empty_cell_is_null_where_a_column_may_hold_it():
    np.testing.assert_array_equal(numbers(column("", "0.5", " +1"), nullable=True), [np.nan, 0.5, 1])
    assert raised(Wrong, numbers, column("", "nan"), nullable=True).row == 1


@pytest.mark.parametrize(
    ("cells", "positive_label"),
    [
        (["1", "0", "1"], None),
        ([" 1.0", "0", "+1"], None),
        (["true", "false", "TRUE"], None),
        (["true", "0", "1.0"], None),
        (["1", "-1", "1"], None),
        (["yes", "no", "yes"], "yes"),
        (["1", "0.0", "1.0"], "1"),
        (["True", "FALSE", " 1"], "true"),
        ([" yes", "no", "yes "], "yes"),
        (["2", "3", " 2.0"], "2"),
    ],
)
def test_labels(cells, positive_label):
    np.testing.assert_array_equal(labels(column(*cells), positive_label).positive, [True, False, True])


@pytest.mark.parametrize(
    ("cells", "positive_label", "row"),
    [
        (["1", "0", "2"], None, 2),
        (["0", "1", "-1"], None, 2),
        (["-1", "0"], None, 1),
        (["1", "x"], None, 1),
        (["1", ""], None, 1),
        (["1", "0", ""], "1", 2),
        (["", "1"], "1", 0),
        (["true", "-1"], None, 1),
    ],
)
def test_refuses_labels_that_are_not_binary(cells, positive_label, row):
    error = raised(Wrong, labels, column(*cells), positive_label)
    assert (error.code, error.row) == ("not_a_label", row)


@pytest.mark.parametrize(
    ("cell", "value"), [("0,5", 0.5), (" -1,25e-3 ", -0.00125), ("7", 7.0), ("1e5", 1e5), (",5", 0.5), ("5,", 5.0)]
)
def test_a_decimal_comma_is_read_if_declared(cell, value):
    comma = Column(pa.array([cell]), "csv", ",")
    assert numbers(comma, nullable=False).tolist() == [value]
    for point in ("0.5", "1.000", "1.000,5"):
        with pytest.raises(Wrong, match=f"^'{re.escape(point)}' is not a decimal number with decimal=comma"):
            numbers(Column(pa.array(["0,5", point]), "csv", ","), nullable=False)
    with pytest.raises(Wrong, match=r"^'0,5' has a decimal comma: set decimal=comma[.]$"):
        numbers(Column(pa.array(["0,5"]), "csv"), nullable=False)
    assert labels(Column(pa.array(["1,0", "0"]), "csv", ","), None).positive.tolist() == [True, False]


@pytest.mark.parametrize(
    ("cell", "advice"),
    [
        ("1,000", "leave out commas of thousands, or set decimal=comma if this is a decimal comma"),
        ("-12,345", "leave out commas of thousands, or set decimal=comma if this is a decimal comma"),
        ("1,234,567", "leave out commas of thousands"),
        ("1,234.5", "leave out commas of thousands"),
    ],
)
def test_commas_of_thousands_are_not_taken_for_decimal_commas(cell, advice):
    with pytest.raises(Wrong, match=f"^'{re.escape(cell)}' has a comma: {advice}[.]$"):
        numbers(Column(pa.array(["1", cell]), "csv"), nullable=False)


@pytest.mark.parametrize("delimiter", [",", ";", "\t", "|", "comma", "semicolon", "tab", "pipe"])
def test_each_delimiter_keeps_the_others_within_cells(delimiter):
    mark = {"comma": ",", "semicolon": ";", "tab": "\t", "pipe": "|"}.get(delimiter, delimiter)
    header = [f'"a{other}"' if other == mark else f"a{other}" for other in ",;\t|"]
    body = f"{mark.join(header)}\n{mark.join('1234')}\n".encode()
    table = CsvTable(body, LIMITS, Dialect.of({"delimiter": delimiter}))
    assert table.header == ["a,", "a;", "a\t", "a|"]
    assert [numbers(table.read([name])[name], nullable=False)[0] for name in table.header] == [1, 2, 3, 4]


@pytest.mark.parametrize(("key", "text"), [("delimiter", ""), ("delimiter", "x"), ("decimal", "semicolon")])
def test_another_mark_is_refused(key, text):
    problem = raised(Problem, Dialect.of, {key: text})
    assert [(error.pointer, error.code) for error in problem.errors] == [(f"/{key}", "not_one_of")]


@pytest.mark.parametrize("line", ["sep=;\r\n", "sep=;\n", "SEP=;\r", '"sep=;"\r\n', "\ufeffsep=;\n"])
def test_a_line_for_excel_gives_the_delimiter(line):
    body = f"{line}scores;labels\r\n0.9;1\r\n0.2;x"
    for options in ({}, {"delimiter": "semicolon"}, {"delimiter": ";"}):
        assert refusals("curves", body, content_type="text/csv", **options) == [("/labels/1", "not_a_label")]
    assert refusals("curves", body, content_type="text/csv", delimiter="comma") == [("/delimiter", "exclusive")]


def test_the_marks_of_csv_go_with_no_other_format():
    for content_type, body in (("application/json", "{}"), ("application/vnd.apache.parquet", "")):
        for key in ("delimiter", "decimal", "escape", "header"):
            found = refusals("curves", body or "PAR1", content_type=content_type, **{key: "comma"})
            assert found == [(f"/{key}", "exclusive")]


def test_an_empty_cell_is_not_to_blame_where_a_column_may_have_them():
    error = raised(Wrong, numbers, column("", "x"), nullable=True)
    assert (error.row, error.detail) == (1, "'x' is not a decimal number.")
