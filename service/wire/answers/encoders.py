"""From a result to bytes: one encoder per operation and media type.

JSON stays columnar and holds everything; CSV and Arrow hold one table; SVG, PNG and plain text are pictures; Markdown
and JUnit XML report a gate's verdict. NaN in a column is null, and never appears as a number.
"""

import base64
import hashlib
import io
import json
from collections.abc import Callable, Iterable, Mapping
from dataclasses import asdict, dataclass, replace
from typing import TYPE_CHECKING, Any

import numpy as np
import orjson
import pyarrow as pa
from pyarrow import csv as arrow_csv

from service.charts.charts import PICTURES, pictures_within
from service.charts.picture import Picture, Pictures
from service.charts.terminal import curves_text
from service.charts.theme import STYLE
from service.curves.comparison import Comparison
from service.curves.evaluation import CurvesWarning
from service.curves.tradeoff import Tradeoffs
from service.inference.curves_with_intervals import EvaluatedCurves
from service.inference.gate import Gate
from service.wire.answers.answer_tables import COUNTS, TABLES, Columns
from service.wire.answers.array_stream import SAME_BYTES, array_stream, cells_of, present_bits
from service.wire.answers.gate_answers import gate_document
from service.wire.answers.gate_reports import junit_report, markdown_report
from service.wire.answers.json_answers import json_answer, listing_answer
from service.wire.answers.png import png_of
from service.wire.formats.codings import Piece
from service.wire.media_types import ARROW_STREAM, CSV, JSON, MARKDOWN, PNG, SVG, TEXT, XML

if TYPE_CHECKING:
    from _typeshed import ReadableBuffer


@dataclass(frozen=True, slots=True)
class Encoded:
    """A body, as an iterator of pieces, and its headers."""

    pieces: Iterable[Piece]
    headers: dict[str, str]


class _Pieces(io.RawIOBase):
    """A file that keeps what is written without copying: for an Arrow stream, the columns themselves."""

    def __init__(self) -> None:
        super().__init__()
        self.written: list[Piece] = []

    def writable(self) -> bool:
        """Always true."""
        return True

    def write(self, piece: "ReadableBuffer", /) -> int:
        """Keep a piece, which must not change afterwards."""
        kept = memoryview(piece)
        self.written.append(kept)
        return kept.nbytes


Shown = str | Picture | Pictures | None
"""What to encode of a result: one table, by name; a picture; or everything, perhaps with pictures."""

Encoder = Callable[[Any, Any], Encoded]
"""From a result and what to encode of it."""


def _json_encoder(operation: str) -> Encoder:
    def encode(result: EvaluatedCurves | Tradeoffs | Comparison, pictures: Pictures | None) -> Encoded:
        charts = pictures_within(operation, result, pictures or ())
        return Encoded(json_answer(operation, result, charts), {})

    return encode


def _csv_encoder(operation: str) -> Encoder:
    def encode(result: EvaluatedCurves | Tradeoffs | Comparison, table: str | None) -> Encoded:
        """One table, lists of names as JSON text."""
        columns = TABLES[operation][str(table)](result)
        texts = {
            name: [orjson.dumps(names).decode() for names in columns[name]]
            for name in _typed_columns(operation).get(_LISTS_OF_NAMES, set()) & set(columns)
        }
        arrays = {name: pa.array(column, from_pandas=True) for name, column in (columns | texts).items()}
        body = io.BytesIO()
        arrow_csv.write_csv(pa.table(arrays), body)
        return Encoded([body.getbuffer()], _warnings_header(result.warnings))

    return encode


def _arrow_encoder(operation: str) -> Encoder:
    def encode(result: EvaluatedCurves | Tradeoffs | Comparison, table: str | None) -> Encoded:
        """One table, its columns typed: counts are integers where all in a column are, lists of names are lists."""
        columns = TABLES[operation][str(table)](result)
        if (pieces := array_stream(columns)) is not None:
            return Encoded(pieces, _warnings_header(result.warnings))
        typed = _typed(columns, operation)
        body = _Pieces()
        with pa.ipc.new_stream(body, typed.schema) as stream:
            stream.write_table(typed)
        return Encoded(body.written, _warnings_header(result.warnings))

    return encode


def _svg_encoder(operation: str) -> Encoder:
    def encode(result: EvaluatedCurves | Tradeoffs | Comparison | Gate, picture: Picture) -> Encoded:
        """A picture, with a policy that lets browsers apply its one constant style."""
        svg = PICTURES[operation](result, picture)
        return Encoded([svg.encode()], _picture_headers(result) | {"Content-Security-Policy": PICTURE_POLICY})

    return encode


def _png_encoder(operation: str) -> Encoder:
    def encode(result: EvaluatedCurves | Tradeoffs | Comparison | Gate, picture: Picture) -> Encoded:
        """A picture in pixels, which cannot follow the reader's theme."""
        theme = "light" if picture.theme == "auto" else picture.theme
        svg = PICTURES[operation](result, replace(picture, theme=theme))
        return Encoded([png_of(svg, picture.scale)], _picture_headers(result))

    return encode


