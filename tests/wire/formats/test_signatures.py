"""A body that is not what its headers say is recognised, whatever its format; one that can be read is accepted."""

import json
from dataclasses import replace

import pyarrow as pa
import pytest

from service.answer import REQUEST_MEDIA_TYPES, answer
from service.request import Request
from service.wire.formats.codings import CODINGS, IDENTITY, compress
from service.wire.formats.signatures import media_type_of
from service.wire.media_types import ARROW_FILE, ARROW_STREAM, CSV, JSON, PARQUET
from service.wire.problems import Problem
from tests.properties.bodies import arrow_body, arrow_file_body, csv_body, json_body, parquet_body
from tests.support.asking import LIMITS

BYTES = "application/octet-stream"
AS_CSV = "send Content-Type: text/csv."
COLUMNS = {"scores": [0.9, 0.2], "labels": [1, 0]}
TABLE = pa.table(COLUMNS)
RIGHT = {
    JSON: json_body(COLUMNS),
    CSV: csv_body(TABLE),
    ARROW_STREAM: arrow_body(TABLE),
    ARROW_FILE: arrow_file_body(TABLE),
    PARQUET: parquet_body(TABLE),
}


def detail(content_type: str, body: bytes, coding: str = IDENTITY) -> str:
    result = answer(Request("curves", "/", content_type, JSON, (), body, content_encoding=coding), LIMITS)
    problem = json.loads(result.body)
    assert (result.status, problem["type"]) == (400, "/problems/malformed_body")
    told, _, hint = problem["detail"].partition(" This looks like ")
    assert told  # the hint follows the problem
    return f"This looks like {hint}"


@pytest.mark.parametrize("content_type", REQUEST_MEDIA_TYPES)
def test_a_body_that_is_compressed_and_does_not_say_so(content_type: str) -> None:
    for coding, name in (("gzip", "gzip"), ("zstd", "Zstandard")):
        body = compress(coding, RIGHT[content_type])
        assert detail(content_type, body) == f"This looks like {name}: send Content-Encoding: {coding}."
        twice = compress("gzip", body)
        assert detail(content_type, twice, "gzip") == f"This looks like {name}: compress it once."


@pytest.mark.parametrize("body", [b"scores,labels 0.9,1", b"scores,labels", b'scores,"labels'])
def test_a_body_of_one_line_gets_advice_about_curl(body: bytes) -> None:
    problem = json.loads(answer(Request("curves", "/", CSV, JSON, (), body), LIMITS).body)
    hint = " This looks like a file on one line: curl -d removes the line breaks of a file, --data-binary keeps them."
    assert problem["detail"].endswith(hint)
    assert not any("curl" in error["detail"] for error in problem.get("errors", []))
    lines = json.loads(answer(Request("curves", "/", CSV, JSON, (), body + b"\n0.5"), LIMITS).body)
    assert "curl" not in lines["detail"]


@pytest.mark.parametrize("content_type", REQUEST_MEDIA_TYPES)
def test_a_body_of_another_type(content_type: str) -> None:
    for media_type, name in (
        (PARQUET, "a Parquet file"),
        (ARROW_STREAM, "an Arrow stream"),
        (ARROW_FILE, "an Arrow file"),
    ):
        if media_type != content_type:
            assert detail(content_type, RIGHT[media_type]) == (
                f"This looks like {name}: send Content-Type: {media_type}."
            )
            packed = compress("zstd", RIGHT[media_type])
            assert detail(content_type, packed, "zstd").startswith(f"This looks like {name}")


@pytest.mark.parametrize(
    ("body", "looks_like"),
    [
        (b"FEA1", "a Feather 1 file: save it as Feather 2 or Parquet."),
        (b"PK\3\4 xl/workbook.xml", "an Excel workbook: save it as CSV UTF-8, and send that."),
        (b"PK\3\4 scores.csv", "a zip archive: send the file inside it."),
        (b"\xd0\xcf\x11\xe0\xa1\xb1\x1a\xe1", "an Excel workbook: save it as CSV UTF-8, and send that."),
        ("scores,labels".encode("utf-16"), "text in UTF-16: send it in UTF-8."),
        (b"\xfe\xff" + "scores".encode("utf-16-be"), "text in UTF-16: send it in UTF-8."),
        ("{}".encode("utf-16-le"), "text in UTF-16: send it in UTF-8."),
        ("{}".encode("utf-16-be"), "text in UTF-16: send it in UTF-8."),
        (b" <html>", "HTML or XML: send application/json or text/csv."),
        (b"scores,labels\n0.9,1\n", f"CSV: {AS_CSV}"),
        (
            b"scores,labels 0.9,1",
            f"CSV: {AS_CSV} It is one line: curl -d removes the line breaks of a file, --data-binary keeps them.",
        ),
        (
            b"scores=0.9&labels=1",
            "form fields: send a JSON object, as curl --json and json= of Python's requests do.",
        ),
    ],
)
def test_a_body_of_unknown_type_is_told_what_it_looks_like(body: bytes, looks_like: str) -> None:
    for said, seen in (("", "There is no Content-Type"), (BYTES, f"Content-Type says {BYTES}")):
        with pytest.raises(Problem) as caught:
            media_type_of(body, said, IDENTITY)
        assert caught.value.detail == f"{seen}, and the body looks like {looks_like}"


def test_a_body_that_looks_like_nothing() -> None:
    with pytest.raises(Problem) as caught:
        media_type_of(b"hello", "", IDENTITY)
    assert caught.value.detail == (
        "There is no Content-Type, and the body does not show its format: "
        "send Content-Type: application/json or text/csv."
    )


@pytest.mark.parametrize("header", ["PAR1", "ARROW1"])
def test_a_table_may_begin_and_end_as_another_format_does(header: str) -> None:
    body = f"{header},scores,labels\nx,0.9,1\nPAR1,0.2,0\nx,0.1,0".encode()
    request = Request("curves", "/", CSV, JSON, (), body)
    assert answer(request, LIMITS).status == 200
    assert answer(replace(request, parameters=(("scores", "p"),)), LIMITS).status == 422
    ending = f"{header},scores,labels\n1,0.9,x\n0,0.2,PAR1".encode()
    query = (("labels", header), ("scores", "scores"))
    assert answer(replace(request, body=ending, parameters=query), LIMITS).status == 200


@pytest.mark.parametrize("coding", [IDENTITY, *CODINGS])
@pytest.mark.parametrize("content_type", REQUEST_MEDIA_TYPES)
def test_a_right_body_is_read(content_type: str, coding: str) -> None:
    body = compress(coding, RIGHT[content_type])
    request = Request("curves", "/", content_type, JSON, (), body, content_encoding=coding)
    assert answer(request, LIMITS).status == 200
