"""One request to one answer, plain data in and plain data out: decode, check, evaluate, encode.

A request thread and the command line both call `answer`. An expected failure comes back as a problem Answer, never as
an exception. Knows no HTTP beyond media types and statuses.
"""

from collections.abc import Callable, Collection, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, field, replace
from itertools import chain
from time import perf_counter
from typing import Any, Protocol

from marshmallow import Schema, ValidationError

from service.curves.comparison import Comparison, evaluate_comparison
from service.curves.errors import CurvesError
from service.curves.evaluation import Curves, evaluate_curves
from service.curves.tradeoff import Tradeoffs, evaluate_tradeoffs
from service.wire.answer_tables import TABLES
from service.wire.codings import IDENTITY, MIN_COMPRESSED_BYTES, compressed, decompress
from service.wire.decoders import DECODERS
from service.wire.encoders import ENCODERS, ONE_TABLE
from service.wire.faults import fact_error, field_errors
from service.wire.limits import Limits
from service.wire.problems import PROBLEM_JSON, Problem, invalid_value, pointer_token, problem_document
from service.wire.schemas import (
    ComparisonsRequest,
    ComparisonsRequestSchema,
    CurvesRequest,
    CurvesRequestSchema,
    TradeoffsRequest,
    TradeoffsRequestSchema,
)
from service.wire.signatures import mislabelled
from service.wire.tables import Decoded, TableForm, one_evaluation, several_evaluations, too_many_rows


@dataclass(frozen=True, slots=True)
class Request:
    """What to evaluate. `parameters` are the query's, in order; media types and codings are known to be supported."""

    operation: str
    instance: str
    content_type: str
    accept: str
    parameters: tuple[tuple[str, str], ...]
    body: bytes
    content_encoding: str = IDENTITY
    accept_encoding: str = IDENTITY


@dataclass(slots=True)
class Facts:
    """What was done for a request, for logs and measurements: how many rows it had, and how long each stage took.

    A stage that was not reached has no seconds. Checking belongs to decoding, compression to encoding.
    """

    rows: int | None = None
    decode_seconds: float | None = None
    evaluate_seconds: float | None = None
    encode_seconds: float | None = None

    @contextmanager
    def timed(self, stage: str) -> Iterator[None]:
        """Measure a stage, also one that fails."""
        start = perf_counter()
        try:
            yield
        finally:
            setattr(self, stage, (getattr(self, stage) or 0.0) + perf_counter() - start)


@dataclass(frozen=True, slots=True)
class Answer:
    """What to send back; `problem` is the code of a failure."""

    status: int
    media_type: str
    body: bytes
    headers: Mapping[str, str] = field(default_factory=dict)
    content_encoding: str = IDENTITY
    problem: str | None = None
    facts: Facts = field(default_factory=Facts, compare=False)


class TooMuchWork(Exception):
    """The request is right, and more work than `max_work`: it has to be answered where it holds up nobody."""


class Checked(Protocol):
    """A request that passed its schema."""

    @property
    def rows(self) -> int:
        """The rows of its longest table."""

    @property
    def work(self) -> int:
        """How much work it is, in rows that one evaluation has."""


@dataclass(frozen=True, slots=True)
class Operation:
    """What `answer` has to know of an operation, beside its encoders.

    form         what a body is that is a table, and which query parameters go with it.
    tables       the tables of an answer, the default first, for formats that hold only one.
    evaluate     from the checked request and the table asked for (None for all) to the result.
    included     the tables that a checked request asks for; all unless said.
    """

    schema: Schema
    form: TableForm
    tables: tuple[str, ...]
    evaluate: Callable[[Any, str | None, Limits], object]
    included: Callable[[Any], Collection[str]] | None = None

    def first_table(self, checked: Checked) -> str:
        """Choose the table of an answer of one table when none is named."""
        included = self.tables if self.included is None else self.included(checked)
        return next(name for name in self.tables if name in included)

    @property
    def parameters(self) -> tuple[str, ...]:
        """The query parameters that go with a table, `table` apart."""
        return self.form.parameters


def _evaluate_curves(checked: CurvesRequest, table: str | None, limits: Limits) -> Curves:
    options = replace(checked.options, max_interpolated_rows=limits.max_interpolated_rows)
    if table is not None:
        if table not in options.include:
            raise invalid_value("/table", "not_one_of", "This table is not among those that include names.")
        options = replace(options, include=frozenset({table}))
    return evaluate_curves(checked.evaluation, options)


def _evaluate_tradeoffs(checked: TradeoffsRequest, table: str | None, limits: Limits) -> Tradeoffs:
    at_lambda = checked.options.at_lambda
    if table == "at" and at_lambda is None:
        raise invalid_value("/table", "missing", "This table needs at_lambda, the values to read off.")
    if at_lambda is not None and at_lambda.size > limits.max_interpolated_rows:
        message = f"These are {at_lambda.size} values to read off, the limit is {limits.max_interpolated_rows}."
        raise invalid_value("/at_lambda", "too_many_points", message)
    return evaluate_tradeoffs(checked.evaluation, checked.options)


def _evaluate_comparison(checked: ComparisonsRequest, _table: str | None, _limits: Limits) -> Comparison:
    return evaluate_comparison(checked.evaluations, checked.indices)


