"""Bytes become requests or problems, whatever pieces they come in.

The corpus is a test of gunicorn's parser, too, which every new version has to pass.
"""

import gc
import random
import weakref

import pytest
from gunicorn.asgi import parser as gunicorn_parser
from gunicorn.asgi.parser import ParseError

from service.web.server.incoming_body import IncomingBody
from service.web.server.reading import DENSE_BYTES, HEAD_BYTES, RequestReader
from service.web.server.transport import too_slow, transport_problem
from service.wire.problems import Problem
from tests.e2e.wire import chunked
from tests.support import strategies
from tests.web.server import corpus
from tests.web.server.reading import Read, content_of, new_body, new_parser, new_reader, one_by_one, read

NUMBERS = random.Random(7)
LONG = 5_000


def in_two(data: bytes) -> list[bytes]:
    at = NUMBERS.randrange(len(data) + 1)
    return [data[:at], data[at:]]


def in_pieces(data: bytes) -> list[bytes]:
    places = sorted(NUMBERS.randrange(len(data) + 1) for _ in range(NUMBERS.randrange(1, 12)))
    return [data[start:end] for start, end in zip([0, *places], [*places, len(data)], strict=True)]


def check_agreement(data: bytes) -> Read:
    """Feed bytes in several ways, and check that the result is the same."""
    whole = read([data])
    if len(data) < LONG or strategies.examples_are_all:
        assert read(one_by_one(data)) == whole
    for split in (in_two, in_pieces):
        for _ in range(10 if strategies.examples_are_all else 2):
            pieces = split(data)
            assert read(pieces) == whole, [len(piece) for piece in pieces]
    return whole


@pytest.mark.parametrize("name", corpus.PROBLEMS)
def test_an_invalid_request_is_a_problem(name: str) -> None:
    data, code = corpus.PROBLEMS[name]
    assert check_agreement(data).problem == code
    after = check_agreement(corpus.OK + data)
    assert (after.requests[0], after.problem) == (("GET", "/after", b""), code)


@pytest.mark.parametrize("name", corpus.REQUESTS)
def test_what_is_a_request_is_read(name: str) -> None:
    data, requests = corpus.REQUESTS[name]
    assert check_agreement(data) == Read(tuple(requests))


def test_a_head_is_read_whole_as_byte_by_byte() -> None:
    """Whatever one byte of it is: a request, a problem, or the beginning of a request."""
    fields = b"Host: a:80\r\nAccept: */*\r\nContent-Type:text/csv \r\nContent-Length: 3\r\n"
    plain = b"POST /v1/curves?a=b HTTP/1.1\r\n" + fields + b"X-Y: \xe9\t\r\n\r\nabc"
    for at in range(len(plain)):
        for byte in [NUMBERS.randrange(256), *b"\r\n :_0"]:
            data = plain[:at] + bytes([byte]) + plain[at + 1 :]
            assert read([data]) == read(one_by_one(data)), data


def test_a_problem_does_not_depend_on_what_follows_it() -> None:
    """Not even if a request follows."""
    assert read([b"nonsense\r\n\r\n" + corpus.OK]) == Read((), "malformed_request")


def head_of(size: int, before: bytes = b"") -> bytes:
    """A head of this many bytes, including what comes before it."""
    fields = b"".join(b"X%d: %b\r\n" % (number, b"a" * 8000) for number in range(4))
    head = before + corpus.GET + fields
    return head + b"Y: " + b"a" * (size - len(head) - len(b"Y: \r\n\r\n")) + b"\r\n\r\n"


@pytest.mark.parametrize("before", [b"", b"\r\n" * 5])
def test_a_head_may_be_as_long_as_the_limit_and_no_longer(before: bytes) -> None:
    longest, too_long = head_of(HEAD_BYTES, before), head_of(HEAD_BYTES + 1, before)
    assert (len(longest), len(too_long)) == (HEAD_BYTES, HEAD_BYTES + 1)
    assert check_agreement(longest) == Read((("GET", "/", b""),))
    assert check_agreement(longest + corpus.OK) == Read((("GET", "/", b""), ("GET", "/after", b"")))
    assert check_agreement(too_long) == Read((), "headers_too_large")


def test_a_head_of_the_limit_may_have_a_body() -> None:
    content = b"Content-Length: 3\r\n"
    head = head_of(HEAD_BYTES - len(content)).replace(b"GET", b"PUT")
    data = head[:-2] + content + b"\r\nabc"
    assert check_agreement(data + corpus.OK) == Read((("PUT", "/", b"abc"), ("GET", "/after", b"")))


def test_a_head_that_is_too_long_is_not_kept() -> None:
    """Nor is it parsed beyond its limit, however much comes at once."""
    fed: list[int] = []

    class Counting(gunicorn_parser.PythonProtocol):
        def feed(self, data: bytes) -> None:
            fed.append(len(data))
            super().feed(data)

    reader = RequestReader(lambda complete, piece: Counting(None, None, None, complete, piece), new_body)
    with pytest.raises(Problem):
        reader.feed(corpus.GET + (b"X: " + b"a" * 8000 + b"\r\n") * 100)
    assert sum(fed) <= HEAD_BYTES


