"""What a command asks, of files or of an engine, and how it gets the answer: here, or from a server.

A single table or JSON file is sent unchanged. The parts of a request in several files are read here, and sent as one
JSON body. It reports a problem file by file, and ends the command.
"""

import sys
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import asdict, dataclass, field, replace
from functools import cached_property, partial
from typing import Any

import click
import orjson

from service.answer import answer_decoded
from service.cli.command_error import fail
from service.cli.engine_rows import EngineRows
from service.cli.explaining import (
    Source,
    Spelling,
    Told,
    advice_lines,
    note_lines,
    of_every_file,
    problem_lines,
    told_of_options,
    told_of_source,
)
from service.cli.files import InputFile
from service.cli.gate.verdict_layout import is_verdict
from service.cli.in_json import JsonWriter
from service.cli.options import Texts, query_text
from service.cli.server_address import ServerAddress, fits_a_query
from service.curves.sweep.sweep import COMPILED
from service.operations import OPERATIONS
from service.request import Request
from service.settings import Settings, SettingsError, read_settings
from service.wire.answers.parts import Document
from service.wire.formats.inputs import MEANING, MISSING, SAMPLE_COLUMNS
from service.wire.formats.missing_cells import without_missing
from service.wire.formats.query_options import Decoded
from service.wire.formats.tables import TableForm
from service.wire.limits import Limits
from service.wire.media_types import JSON, SVG
from service.wire.problems import Problem, problem_document

_CURVE_FIELDS = (*SAMPLE_COLUMNS, "counts", "groups", *MEANING)
"""The fields of an evaluation that its curves need."""


@dataclass(frozen=True)
class RequestPart:
    """One evaluation of a request: its source, and how this is read.

    given    how a table is read, as the texts of a query; `typed` are those that were typed.
    place    where it is in the request, a JSON pointer.
    name     its name in the request.
    meaning  of labels and scores, for a JSON file that does not give it.
    spelled  writes options for this source alone.
    """

    source: Source
    form: TableForm
    given: Texts
    typed: Texts
    place: str = ""
    name: str = ""
    meaning: Mapping[str, object] = field(default_factory=dict)
    spelled: Spelling = of_every_file

    def document(self, decoded: Decoded) -> dict[str, Any]:
        """The evaluation, with its name and what its labels and scores mean."""
        found: Any = decoded.document
        name = {"name": self.name} if self.name else {}
        if self.source.is_table:
            return {**found, **name}
        usable = {key: value for key, value in self.meaning.items() if key != "positive_label" or "counts" not in found}
        return {**usable, **found, **name}


