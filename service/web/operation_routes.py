"""The operations over HTTP: a request's bytes and headers become answer.py's Request, its Answer a response.

Knows methods, headers, the query, and in which pass (passes.py) a request is answered; answer.py knows what an
operation means.
"""

import io
import os
from collections.abc import Iterable, Mapping
from contextlib import AbstractContextManager, nullcontext
from dataclasses import replace
from functools import lru_cache
from typing import TYPE_CHECKING, BinaryIO, cast
from urllib.parse import parse_qsl

from flask import Blueprint, Response, request
from werkzeug.datastructures import EnvironHeaders, Headers
from werkzeug.utils import get_content_type
from werkzeug.wsgi import get_input_stream, wrap_file

from service.answer import REQUEST_MEDIA_TYPES, answer, response_media_types
from service.curves.clock import TooMuchWork
from service.datasets.file import Dataset, for_key
from service.environment import require_memory
from service.operations import OPERATIONS
from service.request import Answer, Effort, Request
from service.web.access.access import KEY_NAME
from service.web.access.cross_origin import is_foreign
from service.web.access.security_headers import SecuredHeaders
from service.web.body import body_length
from service.web.lanes.pool import EvaluatorPool
from service.web.negotiation import (
    VARY,
    BodyType,
    request_body_type,
    request_coding,
    response_coding,
    response_media_type,
)
from service.web.observation.observation import note
from service.web.passes import Pass, client_of, move_to, pass_of
from service.wire.answers import png
from service.wire.answers.output import Output
from service.wire.formats.codings import CODINGS, IDENTITY
from service.wire.limits import Limits
from service.wire.media_types import COLUMNAR, GENERAL, PNG
from service.wire.problems import Problem, instance_of, invalid_value

if TYPE_CHECKING:
    from _typeshed.wsgi import WSGIEnvironment

_READ_ELSEWHERE = COLUMNAR | frozenset(GENERAL)
"""Media types of bodies that only an evaluator reads: columnar ones, and vague ones."""

_UNASKED = (
    "A page from another origin must send a Content-Type that browsers ask the server about first, such as "
    "application/json."
)

_ORDER = {Pass.SMALL: 0, Pass.COLUMNAR: 1, Pass.BIG: 2}
"""A request only moves on to later passes."""

_HELD_BYTES = 1 << 16
"""An answer up to this length is sent from memory rather than from a file."""

_NEGOTIATED = ("HTTP_ACCEPT", "CONTENT_TYPE", "HTTP_CONTENT_ENCODING", "HTTP_ACCEPT_ENCODING")
"""The headers that are negotiated, by their names in the environ."""

_REMEMBERED = 64
"""How many sets of these headers, and how many queries, are remembered with their outcome: clients repeat them."""

_MOST_PARAMETERS = 100
"""The most parameters read from a query; reading 4,000 takes 3 ms."""

_ANSWERED = 4
"""An answer of a small request may be this many times as long as its body may be."""

_COLUMNAR = 5
"""An evaluator that reads a small body has this many times the time: a new process takes 10 ms more for its first
request, and only other columnar bodies wait for it."""

_REQUEST_BYTES, _PIECE_BYTES = 16 << 20, 4 << 20
"""The memory that must be free for a small request, and for each piece of its answer: Arrow and
orjson end the process if they get none."""


