"""What is wrong with a message at the level of HTTP itself, in the words of a Problem.

Knows gunicorn's parse errors and the `instance` of a problem; used where a request is read before there is one
(worker.py) and where a body is read (body.py).
"""

from urllib.parse import quote

from gunicorn.http import errors as http

from service.wire.problems import Problem


class SlowRequest(http.ParseException):
    """The request comes more slowly than the server waits for one."""


MAX_INSTANCE = 200
"""How many characters of a path a problem repeats."""

_KINDS: tuple[tuple[type[Exception], str, str], ...] = (
    (http.LimitRequestLine, "uri_too_long", "The request line is longer than the server reads."),
    (http.LimitRequestHeaders, "headers_too_large", "The header fields are larger, or more, than the server reads."),
    (http.ExpectationFailed, "expectation_failed", "The only expectation that the server meets is 100-continue."),
    (http.InvalidRequestMethod, "malformed_request", "The request line names no valid method."),
    (http.InvalidHTTPVersion, "malformed_request", "The request line must name HTTP/1.0 or HTTP/1.1."),
    (http.InvalidRequestLine, "malformed_request", "The request line is not valid."),
    (http.UnsupportedTransferCoding, "malformed_request", "The only transfer coding that the server reads is chunked."),
    (http.InvalidHeaderName, "malformed_request", "The name of a header field is not valid."),
    (http.ObsoleteFolding, "malformed_request", "A header field is folded over several lines."),
    (http.InvalidHeader, "malformed_request", "A header field is not valid, or contradicts another."),
    (http.InvalidChunkSize, "malformed_request", "The size of a chunk is not valid."),
    (http.InvalidChunkExtension, "malformed_request", "The extension of a chunk is not valid."),
    (http.ChunkMissingTerminator, "malformed_request", "A chunk does not end where its size says."),
    (SlowRequest, "request_timeout", "The request came more slowly than this server waits for one."),
    (http.ParseException, "malformed_request", "The request is not valid HTTP/1.1."),
    (http.NoMoreData, "incomplete_body", "The request ended before all that it announced had arrived."),
)
"""(error, problem, detail), the specific before the general."""


def transport_problem(error: Exception) -> Problem | None:
    """Name the problem of an error that gunicorn raises while it reads a request; None when it is no such error.

    Errors in answer headers, which gunicorn derives from those of requests, are the service's own and give None.
    """
    if isinstance(error, http.InvalidResponseHeader | http.InvalidResponseHeaderName):
        return None
    for kind, code, detail in _KINDS:
        if isinstance(error, kind):
            return Problem(code, detail)
    return None


def instance_of(path: str) -> str:
    """Write a request's decoded path as a problem's `instance`: a URI reference, ASCII, never long."""
    return quote(path[:MAX_INSTANCE]) or "/"
