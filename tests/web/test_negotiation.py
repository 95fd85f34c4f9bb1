"""Content-Type, Content-Encoding, Accept and Accept-Encoding."""

import pytest
from werkzeug.datastructures import Headers

from service.web.negotiation import request_coding, request_media_type, response_coding, response_media_type
from service.wire.problems import Problem

SUPPORTED = ("application/json", "text/csv")
CODINGS = ("zstd", "gzip")


@pytest.mark.parametrize(
    ("header", "expected"),
    [
        ("application/json", "application/json"),
        ("Application/JSON", "application/json"),
        ("application/json; charset=utf-8", "application/json"),
        ('application/json;charset="UTF-8"', "application/json"),
        ("text/csv; charset=us-ascii; header=present", "text/csv"),
        ("text/csv;", "text/csv"),
    ],
)
def test_a_supported_content_type_is_read(header: str, expected: str) -> None:
    assert request_media_type(Headers({"Content-Type": header}), SUPPORTED) == expected


@pytest.mark.parametrize(
    "headers",
    [
        {},
        {"Content-Type": ""},
        {"Content-Type": ";charset=utf-8"},
        {"Content-Type": "json"},
        {"Content-Type": "image/png"},
        {"Content-Type": "application/json, text/csv"},
        {"Content-Type": "application/json-seq"},
        {"Content-Type": "*/*"},
        {"Content-Type": "application/json; charset=latin-1"},
        {"Content-Type": "text/csv; charset=utf-16"},
    ],
)
def test_any_other_content_is_415(headers: dict[str, str]) -> None:
    with pytest.raises(Problem) as caught:
        request_media_type(Headers(headers), SUPPORTED)
    assert caught.value.type.code == "unsupported_media_type"


@pytest.mark.parametrize(
    ("header", "expected"),
    [
        (None, "identity"),
        ("", "identity"),
        ("Identity", "identity"),
        ("gzip", "gzip"),
        (" GZIP ", "gzip"),
        ("x-gzip", "gzip"),
        ("zstd", "zstd"),
    ],
)
def test_a_supported_content_coding_is_read(header: str | None, expected: str) -> None:
    headers = Headers() if header is None else Headers({"Content-Encoding": header})
    assert request_coding(headers, CODINGS) == expected


@pytest.mark.parametrize(
    "header",
    ["br", "deflate", "compress", "gzip, zstd", "gzip,gzip", "identity, gzip", "*", "gzip;q=1", ",", "x" * 5000],
)
def test_any_other_content_coding_is_415(header: str) -> None:
    with pytest.raises(Problem, match="send zstd, gzip or none") as caught:
        request_coding(Headers({"Content-Encoding": header}), CODINGS)
    assert caught.value.type.code == "unsupported_content_encoding"
    assert len(caught.value.detail) < 200


@pytest.mark.parametrize(
    ("header", "expected"),
    [
        (None, "identity"),
        ("", "identity"),
        ("identity", "identity"),
        ("gzip", "gzip"),
        ("GZip", "gzip"),
        ("x-gzip", "gzip"),
        ("zstd", "zstd"),
        ("gzip, zstd", "zstd"),
        ("zstd;q=0.5, gzip;q=0.8", "gzip"),
        ("zstd;q=0.5, x-gzip;q=0.8", "gzip"),
        ("gzip, deflate", "gzip"),
        ("gzip, deflate, br, zstd", "zstd"),
        ("gzip;q=0.001", "gzip"),
        ("gzip, identity", "gzip"),
        ("gzip;q=0.5, identity;q=0.8", "identity"),
        ("gzip;q=0.5, identity;q=0.5", "gzip"),
        ("*", "zstd"),
        ("gzip, *;q=0.1", "gzip"),
        ("*, gzip;q=0.1", "zstd"),
        ("*, zstd;q=0", "gzip"),
        ("gzip, *;q=0", "gzip"),
        ("zstd;q=0, gzip;q=0", "identity"),
        ("gzip;q=0, *;q=0.1, identity;q=0.5", "identity"),
        ("identity;q=0, *", "zstd"),
        ("identity;q=0, gzip;q=0.1", "gzip"),
        ("br", "identity"),
        ("nonsense;;, gzip;q=x", "identity"),
        (",", "identity"),
        # Nothing is acceptable: the answer goes as it is.
        ("identity;q=0", "identity"),
        ("*;q=0", "identity"),
        ("br, identity;q=0", "identity"),
    ],
)
def test_the_best_acceptable_coding_is_chosen(header: str | None, expected: str) -> None:
    headers = Headers() if header is None else Headers({"Accept-Encoding": header})
    assert response_coding(headers, CODINGS) == expected


@pytest.mark.parametrize(
    ("header", "expected"),
    [
        (None, "application/json"),
        ("", "application/json"),
        ("*/*", "application/json"),
        ("application/json", "application/json"),
        ("text/csv", "text/csv"),
        ("TEXT/CSV", "text/csv"),
        ("text/*", "text/csv"),
        ("text/csv; header=present", "text/csv"),
        ("application/json; charset=utf-8", "application/json"),
        ("text/csv, application/json", "application/json"),
        ("text/csv, application/json;q=0.9", "text/csv"),
        ("text/csv;q=0.1, application/json;q=0.2", "application/json"),
        ("text/csv;q=0.5, */*;q=0.1", "text/csv"),
        ("application/json;q=0, */*", "text/csv"),
        ("application/*;q=0, */*;q=0.001", "text/csv"),
        ("text/html, application/xhtml+xml, application/xml;q=0.9, */*;q=0.8", "application/json"),
        ("image/png, text/csv;q=0.3", "text/csv"),
        ("text/csv;q=0.3;level=1", "text/csv"),
        ("nonsense, text/csv", "text/csv"),
    ],
)
def test_the_best_acceptable_type_is_chosen(header: str | None, expected: str) -> None:
    headers = Headers() if header is None else Headers({"Accept": header})
    assert response_media_type(headers, SUPPORTED) == expected


@pytest.mark.parametrize(
    "header",
    ["image/png", "*/*;q=0", "text/*;q=0", "application/json;q=0, text/csv;q=0.0", "nonsense", ",", "a/b;q=x", "json"],
)
def test_nothing_acceptable_is_406(header: str) -> None:
    with pytest.raises(Problem) as caught:
        response_media_type(Headers({"Accept": header}), SUPPORTED)
    assert caught.value.type.code == "not_acceptable"
