"""A body is read whole or refused; what gunicorn makes of real sockets is in tests/e2e."""

import io
import tracemalloc
from typing import Any

import pytest
from gunicorn.http.errors import InvalidChunkSize, InvalidResponseHeader, NoMoreData, ParseException

from service.web.body import read_body
from service.web.transport import MAX_INSTANCE, instance_of, transport_problem
from service.wire.problems import Problem


class Failing(io.BytesIO):
    """A stream whose reading fails."""

    def __init__(self, error: Exception) -> None:
        super().__init__()
        self.error = error

    def read1(self, _size: int | None = -1, /) -> bytes:
        raise self.error


class OfAnotherServer:
    """A stream that has what WSGI asks for, and no more."""

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


def test_a_body_of_single_bytes_takes_no_more_memory_than_another() -> None:
    class Dripping(io.BytesIO):
        def read1(self, _size: int | None = -1, /) -> bytes:
            return self.read(1)

    size = 100_000
    dripping = environ(Dripping(bytes(size)), CONTENT_LENGTH=str(size))
    tracemalloc.start()
    try:
        read_body(dripping, size)
        _, most = tracemalloc.get_traced_memory()
    finally:
        tracemalloc.stop()
    assert most < 4 * size


@pytest.mark.parametrize("variables", [{}, {"CONTENT_LENGTH": ""}, {"CONTENT_LENGTH": "0"}])
def test_without_a_length_there_is_no_body(variables: dict[str, str]) -> None:
    assert read_body(environ(Failing(AssertionError()), **variables), 4) == b""


@pytest.mark.parametrize(
    ("body", "variables", "code"),
    [
        (Failing(AssertionError()), {"CONTENT_LENGTH": "5"}, "body_too_large"),
        (Failing(AssertionError()), {"CONTENT_LENGTH": "9" * 5000}, "body_too_large"),
        (b"abcde", {"HTTP_TRANSFER_ENCODING": "chunked"}, "body_too_large"),
        (b"abc", {"CONTENT_LENGTH": "4"}, "incomplete_body"),
        (b"", {"CONTENT_LENGTH": "4"}, "incomplete_body"),
        (Failing(NoMoreData()), {"CONTENT_LENGTH": "4"}, "incomplete_body"),
        (Failing(ConnectionResetError()), {"CONTENT_LENGTH": "4"}, "incomplete_body"),
        (Failing(NoMoreData()), {"HTTP_TRANSFER_ENCODING": "chunked"}, "incomplete_body"),
        (Failing(InvalidChunkSize(b"x")), {"HTTP_TRANSFER_ENCODING": "chunked"}, "malformed_request"),
        (b"", {"CONTENT_LENGTH": "-1"}, "malformed_request"),
        (b"", {"CONTENT_LENGTH": "4.0"}, "malformed_request"),
        (b"", {"CONTENT_LENGTH": "\u0664"}, "malformed_request"),
    ],
)
def test_any_other_body_is_refused(body: bytes | io.BytesIO, variables: dict[str, str], code: str) -> None:
    with pytest.raises(Problem) as caught:
        read_body(environ(body, **variables), 4)
    assert caught.value.type.code == code


def parse_errors(kind: type[Exception] = ParseException) -> list[type[Exception]]:
    return [kind, *(error for child in kind.__subclasses__() for error in parse_errors(child))]


@pytest.mark.parametrize("kind", parse_errors())
def test_every_parse_error_of_gunicorn_is_a_problem_of_the_client(kind: type[Exception]) -> None:
    problem = transport_problem(kind.__new__(kind))
    if kind.__name__.startswith("InvalidResponse"):
        assert problem is None
    else:
        assert problem is not None
        assert 400 <= problem.type.status < 500


def test_other_errors_are_none_of_the_clients() -> None:
    assert transport_problem(ValueError()) is None
    assert transport_problem(InvalidResponseHeader("x")) is None


@pytest.mark.parametrize(
    ("path", "expected"),
    [
        ("/v1/curves", "/v1/curves"),
        ("", "/"),
        ('/<a b="ü">\r\n', "/%3Ca%20b%3D%22%C3%BC%22%3E%0D%0A"),
        ("/" + "a" * 5000, "/" + "a" * (MAX_INSTANCE - 1)),
    ],
)
def test_an_instance_is_a_short_uri(path: str, expected: str) -> None:
    assert instance_of(path) == expected
