"""The body is read whole or refused.

Reads the WSGI input itself, because werkzeug's own stream cuts a chunked body at its limit and takes a short one for
complete. Knows lengths and limits; not what the bytes mean.
"""

from typing import TYPE_CHECKING, BinaryIO

from gunicorn.http.errors import ParseException

from service.web.transport import transport_problem
from service.wire.problems import Problem

if TYPE_CHECKING:
    from _typeshed.wsgi import WSGIEnvironment

MAX_LENGTH_DIGITS = 18
"""A Content-Length with more digits is refused unread."""


def read_body(environ: "WSGIEnvironment", limit: int) -> bytes:
    """Read the request's body to its end.

    Raises Problem body_too_large (before reading when Content-Length tells), incomplete_body when fewer bytes
    arrive than announced, malformed_request when the chunks cannot be read.
    """
    stream: BinaryIO = environ["wsgi.input"]
    if coding := environ.get("HTTP_TRANSFER_ENCODING", ""):
        if coding.strip().lower() != "chunked":
            raise Problem("malformed_request", "The only transfer coding that the server reads is chunked.")
        body = _read(stream, limit + 1)
        if len(body) > limit:
            raise _too_large(limit)
        return body
    length = _announced_length(environ.get("CONTENT_LENGTH", ""))
    if length > limit:
        raise _too_large(limit)
    body = _read(stream, length) if length else b""
    if len(body) != length:
        raise _incomplete(f"Content-Length announced {length} bytes, {len(body)} arrived.")
    return body


def _announced_length(text: str) -> int:
    if not text:
        return 0
    if not (text.isascii() and text.isdecimal()):
        raise Problem("malformed_request", "Content-Length is not a whole number.")
    return int(text) if len(text) <= MAX_LENGTH_DIGITS else 10**MAX_LENGTH_DIGITS


def _read(stream: BinaryIO, size: int) -> bytes:
    try:
        return stream.read(size)
    except ParseException as error:
        raise transport_problem(error) or error from error
    except OSError as error:  # gunicorn's NoMoreData, a connection that was reset
        raise _incomplete("The connection ended before the body did.") from error


def _too_large(limit: int) -> Problem:
    return Problem("body_too_large", f"The body is longer than {limit} bytes, the most that this server reads.")


def _incomplete(detail: str) -> Problem:
    return Problem("incomplete_body", detail)