class Operations:
    """Reads and answers requests of operations, within the limits.

    columnar   answers small requests whose bodies only an evaluator reads.
    big        answers all requests that are not small.
    origins    those that may read answers, besides the server's own.
    datasets   the named datasets; each key may use some of them.
    """

    def __init__(
        self,
        limits: Limits,
        columnar: EvaluatorPool,
        big: EvaluatorPool,
        *,
        origins: tuple[str, ...],
        max_body_bytes: int,
        big_body_bytes: int,
        small_seconds: float,
        datasets: Mapping[str, Dataset],
    ) -> None:
        self._limits = limits
        self._datasets = datasets
        self._columnar = columnar
        self._big = big
        self._origins = origins
        self._max_body_bytes = max_body_bytes
        self._big_body_bytes = big_body_bytes
        self._effort = Effort(small_seconds, big_body_bytes, _ANSWERED * big_body_bytes)
        self._columnar_effort = replace(self._effort, seconds=_COLUMNAR * small_seconds)

    def operate(self, operation: str) -> Response:
        """Answer the current request, or request its next pass."""
        environ = request.environ
        asked = _request_without_body(operation, environ)
        if self._datasets:
            asked.datasets = for_key(self._datasets, environ.get(KEY_NAME))
        if asked.content_type in GENERAL and is_foreign(self._origins):
            raise Problem("unsupported_media_type", _UNASKED)
        length = body_length(environ, self._max_body_bytes)
        here = pass_of(environ)
        if here is Pass.HEAD:
            return move_to(environ, Pass.SMALL)  # where its key's limit is checked before it waits for a slot
        if here is not None:
            return self._answer_in(here, asked, length, environ)
        following = self._first_pass(asked, length)
        while isinstance(result := self._tried_in(following, asked, environ), Pass):
            following = result
        return result

    def _first_pass(self, asked: Request, length: int | None) -> Pass:
        """The pass that answers a request, judged by its head; a chunked body may have any length.

        Drawing a PNG takes a tenth of a second, and may end the process.
        """
        if asked.accept == PNG or (length is not None and length > self._big_body_bytes):
            return Pass.BIG
        return Pass.COLUMNAR if asked.content_type in _READ_ELSEWHERE else Pass.SMALL

    def _answer_in(self, here: Pass, asked: Request, length: int | None, environ: "WSGIEnvironment") -> Response:
        """Answer in this pass, unless the request belongs in a later one."""
        right = self._first_pass(asked, length)
        result = right if _ORDER[here] < _ORDER[right] else self._tried_in(here, asked, environ)
        return move_to(environ, result) if isinstance(result, Pass) else result

    def _tried_in(self, here: Pass, asked: Request, environ: "WSGIEnvironment") -> Response | Pass:
        """Answer as this pass provides, or return the pass that can."""
        note(operation=asked.operation, lane="big" if here is Pass.BIG else "small")
        if here is Pass.BIG:
            return self._answer_big(asked)
        asked.body = _body(environ).read()
        note(bytes_in=len(asked.body))
        try:
            if here is Pass.COLUMNAR:
                result = self._columnar.answer(asked, self._columnar_effort, client_of(environ))
            else:
                require_memory(_REQUEST_BYTES)
                result = answer(asked, self._limits, self._effort, Output(_PIECE_BYTES))
        except TooMuchWork:
            environ["wsgi.input"] = io.BytesIO(asked.body)  # under another server it can be read only once
            return Pass.BIG
        return _response(result, [result.body], len(result.body))

    def _answer_big(self, asked: Request) -> Response:
        """Answer from a file into a file, which the server sends if it is long."""
        with self._body_in_file(request.environ) as body:
            note(bytes_in=body.seek(0, os.SEEK_END))
            result, content = self._big.answer_in_files(asked, body, client_of(request.environ))
        return _response_from_file(result, content)

    def _body_in_file(self, environ: "WSGIEnvironment") -> AbstractContextManager[BinaryIO]:
        """Return the body as a file with a descriptor: the server's, or a new one."""
        stream = _body(environ)
        try:
            stream.fileno()
        except (AttributeError, io.UnsupportedOperation):
            return self._big.spooled(stream.read())
        return nullcontext(stream)


def _body(environ: "WSGIEnvironment") -> BinaryIO:
    """The body, which ends: under another server, where its length says so, or where a chunked one does."""
    is_chunked = "HTTP_TRANSFER_ENCODING" in environ
    return cast("BinaryIO", get_input_stream(environ, safe_fallback=not is_chunked))


