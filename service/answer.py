"""From one request to one answer, plain data in and out: decode, check, evaluate, encode.

Threads of the server, evaluator processes and the command line call `answer`. An expected failure comes back as a
problem Answer, never as an exception. Knows no HTTP beyond media types and statuses.
"""

from collections.abc import Callable, Iterable, Iterator
from dataclasses import replace
from functools import cache
from itertools import chain
from math import inf

from marshmallow import ValidationError

from service.curves.clock import TooMuchWork, at_most, still_time, takes_long
from service.curves.errors import DomainError, NeedsExactGroups, NotPaired
from service.datasets.dataset_groups import queried_groups
from service.datasets.queries import queries_in, replaced
from service.environment import reserve_memory
from service.operations import OPERATIONS
from service.operations.operation import Checked, Operation, Selection
from service.request import Answer, Effort, Facts, Request
from service.wire.answers import png
from service.wire.answers.encoders import ONE_TABLE, Encoded
from service.wire.answers.output import Output
from service.wire.formats.charsets import in_utf8
from service.wire.formats.codings import IDENTITY, MIN_COMPRESSED_BYTES, Body, Piece, compressed, decompress
from service.wire.formats.decoders import DECODERS
from service.wire.formats.inputs import PICTURE_PARAMETERS
from service.wire.formats.missing_cells import without_missing
from service.wire.formats.query_options import Decoded, picture_options
from service.wire.formats.signatures import media_type_of, with_hint
from service.wire.formats.table_columns import too_many_rows
from service.wire.limits import Limits
from service.wire.media_types import JSON, PNG
from service.wire.problems import PROBLEM_JSON, Problem, invalid_request, invalid_value, pointer_token, problem_document
from service.wire.requests.faults import field_error_of, field_errors
from service.wire.requests.picture_schemas import PICTURE_SCHEMAS, checked_picture

_PROBLEM_BYTES = 2 << 20
"""Memory kept for a problem, its response and its log line: orjson crashes without memory, and what took all the rest,
such as the stacks of Arrow's threads, may still hold it."""

_TOO_LARGE = frozenset({"body_too_large", "answer_too_large"})
"""The codes of problems of a body or an answer over a limit."""


REQUEST_MEDIA_TYPES = tuple(DECODERS)
"""The media types that every operation reads, the default first."""


def response_media_types(operation: str) -> tuple[str, ...]:
    """The media types in which an operation can answer here, the default first."""
    answered = OPERATIONS[operation].media_types
    return answered if png.is_drawn() else tuple(media_type for media_type in answered if media_type != PNG)


def answer(
    request: Request,
    limits: Limits,
    effort: Effort | None = None,
    output: Output | None = None,
) -> Answer:
    """Evaluate a request.

    `output` takes the body and checks memory for it. If it writes to a file, the Answer has no body; after a failure
    the file is useless. Raises TooMuchWork if the request turns out to be more work than `effort`; it may also be
    invalid, and must be answered where no other request waits for it.
    """

    def decode(operation: Operation, limits: Limits) -> tuple[Decoded, Selection]:
        decoded, selection = _decoded(request, operation, limits)
        queries = queries_in(decoded, operation.schema.fields, request.datasets)
        if queries:
            rehearsed = replaced(decoded, {query.place: query.stand_ins() for query in queries})
            _rehearse(request, operation, rehearsed, selection, limits)
            takes_long()
            decoded = replaced(decoded, {query.place: queried_groups(query) for query in queries})
        return decoded, selection

    return _answer(request, decode, limits, effort, output)


@cache
def _narrowed(limits: Limits, effort: Effort) -> Limits:
    return replace(
        limits,
        max_decompressed_bytes=min(limits.max_decompressed_bytes, effort.body_bytes),
        max_answer_bytes=min(limits.max_answer_bytes, effort.answer_bytes),
    )


