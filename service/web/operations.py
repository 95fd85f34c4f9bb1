"""The operations over HTTP: a request's bytes and headers become answer.py's Request, its Answer a response.

Knows methods, headers and the query; what an operation means is answer.py's.
"""

from urllib.parse import parse_qsl

from flask import Blueprint, Response, request

from service.answer import OPERATIONS, REQUEST_MEDIA_TYPES, Request, answer, response_media_types
from service.web.body import read_body
from service.web.negotiation import VARY, request_coding, request_media_type, response_coding, response_media_type
from service.web.transport import instance_of
from service.wire.codings import CODINGS, IDENTITY
from service.wire.limits import Limits
from service.wire.problems import Problem


def operations_blueprint(limits: Limits, max_body_bytes: int) -> Blueprint:
    """Make the routes of all operations."""
    blueprint = Blueprint("operations", __name__)
    codings = tuple(CODINGS)

    def operate(operation: str) -> Response:
        accept = response_media_type(request.headers, response_media_types(operation))
        content_type = request_media_type(request.headers, REQUEST_MEDIA_TYPES)
        content_encoding = request_coding(request.headers, codings)
        result = answer(
            Request(
                operation=operation,
                instance=instance_of(request.path),
                content_type=content_type,
                accept=accept,
                parameters=_query_parameters(request.query_string),
                body=read_body(request.environ, max_body_bytes),
                content_encoding=content_encoding,
                accept_encoding=response_coding(request.headers, codings),
            ),
            limits,
        )
        response = Response(result.body, result.status, mimetype=result.media_type)
        response.headers.update(result.headers)
        response.headers["Vary"] = VARY
        if result.content_encoding != IDENTITY:
            response.content_encoding = result.content_encoding
        return response

    for name in OPERATIONS:
        blueprint.add_url_rule(
            f"/v1/{name}", endpoint=name, view_func=operate, methods=["POST"], defaults={"operation": name}
        )
    return blueprint


def _query_parameters(query: bytes) -> tuple[tuple[str, str], ...]:
    """Read the query's parameters in order, repeated ones too."""
    try:
        return tuple(parse_qsl(query.decode("ascii"), keep_blank_values=True, errors="strict"))
    except UnicodeDecodeError as error:
        raise Problem("malformed_request", "The query is not percent-encoded UTF-8.") from error