def _picture_headers(result: EvaluatedCurves | Tradeoffs | Comparison | Gate) -> dict[str, str]:
    return {} if isinstance(result, Gate) else _warnings_header(result.warnings)  # like its reports


def _text_encoder(result: EvaluatedCurves, picture: Picture) -> Encoded:
    return Encoded([curves_text(result, picture).encode()], _warnings_header(result.warnings))


def _json_verdict(result: Gate, pictures: Pictures | None) -> Encoded:
    document = gate_document(result)
    if pictures:
        document["charts"] = pictures_within("gates", result, pictures)
    return Encoded([orjson.dumps(document, option=orjson.OPT_APPEND_NEWLINE)], {})


def _report(write: Callable[[dict[str, Any]], bytes]) -> Encoder:
    def encode(result: Gate, _: str | None) -> Encoded:
        return Encoded([write(gate_document(result))], {})

    return encode


def _typed(columns: Columns, operation: str) -> pa.Table:
    """Make a table whose types do not depend on its cells, except for counts and for columns that the caller names."""
    known = _typed_columns(operation)
    return pa.table({name: _array(column, _kind(name, column, known)) for name, column in columns.items()})


def _typed_columns(operation: str) -> Mapping[pa.DataType, set[str]]:
    """The columns of an operation that are not of numbers. Those of slices may have any other name."""
    return _OF_SLICES if operation == "slices" else _TYPED_COLUMNS


def _array(column: Any, kind: pa.DataType) -> pa.Array:  # noqa: ANN401  # an array or a sequence
    """Make a typed column; NaN becomes null."""
    if not isinstance(column, np.ndarray) or SAME_BYTES.get(column.dtype.str) != kind:
        return pa.array(column, kind, from_pandas=True)
    # pyarrow would look for NaN and write bits cell by cell.
    nulls, present = present_bits(column)
    buffers = [present and pa.py_buffer(present), pa.py_buffer(cells_of(column))]
    return pa.Array.from_buffers(kind, column.size, buffers, nulls)


def _kind(name: str, column: Any, known: Mapping[pa.DataType, set[str]]) -> pa.DataType:  # noqa: ANN401  # an array or a sequence
    """The type of a column, by its name and its values: counts may be whole, and `area` holds numbers or names."""
    if not isinstance(column, np.ndarray):
        kinds = set(map(type, column)) - {type(None)}
        if len(kinds) == 1 and (of_cells := _OF_CELLS.get(kinds.pop())):
            return of_cells
    for kind, names in known.items():
        if name in names:
            return kind
    if isinstance(column, np.ndarray):
        return pa.int64() if column.dtype == np.int64 else pa.float64()
    return pa.int64() if name in COUNTS else pa.float64()


_FORMATS: dict[str, Callable[[str], Encoder]] = {
    JSON: _json_encoder,
    CSV: _csv_encoder,
    ARROW_STREAM: _arrow_encoder,
}
"""{media type: factory of an operation's encoder}, the default first."""

ENCODERS: dict[tuple[str, str], Encoder] = {
    **{(operation, media_type): make(operation) for operation in TABLES for media_type, make in _FORMATS.items()},
    ("gates", JSON): _json_verdict,
    ("gates", MARKDOWN): _report(lambda document: markdown_report(document).encode()),
    ("gates", XML): _report(junit_report),
    ("columns", JSON): lambda listing, _: Encoded(listing_answer(listing), {}),
    **{(operation, SVG): _svg_encoder(operation) for operation in PICTURES},
    **{(operation, PNG): _png_encoder(operation) for operation in PICTURES},
    ("curves", TEXT): _text_encoder,
}
"""{(operation, media type): encoder}, an operation's default first."""

ONE_TABLE = frozenset({CSV, ARROW_STREAM})
"""The media types that hold one table of an answer."""

_LISTS_OF_NAMES = pa.list_(pa.string())
"""The type of columns whose cells are lists of names."""

_OF_CELLS: dict[type, pa.DataType] = {str: pa.string(), bool: pa.bool_(), int: pa.int64()}
"""{type of a list's cells: type of the column}"""

_TYPED_COLUMNS: dict[pa.DataType, set[str]] = {
    pa.string(): {"index", "name", "curve", "over", "metric", "method", "reason"},
    _LISTS_OF_NAMES: {"best", "suppliers"},
    pa.bool_(): {"on_hull", "dominates"},
}
"""Columns that are not of numbers."""

_OF_SLICES: dict[pa.DataType, set[str]] = {pa.string(): {"metric", "reason"}}


def _hash(style: str) -> str:
    return f"'sha256-{base64.b64encode(hashlib.sha256(style.encode()).digest()).decode()}'"


PICTURE_POLICY = f"default-src 'none'; style-src {_hash(STYLE)}; frame-ancestors 'none'"
"""A picture runs and loads nothing; its style, which has the dark colours, is allowed by its hash."""


def _warnings_header(warnings: tuple[CurvesWarning, ...]) -> dict[str, str]:
    """Encode the warnings for a header: ASCII, although names in them may not be."""
    return {"Rocpr-Warnings": json.dumps([asdict(warning) for warning in warnings]) if warnings else "[]"}