def answer_decoded(request: Request, decoded: Decoded, limits: Limits) -> Answer:
    """Evaluate a decoded document; of the request itself only the picture's options are read."""
    return _answer(
        request, lambda operation, _: (decoded, _selection(request, operation, dict(request.parameters))), limits
    )


def _answer(
    request: Request,
    decode: Callable[[Operation, Limits], tuple[Decoded, Selection]],
    limits: Limits,
    effort: Effort | None = None,
    output: Output | None = None,
) -> Answer:
    facts = Facts()
    output = output or Output()
    within, seconds = (limits, inf) if effort is None else (_narrowed(limits, effort), effort.seconds)
    try:
        with reserve_memory(_PROBLEM_BYTES), at_most(seconds):
            status, encoded, coding = _write_answer(request, decode, within, facts, output)
        return Answer(status, request.accept, output.held(), encoded.headers, coding, None, facts)
    except Problem as problem:
        if effort is not None and problem.type.code in _TOO_LARGE:
            raise TooMuchWork from None
        return problem_answer(problem, request.instance, facts)
    except MemoryError:  # its memory is freed with the error
        pass
    return lack_of_memory(request, facts)


def lack_of_memory(request: Request, facts: Facts | None = None) -> Answer:
    """Make the problem of a request that needs more memory than there is."""
    lack = Problem("body_too_large", "The request needs more memory than this server has.")
    return problem_answer(lack, request.instance, facts)


def problem_answer(problem: Problem, instance: str, facts: Facts | None = None) -> Answer:
    """Write a problem as an answer."""
    body = problem_document(problem, instance)
    return Answer(
        problem.type.status, PROBLEM_JSON, body, {}, IDENTITY, problem.type.code, Facts() if facts is None else facts
    )


def _write_answer(
    request: Request,
    decode: Callable[[Operation, Limits], tuple[Decoded, Selection]],
    limits: Limits,
    facts: Facts,
    output: Output,
) -> tuple[int, Encoded, str]:
    """Write the encoded answer; return its status, the encoded result, and its content coding."""
    operation = OPERATIONS[request.operation]
    with facts.timed("decode_seconds"):
        decoded, selection = decode(operation, limits)
        decoded = without_missing(decoded)
        checked, selection = _checked(request, operation, decoded, selection)
        facts.rows = checked.rows
        if checked.rows > limits.max_rows:
            raise too_many_rows(checked.rows, limits.max_rows)
    with facts.timed("evaluate_seconds"):
        try:
            result = operation.evaluate(checked, selection, limits)
        except DomainError as error:
            raise invalid_request([field_error_of(error, decoded.document, decoded.pointer)]) from None
    if decoded.warnings:
        result = replace(result, warnings=decoded.warnings + result.warnings)
    status = operation.status(checked, result)
    del decoded, checked  # encoding may need the memory
    with facts.timed("encode_seconds"):
        output.look()
        encoded = operation.encode(request.accept, result, selection)
        pieces = output.checking_memory(_short_enough(encoded.pieces, limits))
        beginning = _beginning(pieces, MIN_COMPRESSED_BYTES)
        coding = request.accept_encoding if sum(map(len, beginning)) >= MIN_COMPRESSED_BYTES else IDENTITY
        for piece in compressed(coding, chain(beginning, pieces)):
            output.write(piece)
    return status, encoded, coding


def _short_enough(pieces: Iterable[Piece], limits: Limits) -> Iterator[Piece]:
    """Pass pieces on while the answer is short enough. Raises TooMuchWork and Problem."""
    written = 0
    for piece in pieces:
        still_time()
        written += len(piece)
        if written > limits.max_answer_bytes:
            detail = f"The answer is longer than the limit of {limits.max_answer_bytes} bytes; ask for less of it."
            raise Problem("answer_too_large", detail)
        yield piece


def _beginning(pieces: Iterator[Piece], size: int) -> list[Piece]:
    """Take pieces until they have `size` bytes, or to the end."""
    taken: list[Piece] = []
    missing = size
    while missing > 0 and (piece := next(pieces, None)) is not None:
        taken.append(piece)
        missing -= len(piece)
    return taken


