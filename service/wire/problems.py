"""The problem types of the service (RFC 9457), and how a problem is written as a document.

Knows every `type` in answers, its status and its meaning; nothing of how problems arise.
"""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from urllib.parse import quote

import orjson

PROBLEM_JSON = "application/problem+json"

MAX_ERRORS = 20
"""The most errors that one problem lists."""

MAX_INSTANCE = 200
"""The characters of a path that a problem repeats."""

_LATER = frozenset({429, 503})
"""Statuses of temporary failures."""

_LONGEST_NAME = 100


@dataclass(frozen=True, slots=True)
class ProblemType:
    """A type of problem: its stable code, its HTTP status, a short title and what the caller can do about it."""

    code: str
    status: int
    title: str
    description: str

    @property
    def uri(self) -> str:
        """The problem's `type`, a path on this service that describes it."""
        return f"/problems/{self.code}"

    @property
    def is_temporary(self) -> bool:
        """Whether the same request may succeed later; the answer then has Retry-After."""
        return self.status in _LATER


@dataclass(frozen=True, slots=True)
class FieldError:
    """One wrong value: a JSON pointer to it (for a table `/column/row`), a stable code, a sentence."""

    pointer: str
    code: str
    detail: str


class Problem(Exception):
    """An expected failure in answering a request."""

    def __init__(self, code: str, detail: str, errors: Iterable[FieldError] = ()) -> None:
        super().__init__(detail)
        self.type = PROBLEM_TYPES[code]
        self.detail = detail
        self.errors = tuple(errors)


def no_more_files() -> Problem:
    """Make the problem of a server that cannot open another file right now."""
    return Problem("overloaded", "The server cannot open another file right now.")


def no_room() -> Problem:
    """Make the problem of a server that has no room for another body or answer right now."""
    return Problem("overloaded", "The server has no room for the body or its answer right now.")


def invalid_value(pointer: str, code: str, detail: str) -> Problem:
    """Make the problem of one wrong value."""
    return invalid_request([FieldError(pointer, code, detail)])


def invalid_request(errors: Sequence[FieldError]) -> Problem:
    """Make the problem of one or more wrong values; its detail describes the first and counts the others."""
    place, detail = _place(errors[0].pointer), errors[0].detail
    first = detail if detail.startswith(place) else f"{place}: {detail}"
    more = min(len(errors), MAX_ERRORS) - 1
    return Problem("invalid_request", f"{first} {more} more in errors." if more else first, errors)


def _place(pointer: str) -> str:
    """Write a JSON pointer as in code, evaluations[1].labels[0]; empty for the whole document."""
    tokens = [token.replace("~1", "/").replace("~0", "~") for token in pointer.split("/")[1:]]
    return "".join(f"[{token}]" if token.isdecimal() else f".{token}" for token in tokens).removeprefix(".")


def pointer_token(name: str) -> str:
    """Escape a name as one token of a JSON pointer (RFC 6901), cut if it is too long to echo."""
    return name[:_LONGEST_NAME].replace("~", "~0").replace("/", "~1")


def instance_of(path: str) -> str:
    """Write a request's decoded path as a problem's `instance`: a URI reference in ASCII, cut if long."""
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
    """Replace what is not Unicode text (lone surrogates), which JSON strings can contain."""
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
            "Infinity, no number beyond the range of a double, no duplicate key in an object.",
        ),
        ProblemType(
            "incomplete_body",
            400,
            "The body ended early",
            "Fewer bytes arrived than Content-Length or the chunks announced. A partial body is never evaluated.",
        ),
        ProblemType(
            "unauthorized",
            401,
            "The request carries no valid API key",
            "Send a key in the header Authorization: Bearer KEY. Only the health checks and the page at / need none.",
        ),
        ProblemType(
            "not_found",
            404,
            "There is nothing at this path",
            "/docs and /openapi.json describe the paths that exist.",
        ),
        ProblemType(
            "unknown_dataset",
            404,
            "There is no dataset of this name",
            "GET /v1/datasets lists those that the API key may use.",
        ),
        ProblemType(
            "method_not_allowed",
            405,
            "This path does not support this method",
            "The header Allow lists the methods that it supports.",
        ),
        ProblemType(
            "not_acceptable",
            406,
            "The request accepts none of the available media types",
            "The detail lists the available ones; leave out Accept to get the first of them.",
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
            "The body exceeds a limit of the server: as sent (ROCPR_MAX_BODY_BYTES), decompressed or unpacked from "
            "Parquet or Arrow (ROCPR_MAX_DECOMPRESSED_BYTES), or in the memory that its values need. "
            "Nothing was evaluated.",
        ),
        ProblemType(
            "too_many_rows",
            413,
            "The table has too many rows",
            "The table has more rows than the server's limit (ROCPR_MAX_ROWS). Group equal scores and use weights, or "
            "send counts.",
        ),
        ProblemType(
            "answer_too_large",
            413,
            "The answer is too large",
            "The answer would be longer than the server writes (ROCPR_MAX_ANSWER_BYTES), or would repeat too many "
            "names. Ask for less: only the tables that you need, keep=drawn instead of all points, fewer operating "
            "points of each slice, or shorter names.",
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
            "The detail lists the supported ones, or says which feature of the format is not supported, such as Arrow "
            "delta dictionaries or Parquet encryption. Text must be UTF-8.",
        ),
        ProblemType(
            "unsupported_content_encoding",
            415,
            "The body's content coding is not supported",
            "The header Accept-Encoding lists the supported ones. Apply only one of them, and only once.",
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
            "The request is well-formed but has wrong values",
            "Each entry of errors points to a wrong value and says what is wrong with it.",
        ),
        ProblemType(
            "too_many_requests",
            429,
            "Too many requests at once",
            "The API key already has as many requests in progress as allowed (ROCPR_KEY_CONCURRENCY), or a proxy "
            "limits the client's address. Wait until some have ended, and at least as long as Retry-After says.",
        ),
        ProblemType(
            "headers_too_large",
            431,
            "The header fields are too large",
            "A header field, or all of them together, is longer than the server reads, or there are too many fields.",
        ),
        ProblemType(
            "internal_error",
            500,
            "The server failed",
            "This is a defect in the service, not in the request. Please report it.",
        ),
        ProblemType(
            "unavailable",
            503,
            "The service cannot be reached",
            "The proxy in front of the service got no answer from it. Send the request again after as many seconds as "
            "Retry-After says.",
        ),
        ProblemType(
            "overloaded",
            503,
            "The server is busy with other requests",
            "Too many requests are waiting, this one waited too long for its turn (ROCPR_QUEUE_SECONDS), there is no "
            "room for another body or answer, or the server cannot open another file. Send the request again after "
            "as many seconds as Retry-After says.",
        ),
        ProblemType(
            "dataset_unavailable",
            503,
            "The dataset's engine failed",
            "The dataset's files are damaged or cannot be reached, its server cannot be reached, or the engine ran out "
            "of room. Nothing was evaluated; the server's log says why.",
        ),
        ProblemType(
            "deadline_exceeded",
            503,
            "The evaluation took too long",
            "The server stopped the work at its deadline (ROCPR_BIG_SECONDS). Send a smaller request, or try again "
            "when the server is less busy.",
        ),
        ProblemType(
            "helper_died",
            503,
            "The process that evaluated the request died",
            "The server tried twice. No other request was affected. If this request fails again, please report it.",
        ),
        ProblemType(
            "not_ready",
            503,
            "The server is about to stop",
            "For a short while, the server still accepts and finishes requests, but new clients should go elsewhere.",
        ),
    )
}
"""Every problem type, by code."""
