"""One request to one answer, plain data in and plain data out: decode, check, evaluate, encode.

A request thread and the command line both call `answer`. An expected failure comes back as a problem Answer, never as
an exception. Knows no HTTP beyond media types and statuses.
"""

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field, replace
from typing import Any, Protocol

from marshmallow import Schema, ValidationError

from service.curves.errors import CurvesError
from service.curves.evaluation import Curves, evaluate_curves
from service.wire.decoders import DECODERS, Decoded
from service.wire.encoders import CURVES_TABLES, ENCODERS, ONE_TABLE, Encoded
from service.wire.faults import fact_error, field_errors
from service.wire.problems import PROBLEM_JSON, Problem, invalid_value, pointer_token, problem_document
from service.wire.schemas import CURVES_PARAMETERS, CurvesRequest, CurvesRequestSchema


@dataclass(frozen=True, slots=True)
class Request:
    """What to evaluate. `parameters` are the query's, in order; the media types are known to be supported."""

    operation: str
    instance: str
    content_type: str
    accept: str
    parameters: tuple[tuple[str, str], ...]
    body: bytes


@dataclass(frozen=True, slots=True)
class Limits:
    """How much one request may ask for."""

    max_rows: int
    max_interpolated_rows: int


@dataclass(frozen=True, slots=True)
class Answer:
    """What to send back."""

    status: int
    media_type: str
    body: bytes
    headers: Mapping[str, str] = field(default_factory=dict)


class Checked(Protocol):
    """A request that passed its schema."""

    @property
    def rows(self) -> int:
        """The rows of its longest table."""


@dataclass(frozen=True, slots=True)
class Operation:
    """What `answer` has to know of an operation, beside its encoders.

    parameters   the options that are query parameters when the body is a table.
    tables       the tables of an answer, the default first, for formats that hold only one.
    evaluate     from the checked request and the table asked for (None for all) to the result.
    """

    schema: Schema
    parameters: tuple[str, ...]
    tables: tuple[str, ...]
    evaluate: Callable[[Any, str | None, Limits], object]


def _evaluate_curves(checked: CurvesRequest, table: str | None, limits: Limits) -> Curves:
    options = replace(checked.options, max_interpolated_rows=limits.max_interpolated_rows)
    if table is not None:
        if table not in options.include:
            raise invalid_value("/table", "not_one_of", "This table is not among those that include names.")
        options = replace(options, include=frozenset({table}))
    return evaluate_curves(checked.evaluation, options)


OPERATIONS = {
    "curves": Operation(CurvesRequestSchema(), CURVES_PARAMETERS, CURVES_TABLES, _evaluate_curves),
}
"""{operation: what it is}; its path is /v1/ and its name."""

REQUEST_MEDIA_TYPES = tuple(DECODERS)
"""The media types that every operation reads, the default first."""


def response_media_types(operation: str) -> tuple[str, ...]:
    """Return the media types that an operation answers, the default first."""
    return tuple(media_type for name, media_type in ENCODERS if name == operation)


def answer(request: Request, limits: Limits) -> Answer:
    """Evaluate a request."""
    try:
        encoded = _encoded(request, limits)
    except Problem as problem:
        return problem_answer(problem, request.instance)
    return Answer(200, request.accept, encoded.body, encoded.headers)


def problem_answer(problem: Problem, instance: str) -> Answer:
    """Write a problem as an answer."""
    return Answer(problem.type.status, PROBLEM_JSON, problem_document(problem, instance))


def _encoded(request: Request, limits: Limits) -> Encoded:
    operation = OPERATIONS[request.operation]
    parameters = _unique(request.parameters)
    table = _table(operation, parameters.pop("table", None), request.accept)
    decoded = DECODERS[request.content_type](request.body, parameters, operation.parameters)
    checked = _check(operation, decoded)
    if checked.rows > limits.max_rows:
        raise Problem("too_many_rows", f"The table has {checked.rows} rows, the limit is {limits.max_rows}.")
    try:
        result = operation.evaluate(checked, table, limits)
    except CurvesError as fact:
        raise Problem("invalid_request", fact.detail, [fact_error(fact, decoded.pointer)]) from None
    return ENCODERS[request.operation, request.accept](result, table)


def _unique(parameters: tuple[tuple[str, str], ...]) -> dict[str, str]:
    unique: dict[str, str] = {}
    for key, text in parameters:
        if key in unique:
            raise invalid_value(f"/{pointer_token(key)}", "duplicate", "This query parameter is given twice.")
        unique[key] = text
    return unique


def _table(operation: Operation, name: str | None, accept: str) -> str | None:
    """Choose the one table that the answer holds; None when its format holds them all."""
    if accept not in ONE_TABLE:
        if name is not None:
            raise invalid_value("/table", "exclusive", f"table goes with an answer of one table, not with {accept}.")
        return None
    if name is not None and name not in operation.tables:
        raise invalid_value("/table", "not_one_of", f"One of {', '.join(operation.tables)} belongs here.")
    return name or operation.tables[0]


def _check(operation: Operation, decoded: Decoded) -> Checked:
    try:
        checked: Checked = operation.schema.load(decoded.document)  # type: ignore[arg-type]  # any JSON value
    except ValidationError as error:
        errors = field_errors(error, decoded.pointer)
        detail = errors[0].detail if len(errors) == 1 else f"{len(errors)} values of the request are wrong."
        raise Problem("invalid_request", detail, errors) from None
    return checked
