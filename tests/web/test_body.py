"""A body is read completely or refused, whichever server reads it; tests/web/server shows how ours reads bytes."""

import io
from typing import Any

import pytest

from service.web.body import MAX_LENGTH_DIGITS, body_length, read_body
from service.wire.problems import Problem


class Unread(io.BytesIO):
    """A body that nobody may read."""

    def read(self, _size: int | None = -1, /) -> bytes:
        pytest.fail("the body was read")


class OfAnotherServer:
    """A stream with only what WSGI requires."""

    def __init__(self, content: bytes) -> None:
        self.read = io.BytesIO(content).read


def environ(body: bytes | io.BytesIO, **variables: str) -> dict[str, Any]:
    return {"wsgi.input": io.BytesIO(body) if isinstance(body, bytes) else body, **variables}


@pytest.mark.parametrize(
    "variables", [{"CONTENT_LENGTH": "4"}, {"CONTENT_LENGTH": "004"}, {"HTTP_TRANSFER_ENCODING": "chunked"}]
)
def test_a_body_is_read_up_to_the_limit(variables: dict[str, str]) -> None:
    assert read_body(environ(b"abcd", **variables), 4) == b"abcd"
    assert read_body({**environ(b"", **variables), "wsgi.input": OfAnotherServer(b"abcd")}, 4) == b"abcd"


def test_nothing_beyond_the_body_is_read() -> None:
    stream = io.BytesIO(b"abcdef")
    assert read_body({"wsgi.input": stream, "CONTENT_LENGTH": "4"}, 5) == b"abcd"
    assert stream.read() == b"ef"


@pytest.mark.parametrize("variables", [{}, {"CONTENT_LENGTH": ""}, {"CONTENT_LENGTH": "0"}])
def test_without_a_length_there_is_no_body(variables: dict[str, str]) -> None:
    assert read_body(environ(Unread(), **variables), 4) == b""


@pytest.mark.parametrize(
    ("variables", "length"),
    [
        ({}, 0),
        ({"CONTENT_LENGTH": ""}, 0),
        ({"CONTENT_LENGTH": "4"}, 4),
        ({"CONTENT_LENGTH": "0" * (MAX_LENGTH_DIGITS - 1) + "4"}, 4),
        ({"HTTP_TRANSFER_ENCODING": "chunked"}, None),
    ],
)
def test_the_length_is_what_the_head_says(variables: dict[str, str], length: int | None) -> None:
    assert body_length(variables, 4) == length


@pytest.mark.parametrize(
    ("body", "variables", "code"),
    [
        (Unread(), {"CONTENT_LENGTH": "5"}, "body_too_large"),
        (Unread(), {"CONTENT_LENGTH": "9" * 5000}, "body_too_large"),
        (b"abcde", {"HTTP_TRANSFER_ENCODING": "chunked"}, "body_too_large"),
        (b"abc", {"CONTENT_LENGTH": "4"}, "incomplete_body"),
        (b"", {"CONTENT_LENGTH": "4"}, "incomplete_body"),
        (b"", {"CONTENT_LENGTH": "-1"}, "malformed_request"),
        (b"", {"CONTENT_LENGTH": "4.0"}, "malformed_request"),
        (b"", {"CONTENT_LENGTH": "\u0664"}, "malformed_request"),
    ],
)
def test_any_other_body_is_refused(body: bytes | io.BytesIO, variables: dict[str, str], code: str) -> None:
    with pytest.raises(Problem) as caught:
        read_body(environ(body, **variables), 4)
    assert caught.value.type.code == code
