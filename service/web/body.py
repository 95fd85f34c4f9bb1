"""The declared length of a request's body. The server reads the body, and checks what was declared."""

from typing import TYPE_CHECKING

from service.wire.problems import Problem

if TYPE_CHECKING:
    from _typeshed.wsgi import WSGIEnvironment


def body_length(environ: "WSGIEnvironment", limit: int) -> int | None:
    """The length of the body; None for a chunked one that has not been read. Raises Problem body_too_large."""
    if environ.get("HTTP_TRANSFER_ENCODING"):
        return None
    length = int(environ.get("CONTENT_LENGTH") or 0)
    if length > limit:
        raise too_large(limit)
    return length


def too_large(limit: int) -> Problem:
    """Make the problem of a body that is longer than the limit."""
    return Problem("body_too_large", f"The body is longer than the limit of {limit} bytes.")
