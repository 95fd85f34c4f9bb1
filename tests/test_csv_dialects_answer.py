"""CSV as spreadsheets, R and Spark write it, over the same path as a request."""

import json
from typing import Any

import pytest

from service.answer import answer
from service.request import Request
from tests.support.asking import LIMITS, answered, ask, errors, refusals

EXPECTED = {"positives": 1, "negatives": 1}


def table(body: str, **options: str) -> Any:
    return answered("curves", body, content_type="text/csv", include="auc", **options)


def detail(body: str, **options: str) -> str:
    result = ask("curves", body, content_type="text/csv", **options)
    assert result.problem is not None
    text: str = json.loads(result.body)["detail"]
    return text


@pytest.mark.parametrize(
    ("body", "options"),
    [
        ("scores;labels\n0,9;1\n;;\n;\n0,2;0\n;\n; ;\n", {"delimiter": "semicolon", "decimal": "comma"}),
        ("scores,labels\r\n0.9,1\r\n,\r\n0.2,0\r\n,\r\n", {}),
        ('scores,labels\n0.9,1\n"",""\n0.2,0\n', {}),
        ("sep=;\nscores;labels\n0.9;1\n0.2;0\n", {}),
        (" scores , labels\u00a0\n0.9,1\n0.2,0\n", {}),
        ('"scores" "labels"\n0.9 1\n0.2 0\n', {"delimiter": "space"}),
        ('"scores" "labels"\n0.9 1\n0.2 0\n', {"delimiter": " "}),
        ('name,scores,labels\n"a \\"q\\", b\\\\",0.9,1\nb,0.2,0\n', {"escape": "backslash"}),
        ("0.9,1\n0.2,0\n", {"header": "absent"}),
        ("1,0.9\n0,0.2\n", {"header": "absent", "scores": "2"}),
        ("a,0.9,1\nb,0.2,0\n", {"header": "absent", "scores": "2", "labels": "3"}),
        ("0,1\n0.9,1\n0.2,0\n", {"header": "present", "scores": "0", "labels": "1"}),
    ],
)
def test_is_read(body: str, options: dict[str, str]) -> None:
    found = table(body, **options)
    assert (found["positives"], found["negatives"], found["auc"]["roc"], found["warnings"]) == (1, 1, 1.0, [])


def test_two_columns_without_names_are_listed() -> None:
    listed = answered("columns", "0.9,1\n0.2,0\n", content_type="text/csv", header="absent")
    assert (listed["rows"], listed["columns"]["name"]) == (2, ["1", "2"])


@pytest.mark.parametrize("body", ["0.9,1\n0.8,0\n0.7,1\n", "0.9,yes\n0.8,no\n", "a,0.9,1\nb,0.8,0\n", "1,0\n2,1\n"])
def test_numbers_are_no_names(body: str) -> None:
    first = body.split("\n", maxsplit=1)[0].split(",")
    for options in ({}, {"scores": first[0], "labels": first[1]}):
        (error,) = errors("curves", body, content_type="text/csv", **options)
        assert (error["pointer"], error["code"]) == ("/header", "missing")
        assert "add the line scores,labels" in error["detail"]
        assert "header=absent" in error["detail"]


@pytest.mark.parametrize(
    ("row", "line"),
    [
        ("0.9,1", "scores,labels above,"),
        ("0.9,spam", "scores,labels above,"),
        ("1,0.9", "labels,scores above,"),
        ("spam,0.9", "labels,scores above,"),
        ("id7,0.9,1", "scores,labels,... above in the order of the columns,"),
    ],
)
def test_the_line_to_add_has_the_names_in_order(row: str, line: str) -> None:
    assert f"add the line {line} or set header=absent" in detail(f"{row}\n{row}\n")


def test_a_field_too_many_at_the_end_is_no_row_name() -> None:
    told = detail("scores,labels\n0.9,1,\n0.8,0,\n")
    assert told == "Row 2 has 3 fields but the header, row 1, has 2."


