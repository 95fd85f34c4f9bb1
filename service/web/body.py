"""The body is read whole or refused.

Reads the WSGI input itself, because werkzeug's own stream cuts a chunked body at its limit and takes a short one for
complete. Knows lengths and limits; not what the bytes mean.
"""

import io
from collections.abc import Iterator
from typing import TYPE_CHECKING, BinaryIO

from gunicorn.http.errors import ParseException

from service.web.transport import transport_problem
from service.wire.problems import Problem

if TYPE_CHECKING:
    from _typeshed.wsgi import WSGIEnvironment

_STEP = 1 << 20
"""How much of a body is read at a time, at most."""

MAX_LENGTH_DIGITS = 18
"""A Content-Length with more digits is refused unread."""


def read_body(environ: "WSGIEnvironment", limit: int) -> bytes:
    """Read the request's body to its end.

    Raises Problem body_too_large (before reading when Content-Length tells), incomplete_body when fewer bytes
    arrive than announced, malformed_request when the chunks cannot be read, request_timeout when they come too slowly.
    """
    body = io.BytesIO()  # a list of pieces could be one of single bytes
    spool_body(environ, limit, body)
    return body.getvalue()


def spool_body(environ: "WSGIEnvironment", limit: int, file: BinaryIO) -> int:
    """Write the request's body to a file, to its end, and return its length; raises as read_body does."""
    return sum(file.write(piece) for piece in _pieces(environ, limit))


def body_length(environ: "WSGIEnvironment", limit: int) -> int | None:
    """Tell how long the body is going to be; None where only its end tells.

    Raises Problem body_too_large when that is over the limit, malformed_request when the headers make no sense.
    """
    if coding := environ.get("HTTP_TRANSFER_ENCODING"):
        if coding.strip().lower() != "chunked":
            raise Problem("malformed_request", "The only transfer coding that the server reads is chunked.")
        return None
    length = _announced_length(environ.get("CONTENT_LENGTH", ""))
    if length > limit:
        raise _too_large(limit)
    return length


def _pieces(environ: "WSGIEnvironment", limit: int) -> Iterator[bytes]:
    """Read the body as it comes, all of it or an error."""
    stream: BinaryIO = environ["wsgi.input"]
    length = body_length(environ, limit)
    read = 0
    while read != length:
        piece = _read(stream, min(_STEP, (limit + 1 if length is None else length) - read))
        read += len(piece)
        if read > limit:
            raise _too_large(limit)
        if not piece:
            if length is not None:
                raise _incomplete(f"Content-Length announced {length} bytes, {read} arrived.")
            return
        yield piece


def _announced_length(text: str) -> int:
    if not text:
        return 0
    if not (text.isascii() and text.isdecimal()):
        raise Problem("malformed_request", "Content-Length is not a whole number.")
    return int(text) if len(text) <= MAX_LENGTH_DIGITS else 10**MAX_LENGTH_DIGITS


def _read(stream: BinaryIO, size: int) -> bytes:
    """Read what there is, up to `size` bytes, or all of them where the server's stream knows nothing less."""
    try:
        return getattr(stream, "read1", stream.read)(size)
    except ParseException as error:
        raise transport_problem(error) or error from error
    except OSError as error:  # gunicorn's NoMoreData, a connection that was reset
        raise _incomplete("The connection ended before the body did.") from error


def _too_large(limit: int) -> Problem:
    return Problem("body_too_large", f"The body is longer than {limit} bytes, the most that this server reads.")


def _incomplete(detail: str) -> Problem:
    return Problem("incomplete_body", detail)
