"""The problem types of the service (RFC 9457) and how one is written as a document.

Knows every `type` that an answer may carry, its status and what it means; knows nothing of how a problem comes about.
"""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from difflib import get_close_matches
from urllib.parse import quote

import orjson

PROBLEM_JSON = "application/problem+json"

MAX_ERRORS = 20
"""How many single errors one problem lists."""

MAX_INSTANCE = 200
"""How many characters of a path a problem repeats."""

_LATER = frozenset({429, 503})
"""Statuses that say: not now."""

_LONGEST_NAME = 100


@dataclass(frozen=True, slots=True)
class ProblemType:
    """One kind of problem: its stable code, its HTTP status, a short title and what the caller can do about it."""

    code: str
    status: int
    title: str
    description: str

    @property
    def uri(self) -> str:
        """The problem's `type`, a path on this service that describes it."""
        return f"/problems/{self.code}"

    @property
    def passes(self) -> bool:
        """Whether the same request may succeed later: its answer says when, in Retry-After."""
        return self.status in _LATER


@dataclass(frozen=True, slots=True)
class FieldError:
    """One wrong value: a JSON pointer to it (for a table `/column/row`), a stable code, a sentence."""

    pointer: str
    code: str
    detail: str


class Problem(Exception):
    """An expected failure on the way from bytes to an answer."""

    def __init__(self, code: str, detail: str, errors: Iterable[FieldError] = ()) -> None:
        super().__init__(detail)
        self.type = PROBLEM_TYPES[code]
        self.detail = detail
        self.errors = tuple(errors)


def no_more_files() -> Problem:
    """Make the problem of a server that the system lets open nothing more for now."""
    return Problem("overloaded", "The server cannot open another file now.")


def no_room() -> Problem:
    """Make the problem of a server that can keep no more bodies and answers for now."""
    return Problem("overloaded", "There is no room for the body or its answer now.")


def invalid_value(pointer: str, code: str, detail: str) -> Problem:
    """Make the problem of one wrong value."""
    return invalid_request([FieldError(pointer, code, detail)])


def invalid_request(errors: Sequence[FieldError]) -> Problem:
    """Make the problem of some wrong values, one at least; its detail says what the first is, and how many follow."""
    place, detail = _place(errors[0].pointer), errors[0].detail
    first = detail if detail.startswith(place) else f"{place}: {detail}"
    more = min(len(errors), MAX_ERRORS) - 1
    return Problem("invalid_request", f"{first} {more} more in errors." if more else first, errors)


def _place(pointer: str) -> str:
    """Write a JSON pointer as code does: evaluations[1].labels[0]; nothing for the whole document."""
    tokens = [token.replace("~1", "/").replace("~0", "~") for token in pointer.split("/")[1:]]
    return "".join(f"[{token}]" if token.isdecimal() else f".{token}" for token in tokens).removeprefix(".")


def meant(name: str, known: Sequence[str]) -> str:
    """Say which of the names that are known may be meant by one that is not, or list them."""
    near = get_close_matches(name[:_LONGEST_NAME], known, 1)
    return f"do you mean {near[0]}?" if near else f"known are {', '.join(known)}."


def pointer_token(name: str) -> str:
    """Escape a name as one token of a JSON pointer (RFC 6901), cut where it is too long to be echoed."""
    return name[:_LONGEST_NAME].replace("~", "~0").replace("/", "~1")


def instance_of(path: str) -> str:
    """Write a request's decoded path as a problem's `instance`: a URI reference, ASCII, never long."""
    return quote(path[:MAX_INSTANCE]) or "/"


def problem_document(problem: Problem, instance: str) -> bytes:
    """Write a problem as `application/problem+json`; at most MAX_ERRORS of its errors are listed."""
    document: dict[str, object] = {
        "type": problem.type.uri,
        "title": problem.type.title,
        "status": problem.type.status,
        "detail": _printable(problem.detail),
        "instance": _printable(instance),
    }
    if problem.errors:
        document["errors"] = [
            {"pointer": _printable(error.pointer), "code": error.code, "detail": error.detail}
            for error in problem.errors[:MAX_ERRORS]
        ]
    return orjson.dumps(document, option=orjson.OPT_APPEND_NEWLINE)


def _printable(text: str) -> str:
    """Replace what is no Unicode text (lone surrogates), which JSON strings may smuggle in."""
    return text.encode("utf-8", "replace").decode("utf-8")


