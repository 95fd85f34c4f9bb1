"""The options of a query: their fields read them to the values of a JSON body, and they are added to a JSON body."""

from collections.abc import Callable, Mapping
from contextlib import suppress
from dataclasses import dataclass, field
from typing import Protocol

from service.curves.comparison import MOST_EVALUATIONS
from service.curves.evaluation import CurvesWarning
from service.wire.formats.inputs import COLUMN_PARAMETERS, COUNTS, CSV_PARAMETERS, GROUPS, MEANING, PICTURE_PARAMETERS
from service.wire.formats.json_format import StrictJsonError, parse_json
from service.wire.problems import invalid_value
from service.wire.wrong import Wrong

_COMMAS = {"comma", ","}

_JSON_WORDS = frozenset({"true", "false", "null"})
"""All JSON texts that begin with a letter."""

_TRUTH = {"true": True, "false": False}
"""Python capitalises them, R writes them in capitals."""


@dataclass(frozen=True, slots=True)
class Decoded:
    """A request as one document.

    pointers   map pointers into it to the caller's terms (a table's columns).
    warnings   about what the document leaves out.
    row_of     {pointer to a column in it: from a row of the column to the caller's}, unless they are the same.
    """

    document: object
    pointers: Mapping[str, str] = field(default_factory=dict)
    warnings: tuple[CurvesWarning, ...] = ()
    row_of: Mapping[str, Callable[[int], int]] = field(default_factory=dict)

    def pointer(self, inner: str) -> str:
        """Return the caller's pointer for one into the document."""
        column, _, row = inner.rpartition("/")
        if column in self.row_of and row.isdecimal():
            inner = f"{column}/{self.row_of[column](int(row))}"
        for prefix, outer in self.pointers.items():
            if inner == prefix or inner.startswith(f"{prefix}/"):
                return outer + inner[len(prefix) :]
        return inner


class QueryField(Protocol):
    """What reads the text of a parameter."""

    def from_text(self, text: str, *, decimal_comma: bool) -> object:
        """Read it. Raises Wrong, and StrictJsonError with a pointer."""


QueryFields = Mapping[str, QueryField]
"""{parameter: what reads its text}"""


def options_of(parameters: Mapping[str, str], fields: QueryFields) -> dict[str, object]:
    """Read the parameters that do not say how a table is read."""
    return {
        key: _value(key, text, parameters, fields)
        for key, text in parameters.items()
        if key not in COLUMN_PARAMETERS and key not in CSV_PARAMETERS
    }


def picture_options(parameters: dict[str, str], fields: QueryFields) -> dict[str, object]:
    """Remove the picture's options from the query, and return them as a document for its schema."""
    return {
        key: _value(key, parameters.pop(key), parameters, fields) for key in PICTURE_PARAMETERS if key in parameters
    }


def complete(document: object, parameters: Mapping[str, str], fields: QueryFields) -> Decoded:
    """Put the options of a query into a JSON body, each in its place.

    Those of counts and groups go into these objects, and the meaning of labels and scores into each of several
    evaluations. A body that is not an object, or has too many evaluations, is left to the schema to refuse.

    Raises Problem for an option that the body has, too, and for parameters that name columns.
    """
    for key in COLUMN_PARAMETERS:
        if key in parameters:
            message = f"{key} names a column of a table; a JSON body has the columns themselves. Leave it out."
            raise invalid_value(f"/{key}", "exclusive", message)
    if not parameters or not isinstance(document, dict):
        return Decoded(document)
    options = options_of(parameters, fields)
    completed: dict[str, object] = dict(document)
    pointers: dict[str, str] = {}
    for kind in (GROUPS, COUNTS):
        own = {key: options.pop(key) for key in kind.own if key in options}
        if own:
            inner = document.get(kind.inside)
            if not isinstance(inner, dict):
                are = "Totals are" if kind is COUNTS else "This is"
                message = f"{are} for {kind.inside}; this body has none."
                raise invalid_value(f"/{next(iter(own))}", "exclusive", message)
            completed[kind.inside] = _with(inner, own)
            pointers |= {f"/{kind.inside}/{key}": f"/{key}" for key in own}
    evaluations = document.get("evaluations")
    if isinstance(evaluations, list) and len(evaluations) <= MOST_EVALUATIONS:
        meaning = {key: options.pop(key) for key in MEANING if key in options}
        completed["evaluations"] = [_with(each, meaning) if isinstance(each, dict) else each for each in evaluations]
        pointers |= {f"/evaluations/{row}/{key}": f"/{key}" for row in range(len(evaluations)) for key in meaning}
    return Decoded(_with(completed, options), pointers)


def names_or_json(text: str) -> object:
    """Read JSON text, or names separated by commas and optional blanks."""
    if not text[:1].isalpha() or text.strip() in _JSON_WORDS:
        with suppress(StrictJsonError):
            return parse_json(text)
    return [name.strip() for name in text.split(",")]


def json_or_truth(text: str) -> object:
    """Read a boolean, or JSON. Raises StrictJsonError."""
    truth = _TRUTH.get(text.lower())
    return parse_json(text) if truth is None else truth


def _with(given: dict[str, object], options: Mapping[str, object]) -> dict[str, object]:
    """Add options to an object of the body, which must not have them already; null and [] count as absent."""
    for key in options:
        if given.get(key) not in (None, []):
            message = f"The query and the body both have {key}; leave it out of one of them."
            raise invalid_value(f"/{key}", "exclusive", message)
    return {**given, **options}


def _value(key: str, text: str, beside: Mapping[str, str], fields: QueryFields) -> object:
    """Read a parameter; `beside` are all parameters. One without a field is left to the schema. Raises Problem."""
    if key not in fields:
        return text
    try:
        return fields[key].from_text(text, decimal_comma=beside.get("decimal") in _COMMAS)
    except StrictJsonError as error:
        raise invalid_value(f"/{key}{error.pointer}", "not_finite", str(error)) from None
    except Wrong as wrong:
        raise invalid_value(f"/{key}", wrong.code, wrong.detail) from None
