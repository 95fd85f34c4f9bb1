"""The operations over HTTP: a request's bytes and headers become answer.py's Request, its Answer a response.

Knows methods, headers, the query, and which lane a request takes; what an operation means is answer.py's.
"""

import os
from dataclasses import asdict, replace
from typing import BinaryIO
from urllib.parse import parse_qsl

from flask import Blueprint, Response, request
from werkzeug.wsgi import wrap_file

from service.answer import OPERATIONS, REQUEST_MEDIA_TYPES, Answer, Request, TooMuchWork, answer, response_media_types
from service.web.body import body_length, read_body, spool_body
from service.web.lanes import BigLane, is_big
from service.web.lifecycle import evaluating
from service.web.negotiation import VARY, request_coding, request_media_type, response_coding, response_media_type
from service.web.observation import note
from service.web.slots import Slot
from service.web.transport import instance_of
from service.wire.codings import CODINGS, IDENTITY
from service.wire.limits import Limits
from service.wire.problems import Problem

_SHORT = 1 << 16
"""An answer up to this length is not worth a file of its own to be sent from."""


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
            with self._take_slot() as slot, self._lane.spool() as body:
                note(bytes_in=spool_body(request.environ, self._max_body_bytes, body))
                return self._answer_in_helper(asked, body, slot)
        asked = replace(asked, body=read_body(request.environ, self._max_body_bytes))
        note(bytes_in=len(asked.body))
        try:
            with evaluating():
                result = answer(asked, self._limits, self._big_work)
        except TooMuchWork:
            with self._take_slot() as slot, self._lane.spool() as body:
                body.write(asked.body)
                return self._answer_in_helper(replace(asked, body=b""), body, slot)
        return _response(result, Response(result.body))

    def _take_slot(self) -> Slot:
        note(lane="big")
        return self._lane.take()

    def _answer_in_helper(self, asked: Request, body: BinaryIO, slot: Slot) -> Response:
        """Answer in a helper; the slot is free as soon as it has answered, not when the client has read it all."""
        result, content = self._lane.answer(asked, body)
        slot.release()
        length = content.seek(0, os.SEEK_END)
        content.seek(0)
        if length <= _SHORT:
            with content:
                return _response(result, Response(content.read()))
        # The server lets the system send a file, recognises one by its wrapper, and closes it.
        response = Response(wrap_file(request.environ, content), direct_passthrough=True)
        response.content_length = length
        return _response(result, response)


def operations_blueprint(operations: Operations) -> Blueprint:
    """Make the routes of all operations."""
    blueprint = Blueprint("operations", __name__)
    for name in OPERATIONS:
        blueprint.add_url_rule(
            f"/v1/{name}", endpoint=name, view_func=operations.operate, methods=["POST"], defaults={"operation": name}
        )
    return blueprint


def _request_without_body(operation: str) -> Request:
    codings = tuple(CODINGS)
    accept = response_media_type(request.headers, response_media_types(operation))
    return Request(
        operation=operation,
        instance=instance_of(request.path),
        content_type=request_media_type(request.headers, REQUEST_MEDIA_TYPES),
        accept=accept,
        parameters=_query_parameters(request.query_string),
        body=b"",
        content_encoding=request_coding(request.headers, codings),
        accept_encoding=response_coding(request.headers, codings),
    )


def _response(result: Answer, response: Response) -> Response:
    """Give a response the answer's status and headers."""
    note(problem=result.problem, **asdict(result.facts))
    response.status_code = result.status
    response.mimetype = result.media_type
    response.headers.update(result.headers)
    response.headers["Vary"] = VARY
    if result.content_encoding != IDENTITY:
        response.content_encoding = result.content_encoding
    return response


def _query_parameters(query: bytes) -> tuple[tuple[str, str], ...]:
    """Read the query's parameters in order, repeated ones too."""
    try:
        return tuple(parse_qsl(query.decode("ascii"), keep_blank_values=True, errors="strict"))
    except UnicodeDecodeError as error:
        raise Problem("malformed_request", "The query is not percent-encoded UTF-8.") from error
