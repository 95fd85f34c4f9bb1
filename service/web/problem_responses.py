"""Every failure of a request as `application/problem+json`.

Knows Problem, werkzeug's HTTP errors and how to handle an unexpected exception; not which operation failed.
"""

from difflib import get_close_matches

from flask import Flask, Response, current_app, request
from werkzeug.exceptions import HTTPException, MethodNotAllowed, NotFound

from service.guide import pages
from service.guide.rendering import GUIDE
from service.web.lanes.evaluating import EvaluatorFailed
from service.web.negotiation import VARY
from service.web.observation.observation import note
from service.web.passes import ClientGone
from service.wire.formats.codings import CODINGS
from service.wire.problems import PROBLEM_JSON, PROBLEM_TYPES, Problem, instance_of, problem_document

_CODE_OF_STATUS = {problem.status: code for code, problem in reversed(PROBLEM_TYPES.items())}
"""The first problem type of each status, for werkzeug's HTTP errors."""

_DETAILS = {
    404: "There is nothing at this path; /docs lists the paths that exist.",
    500: "The server failed unexpectedly. The failure was logged.",
}

_INVALID = "The request is not valid HTTP/1.1."

_LONGEST_PATH = 40
"""The characters of a path that are compared with known paths."""


def install_error_handlers(app: Flask, retry_after_seconds: int) -> None:
    """Make the application answer every failure, expected or not, with a problem."""
    app.config["RETRY_AFTER"] = str(retry_after_seconds)
    app.register_error_handler(Problem, problem_response)
    app.register_error_handler(ClientGone, lambda _: Response(status=204))  # the client has gone
    app.register_error_handler(HTTPException, _http_error_response)
    app.register_error_handler(MemoryError, _lack_of_memory_response)
    app.register_error_handler(Exception, _failure_response)


def problem_response(problem: Problem) -> Response:
    """Answer the current request with a problem."""
    document = problem_document(problem, instance_of(request.path))
    response = Response(document, problem.type.status, content_type=PROBLEM_JSON)
    response.headers["Vary"] = VARY
    note(problem=problem.type.code)
    if problem.type.is_temporary:
        response.headers["Retry-After"] = current_app.config["RETRY_AFTER"]
    if problem.type.code == "unsupported_content_encoding":
        response.headers["Accept-Encoding"] = ", ".join(CODINGS)  # in an answer: the codings of requests
    return response


def _http_error_response(error: HTTPException) -> Response:
    status = error.code or 500
    code = _CODE_OF_STATUS.get(status, "malformed_request" if status < 500 else "internal_error")  # noqa: PLR2004  # HTTP statuses from 500 are ours
    if isinstance(error, MethodNotAllowed):
        allowed = ", ".join(sorted(error.valid_methods or ()))
        response = problem_response(Problem(code, f"This path takes {allowed}."))
        response.headers["Allow"] = allowed
        return response
    near = _nearest_path() if isinstance(error, NotFound) else None
    detail = f"There is nothing at this path; did you mean {near}?" if near else _DETAILS.get(status, _INVALID)
    return problem_response(Problem(code, detail))


def _nearest_path() -> str | None:
    known = [rule.rule for rule in current_app.url_map.iter_rules() if "<" not in rule.rule]
    known += [f"{GUIDE}/{page}" for page in pages()]
    return next(iter(get_close_matches(request.path[:_LONGEST_PATH], known, 1)), None)


def _lack_of_memory_response(_error: MemoryError) -> Response:
    return problem_response(Problem("overloaded", "The server has too little memory for this request right now."))


def _failure_response(error: Exception) -> Response:
    if not isinstance(error, EvaluatorFailed):  # logged where it happened
        current_app.logger.error("Unexpected failure", exc_info=error)
    return problem_response(Problem("internal_error", _DETAILS[500]))
