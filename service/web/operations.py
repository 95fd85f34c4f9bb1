"""The operations over HTTP: a request's bytes and headers become answer.py's Request, its Answer a response.

Knows methods, headers, the query, and which lane a request takes; what an operation means is answer.py's.
"""

import os
from collections.abc import Callable, Iterable
from dataclasses import replace
from functools import partial
from typing import BinaryIO
from urllib.parse import parse_qsl

from flask import Blueprint, Response, request
from werkzeug.wsgi import wrap_file

from service.answer import REQUEST_MEDIA_TYPES, Answer, Request, TooMuchWork, answer, response_media_types
from service.operations import OPERATIONS
from service.web.body import body_length, read_body, spool_body
from service.web.carrying import carried
from service.web.lanes import BigLane, is_big
from service.web.lifecycle import evaluating
from service.web.negotiation import VARY, request_coding, request_media_type, response_coding, response_media_type
from service.web.observation import note
from service.web.transport import instance_of
from service.wire.codings import CODINGS, IDENTITY
from service.wire.limits import Limits
from service.wire.problems import Problem, invalid_value

_SHORT = 1 << 16
"""An answer up to this length is not worth a file of its own to be sent from."""

_MOST_PARAMETERS = 100
"""Parameters of a query that are read; reading 4,000 takes 3 ms."""

_PIECE = 1 << 18
"""How much of an answer is sent at once."""


class Operations:
    """How an operation's requests are read and answered, within the limits."""

    def __init__(
        self, limits: Limits, lane: BigLane, *, max_body_bytes: int, big_body_bytes: int, big_work: int
    ) -> None:
        self._limits = limits
        self._lane = lane
        self._max_body_bytes = max_body_bytes
        self._big_body_bytes = big_body_bytes
        self._big_work = big_work

    def operate(self, operation: str) -> Response:
        """Answer the current request."""
        asked = _request_without_body(operation)
        note(operation=operation, lane="small")
        length = body_length(request.environ, self._max_body_bytes)
        if is_big(asked.content_type, asked.content_encoding, length, self._big_body_bytes):
            spool = partial(spool_body, request.environ, self._max_body_bytes)
            return self._answer_big(asked, lambda body: carried(partial(spool, body), length))
        asked = replace(asked, body=read_body(request.environ, self._max_body_bytes))
        note(bytes_in=len(asked.body))
        try:
            with evaluating():
                result = answer(asked, self._limits, self._big_work)
        except TooMuchWork:
            return self._answer_big(replace(asked, body=b""), lambda body: body.write(asked.body))
        return _response(result, _in_pieces(result.body), len(result.body))

    def _answer_big(self, asked: Request, write_body: Callable[[BinaryIO], int]) -> Response:
        """Answer in a helper; the slot is free as soon as it has answered, not when the client has read it all."""
        note(lane="big")
        with self._lane.admitted() as place, self._lane.spool() as body:
            note(bytes_in=write_body(body))
            result, content = self._lane.answer(asked, body)
            place.evaluated()
            with content:
                length = content.seek(0, os.SEEK_END)
                content.seek(0)
                if length <= _SHORT:
                    return _response(result, [content.read()], length)
                file = place.sent_from(content)
        # The server recognises a file by its wrapper, sends it in steps (carrying.py), and closes it.
        return _response(result, wrap_file(request.environ, file), length, direct_passthrough=True)


def operations_blueprint(operations: Operations) -> Blueprint:
    """Make the routes of all operations."""
    blueprint = Blueprint("operations", __name__)
    for name in OPERATIONS:
        blueprint.add_url_rule(
            f"/v1/{name}", endpoint=name, view_func=operations.operate, methods=["POST"], defaults={"operation": name}
        )
    return blueprint


def _request_without_body(operation: str) -> Request:
    headers, codings = request.headers, tuple(CODINGS)
    accept = response_media_type(headers, response_media_types(operation))
    return Request(
        operation=operation,
        instance=instance_of(request.path),
        content_type=request_media_type(headers, REQUEST_MEDIA_TYPES),
        accept=accept,
        parameters=_query_parameters(request.query_string),
        body=b"",
        content_encoding=request_coding(headers, codings),
        accept_encoding=response_coding(headers, codings),
    )


def _response(result: Answer, body: Iterable[bytes], length: int, *, direct_passthrough: bool = False) -> Response:
    """Make the response of an answer, whose body is given, and note what was done for it."""
    facts = result.facts
    note(
        problem=result.problem,
        rows=facts.rows,
        decode_seconds=facts.decode_seconds,
        evaluate_seconds=facts.evaluate_seconds,
        encode_seconds=facts.encode_seconds,
    )
    headers = {**result.headers, "Content-Length": str(length), "Vary": VARY}
    if result.content_encoding != IDENTITY:
        headers["Content-Encoding"] = result.content_encoding
    return Response(body, result.status, headers, mimetype=result.media_type, direct_passthrough=direct_passthrough)


def _in_pieces(body: bytes) -> list[bytes]:
    """Cut an answer, because the server gives a client a time for each piece that it sends."""
    return [body[start : start + _PIECE] for start in range(0, len(body), _PIECE)]


def _query_parameters(query: bytes) -> tuple[tuple[str, str], ...]:
    """Read the query's parameters in order, repeated ones too."""
    try:
        return tuple(
            parse_qsl(query.decode("ascii"), keep_blank_values=True, errors="strict", max_num_fields=_MOST_PARAMETERS)
        )
    except UnicodeDecodeError as error:
        raise Problem("malformed_request", "The query is not percent-encoded UTF-8.") from error
    except ValueError:  # there are more
        message = f"The query has more than {_MOST_PARAMETERS} parameters; no operation knows so many."
        raise invalid_value("", "unknown_field", message) from None
