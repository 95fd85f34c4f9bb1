"""From a body and its query parameters to one document of plain values and columns, whatever the media type.

The document has the shape of the JSON body, so that one schema checks them all. Knows formats; not what is valid.
"""

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import Protocol

from service.wire.csv_format import CsvTable
from service.wire.json_format import StrictJsonError, decode_json, parse_json
from service.wire.problems import FieldError, Problem, invalid_value, pointer_token

SAMPLE_COLUMNS = ("scores", "labels", "weights")
COUNTS_COLUMNS = ("tp", "fp", "fn", "tn", "threshold")
TOTALS = ("positives", "negatives")
EVALUATION_PARAMETERS = (*SAMPLE_COLUMNS, *TOTALS, "positive_label", "lower_is_positive")
"""The query parameters that go with any body which is a table."""

_TEXT_PARAMETERS = ("positive_label", "keep")
_SHOWN = 200
"""How many characters of a table's header a problem repeats."""


@dataclass(frozen=True, slots=True)
class Decoded:
    """A request as one document; `pointers` renames pointers into it to what the caller knows (a table's columns)."""

    document: object
    pointers: Mapping[str, str] = field(default_factory=dict)

    def pointer(self, inner: str) -> str:
        """Return the caller's pointer for one into the document."""
        for prefix, outer in self.pointers.items():
            if inner == prefix or inner.startswith(f"{prefix}/"):
                return outer + inner[len(prefix) :]
        return inner


class Table(Protocol):
    """A body that is a table: its columns' names, and the columns on demand."""

    @property
    def header(self) -> list[str]:
        """The names of all columns."""

    def read(self, names: list[str]) -> Mapping[str, object]:
        """Read the named columns."""


Decoder = Callable[[bytes, Mapping[str, str], tuple[str, ...]], Decoded]
"""From a body, the query parameters, and the names of the operation's own options."""


def _decode_json_body(body: bytes, parameters: Mapping[str, str], _: tuple[str, ...]) -> Decoded:
    """Read everything from the body; a JSON body takes no query parameters."""
    for key in parameters:
        message = "With a JSON body, options are fields of the body; the query takes only table, for a CSV answer."
        raise invalid_value(f"/{pointer_token(key)}", "unknown_field", message)
    return Decoded(decode_json(body))


def _decode_csv_body(body: bytes, parameters: Mapping[str, str], options: tuple[str, ...]) -> Decoded:
    return _decode_table(CsvTable(body), parameters, options)


DECODERS: dict[str, Decoder] = {"application/json": _decode_json_body, "text/csv": _decode_csv_body}
"""{media type: decoder}, the default first."""


def _decode_table(table: Table, parameters: Mapping[str, str], options: tuple[str, ...]) -> Decoded:
    """Read the columns from a table, a sample's before counts, and everything else from the query parameters."""
    known = (*EVALUATION_PARAMETERS, *options)
    for key in parameters:
        if key not in known:
            message = f"This query parameter is not known here; known are {', '.join(known)}."
            raise invalid_value(f"/{pointer_token(key)}", "unknown_field", message)
    names = {key: parameters.get(key, key) for key in SAMPLE_COLUMNS}
    chosen = {key: name for key, name in names.items() if key in parameters or name in table.header}
    header = ", ".join(map(repr, table.header))[:_SHOWN]
    for key, name in chosen.items():
        if name not in table.header:
            raise invalid_value(
                f"/{key}", "missing", f"No column is called {name[:_SHOWN]!r}; the header is: {header}."
            )
    counts = _counts_columns(table) if "scores" not in parameters else []
    if not counts and not {"scores", "labels"} <= set(chosen):
        message = f"Columns scores and labels, or tp and fp, are needed; the header, split at commas, is: {header}."
        raise invalid_value("", "missing", f"{message} scores= and labels= name columns that are called otherwise.")
    given = [key for key in TOTALS if key in parameters]
    if given and not counts:
        message = "Totals go with columns of counts; this table is a sample."
        raise invalid_value(f"/{given[0]}", "exclusive", message)
    columns = table.read([*dict.fromkeys([*chosen.values(), *counts])])
    document: dict[str, object] = {key: columns[name] for key, name in chosen.items()}
    if counts:
        totals = {key: _json_value(key, parameters[key]) for key in given}
        document["counts"] = {key: columns[key] for key in counts} | totals
    for key in ("positive_label", "lower_is_positive", *options):
        if key in parameters:
            document[key] = parameters[key] if key in _TEXT_PARAMETERS else _json_value(key, parameters[key])
    pointers = {f"/{key}": f"/{pointer_token(name)}" for key, name in chosen.items()}
    return Decoded(document, pointers | {f"/counts/{key}": f"/{key}" for key in (*COUNTS_COLUMNS, *TOTALS)})


def _counts_columns(table: Table) -> list[str]:
    present = [key for key in COUNTS_COLUMNS if key in table.header]
    return present if {"tp", "fp"} & set(present) else []


def _json_value(key: str, text: str) -> object:
    """Read a query parameter that holds JSON text; `include` may also be names between commas."""
    try:
        return parse_json(text)
    except StrictJsonError as error:
        if key == "include":
            return [name.strip() for name in text.split(",")]
        detail = f"This parameter takes strict JSON text. {error}"
        raise Problem(
            "invalid_request", detail, [FieldError(f"/{key}{error.pointer or ''}", "not_json", detail)]
        ) from None