def test_a_request_tells_what_is_known_of_it() -> None:
    reader = new_reader()
    assert (reader.method, reader.path, reader.begun, reader.taken) == ("", "/", False, 0)
    assert reader.end() is None
    for piece in (b"\r\n", b"\r"):
        assert reader.feed(piece) == b""
        assert not reader.begun
    reader.feed(b"\nPU")
    assert reader.begun
    assert reader.end().type.code == "malformed_request"
    reader.feed(b"T /a%20b?c HTTP/1.1\r\nHo")
    assert (reader.method, reader.path) == ("PUT", "/a b")
    reader.feed(b"st: a\r\nContent-Length: 5\r\n\r\n")
    assert reader.end().type.code == "incomplete_body"
    assert not reader.is_whole
    taken = reader.taken
    assert reader.feed(b"abcdeGET") == b"GET"
    assert reader.taken == taken + 5
    assert reader.is_whole
    assert content_of(reader.body) == b"abcde"


@pytest.mark.parametrize(("target", "path"), [(b"http://b/c", "/"), (b"/%zz", "/%zz"), (b"/%c3%bc?/x", "/ü")])
def test_the_path_of_a_problem_is_decoded_or_nothing(target: bytes, path: str) -> None:
    reader = new_reader()
    reader.feed(b"GET " + target + b" HTTP/1.1\r\n")
    assert reader.path == path


@pytest.mark.parametrize(
    ("head", "awaits"),
    [
        (b"POST / HTTP/1.1\r\nHost: a\r\nContent-Length: 2\r\nExpect: 100-Continue\r\n\r\n", True),
        (b"POST / HTTP/1.1\r\nHost: a\r\nTransfer-Encoding: chunked\r\nExpect: 100-continue\r\n\r\n", True),
        (b"POST / HTTP/1.1\r\nHost: a\r\nContent-Length: 2\r\n\r\n", False),
        (b"POST / HTTP/1.0\r\nHost: a\r\nContent-Length: 2\r\nExpect: 100-continue\r\n\r\n", False),
    ],
)
def test_which_clients_wait_for_100_continue(head: bytes, *, awaits: bool) -> None:
    reader = new_reader()
    assert not reader.awaits_100()
    reader.feed(head)
    assert reader.awaits_100() is awaits
    if awaits:
        reader.feed(b"{}" if reader.head.length else b"2\r\n{}")
        assert not reader.awaits_100()


def test_a_body_without_room_is_the_servers_problem() -> None:
    class Full(IncomingBody):
        def write(self, _: object) -> None:
            raise OSError

    for head, body in ((corpus.CHUNKED, b"2\r\n{}"), (corpus.POST + b"Content-Length: 2\r\n\r\n", b"{}")):
        reader = RequestReader(new_parser, lambda: Full(9, 9, print))
        reader.feed(head)
        with pytest.raises(Problem) as caught:
            reader.feed(body)
        assert caught.value.type.code == "overloaded"


def test_very_many_chunks_are_not_read_at_once() -> None:
    """Each takes time, during which the loop does nothing else."""
    chunks = chunked(*[b"abcd"] * 2000)
    reader = new_reader()
    assert reader.feed(corpus.CHUNKED + chunks) == chunks
    rest, lengths = chunks, []
    while not reader.is_whole:
        before, rest = rest, reader.feed(rest)
        lengths.append(len(before) - len(rest))
    assert (reader.body.length, rest, reader.taken) == (8000, b"", len(corpus.CHUNKED) + len(chunks))
    assert set(lengths[:-1]) == {DENSE_BYTES}
    reader = new_reader()
    reader.feed(corpus.CHUNKED)
    assert reader.feed(chunked(*[b"a" * 1000] * 9)) == b""
    assert (reader.is_whole, reader.is_dense) == (True, False)


def test_a_dropped_request_drops_its_body() -> None:
    new_reader().close(keep_body=False)
    reader = new_reader()
    reader.feed(corpus.POST + b"Content-Length: 2\r\n\r\n{")
    body = reader.body
    reader.close(keep_body=False)
    with pytest.raises(ValueError, match="closed"):
        body.write(b"}")


def test_a_dropped_request_that_another_answers_keeps_its_body() -> None:
    reader = new_reader()
    reader.feed(corpus.POST + b"Content-Length: 2\r\n\r\n{")
    reader.close(keep_body=True)
    reader.body.write(b"{}")
    assert reader.body.length == 2


def test_what_has_come_of_a_dropped_request_does_not_wait_for_the_garbage_collector() -> None:
    gc.disable()
    try:
        reader = new_reader()
        reader.feed(corpus.POST + b"X: " + b"a" * 4_000)
        gone = weakref.ref(reader)
        reader.close(keep_body=False)
        del reader
        assert gone() is None
    finally:
        gc.enable()


def parse_errors(kind: type[Exception] = ParseError) -> list[type[Exception]]:
    return [kind, *(error for child in kind.__subclasses__() for error in parse_errors(child))]


@pytest.mark.parametrize("kind", parse_errors())
def test_every_error_of_the_parser_is_a_problem_of_the_client(kind: type[Exception]) -> None:
    assert 400 <= transport_problem(kind()).type.status < 500


def test_a_request_that_does_not_arrive_is_408() -> None:
    assert too_slow().type.status == 408
