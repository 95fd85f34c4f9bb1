"""Requests as the server reads them, fed step by step: complete, or in pieces of any sizes."""

import io
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass
from functools import partial
from typing import BinaryIO

from gunicorn.config import Config

from service.web.server.incoming_body import IncomingBody
from service.web.server.parser import new_parser as parser_of
from service.web.server.reading import RequestReader
from service.wire.problems import Problem

MAX_BODY_BYTES = 10_000

HEAD = b"POST / HTTP/1.1\r\nHost: a\r\n"

new_parser = partial(parser_of, Config())
"""gunicorn's own limits are those of deploy/gunicorn.conf.py."""


def new_body() -> IncomingBody:
    return IncomingBody(MAX_BODY_BYTES, MAX_BODY_BYTES, io.BytesIO)


def new_reader(body: Callable[[], IncomingBody] = new_body) -> RequestReader:
    return RequestReader(new_parser, body)


@dataclass(frozen=True)
class Read:
    """What bytes became: the requests in them with their bodies, the problem that ended them, and the rest.

    A request that is not whole has None for a body.
    """

    requests: tuple[tuple[str, str, bytes | None], ...] = ()
    problem: str | None = None


def read(pieces: Iterable[bytes]) -> Read:
    """Read requests from pieces, as a connection does: what was not consumed is fed again."""
    found: list[tuple[str, str, bytes | None]] = []
    reader = new_reader()
    for piece in pieces:
        rest = piece
        while True:
            try:
                rest = reader.feed(rest)
            except Problem as problem:
                return Read(tuple(found), problem.type.code)
            if reader.is_whole:
                found.append(_told(reader))
                reader = new_reader()
            elif not rest:
                break
            if not rest:
                break
    if reader.head is not None:
        found.append(_told(reader))
    return Read(tuple(found))


def problem_of(data: bytes) -> Problem:
    """The problem of bytes that are not a request."""
    reader = new_reader()
    try:
        while not reader.is_whole and (data := reader.feed(data)):
            pass
    except Problem as problem:
        return problem
    problem = reader.end()
    assert problem is not None
    return problem


def content_of(body: BinaryIO | IncomingBody | None) -> bytes:
    if isinstance(body, IncomingBody):
        body = body.whole()
    return b"" if body is None else body.read()


def one_by_one(data: bytes) -> Iterator[bytes]:
    return (data[at : at + 1] for at in range(len(data)))


def _told(reader: RequestReader) -> tuple[str, str, bytes | None]:
    assert reader.head is not None
    return (
        reader.head.method,
        reader.head.target.decode("latin-1"),
        content_of(reader.body) if reader.is_whole else None,
    )
