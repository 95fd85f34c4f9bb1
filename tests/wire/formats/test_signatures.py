"""A body that is something else than its headers say is recognised, in every format; one that can be read stays."""

import json
from dataclasses import replace

import pyarrow as pa
import pytest

from service.answer import REQUEST_MEDIA_TYPES, Request, answer
from service.wire.formats.codings import CODINGS, IDENTITY, compress
from service.wire.media_types import ARROW_FILE, ARROW_STREAM, CSV, JSON, PARQUET
from tests.asking import LIMITS
from tests.properties.bodies import arrow_body, arrow_file_body, csv_body, json_body, parquet_body

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
    return problem["detail"]


@pytest.mark.parametrize("content_type", REQUEST_MEDIA_TYPES)
def test_a_body_that_is_compressed_and_does_not_say_so(content_type: str) -> None:
    for coding, name in (("gzip", "gzip"), ("zstd", "Zstandard")):
        body = compress(coding, RIGHT[content_type])
        assert detail(content_type, body) == f"This looks like {name}: send Content-Encoding: {coding}."
        twice = compress("gzip", body)
        assert detail(content_type, twice, "gzip") == f"This looks like {name}: compress it once."


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
