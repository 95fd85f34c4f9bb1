"""From a body and its query parameters to one document of plain values and columns, whatever the media type.

The document has the shape of the JSON body, so that one schema checks them all. Knows formats; not what is valid.
Arrow, Parquet and compressed bodies will be further entries of DECODERS.
"""

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field

from service.wire.csv_format import CsvTable
from service.wire.json_format import StrictJsonError, decode_json, parse_json
from service.wire.problems import FieldError, Problem, pointer_token

SAMPLE_COLUMNS = ("scores", "labels", "weights")
COUNTS_COLUMNS = ("tp", "fp", "fn", "tn", "threshold")
TEXT_OPTIONS = ("positive_label", "keep")
JSON_OPTIONS = ("lower_is_positive", "include", "interpolation", "thresholds")
TOTALS = ("positives", "negatives")
TABLE_PARAMETERS = (*SAMPLE_COLUMNS, *TEXT_OPTIONS, *JSON_OPTIONS, *TOTALS)
"""The query parameters that a body which is a table takes."""

_NO_COLUMNS = (
    "The table has neither columns scores and labels nor tp and fp; scores= and labels= name columns that are called "
    "otherwise."
)


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


def _decode_json_body(body: bytes, options: Mapping[str, str]) -> Decoded:
    """Read everything from the body; a JSON body takes no query parameters."""
    _refuse_unknown(options, ())
    return Decoded(decode_json(body))


def _decode_csv_body(body: bytes, options: Mapping[str, str]) -> Decoded:
    """Read the columns from the table, a sample's before counts, and everything else from the query parameters."""
    _refuse_unknown(options, TABLE_PARAMETERS)
    table = CsvTable(body)
    names = {key: options.get(key, key) for key in SAMPLE_COLUMNS}
    chosen = {key: name for key, name in names.items() if key in options or name in table.header}
    for key, name in chosen.items():
        if name not in table.header:
            raise _invalid(key, "missing", "The table has no column of this name.")
    counts = [] if "scores" in options else [key for key in COUNTS_COLUMNS if key in table.header]
    if not {"tp", "fp"} & set(counts):
        counts = []
    columns = table.read([*dict.fromkeys([*chosen.values(), *counts])])
    document: dict[str, object] = {key: columns[name] for key, name in chosen.items()}
    totals = {key: _json_value(key, options[key]) for key in TOTALS if key in options}
    if not chosen and not counts:
        raise Problem("invalid_request", _NO_COLUMNS, [FieldError("", "missing", _NO_COLUMNS)])
    if totals and document and not counts:
        raise _invalid(next(iter(totals)), "exclusive", "Totals go with columns of counts; this table is a sample.")
    if counts or totals:
        document["counts"] = {**{key: columns[key] for key in counts}, **totals}
    document |= {key: options[key] for key in TEXT_OPTIONS if key in options}
    document |= {key: _json_value(key, options[key]) for key in JSON_OPTIONS if key in options}
    pointers = {f"/{key}": f"/{pointer_token(name)}" for key, name in chosen.items()}
    return Decoded(document, pointers | {f"/counts/{key}": f"/{key}" for key in (*COUNTS_COLUMNS, *TOTALS)})


Decoder = Callable[[bytes, Mapping[str, str]], Decoded]

DECODERS: dict[str, Decoder] = {"application/json": _decode_json_body, "text/csv": _decode_csv_body}
"""{media type: decoder}, the default first."""


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


def _refuse_unknown(options: Mapping[str, str], known: tuple[str, ...]) -> None:
    for key in options:
        if key not in known:
            raise _invalid(key, "unknown_field", "This query parameter is not known here.")


def _invalid(key: str, code: str, detail: str) -> Problem:
    return Problem("invalid_request", detail, [FieldError(f"/{pointer_token(key)}", code, detail)])