@pytest.mark.parametrize(
    ("body", "options", "told"),
    [
        ('scores, "labels"\n0.9, "1"\n', {}, ["In row 1, ", "Leave out the blank before the quote."]),
        ('scores,labels\n"[0.1, 0.9]",1\n', {}, ["is a list: write one of its numbers", "vector_to_array"]),
        ('score,positives,negatives\n"(-inf, 0.5]",1,4\n"(0.5, inf]",3,1\n', {}, ["is an interval: ", "score_to"]),
        ('score,positives,negatives\n"[0, 0.5)",1,4\n"[0.5, 1)",3,1\n', {}, ["is an interval: ", "score_to"]),
        ("scores,labels\n0.9,1\n0.2,NA\n0.1,0\n", {}, ["'NA', in 1 row, may mean that there is no label"]),
        ('name,scores,labels\n"a \\"q\\" b",0.9,1\nb,0.8,0\n', {}, ["In row 2, ", "set escape=backslash"]),
        ('scores,labels\n\n0.9,1\n0.8,"0\n', {}, ["In row 4, "]),
        ('scores,labels\n="0.9",1\n="0.8",0\n', {}, ["In row 2, ", "write 0.9 alone"]),
        ('scores,labels\n"=""0.9""",1\n0.8,0\n', {}, ["is a spreadsheet's formula: write its value alone"]),
        ('"score" "label"\n"1" 0.9 1\n"2" 0.8 0\n', {}, ["set delimiter=space"]),
        (
            '"scores" "labels"\n"1" 0.9 1\n"2" 0.8 0\n',
            {"delimiter": "space"},
            ["Row 2 has 3 fields but the header, row 1, has 2.", "row.names = FALSE"],
        ),
        ("0.9,1\n0.8\n", {"header": "absent"}, ["Row 2 has 1 field but row 1 has 2."]),
    ],
)
def test_what_is_wrong_is_said_with_its_row(body: str, options: dict[str, str], told: list[str]) -> None:
    for part in told:
        assert part in detail(body, **options)


def test_rows_are_those_of_the_file() -> None:
    """Blank lines and rows without a value count."""
    body = 'scores;labels\n0.9;1\n\n;;\n"0.\n2";0\n;\nx;1\n'
    assert refusals("curves", body, content_type="text/csv", delimiter="semicolon") == [("/scores/3", "not_a_number")]
    body = "scores;labels\n0.9;1\n\n;;\n0.2;0\n;\nx;1\n"
    assert refusals("curves", body, content_type="text/csv", delimiter="semicolon") == [("/scores/5", "not_a_number")]


@pytest.mark.parametrize("option", ["thresholds", "mark"])
@pytest.mark.parametrize("text", ["0,5", "0,5,0,7", "1.000,5"])
def test_a_decimal_comma_within_a_list_is_refused(option: str, text: str) -> None:
    options = {option: text, "delimiter": ";", "decimal": "comma"}
    options |= {"charts": '["roc"]'} if option == "mark" else {}
    if option == "mark":
        options["accept"] = "image/svg+xml"
        del options["charts"]
    (error,) = errors("curves", "scores;labels\n0,9;1\n0,2;0\n", content_type="text/csv", **options)
    assert (error["pointer"], error["code"]) == (f"/{option}", "not_a_number")
    assert "write 0.5" in error["detail"]


@pytest.mark.parametrize("text", ["0.5,0.7", "[0, 5]", "0.5"])
def test_a_list_that_is_clear_is_read(text: str) -> None:
    table("scores;labels\n0,9;1\n0,2;0\n", delimiter=";", decimal="comma", thresholds=text)


def test_windows_1252_is_read_if_declared() -> None:
    body = "größe,labels\n0.9,ja\n0.2,nein\n".encode("windows-1252")
    query = (("scores", "größe"), ("positive_label", "ja"), ("include", "auc"))
    request = Request("curves", "/", "text/csv", "application/json", query, body, charset="windows-1252")
    result = answer(request, LIMITS)
    assert result.status == 200
    assert json.loads(result.body)["auc"]["roc"] == 1
    problem = json.loads(ask("curves", body, content_type="text/csv").body)
    assert problem["type"] == "/problems/malformed_body"
    assert "charset=windows-1252" in problem["detail"]


@pytest.mark.parametrize(
    ("body", "options", "status"),
    [
        ("[a],scores,labels\n1,0.9,1\n1,0.8,0\n", {"includ": "auc"}, 422),
        ("[a],scores,labels\n1,0.9,1\n1,0.8\n", {}, 400),
        ("[a],scores,labels\n1,0.9,1\n1,x,0\n", {}, 422),
        ("[1],scores,labels\n1,0.9,1\n1,0.8,0\n", {"scores": "p"}, 422),
        ("<a>,scores,labels\n1,0.9,1\n1,x,0\n", {}, 422),
        ("PAR1,scores,labels\n1,0.9,1\nx,0.8,PAR1", {"includ": "auc"}, 422),
    ],
)
def test_a_header_that_looks_like_another_format_does_not_hide_the_problem(
    body: str, options: dict[str, str], status: int
) -> None:
    result = ask("curves", body, content_type="text/csv", **options)
    assert result.status == status
    assert "looks like" not in json.loads(result.body)["detail"]
