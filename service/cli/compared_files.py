"""Several FILEs of `rocpr compare`: how they are named, and how they become one request.

Knows files, options and the request; nothing of the screen.
"""

from collections.abc import Mapping
from functools import partial
from pathlib import PurePath
from typing import Any

import click

from service.cli.asking import Question, RequestPart
from service.cli.options import Texts
from service.cli.own_options import of_one_file, texts_of_files
from service.cli.sources import FileAccess
from service.curves.comparison import MOST_EVALUATIONS
from service.operations import OPERATIONS
from service.wire.formats.inputs import IDS
from service.wire.formats.json_format import StrictJsonError
from service.wire.formats.query_options import names_or_json
from service.wire.formats.tables import one_evaluation
from service.wire.requests.query_fields import READING_FIELDS
from service.wire.wrong import Wrong

_UNNAMED = ""
"""The key of a single file without a name: a table or a request with all evaluations."""

_FEWEST = 2

_OF_REQUEST = ("indices", "decisions", "metrics", "intervals", "prevalence")
"""The options that are about all evaluations together."""

_EVALUATION = one_evaluation(READING_FIELDS)
_OF_ALL_FILES = OPERATIONS["comparisons"].form


def named_files(context: click.Context, _parameter: click.Parameter, words: tuple[str, ...]) -> dict[str, str]:
    """The path of every NAME=FILE, or of one FILE. Raises UsageError.

    A name has no equals sign. A FILE without a NAME is named after itself, without the suffix, unless an engine reads
    it: a glob or a table gives no usable name.
    """
    if len(words) == 1 and "=" not in words[0]:
        return {_UNNAMED: words[0]}
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
    return paths


def question_of_files(paths: Mapping[str, str], given: Texts, access: FileAccess, options: dict[str, Any]) -> Question:
    """Put several files together, or ask about the columns of one. Raises UsageError."""
    own = texts_of_files(options.pop("own"), {name: name for name in paths if name != _UNNAMED})
    of_request = {name: _value(name, given.pop(name)) for name in _OF_REQUEST if name in given}
    if _UNNAMED in paths and access.engine is not None:
        raise click.UsageError("With --engine, give every classifier as NAME=FILE.")
    sources = access.joined(access.sources([*paths.values()], given))
    if _UNNAMED in paths:
        names = names_or_json(given.get("scores", "[]"))
        if sources[0].is_table and isinstance(names, list) and len(names) == 1:
            raise click.UsageError(
                f"--scores {names[0]} is one classifier; name the columns of all, as in --scores old,new."
            )
        parts = [RequestPart(sources[0], _OF_ALL_FILES, given, given)]
        return Question("comparisons", parts, access.server, of_request, (*of_request,))
    parts = []
    for row, (name, source) in enumerate(zip(paths, sources, strict=True)):
        texts = given | own.get(name, {})
        spelled = partial(of_one_file, name)
        parts.append(RequestPart(source, _EVALUATION, texts, texts, f"/evaluations/{row}", name, spelled=spelled))
    return Question("comparisons", parts, access.server, of_request)


def _value(name: str, text: str) -> object:
    """Read the text of an option about all evaluations. Raises UsageError."""
    if name in {"indices", "metrics"}:
        return names_or_json(text)
    try:
        return _OF_ALL_FILES.fields[name].from_text(text, decimal_comma=False)
    except (StrictJsonError, Wrong) as error:
        raise click.UsageError(f"--{name}: {error}") from None


def is_paired(question: Question, options: Mapping[str, Any]) -> bool:
    """Whether all have the same rows: as said, by ids, or as columns of one table."""
    part = question.parts[0]
    if IDS in part.given:
        return True
    if part.place or part.source.is_table:
        return bool(options["paired"]) or not part.place
    return bool(options["paired"] or question.document.get("paired"))


def asked_of_pairs(question: Question, options: Mapping[str, Any]) -> dict[str, object]:
    """What the summary requests: how they differ, at the level that was asked for."""
    how = {"against": "all" if options["all_pairs"] else "first", "adjust": "holm" if options["holm"] else "none"}
    paired = {} if IDS in question.parts[0].given else {"paired": is_paired(question, options)}
    return how | paired | {"intervals": question.fields.get("intervals", {})}
