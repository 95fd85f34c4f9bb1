"""A gate's question: a file of rules, a file of scores and perhaps one of a baseline; and how it gets its answer.

Without a server, answer.py gets the decoded files. A server gets a table without a baseline unchanged; anything else is
sent as one JSON body. A problem names the file that caused it.
"""

import json
from collections.abc import Iterator
from dataclasses import asdict, dataclass, field
from typing import Any

import orjson

from service.answer import answer_decoded
from service.cli.asking import (
    Spelling,
    is_problem,
    limits,
    lines_of_file,
    note_lines,
    numbered,
    problem_lines,
    use_compiled,
)
from service.cli.command_error import fail
from service.cli.engine_rows import limits_of_engines
from service.cli.evaluations import read_evaluation, with_common_missing
from service.cli.files import InputFile
from service.cli.gate.rules_file import GATE_OPTIONS, Rules
from service.cli.gate.verdict_layout import is_verdict
from service.cli.own_options import of_baseline
from service.cli.server_address import ServerAddress, fits_a_query
from service.cli.sources import Source
from service.curves.evaluation import CurvesWarning
from service.operations import OPERATIONS
from service.request import Request
from service.wire.columns import items
from service.wire.formats.inputs import BASELINE, MEANING
from service.wire.formats.query_options import Decoded, options_of
from service.wire.formats.tables import one_evaluation
from service.wire.media_types import JSON
from service.wire.requests.query_fields import READING_FIELDS

_OWN_OPTIONS = tuple(f"/{name}" for name in GATE_OPTIONS)