PROBLEM_TYPES = {
    problem.code: problem
    for problem in (
        ProblemType(
            "malformed_request",
            400,
            "The request is not valid HTTP",
            "The request line, a header or a chunk of the body breaks the rules of HTTP/1.1. Nothing was evaluated.",
        ),
        ProblemType(
            "malformed_body",
            400,
            "The body cannot be parsed",
            "The body is not what its Content-Type and Content-Encoding say. JSON must be strict: UTF-8, no NaN or "
            "Infinity, no number beyond the range of a double, no key twice in one object.",
        ),
        ProblemType(
            "incomplete_body",
            400,
            "The body ended early",
            "Fewer bytes arrived than Content-Length or the chunks announced. A body is read whole or refused.",
        ),
        ProblemType(
            "unauthorized",
            401,
            "The request carries no valid API key",
            "This server answers those with a key only, sent as Authorization: Bearer and the key. /health is open.",
        ),
        ProblemType(
            "not_found",
            404,
            "There is nothing at this path",
            "The paths of this service are described in /docs and /openapi.json.",
        ),
        ProblemType(
            "method_not_allowed",
            405,
            "This path does not take this method",
            "The header Allow names the methods that it takes.",
        ),
        ProblemType(
            "not_acceptable",
            406,
            "No media type that the request accepts can be answered",
            "The detail names those that can be answered; leave Accept out to get the first of them.",
        ),
        ProblemType(
            "request_timeout",
            408,
            "The request came too slowly",
            "The request line, the header fields or the body took longer than the server waits (ROCPR_MIN_BODY_RATE). "
            "Nothing was evaluated; send the request again.",
        ),
        ProblemType(
            "body_too_large",
            413,
            "The body is too large",
            "The body is longer than the server's limit, as it was sent (ROCPR_MAX_BODY_BYTES) or decompressed "
            "(ROCPR_MAX_DECOMPRESSED_BYTES), or what is read of a Parquet file or of an Arrow stream is; or it "
            "has so many values that they would not fit in memory. Nothing was evaluated.",
        ),
        ProblemType(
            "too_many_rows",
            413,
            "The table has too many rows",
            "The table has more rows than the server's limit (ROCPR_MAX_ROWS). Group equal scores and use weights, or "
            "send counts.",
        ),
        ProblemType(
            "uri_too_long",
            414,
            "The request line is too long",
            "The request line is longer than the server reads. Send options in a JSON body instead.",
        ),
        ProblemType(
            "unsupported_media_type",
            415,
            "The body's media type is not supported",
            "The detail names those that can be read, or the form of a table within them that cannot: an Arrow "
            "dictionary in parts, an encrypted Parquet file. Text is UTF-8.",
        ),
        ProblemType(
            "unsupported_content_encoding",
            415,
            "The body's content coding is not supported",
            "The header Accept-Encoding names those that can be read. A body has one of them, once.",
        ),
        ProblemType(
            "expectation_failed",
            417,
            "The expectation cannot be met",
            "The only expectation that the server meets is 100-continue.",
        ),
        ProblemType(
            "invalid_request",
            422,
            "The request can be parsed but is wrong",
            "Each entry of errors points to a wrong value and says what is wrong with it.",
        ),
        ProblemType(
            "too_many_requests",
            429,
            "Too many requests at once",
            "The API key (ROCPR_KEY_CONCURRENCY), or the address where a proxy counts, has as many requests under way "
            "as it may. Wait for them, at least as long as Retry-After says.",
        ),
        ProblemType(
            "headers_too_large",
            431,
            "The header fields are too large",
            "A header field or all of them together are longer, or more, than the server reads.",
        ),
        ProblemType(
            "internal_error",
            500,
            "The server failed",
            "This is a defect of the service, not of the request. Please report it.",
        ),
        ProblemType(
            "unavailable",
            503,
            "The service cannot be reached",
            "The proxy in front of the service has no answer from it. Send the request again after as many seconds as "
            "Retry-After says.",
        ),
        ProblemType(
            "overloaded",
            503,
            "The server is busy with other requests",
            "Too many requests wait, the turn of this one did not come in time (ROCPR_QUEUE_SECONDS), there is no room "
            "for another body or answer, or no other file can be opened. Send the request again after as many seconds "
            "as Retry-After says.",
        ),
        ProblemType(
            "deadline_exceeded",
            503,
            "The evaluation took too long",
            "The work was ended at the server's deadline (ROCPR_BIG_SECONDS). A smaller request may do, or a server "
            "that is less busy.",
        ),
        ProblemType(
            "helper_died",
            503,
            "The process that evaluated the request died",
            "It was tried twice. Nothing else was affected; if it happens again with this request, please report it.",
        ),
        ProblemType(
            "not_ready",
            503,
            "The server is about to stop",
            "It finishes what it has and takes requests a little longer, but no new clients should be sent to it.",
        ),
    )
}
"""Every problem type, by code."""