@dataclass(frozen=True)
class Question:
    """A request: its parts, and its other fields; a server is asked if there is one.

    others   the fields that are in no part, even if a part is the request itself.
    explain  tells errors in these, if not as those of options.
    """

    operation: str
    parts: Sequence[RequestPart]
    server: ServerAddress | None = None
    fields: Mapping[str, object] = field(default_factory=dict)
    others: Sequence[str] = ()
    explain: Callable[[Document, list[Document]], Iterable[str]] | None = None

    @property
    def limits(self) -> Limits:
        """A server's limits; not that on rows, if an engine makes groups of them."""
        most = Limits.of(_settings())
        grouped = any(isinstance(part.source, EngineRows) for part in self.parts)
        return replace(most, max_rows=sys.maxsize) if grouped else most

    def ask(
        self, accept: str = JSON, more: Mapping[str, object] | None = None, picture: Mapping[str, str] | None = None
    ) -> bytes:
        """Get the answer, to a request with `more` fields; `picture` says how a picture is drawn."""
        fields = {**self.fields, **(more or {})}
        source, given = self.parts[0].source, self.parts[0].given
        drawn = dict(picture or {})
        query = source.taken(given) | {name: query_text(value) for name, value in fields.items()} | drawn
        is_whole = len(self.parts) == 1 and (source.is_table or not fields)
        if (
            self.server is not None
            and is_whole
            and isinstance(source, InputFile)
            and source.is_whole
            and fits_a_query(query)
        ):
            request = Request(self.operation, "", source.declared_type, accept, tuple(query.items()), source.content)
            return self._posted(self.server, request, partial(self.problem_lines, as_sent=True))
        decoded = replace(self.decoded, document={**self.document, **fields})
        if self.server is None:
            use_compiled()
            request = Request(self.operation, "", JSON, accept, tuple(drawn.items()), b"")
            result = answer_decoded(request, decoded, self.limits)
            if result.problem is not None:
                fail(self.problem_lines(orjson.loads(result.body)))
            return result.body
        return self._sent(self.server, decoded, accept, drawn)

    def drawn(self) -> bytes | None:
        """An SVG picture of the curves of the evaluation and of its baseline, if any; None for several classes."""
        evaluations = {"model": self.document, "baseline": self.document.get("baseline")}
        read = {
            name: {key: each[key] for key in _CURVE_FIELDS if key in each} for name, each in evaluations.items() if each
        }
        if isinstance(read["model"].get("scores"), Mapping):
            return None
        operation, fields = "curves", read["model"]
        if len(read) > 1:
            operation, fields = "comparisons", {"evaluations": [{"name": name, **each} for name, each in read.items()]}
        missing = {MISSING: self.document[MISSING]} if MISSING in self.document else {}
        decoded = Decoded({**missing, **fields})
        other = replace(self, operation=operation, fields={}, explain=None)
        if self.server is not None:
            return other._sent(self.server, decoded, SVG, {})  # noqa: SLF001  # its own kind
        result = answer_decoded(Request(operation, "", JSON, SVG, (), b""), decoded, self.limits)
        return result.body if result.problem is None else None

    def _sent(self, server: ServerAddress, decoded: Decoded, accept: str, drawn: Mapping[str, str]) -> bytes:
        """Get the answer of a server to what was read here."""
        writer = JsonWriter()

        def explain(problem: Document) -> Iterable[str]:
            """Tell rows as they were before some were left out."""
            errors = [error | {"pointer": decoded.pointer(error["pointer"])} for error in problem.get("errors", [])]
            return self.problem_lines(problem | {"errors": errors})

        try:
            decoded = without_missing(decoded)
            body = writer.written(decoded.document)
            request = Request(self.operation, "", JSON, accept, tuple(drawn.items()), body)
        except Problem as problem:
            fail(explain(_document_of(problem)))
        found = self._posted(server, request, explain)
        warnings = (*decoded.warnings, *dict.fromkeys(writer.warnings))
        if accept != JSON or not warnings:
            return found
        document = orjson.loads(found)
        document["warnings"] = [*map(asdict, warnings), *document["warnings"]]
        return orjson.dumps(document, option=orjson.OPT_APPEND_NEWLINE)

    def _posted(self, server: ServerAddress, request: Request, explain: Callable[[Document], Iterable[str]]) -> bytes:
        """Get the answer of a server."""
        from service.cli.over_http import advice_on, post  # noqa: PLC0415  # slow to import, rarely needed

        needed = {part.name for part in OPERATIONS[request.operation].answer if not part.sometimes}
        is_answer = is_verdict if request.operation == "gates" else needed.issubset
        media_type, query, body = request.content_type, dict(request.parameters), bytes(request.body)
        reply = post(server, request.operation, media_type, query, body, accept=request.accept, is_answer=is_answer)
        if reply.is_problem:
            fail([*explain(reply.document), *advice_on(reply.document, server)])
        return reply.body

    @cached_property
    def read(self) -> list[Decoded]:
        """What each part holds, which is read once."""
        read = []
        for number, part in enumerate(self.parts):
            # What to type is for this file alone, unless it may be meant for the others, too.
            with self._told(part, part.spelled if number or part.given else of_every_file):
                read.append(part.source.decoded(part.given, part.form, self.limits))
        if self._share_missing(read):
            return read
        for number, part in enumerate(self.parts):
            with self._told(part, part.spelled):
                read[number] = without_missing(read[number])
        return read

    def _share_missing(self, read: Sequence[Decoded]) -> bool:
        """Whether all parts leave out rows, so that paired ones are left out together."""
        documents: list[Any] = [each.document for each in read]
        return len(documents) > 1 and all(each.get(MISSING) == "drop" for each in documents)

    @cached_property
    def document(self) -> Mapping[str, Any]:
        """The request."""
        whole: dict[str, Any] = {}
        for part, decoded in zip(self.parts, self.read, strict=True):
            document = part.document(decoded)
            key, _, row = part.place[1:].partition("/")
            if key and MISSING in document:
                whole[MISSING] = document.pop(MISSING)
            if row:
                whole.setdefault(key, []).append(document)
            else:
                whole |= {key: document} if key else document
        return {**whole, **self.fields}

    @property
    def decoded(self) -> Decoded:
        """The request, and the warnings of its parts, each of which begins with the name of its part."""
        warnings = [
            replace(told, detail=f"{part.name}: {told.detail}") if part.name else told
            for part, decoded in zip(self.parts, self.read, strict=True)
            for told in decoded.warnings
        ]
        return Decoded(self.document, warnings=(*dict.fromkeys(warnings),))

    def problem_lines(self, problem: Document, *, as_sent: bool = False) -> Iterator[str]:
        """Format a problem of the request, file by file; `as_sent` says that its pointers are to a file's columns."""
        sources = [part.source for part in self.parts]
        if isinstance(sources[0], EngineRows) and problem["type"] == "/problems/body_too_large":
            yield from sources[0].lack_of_memory()  # there is no body
            return
        inside: dict[int | None, list[Document]] = {}
        for error in problem.get("errors", []):
            number = self._part_with(error["pointer"])
            pointer = error["pointer"]
            if number is not None:
                pointer = pointer.removeprefix(self.parts[number].place)
                pointer = pointer if as_sent else self.read[number].pointer(pointer)
            inside.setdefault(number, []).append(error | {"pointer": pointer})
        others = inside.pop(None, [])
        if others and self.explain is not None:
            yield from self.explain(problem, others)
        elif others or (self.parts[0].place and not inside):
            name = "these files" if self.parts[0].place else sources[0].name
            yield from problem_lines(problem, name, told_of_options(others, self.fields))
        elif not inside:
            inside[0] = []
        in_all = len(inside) == len(self.parts)
        parts = [(part, inside[number]) for number, part in enumerate(self.parts) if number in inside]
        yield from self._lines_of_parts(
            problem, [(part, errors, of_every_file if in_all else part.spelled) for part, errors in parts]
        )

    def _part_with(self, pointer: str) -> int | None:
        """The number of the part with this pointer; None for what is in none."""
        if pointer[1:].partition("/")[0] in self.others:
            return None
        inside = [number for number, part in enumerate(self.parts) if f"{pointer}/".startswith(f"{part.place}/")]
        return max(inside, key=lambda number: len(self.parts[number].place), default=None)

    @contextmanager
    def _told(self, part: RequestPart, spelled: Spelling) -> Iterator[None]:
        """Tell a problem of a part."""
        try:
            yield
        except Problem as error:
            problem = _document_of(error)
            fail(self._lines_of_parts(problem, [(part, problem.get("errors", []), spelled)]))

    def _lines_of_parts(
        self, problem: Document, parts: Iterable[tuple[RequestPart, list[Document], Spelling]]
    ) -> Iterator[str]:
        every: list[Told] = []
        for part, errors, spelled in parts:
            given = part.source.taken(part.given)
            of_table = spelled if part.source.is_table else None
            told = told_of_source(errors, part.source, given, part.source.taken(part.typed), of_table)
            yield from problem_lines(problem, part.source.name, told, of_table)
            yield from advice_lines(problem, errors, part.source, given, self.limits)
            every += told
        yield from note_lines(problem, every)


def _document_of(problem: Problem) -> Document:
    found: Document = orjson.loads(problem_document(problem, ""))
    return found


def use_compiled() -> None:
    """Use the compiled loops as a server would; without them their twin gives the same numbers, more slowly."""
    if _settings().compiled == "auto" and COMPILED.path is None:
        try:
            COMPILED.use_installed()
        except OSError as error:
            click.echo(f"Warning: the compiled loops cannot be used: {error}", err=True)


def _settings() -> Settings:
    """Read a server's settings; an invalid setting is reported and ends the command."""
    try:
        return read_settings()
    except SettingsError as error:
        fail([f"Error: {error}"])