@dataclass(slots=True)
class Question:
    """The question; `given` are the options of the command line, which override those of the rules.

    `of_baseline` are those for the baseline alone, which override these.

    A JSON file has its own options: it takes from these only the meaning of labels and scores, unless it has its own.
    """

    rules: Rules
    scores: Source
    baseline: Source | None
    given: dict[str, str]
    of_baseline: dict[str, str] = field(default_factory=dict)
    _decoded: Decoded = field(init=False, default_factory=lambda: Decoded({}))
    _baseline: Decoded = field(init=False, default_factory=lambda: Decoded({}))

    def verdict(self, server: ServerAddress | None) -> bytes:
        """Get the answer, JSON; a problem is printed and ends the command."""
        if self.baseline is not None and BASELINE in self.rules.texts:
            both = f"{BASELINE} names a column, and --baseline names a file; give only one of them."
            fail([f"Error: {self.rules.name}: {both}"])
        return self._answered_here() if server is None else self._answered_by(server)

    def _answered_here(self) -> bytes:
        use_compiled()
        most = limits() if isinstance(self.scores, InputFile) else limits_of_engines()
        request = Request("gates", "/v1/gates", JSON, JSON, (), b"")
        document = self._document(plain=False)
        result = answer_decoded(request, Decoded(document, warnings=self._warnings), most)
        if is_problem(result):
            fail(self._lines_of_problem(orjson.loads(result.body)))
        return result.body

    def _answered_by(self, server: ServerAddress) -> bytes:
        from service.cli.over_http import advice_on, post  # noqa: PLC0415  # slow to import, rarely needed

        parameters = self.scores.taken(self._texts) | {
            key: json.dumps(value) for key, value in self.rules.options.items()
        }
        if (
            isinstance(self.scores, InputFile)
            and self.scores.is_table
            and self.baseline is None
            and fits_a_query(parameters)
        ):
            body = self.scores.content
            media_type = self.scores.media_type_of(body)
            reply = post(server, "gates", media_type, parameters, body, is_answer=is_verdict)
            lines = self._lines_of_scores(reply.document, body) if reply.is_problem else []
        else:
            # Not orjson, which refuses integers beyond 64 bits: the service should report them.
            body = json.dumps(self._document(plain=True), default=items).encode()
            reply = post(server, "gates", JSON, {}, body, is_answer=is_verdict)
            lines = list(self._lines_of_problem(reply.document)) if reply.is_problem else []
        if reply.is_problem:
            fail([*lines, *advice_on(reply.document, server)])
        if not self._warnings:
            return reply.body
        warnings = [asdict(warning) for warning in self._warnings] + reply.document["warnings"]
        return orjson.dumps(reply.document | {"warnings": warnings}, option=orjson.OPT_APPEND_NEWLINE)

    @property
    def _warnings(self) -> tuple[CurvesWarning, ...]:
        """The warnings about the files that were read here."""
        return (*dict.fromkeys(self._decoded.warnings + self._baseline.warnings),)

    @property
    def _texts(self) -> dict[str, str]:
        """How tables are read."""
        return self.rules.texts | self.given

    @property
    def _texts_of_baseline(self) -> dict[str, str]:
        """How the baseline's table is read."""
        return self._texts | self.rules.texts_of_baseline | self.of_baseline

    @property
    def _meaning(self) -> dict[str, Any]:
        """The meaning of labels and scores in a JSON file that does not give it."""
        given = {key: self.given[key] for key in ("positive_label",) if key in self.given}
        lower = {"lower_is_positive": True} if "lower_is_positive" in self.given else {}
        return self.rules.meaning | given | lower

    def _document(self, *, plain: bool) -> object:
        """Combine the files and the options; anything but an object is left for the service to refuse."""
        form = OPERATIONS["gates"].form if self.baseline is None else one_evaluation(READING_FIELDS)
        self._decoded = read_evaluation(self.scores, self._texts, self.given, form, plain=plain)
        document = _with_meaning(self.scores, self._decoded.document, self._meaning)
        if not isinstance(document, dict):
            return document
        self._refuse_options(document)
        if self.baseline is None:
            return document | self.rules.options
        self._baseline = read_evaluation(
            self.baseline,
            self._texts_of_baseline,
            self.given | self.of_baseline,
            one_evaluation(READING_FIELDS),
            plain=plain,
            spelled=of_baseline,
        )
        self._refuse_unpaired(plain=plain)
        (self._decoded, self._baseline), common = with_common_missing([self._decoded, self._baseline])
        document = dict(_with_meaning(self.scores, self._decoded.document, self._meaning))
        of_baseline_alone = self.rules.texts_of_baseline | self.of_baseline
        meaning = {key: value for key, value in document.items() if key in MEANING} | self._meaning
        own = {key: of_baseline_alone[key] for key in MEANING if key in of_baseline_alone}
        meaning |= options_of(own, READING_FIELDS)
        document["baseline"] = _with_meaning(self.baseline, self._baseline.document, meaning)
        if plain and self.baseline.is_table and "labels" in document["baseline"]:
            document["baseline"].setdefault("positive_label", True)  # its labels are booleans now
        return document | common | self.rules.options

    def _refuse_unpaired(self, *, plain: bool) -> None:
        """Refuse paired rows if some were left out of one file, and the service cannot do the same with the other."""
        left_out = any(told.code == "rows_left_out" for told in self._decoded.warnings + self._baseline.warnings)
        if plain and left_out and self.rules.options.get("paired"):
            files = f"{self.scores.name}, {self.baseline.name if self.baseline else ''}"
            advice = "paired rows can only be left out together where both files are read: leave out --server."
            fail([f"Error: {files}: {advice}"])

    def _refuse_options(self, document: dict[str, Any]) -> None:
        """Refuse a JSON file of scores that is a whole request, whose rules would be lost."""
        if self.scores.is_table:
            return
        for key in (*GATE_OPTIONS, "baseline"):
            if key in document:
                place = "in the file that --baseline names" if key == "baseline" else f"in {self.rules.name}"
                fail([f"Error: {self.scores.name}: {key} belongs {place}; this file may hold an evaluation only."])

    def _lines_of_scores(self, problem: dict[str, Any], body: bytes) -> list[str]:
        """Format a problem of a table that was sent unchanged."""
        if any(_is_of_rules(error["pointer"]) for error in problem.get("errors", [])):
            return list(self._lines_of_problem(problem))
        if not isinstance(self.scores, InputFile):
            return list(self.scores.problem_lines(problem, self.given))
        return list(lines_of_file(problem, self.scores, body, self.scores.taken(self._texts), self.given))

    def _lines_of_problem(self, problem: dict[str, Any]) -> Iterator[str]:
        """Format a problem, file by file."""
        of_rules, of_scores, of_old, of_both = [], [], [], []
        for error in problem.get("errors", []):
            pointer: str = error["pointer"]
            if self.baseline is not None and error["code"] == "not_paired" and pointer == "/paired":
                of_both.append(error | {"pointer": ""})
            elif _is_of_rules(pointer):
                of_rules.append(error | {"pointer": self.rules.place(pointer) + pointer})
            elif self.baseline is not None and f"{pointer}/".startswith("/baseline/"):
                inner = self._baseline.pointer(pointer.removeprefix("/baseline"))
                of_old.append(error | {"pointer": inner})
            else:
                of_scores.append(error | {"pointer": self._decoded.pointer(pointer)})
        if of_rules:
            yield from problem_lines(problem | {"errors": of_rules}, self.rules.name)
            if any(error["code"] == "missing" and "baseline" in error["detail"] for error in of_rules):
                yield "  The option --baseline OLD names its file."
        if of_both and self.baseline is not None:
            yield from problem_lines(problem | {"errors": of_both}, f"{self.scores.name}, {self.baseline.name}")
        of_scores = numbered(of_scores, self.scores.first_row(self._texts))
        of_old = numbered(of_old, None if self.baseline is None else self.baseline.first_row(self._texts_of_baseline))
        if of_scores or not (of_rules or of_old or of_both):
            yield from problem_lines(problem | {"errors": of_scores}, self.scores.name, options=self.scores.is_table)
        yield from self._lines_of_baseline(problem, of_old, None if of_scores else of_baseline)
        yield from note_lines(problem, of_scores + of_old)

    def _lines_of_baseline(
        self, problem: dict[str, Any], errors: list[dict[str, Any]], spelled: Spelling | None
    ) -> Iterator[str]:
        if errors and self.baseline is not None:
            name, is_table = self.baseline.name, self.baseline.is_table
            yield from problem_lines(problem | {"errors": errors}, name, options=is_table, spelled=spelled)


def _with_meaning(file: Source, document: object, meaning: dict[str, Any]) -> Any:  # noqa: ANN401  # any JSON value
    """Add the meaning of labels and scores to a JSON file's evaluation, unless it has its own."""
    if file.is_table or not isinstance(document, dict):
        return document
    usable = {key: value for key, value in meaning.items() if key != "positive_label" or "counts" not in document}
    return usable | document


def _is_of_rules(pointer: str) -> bool:
    return any(f"{pointer}/".startswith(f"{option}/") for option in _OWN_OPTIONS)