OPERATIONS = {
    "curves": Operation(
        CurvesRequestSchema(),
        one_evaluation("include", "keep", "interpolation", "thresholds"),
        tuple(TABLES["curves"]),
        _evaluate_curves,
        lambda checked: checked.options.include,
    ),
    "tradeoffs": Operation(
        TradeoffsRequestSchema(),
        one_evaluation("indices", "min_precision", "min_recall", "lambda_range", "lambda_density", "at_lambda"),
        tuple(TABLES["tradeoffs"]),
        _evaluate_tradeoffs,
    ),
    "comparisons": Operation(
        ComparisonsRequestSchema(), several_evaluations("indices"), tuple(TABLES["comparisons"]), _evaluate_comparison
    ),
}
"""{operation: what it is}; its path is /v1/ and its name."""

REQUEST_MEDIA_TYPES = tuple(DECODERS)
"""The media types that every operation reads, the default first."""


def response_media_types(operation: str) -> tuple[str, ...]:
    """Return the media types that an operation answers, the default first."""
    return tuple(media_type for name, media_type in ENCODERS if name == operation)


def answer(
    request: Request, limits: Limits, max_work: int | None = None, write: Callable[[bytes], object] | None = None
) -> Answer:
    """Evaluate a request.

    With `write` it gets the body, in pieces, and the Answer has none; after a failure in between, what it got is of no
    use. Raises TooMuchWork, before it evaluates, when the work is estimated at more than `max_work`.
    """
    facts = Facts()
    pieces: list[bytes] = []
    try:
        headers, coding = _write_answer(request, limits, max_work, facts, write or pieces.append)
        return Answer(200, request.accept, b"".join(pieces), headers, coding, None, facts)
    except Problem as problem:
        return problem_answer(problem, request.instance, facts)
    except MemoryError:  # what took the memory goes with the error
        pass
    return lack_of_memory(request, facts)


def lack_of_memory(request: Request, facts: Facts | None = None) -> Answer:
    """Say that there is not the memory that a request takes."""
    lack = Problem("body_too_large", "The request takes more memory than this server has.")
    return problem_answer(lack, request.instance, facts)


def problem_answer(problem: Problem, instance: str, facts: Facts | None = None) -> Answer:
    """Write a problem as an answer."""
    body = problem_document(problem, instance)
    return Answer(
        problem.type.status, PROBLEM_JSON, body, {}, IDENTITY, problem.type.code, Facts() if facts is None else facts
    )


def _write_answer(
    request: Request, limits: Limits, max_work: int | None, facts: Facts, write: Callable[[bytes], object]
) -> tuple[dict[str, str], str]:
    """Write the encoded answer; return its headers and the coding that it has."""
    operation = OPERATIONS[request.operation]
    with facts.timed("decode_seconds"):
        decoded, table = _decoded(request, operation, limits)
        checked = _check(operation, decoded)
        facts.rows = checked.rows
        if checked.rows > limits.max_rows:
            raise too_many_rows(checked.rows, limits.max_rows)
        if max_work is not None and checked.work > max_work:
            raise TooMuchWork
    if table is None and request.accept in ONE_TABLE:
        table = operation.first_table(checked)
    with facts.timed("evaluate_seconds"):
        try:
            result = operation.evaluate(checked, table, limits)
        except CurvesError as fact:
            raise Problem("invalid_request", fact.detail, [fact_error(fact, decoded.pointer)]) from None
    del decoded, checked  # encoding may need the memory
    with facts.timed("encode_seconds"):
        encoded = ENCODERS[request.operation, request.accept](result, table)
        pieces = iter(encoded.pieces)
        first = _beginning(pieces, MIN_COMPRESSED_BYTES)
        coding = request.accept_encoding if len(first) >= MIN_COMPRESSED_BYTES else IDENTITY
        for piece in compressed(coding, chain([first], pieces)):
            write(piece)
    return encoded.headers, coding


def _beginning(pieces: Iterator[bytes], size: int) -> bytes:
    """Take pieces until they have `size` bytes or end."""
    first = b""
    while len(first) < size and (piece := next(pieces, b"")):
        first += piece
    return first


def _decoded(request: Request, operation: Operation, limits: Limits) -> tuple[Decoded, str | None]:
    """Read the body, with the options in the query; and the table asked for."""
    parameters = _unique(request.parameters)
    table = parameters.pop("table", None)
    _check_table(operation, table, request.accept)
    body = decompress(request.content_encoding, request.body, limits.max_decompressed_bytes)
    try:
        return DECODERS[request.content_type](body, parameters, operation.form, limits), table
    except Problem as problem:
        raise mislabelled(body, request.content_type, request.content_encoding) or problem from None


def _unique(parameters: tuple[tuple[str, str], ...]) -> dict[str, str]:
    unique: dict[str, str] = {}
    for key, text in parameters:
        if key in unique:
            raise invalid_value(f"/{pointer_token(key)}", "duplicate", "This query parameter is given twice.")
        unique[key] = text
    return unique


def _check_table(operation: Operation, name: str | None, accept: str) -> None:
    """Refuse a name that is none of a table, and any where the answer's format holds them all."""
    if name is None:
        return
    if accept not in ONE_TABLE:
        raise invalid_value("/table", "exclusive", f"table goes with an answer of one table, not with {accept}.")
    if name not in operation.tables:
        raise invalid_value("/table", "not_one_of", f"One of {', '.join(operation.tables)} belongs here.")


def _check(operation: Operation, decoded: Decoded) -> Checked:
    try:
        checked: Checked = operation.schema.load(decoded.document)  # type: ignore[arg-type]  # any JSON value
    except ValidationError as error:
        errors = field_errors(error, decoded.pointer)
        detail = errors[0].detail if len(errors) == 1 else f"{len(errors)} values of the request are wrong."
        raise Problem("invalid_request", detail, errors) from None
    return checked
