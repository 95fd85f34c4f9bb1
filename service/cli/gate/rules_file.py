"""A file of rules, RULES.toml: the rules of a gate, and how the files of scores are read.

Its keys are the fields of a request to POST /v1/gates, whose values the service checks. What it cannot see is reported
here: invalid TOML, unknown keys, values that JSON lacks, and line numbers.
"""

import json
import math
import re
import tomllib
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, fields, replace
from typing import Any, BinaryIO, Self

from service.cli.command_error import fail
from service.cli.files import name_of
from service.inference.intervals import IntervalOptions
from service.inference.rules import CHANGES, RULE_KEYS
from service.operations import OPERATIONS
from service.wire.formats.inputs import (
    BASELINE,
    CLUSTERS,
    COUNTS_COLUMNS,
    GROUPS_COLUMNS,
    MEANING,
    OF_ONE_EVALUATION,
    SAMPLE_COLUMNS,
)
from service.wire.usual_names import meant

KEYS = OPERATIONS["gates"].parameters
INTERVALS_KEYS = tuple(field.name for field in fields(IntervalOptions))

COLUMNS = (*SAMPLE_COLUMNS, CLUSTERS, BASELINE, *COUNTS_COLUMNS, *GROUPS_COLUMNS)
"""Keys that name the columns of a table."""

GATE_OPTIONS = tuple(key for key in KEYS if key not in {*OF_ONE_EVALUATION, BASELINE})
"""Keys of the gate itself."""

BASELINE_TABLE = "baseline"
"""The table that says how the baseline's file is read, where it differs."""

_EXAMPLE = '[[rules]], metric = "roc", min = 0.8'

_TABLE_LINE = re.compile(r"\s*(\[\[?)\s*([\w.-]+)\s*\]\]?\s*(?:#.*)?$")
_KEY_LINE = re.compile(r"""\s*(?:"([^"]*)"|'([^']*)'|([\w-]+))\s*[=.]""")


@dataclass(frozen=True, slots=True)
class FileFault:
    """An error in a file of rules, and a JSON pointer to its place."""

    pointer: str
    detail: str


@dataclass(frozen=True, slots=True)
class Rules:
    """A file of rules: its name, the line of each key by JSON pointer, and its content."""

    name: str
    lines: Mapping[str, int]
    document: Mapping[str, Any]

    @classmethod
    def read(cls, stream: BinaryIO) -> Self:
        """Read a file; an error in it is printed and ends the command."""
        name = name_of(stream)
        try:
            text = stream.read().decode("utf-8-sig")
            document = tomllib.loads(text)
        except UnicodeDecodeError as error:
            fail([f"Error: {name}: This is not UTF-8: byte {error.start} is invalid."])
        except tomllib.TOMLDecodeError as error:
            fail(
                [
                    f"Error: {name}: This is not valid TOML.",
                    f"  {error}",
                    f"  A rule has three lines, such as {_EXAMPLE}.",
                ]
            )
        except RecursionError:
            fail([f"Error: {name}: This is nested too deeply."])
        rules = cls(name, _lines_by_pointer(text), document)
        faults = list(_faults(document))
        if faults:
            lines = (f"  {rules.place(fault.pointer)}{fault.detail}" for fault in faults)
            fail([f"Error: {name}: These rules cannot be used.", *lines])
        return rules

    @property
    def options(self) -> dict[str, Any]:
        """The request's fields besides its evaluations."""
        return {key: self.document[key] for key in GATE_OPTIONS if key in self.document}

    @property
    def meaning(self) -> dict[str, Any]:
        """The meaning of labels and scores in files that do not give it."""
        return {key: self.document[key] for key in MEANING if key in self.document}

    @property
    def texts(self) -> dict[str, str]:
        """How tables are read, as the texts of a query."""
        return {key: _text(self.document[key]) for key in KEYS if key in self.document and key not in GATE_OPTIONS}

    @property
    def texts_of_baseline(self) -> dict[str, str]:
        """How the baseline's table is read, where it differs."""
        return {key: _text(value) for key, value in self.document.get(BASELINE_TABLE, {}).items()}

    def without_changes(self) -> tuple[Self, int]:
        """The rules that need no baseline, each still at its line, and how many do; nothing is paired any more."""
        rules = self.document["rules"]
        kept = [row for row, rule in enumerate(rules) if not CHANGES.keys() & rule.keys()]
        document = {**self.document, "rules": [rules[row] for row in kept]}
        document.pop("paired", None)
        lines = {
            f"/rules/{place}": self.lines[f"/rules/{row}"]
            for place, row in enumerate(kept)
            if f"/rules/{row}" in self.lines
        }
        return replace(self, document=document, lines=lines), len(rules) - len(kept)

    def place(self, pointer: str) -> str:
        """Write the line of a pointer, as `line 12: `; empty if unknown."""
        while pointer:
            if pointer in self.lines:
                return f"line {self.lines[pointer]}: "
            pointer = pointer.rpartition("/")[0]
        return ""