def _decoded(request: Request, operation: Operation, limits: Limits) -> tuple[Decoded, Selection]:
    """Read the body with the options in the query, and what to encode of the result."""
    parameters = _unique(request.parameters)
    selection = _selection(request, operation, parameters)
    body: Body = b""
    media_type = request.content_type
    try:
        body = decompress(request.content_encoding, request.body, limits.max_decompressed_bytes)
        if not len(body):
            raise without_body(media_type)
        media_type = media_type_of(body, media_type, request.content_encoding)
        body = in_utf8(body, media_type, request.charset, limits.max_decompressed_bytes)
        return DECODERS[media_type](body, parameters, operation.form, limits), selection
    except Problem as problem:
        raise with_hint(problem, body, media_type, request.content_encoding) from None


def without_body(media_type: str) -> Problem:
    """Make the problem of an empty body."""
    if media_type in DECODERS and media_type != JSON:
        return Problem("malformed_body", "The body is empty; send a table, with columns such as scores and labels.")
    example = '{"scores": [0.9, 0.2], "labels": [1, 0]}'
    return Problem("malformed_body", f"The body is empty; send scores and labels, such as {example}.")


def _selection(request: Request, operation: Operation, parameters: dict[str, str]) -> Selection:
    """Remove from the query the requested part of the result: a table by name, or a picture."""
    table = parameters.pop("table", None)
    _check_table(operation, table, request.accept)
    if (request.operation, request.accept) in PICTURE_SCHEMAS:
        options = picture_options(parameters, operation.form.fields)
        return Selection(picture=checked_picture(request.operation, request.accept, options))
    for name in PICTURE_PARAMETERS:
        if name in parameters and name not in operation.form.drawn:
            raise invalid_value(f"/{name}", "exclusive", f"{name} is for pictures, not for {request.accept}.")
    return Selection(table)


def _unique(parameters: tuple[tuple[str, str], ...]) -> dict[str, str]:
    unique: dict[str, str] = {}
    for key, text in parameters:
        if key in unique:
            message = "This query parameter is given twice; give a list once, with commas between its items."
            raise invalid_value(f"/{pointer_token(key)}", "duplicate", message)
        unique[key] = text
    return unique


def _check_table(operation: Operation, name: str | None, accept: str) -> None:
    """Refuse an unknown table, and any table if the answer's format holds all of them."""
    if name is None:
        return
    if accept not in ONE_TABLE:
        raise invalid_value("/table", "exclusive", f"table is for formats that hold a single table, not for {accept}.")
    operation.table(name)


def _checked(
    request: Request, operation: Operation, decoded: Decoded, selection: Selection
) -> tuple[Checked, Selection]:
    """Check a document, and choose what to encode of its result."""
    try:
        checked: Checked = operation.schema.load(decoded.document)  # type: ignore[arg-type]  # any JSON value
    except ValidationError as error:
        raise invalid_request(field_errors(error, decoded.pointer)) from None
    if checked.charts:
        if request.accept != JSON:
            raise invalid_value("/charts", "exclusive", f"charts is for answers in {JSON}, not in {request.accept}.")
        return checked, Selection(charts=checked.charts)
    if request.accept in ONE_TABLE:
        return checked, Selection(operation.asked_table(checked, selection.table))
    return checked, selection


def _rehearse(request: Request, operation: Operation, decoded: Decoded, selection: Selection, limits: Limits) -> None:
    """Evaluate groups that stand in for those of datasets, to refuse what no groups allow before an engine works."""
    checked, selection = _checked(request, operation, decoded, selection)
    try:
        operation.evaluate(checked, selection, limits)
    except (NotPaired, NeedsExactGroups) as error:
        if error.row is None:  # a threshold may fall between the dataset's groups
            raise invalid_request([field_error_of(error, decoded.document, decoded.pointer)]) from None
    except DomainError:
        pass  # the data may be different
