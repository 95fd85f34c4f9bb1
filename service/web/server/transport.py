"""Problems at the level of HTTP itself, and the server's answers with them.

Knows the errors of gunicorn's parser. The application answers what it refuses itself.
"""

from http import HTTPStatus

from gunicorn import util
from gunicorn.asgi import parser as http

from service.web.access.security_headers import HEADERS
from service.web.observation.observation import record_refusal
from service.wire.problems import PROBLEM_JSON, Problem, instance_of, problem_document


class ExpectationFailed(http.ParseError):
    """The request expects something other than 100-continue."""


class TinyChunks(http.ParseError):
    """The body's chunks are shorter than their framing."""


class IncompleteHead(http.ParseError):
    """The connection ended inside the request line or the header fields."""


_PROBLEM_OF_ERROR: tuple[tuple[type[Exception], str, str], ...] = (
    (http.LimitRequestLine, "uri_too_long", "The request line is longer than the server reads."),
    (
        http.LimitRequestHeaders,
        "headers_too_large",
        "The header fields are too long, or there are too many of them.",
    ),
    (ExpectationFailed, "expectation_failed", "The only expectation that the server meets is 100-continue."),
    (http.InvalidRequestMethod, "malformed_request", "The request line names no valid method."),
    (http.InvalidHTTPVersion, "malformed_request", "The request line must name HTTP/1.0 or HTTP/1.1."),
    (http.InvalidRequestLine, "malformed_request", "The request line is not valid."),
    (http.UnsupportedTransferCoding, "malformed_request", "The only transfer coding that the server reads is chunked."),
    (http.InvalidHeaderName, "malformed_request", "The name of a header field is not valid."),
    (http.InvalidHeader, "malformed_request", "A header field is not valid, or contradicts another."),
    (http.InvalidChunkSize, "malformed_request", "The size of a chunk is not valid."),
    (http.InvalidChunkExtension, "malformed_request", "The extension of a chunk is not valid."),
    (http.ChunkMissingTerminator, "malformed_request", "A chunk does not end where its size says."),
    (TinyChunks, "malformed_request", "The body's chunks are only a few bytes each; send longer ones."),
    (IncompleteHead, "malformed_request", "The request ended before its header fields did."),
    (http.ParseError, "malformed_request", "The request is not valid HTTP/1.1."),
)
"""(error, problem, detail), specific errors before general ones."""


def transport_problem(error: Exception) -> Problem:
    """The problem of an error raised while reading a request."""
    return next(Problem(code, detail) for kind, code, detail in _PROBLEM_OF_ERROR if isinstance(error, kind))


def too_slow() -> Problem:
    """Make the problem of a request that arrives too slowly."""
    return Problem("request_timeout", "The request arrived too slowly.")


def incomplete_body() -> Problem:
    """Make the problem of a body that was cut off by the end of its connection."""
    return Problem("incomplete_body", "The connection ended before the body did.")


def refusal(problem: Problem, path: str, method: str, *, route: str, seconds: float, retry_after: int) -> bytes:
    """Write an answer that ends the connection, without calling the application; log and count it.

    path      the decoded path, / if it is unknown.
    method    empty if it is unknown.
    route     the path if the application has it, else UNMATCHED.
    seconds   since the request began.
    """
    status = HTTPStatus(problem.type.status)
    body = problem_document(problem, instance_of(path))
    request_id = record_refusal(status.value, problem.type.code, route, method)
    fields = {
        "Date": util.http_date(),
        "Connection": "close",
        "X-Request-ID": request_id,
        "Server-Timing": f"total;dur={1000 * seconds:.3f}",
        "Content-Type": PROBLEM_JSON,
        "Content-Length": str(len(body)),
        **HEADERS,
        "Cache-Control": "no-store",
    }
    if problem.type.is_temporary:
        fields["Retry-After"] = str(retry_after)
    lines = "".join(f"{name}: {value}\r\n" for name, value in fields.items())
    head = f"HTTP/1.1 {status.value} {status.phrase}\r\n{lines}\r\n".encode("ascii")
    return head if method == "HEAD" else head + body
