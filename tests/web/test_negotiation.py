"""Content-Type, Content-Encoding, Accept and Accept-Encoding."""

import re
from contextlib import suppress

import pytest
from werkzeug.datastructures import Headers

from service.web import negotiation
from service.web.negotiation import (
    LONGEST,
    MOST_MEMBERS,
    first_members,
    request_body_type,
    request_coding,
    response_coding,
    response_media_type,
)
from service.wire.problems import Problem
from tests.support.raising import raised

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
        ("", ""),
        (";charset=utf-8", ""),
        ("text/plain;charset=UTF-8", "text/plain"),
        ("application/x-www-form-urlencoded", "application/x-www-form-urlencoded"),
        ("application/octet-stream", "application/octet-stream"),
    ],
)
def test_a_supported_content_type_is_read(header: str, expected: str) -> None:
    assert request_body_type(Headers({"Content-Type": header}), SUPPORTED).media_type == expected


@pytest.mark.parametrize("name", ["windows-1252", "Windows-1252", "cp1252", "ISO-8859-1", "latin1"])
def test_csv_may_be_in_windows_1252(name: str) -> None:
    found = request_body_type(Headers({"Content-Type": f"text/csv; charset={name}"}), SUPPORTED)
    assert (found.media_type, found.charset) == ("text/csv", "windows-1252")


@pytest.mark.parametrize(
    "headers",
    [
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
    assert raised(Problem, request_body_type, Headers(headers), SUPPORTED).type.code == "unsupported_media_type"


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
    ("media_type", "advice"),
    [
        ("multipart/form-data; boundary=x", "Send a file as the body itself"),
        ("text/tab-separated-values", "delimiter=tab"),
        ("application/x-ndjson", "one object of columns"),
        ("application/jsonl", "one object of columns"),
        ("application/vnd.openxmlformats-officedocument.spreadsheetml.sheet", "Save the workbook as CSV UTF-8"),
        ("application/gzip", "Content-Encoding: gzip"),
        ("application/zstd", "Content-Encoding: zstd"),
    ],
)
def test_common_types_that_are_unsupported_get_advice(media_type: str, advice: str) -> None:
    assert advice in raised(Problem, request_body_type, Headers({"Content-Type": media_type}), SUPPORTED).detail


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
        ("identity;q=0., gzip;q=.1", "gzip"),
        ("gzip;q=0, x-gzip", "gzip"),
        ("gzip, x-gzip;q=0", "gzip"),
        ("br", "identity"),
        ("nonsense;;, gzip;q=x", "identity"),
        (",", "identity"),
        # No coding is acceptable, so the answer is sent unchanged.
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
        ("text/html, image/gif, image/jpeg, *; q=.2, */*; q=.2", "application/json"),  # HttpURLConnection of Java 8
        ("application/json;q=.2, text/csv;Q=.3", "text/csv"),
        ("application/json;q=0., text/csv;q=1.", "text/csv"),
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
    assert raised(Problem, response_media_type, Headers({"Accept": header}), SUPPORTED).type.code == "not_acceptable"


def test_a_feature_unsupported_only_here_is_reported() -> None:
    for header, words in (("image/png", ".* It needs a font."), ("image/gif", "[^.]*.")):
        problem = raised(
            Problem, response_media_type, Headers({"Accept": header}), SUPPORTED, {"image/png": "It needs a font."}
        )
        assert re.fullmatch(words, problem.detail)


@pytest.mark.parametrize(
    ("header", "looked_at"),
    [
        ("", ""),
        ("a", "a"),
        ("a, b;q=0.5,c", "a, b;q=0.5,c"),
        (",".join(map(str, range(32))), ",".join(map(str, range(32)))),
        (",".join(map(str, range(33))), ",".join(map(str, range(32)))),
        ("a," * 4000, ",".join("a" * 32)),
        ("," * 8000, "," * 31),
        ("a" * LONGEST, "a" * LONGEST),
        ("a" * (LONGEST + 1), ""),
        ("a," + "b" * LONGEST, "a"),
        ("a,b,c;q=0." + "5" * LONGEST, "a,b"),
    ],
)
def test_the_beginning_of_a_list_is_looked_at(header: str, looked_at: str) -> None:
    assert first_members(header) == looked_at


HOSTILE = (",", "a,", "a/b,", "*/*;q=0.1,", ";", "a;", '"', "\\", 'a/b;x="a\\"",', "q=1;", "; a*0=b", "; a=b", " ")


@pytest.mark.parametrize("unit", HOSTILE)
@pytest.mark.parametrize("length", [8_000, 32_000])
def test_a_long_header_is_parsed_only_up_to_the_limit(unit: str, length: int, monkeypatch: pytest.MonkeyPatch) -> None:
    """Parsing a list of thousands took 60 ms."""
    parsed = []
    for name in ("parse_accept_header", "parse_options_header"):
        parse = getattr(negotiation, name)
        monkeypatch.setattr(
            negotiation, name, lambda text, *kind, parse=parse: parsed.append(text) or parse(text, *kind)
        )
    header = unit * (length // len(unit))
    headers = Headers({"Accept": header, "Accept-Encoding": header, "Content-Type": f"application/json{header}"})
    assert response_coding(headers, CODINGS) in {*CODINGS, "identity"}
    with suppress(Problem):
        assert response_media_type(headers, SUPPORTED) in SUPPORTED
    with suppress(Problem):
        assert request_body_type(headers, SUPPORTED).media_type in SUPPORTED
    assert len(parsed) >= 2
    assert all(len(text) <= LONGEST and text.count(",") < MOST_MEMBERS for text in parsed[:-1])
    assert len(parsed[-1]) <= LONGEST


@pytest.mark.parametrize(
    ("header", "expected"),
    [
        ("text/csv," + "image/png," * 800, "text/csv"),
        ("image/png," * 31 + "text/csv", "text/csv"),
        ("text/csv;q=0.5," + "image/png," * 40 + "application/json", "text/csv"),
        ("text/csv;level=" + "1" * 8000, "application/json"),  # nothing is left, as if there were no header
    ],
)
def test_types_among_the_first_are_found(header: str, expected: str) -> None:
    assert response_media_type(Headers({"Accept": header}), SUPPORTED) == expected


def test_types_beyond_the_first_are_not_acceptable() -> None:
    problem = raised(Problem, response_media_type, Headers({"Accept": "image/png," * 32 + "text/csv"}), SUPPORTED)
    assert problem.type.code == "not_acceptable"


def test_codings_beyond_the_first_are_not_used() -> None:
    assert response_coding(Headers({"Accept-Encoding": "br," * 31 + "gzip"}), CODINGS) == "gzip"
    assert response_coding(Headers({"Accept-Encoding": "br," * 32 + "gzip"}), CODINGS) == "identity"


def test_a_content_type_with_endless_parameters_is_still_its_type() -> None:
    long = Headers({"Content-Type": "text/csv; charset=utf-8" + "; a=b" * 6000})
    assert request_body_type(long, SUPPORTED).media_type == "text/csv"
    with pytest.raises(Problem, match="is not a supported Content-Type"):
        request_body_type(Headers({"Content-Type": "a" * 8000}), SUPPORTED)