def _faults(document: Mapping[str, Any]) -> Iterator[FileFault]:
    yield from _unknown(document, (*KEYS, BASELINE_TABLE), "")
    baseline = document.get(BASELINE_TABLE, {})
    if isinstance(baseline, dict):
        yield from _unknown(baseline, OF_ONE_EVALUATION, f"/{BASELINE_TABLE}")
    else:
        yield FileFault(f"/{BASELINE_TABLE}", "[baseline] says how its file is read; --baseline OLD names the file.")
    for pointer, table in (("", document), (f"/{BASELINE_TABLE}", baseline)):
        for key in COLUMNS:
            if isinstance(table, dict) and not isinstance(table.get(key, ""), str):
                yield FileFault(f"{pointer}/{key}", f'{key} is the name of a column, in quotes: {key} = "..."')
    yield from _unknown(document.get("intervals", {}), INTERVALS_KEYS, "/intervals")
    rules = document.get("rules", [])
    if not rules:
        yield FileFault("/rules", f"There are no rules. Write one on three lines, such as {_EXAMPLE}.")
    elif not isinstance(rules, list):
        yield FileFault("/rules", "Rules are written [[rules]], with two brackets, each above its own keys.")
    else:
        for row, rule in enumerate(rules):
            yield from _unknown(rule, RULE_KEYS, f"/rules/{row}")
    yield from _missing_in_json(document, "")


def _unknown(table: object, known: tuple[str, ...], pointer: str) -> Iterator[FileFault]:
    """Report the unknown keys of a table, each with a suggestion."""
    for key in table if isinstance(table, dict) else ():  # the service refuses anything but a table
        if key in known:
            continue
        if pointer and key == "threshold":
            advice = "did you mean at_threshold?"
        elif pointer and key in KEYS:
            advice = "keys for the whole file go above the first line with brackets."
        elif not pointer and key in RULE_KEYS:
            advice = "it belongs below a [[rules]] line."
        else:
            advice = meant(key, known)
        yield FileFault(f"{pointer}/{key}", f"{key[:40]!r} is unknown; {advice}")


def _missing_in_json(value: object, pointer: str) -> Iterator[FileFault]:
    """Report values that TOML has and JSON lacks."""
    if isinstance(value, dict):
        for key, member in value.items():
            yield from _missing_in_json(member, f"{pointer}/{key}")
    elif isinstance(value, list):
        for row, member in enumerate(value):
            yield from _missing_in_json(member, f"{pointer}/{row}")
    elif isinstance(value, float) and not math.isfinite(value):
        if math.isnan(value) or not pointer.endswith("/at_threshold"):
            yield FileFault(pointer, f"{value} is not a finite number.")
    elif not isinstance(value, (bool, int, float, str)):
        yield FileFault(pointer, "This must not be a date or a time; put text in quotes.")


def _lines_by_pointer(text: str) -> dict[str, int]:
    """Find the line of each key, as far as single lines show it."""
    lines: dict[str, int] = {}
    tables: dict[str, int] = {}
    prefix = ""
    for number, line in enumerate(text.split("\n"), start=1):
        if header := _TABLE_LINE.match(line):
            name = header[2].replace(".", "/")
            if header[1] == "[[":
                tables[name] = tables.get(name, -1) + 1
                prefix = f"/{name}/{tables[name]}"
            else:
                prefix = f"/{name}"
            lines.setdefault(f"/{name}", number)
            lines[prefix] = number
        elif key := _KEY_LINE.match(line):
            lines.setdefault(f"{prefix}/{key[1] or key[2] or key[3]}", number)
    return lines


def _text(value: object) -> str:
    """Write a value as in a query: text unchanged, anything else as JSON."""
    return value if isinstance(value, str) else json.dumps(value)
