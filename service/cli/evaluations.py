"""Files given as NAME=FILE, each an evaluation, and the request that they form.

Tables are decoded as over HTTP, so that numbers and labels mean the same; a problem of the request is reported for the
file that caused it.
"""

import math
import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import partial
from pathlib import PurePath
from typing import Any, BinaryIO

import click
import orjson

from service.cli.asking import Spelling, as_options, limits, lines_of_file, note_lines, numbered, problem_lines
from service.cli.command_error import fail
from service.cli.file_argument import FileOrGlob, refuse_two_of_standard_input
from service.cli.files import InputFile
from service.cli.own_options import of_one_file
from service.cli.sources import Source
from service.curves.comparison import MOST_EVALUATIONS
from service.curves.evaluation import CurvesWarning
from service.environment import leave_pandas_out
from service.wire.answers.infinite import finite_in_order
from service.wire.columns import labels, numbers
from service.wire.formats.decoders import DECODERS
from service.wire.formats.inputs import COUNTS_COLUMNS, GROUP_ENDS, GROUP_MASSES, MISSING, SAMPLE_COLUMNS
from service.wire.formats.missing_cells import without_missing
from service.wire.formats.query_options import Decoded
from service.wire.formats.tables import TableForm, one_evaluation
from service.wire.problems import FieldError, Problem, invalid_request, problem_document
from service.wire.requests.query_fields import READING_FIELDS
from service.wire.wrong import Wrong

UNNAMED = ""
"""The key of a single file without a name: a table or a request with all evaluations."""

_FEWEST = 2
_OF_EVALUATION = re.compile(r"/evaluations/(\d+)((?:/.*)?)", re.DOTALL)


def named_files(
    context: click.Context, parameter: click.Parameter, words: tuple[str, ...]
) -> dict[str, BinaryIO | str]:
    """Open every NAME=FILE, or one FILE, unless an engine reads them. Raises UsageError.

    A name has no equals sign. A FILE without a NAME is named after itself, without the suffix, unless an engine reads
    it: a glob or a table gives no usable name.
    """
    of_path = FileOrGlob()
    if len(words) == 1 and "=" not in words[0]:
        return {UNNAMED: of_path.convert(words[0], parameter, context)}
    if not _FEWEST <= len(words) <= MOST_EVALUATIONS:
        raise click.UsageError(f"The command takes {_FEWEST} to {MOST_EVALUATIONS} files, not {len(words)}.")
    paths: dict[str, str] = {}
    for word in words:
        name, _, path = word.partition("=")
        if "=" not in word and word != "-" and context.params.get("engine") is None:
            name, path = PurePath(word).stem, word
        if not (name and path):
            file = path or name
            example = "new" if file == "-" else PurePath(file).stem
            raise click.UsageError(f"{word!r} is not NAME=FILE; put a name first, as in {example}={file}.")
        if name in paths:
            raise click.UsageError(f"More than one file has the name {name!r}; name them, as in old={path}.")
        paths[name] = path
    refuse_two_of_standard_input(paths.values())
    return {name: of_path.convert(path, parameter, context) for name, path in paths.items()}


@dataclass(frozen=True, slots=True)
class EvaluationFile:
    """One evaluation of a request: its name, its file, how this is read, and what it holds."""

    name: str
    file: Source
    given: Mapping[str, str]
    decoded: Decoded


def read_evaluations(
    files: Mapping[str, Source], given: dict[str, str], own: Mapping[str, dict[str, str]]
) -> list[EvaluationFile]:
    """Read every file, tables with the given options and each with its own.

    A file's problem is printed and ends the command; what to type is for this file alone if others were read before.
    """
    form = one_evaluation(READING_FIELDS)
    read: list[EvaluationFile] = []
    for name, file in files.items():
        reading = given | own.get(name, {})
        spelled = partial(of_one_file, name) if read or reading else None
        decoded = read_evaluation(file, reading, reading, form, plain=False, spelled=spelled)
        read.append(EvaluationFile(name, file, reading, decoded))
    return read


def read_evaluation(
    file: Source,
    given: dict[str, str],
    typed: dict[str, str],
    form: TableForm,
    *,
    plain: bool,
    spelled: Spelling | None = None,
) -> Decoded:
    """Read a file, a table with the given options, some of which were typed.

    A problem is printed and ends the command; `spelled` writes options for this file alone. With `plain` a file's
    columns become lists, as in JSON.
    """
    given, typed = file.taken(given), file.taken(typed)
    if not isinstance(file, InputFile):
        return file.decoded(given)
    body = file.content
    leave_pandas_out()
    try:
        decoded = DECODERS[file.media_type_of(body)](body, given, form, limits())
        return _plain(without_missing(decoded)) if plain and file.is_table else decoded
    except Problem as problem:
        document = orjson.loads(problem_document(problem, ""))
        fail(lines_of_file(document, file, body, given, typed, spelled=spelled))


