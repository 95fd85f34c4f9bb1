"""The body of a request that the server has read completely, and its declared length.

Knows lengths and limits, not what the bytes mean.
"""

from typing import TYPE_CHECKING, BinaryIO

from service.wire.problems import Problem

if TYPE_CHECKING:
    from _typeshed.wsgi import WSGIEnvironment

MAX_LENGTH_DIGITS = 18
"""A Content-Length with more digits is refused without parsing."""


def body_length(environ: "WSGIEnvironment", limit: int) -> int | None:
    """The length of the body; None for a chunked one that has not been read.

    Raises Problem body_too_large if it is over the limit, malformed_request if the header is invalid.
    """
    if environ.get("HTTP_TRANSFER_ENCODING"):
        return None
    length = _announced_length(environ.get("CONTENT_LENGTH", ""))
    if length > limit:
        raise too_large(limit)
    return length


def read_body(environ: "WSGIEnvironment", limit: int) -> bytes:
    """Read the body to its end.

    Raises Problem like body_length, and incomplete_body if fewer bytes arrived than announced.
    """
    length = body_length(environ, limit)
    stream: BinaryIO = environ["wsgi.input"]
    if length is None:
        body = stream.read(limit + 1)
        if len(body) > limit:
            raise too_large(limit)
        return body
    body = stream.read(length) if length else b""
    if len(body) < length:
        raise Problem("incomplete_body", f"Content-Length announced {length} bytes but {len(body)} arrived.")
    return body


def too_large(limit: int) -> Problem:
    """Make the problem of a body that is longer than the limit."""
    return Problem("body_too_large", f"The body is longer than the limit of {limit} bytes.")


def _announced_length(text: str) -> int:
    if not text:
        return 0
    if not (text.isascii() and text.isdecimal()):
        raise Problem("malformed_request", "Content-Length is not a whole number.")
    return int(text) if len(text) <= MAX_LENGTH_DIGITS else 10**MAX_LENGTH_DIGITS
