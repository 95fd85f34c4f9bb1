"""One request to one answer, plain data in and plain data out: decode, check, evaluate, encode.

A request thread, the command line and later a helper process all call `answer`. An expected failure comes back as a
problem Answer, never as an exception. Knows no HTTP beyond media types and statuses.
"""

from collections.abc import Mapping
from dataclasses import dataclass, field, replace

from marshmallow import ValidationError

from service.curves.errors import CurvesError, RisingThresholds
from service.curves.evaluation import evaluate_curves
from service.curves.sample import Sample
from service.wire.decoders import DECODERS, Decoded
from service.wire.encoders import ENCODERS, TABLES, Encoded
from service.wire.faults import field_errors
from service.wire.problems import PROBLEM_JSON, FieldError, Problem, pointer_token, problem_document
from service.wire.schemas import FACT_CODES, CurvesRequest, CurvesRequestSchema

REQUEST_MEDIA_TYPES = tuple(DECODERS)
RESPONSE_MEDIA_TYPES = tuple(media_type for _, media_type in ENCODERS)
"""Media types that are read and answered, the default first."""

_CURVES_SCHEMA = CurvesRequestSchema()


@dataclass(frozen=True, slots=True)
class Request:
    """What to evaluate. `options` are the query parameters in order; the media types are known to be supported."""

    operation: str
    instance: str
    content_type: str
    accept: str
    options: tuple[tuple[str, str], ...]
    body: bytes


@dataclass(frozen=True, slots=True)
class Limits:
    """How much one request may ask for."""

    max_rows: int = 5_000_000
    max_interpolated_rows: int = 100_000


@dataclass(frozen=True, slots=True)
class Answer:
    """What to send back."""

    status: int
    media_type: str
    body: bytes
    headers: Mapping[str, str] = field(default_factory=dict)


def answer(request: Request, limits: Limits) -> Answer:
    """Evaluate a request."""
    try:
        encoded = _curves(request, limits)
    except Problem as problem:
        return problem_answer(problem, request.instance)
    return Answer(200, request.accept, encoded.body, encoded.headers)


def problem_answer(problem: Problem, instance: str) -> Answer:
    """Write a problem as an answer."""
    return Answer(problem.type.status, PROBLEM_JSON, problem_document(problem, instance))


def _curves(request: Request, limits: Limits) -> Encoded:
    options = _unique(request.options)
    table = _table(options.pop("table", None), request.accept)
    decoded = DECODERS[request.content_type](request.body, options)
    checked = _check(decoded, limits)
    chosen = replace(checked.options, max_interpolated_rows=limits.max_interpolated_rows)
    if table is not None:
        if table not in chosen.include:
            raise _invalid("table", "not_one_of", "This table is not among those that include names.")
        chosen = replace(chosen, include=frozenset({table}))
    try:
        curves = evaluate_curves(checked.evaluation, chosen)
    except CurvesError as fact:
        inner = "/counts/threshold" if isinstance(fact, RisingThresholds) else "/interpolation"
        inner += "" if fact.row is None else f"/{fact.row}"
        error = FieldError(decoded.pointer(inner), FACT_CODES[type(fact)], fact.detail)
        raise Problem("invalid_request", fact.detail, [error]) from None
    return ENCODERS[request.operation, request.accept](curves, chosen.include)


def _unique(options: tuple[tuple[str, str], ...]) -> dict[str, str]:
    unique = dict(options)
    if len(unique) < len(options):
        twice = next(key for key, _ in options if [name for name, _ in options].count(key) > 1)
        raise _invalid(twice, "duplicate", "This query parameter is given twice.")
    return unique


def _table(name: str | None, accept: str) -> str | None:
    """The one table that the answer holds; None when the answer's format holds them all."""
    if accept == "application/json":
        if name is not None:
            raise _invalid("table", "exclusive", "table goes with Accept: text/csv; a JSON answer has all tables.")
        return None
    if name is not None and name not in TABLES:
        raise _invalid("table", "not_one_of", f"One of {', '.join(TABLES)} belongs here.")
    return name or next(iter(TABLES))


def _check(decoded: Decoded, limits: Limits) -> CurvesRequest:
    try:
        checked: CurvesRequest = _CURVES_SCHEMA.load(decoded.document)  # type: ignore[arg-type]  # any JSON value
    except ValidationError as error:
        errors = field_errors(error, decoded.pointer)
        detail = errors[0].detail if len(errors) == 1 else f"{len(errors)} values of the request are wrong."
        raise Problem("invalid_request", detail, errors) from None
    evaluation, tuning = checked.evaluation, checked.options.tuning
    rows = max(
        evaluation.scores.size if isinstance(evaluation, Sample) else evaluation.tp.size,
        tuning.scores.size if tuning is not None else 0,
    )
    if rows > limits.max_rows:
        raise Problem("too_many_rows", f"The table has {rows} rows, the limit is {limits.max_rows}.")
    return checked


def _invalid(parameter: str, code: str, detail: str) -> Problem:
    return Problem("invalid_request", detail, [FieldError(f"/{pointer_token(parameter)}", code, detail)])