def with_common_missing(read: Sequence[Decoded]) -> tuple[list[Decoded], dict[str, object]]:
    """Let `missing` be an option of the request if all evaluations have it: then paired rows are left out together.

    What only some have is done here.
    """
    common = all(isinstance(each.document, dict) and each.document.get(MISSING) == "drop" for each in read)
    done = read if common else [without_missing(each) for each in read]
    without = [
        replace(each, document={key: value for key, value in each.document.items() if key != MISSING})
        if isinstance(each.document, dict)
        else each
        for each in done
    ]
    return without, {MISSING: "drop"} if common else {}


def request_of(evaluations: Sequence[EvaluationFile], options: dict[str, object]) -> Decoded:
    """Put the evaluations and the options together; each warning begins with the name of its evaluation."""
    read, common = with_common_missing([each.decoded for each in evaluations])
    named = [_named(each.name, decoded.document) for each, decoded in zip(evaluations, read, strict=True)]
    warnings = [
        replace(told, detail=f"{each.name}: {told.detail}")
        for each, decoded in zip(evaluations, read, strict=True)
        for told in decoded.warnings
    ]
    return Decoded({"evaluations": named, **common, **options}, warnings=tuple(warnings))


def lines_of_problem(
    problem: dict[str, Any], evaluations: list[EvaluationFile], options: dict[str, object]
) -> Iterator[str]:
    """Format a problem of the request, file by file, and of its options."""
    others: list[dict[str, Any]] = []
    of_files: list[dict[str, Any]] = []
    by_file: dict[int, list[dict[str, Any]]] = {}
    for error in problem.get("errors", []):
        match = _OF_EVALUATION.fullmatch(error["pointer"])
        if match and int(match[1]) < len(evaluations):
            by_file.setdefault(int(match[1]), []).append({**error, "pointer": match[2]})
        else:
            others.append(error)
    if others or not by_file:
        yield from problem_lines(problem | {"errors": as_options(others, options)}, "these files")
    for position, errors in sorted(by_file.items()):
        evaluation = evaluations[position]
        renamed = [error | {"pointer": evaluation.decoded.pointer(error["pointer"])} for error in errors]
        renamed = numbered(renamed, evaluation.file.first_row(evaluation.given))
        of_files += renamed
        yield from problem_lines(
            problem | {"errors": renamed},
            evaluation.file.name,
            options=evaluation.file.is_table,
            spelled=None if len(by_file) == len(evaluations) else partial(of_one_file, evaluation.name),
        )
    yield from note_lines(problem, of_files)


def _plain(decoded: Decoded) -> Decoded:
    """Turn a table's columns into lists. Raises Problem with the first wrong row of each.

    Labels become booleans, whose warnings are those of this table.
    """
    document: dict[str, Any] = dict(decoded.document)  # type: ignore[call-overload]  # a table's is an object
    positive_label = document.pop("positive_label", None) if "labels" in document else None
    errors: list[FieldError] = []

    warnings: list[CurvesWarning] = []

    def plain_labels(column: object) -> list[object]:
        found = labels(column, positive_label)
        warnings.extend([CurvesWarning("one_vs_rest", found.rest)] if found.rest else [])
        return list(found.positive.tolist())

    def plain(key: str, column: object, pointer: str) -> list[object]:
        try:
            if key == "labels":
                return plain_labels(column)
            cells = finite_in_order(numbers(column, nullable=key == "threshold")).tolist()
        except Wrong as error:
            row = "" if error.row is None else f"/{error.row}"
            errors.append(FieldError(decoded.pointer(pointer + row), error.code, error.detail))
            return []
        return [None if math.isnan(cell) else cell for cell in cells]

    document |= {key: plain(key, document[key], f"/{key}") for key in SAMPLE_COLUMNS if key in document}
    if "baseline" in document:  # of a gate's table: another column of scores
        shared = {key: document[key] for key in ("labels", "weights") if key in document}
        document["baseline"] = shared | {"scores": plain("scores", document["baseline"]["scores"], "/baseline/scores")}
    if "counts" in document:
        counts = document["counts"]
        columns = {key: plain(key, counts[key], f"/counts/{key}") for key in COUNTS_COLUMNS if key in counts}
        document["counts"] = counts | columns
    if "groups" in document:
        groups = document["groups"]
        names = [key for key in (*GROUP_ENDS, *GROUP_MASSES) if key in groups]
        document["groups"] = groups | {key: plain(key, groups[key], f"/groups/{key}") for key in names}
    if errors:
        raise invalid_request(errors)
    return replace(decoded, document=document, warnings=(*decoded.warnings, *warnings))


def _named(name: str, document: object) -> object:
    """Give the evaluation its name; anything but an object is left for the service to refuse."""
    return document | {"name": name} if isinstance(document, dict) else document