def operations_blueprint(operations: Operations) -> Blueprint:
    """Make the routes of all operations."""
    blueprint = Blueprint("operations", __name__)
    for name in OPERATIONS:
        blueprint.add_url_rule(
            f"/v1/{name}", endpoint=name, view_func=operations.operate, methods=["POST"], defaults={"operation": name}
        )
    return blueprint


def _request_without_body(operation: str, environ: "WSGIEnvironment") -> Request:
    given = tuple((name, environ[name]) for name in _NEGOTIATED if name in environ)
    accept, body_type, content_encoding, accept_encoding = _negotiated(operation, given, draws=png.is_drawn())
    return Request(
        operation=operation,
        instance=instance_of(request.path),
        content_type=body_type.media_type,
        accept=accept,
        parameters=body_type.with_header(_query_parameters(environ.get("QUERY_STRING", ""))),
        body=b"",
        charset=body_type.charset,
        content_encoding=content_encoding,
        accept_encoding=accept_encoding,
    )


@lru_cache(_REMEMBERED)
def _negotiated(operation: str, given: tuple[tuple[str, str], ...], *, draws: bool) -> tuple[str, BodyType, str, str]:
    """Choose the answer's media type, the body's type, the body's coding and the answer's, by these headers.

    draws   whether pictures can be drawn in pixels here. Raises Problem.
    """
    headers, codings = EnvironHeaders(dict(given)), tuple(CODINGS)
    return (
        response_media_type(headers, response_media_types(operation), {} if draws else {PNG: png.NEEDS}),
        request_body_type(headers, REQUEST_MEDIA_TYPES),
        request_coding(headers, codings),
        response_coding(headers, codings),
    )


def _response_from_file(result: Answer, content: BinaryIO) -> Response:
    """Make the response of an answer with its body in a file, which the server sends if it is long."""
    length = content.seek(0, os.SEEK_END)
    content.seek(0)
    if length > _HELD_BYTES:
        return _response(result, wrap_file(request.environ, content), length, direct_passthrough=True)
    with content:
        return _response(result, [content.read()], length)


def _response(result: Answer, body: Iterable[bytes], length: int, *, direct_passthrough: bool = False) -> Response:
    """Make the response of an answer with this body, and note the facts."""
    facts = result.facts
    note(
        problem=result.problem,
        rows=facts.rows,
        bytes_out=length,
        decode_seconds=facts.decode_seconds,
        evaluate_seconds=facts.evaluate_seconds,
        encode_seconds=facts.encode_seconds,
    )
    headers = {
        "Content-Type": get_content_type(result.media_type, "utf-8"),
        "Content-Length": str(length),
        "Vary": VARY,
        **result.headers,
    }
    if result.content_encoding != IDENTITY:
        headers["Content-Encoding"] = result.content_encoding
    return _Answered(body, result.status, SecuredHeaders(headers), direct_passthrough=direct_passthrough)


class _Answered(Response):
    """The response of an answer, whose headers are complete: it has a length and no location."""

    def get_wsgi_headers(self, environ: "WSGIEnvironment") -> Headers:  # noqa: ARG002  # werkzeug's signature
        """Return the headers themselves rather than a copy."""
        return self.headers


@lru_cache(_REMEMBERED)
def _query_parameters(query: str) -> tuple[tuple[str, str], ...]:
    """Read the query's parameters in order, including repeated ones; one without a value counts as absent."""
    try:
        query.encode("ascii")  # other bytes are not percent-encoded
        return tuple(parse_qsl(query, errors="strict", max_num_fields=_MOST_PARAMETERS))
    except UnicodeError as error:
        raise Problem("malformed_request", "The query is not percent-encoded UTF-8.") from error
    except ValueError:  # too many
        message = f"The query has more than {_MOST_PARAMETERS} parameters; no operation takes that many."
        raise invalid_value("", "unknown_field", message) from None
