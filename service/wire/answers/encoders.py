"""From a result to bytes: one table as CSV or Arrow, a picture as SVG, PNG or text, or everything as JSON.

Knows parts and pictures; no operation.
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

from service.charts.charts import PICTURES
from service.charts.picture import Picture
from service.charts.terminal import curves_text
from service.charts.theme import STYLE
from service.curves.arrays import BoolArray
from service.curves.clock import in_time
from service.curves.evaluation import CurvesWarning
from service.wire.answers.json_pieces import json_pieces
from service.wire.answers.parts import AnswerTable, CellKind, Columns, Part, json_document
from service.wire.answers.png import png_of
from service.wire.formats.codings import Piece
from service.wire.media_types import ARROW_STREAM, CSV, PNG, SVG, TEXT

if TYPE_CHECKING:
    from _typeshed import ReadableBuffer

_CSV_ROWS = 1 << 12
"""The rows of CSV written at once."""

Result = Any
"""The result of any operation."""


@dataclass(frozen=True, slots=True)
class Encoded:
    """A body, as an iterator of pieces, and its headers."""

    pieces: Iterable[Piece]
    headers: dict[str, str]


def json_answer(parts: Iterable[Part], result: Result, charts: Mapping[str, str]) -> Iterable[Piece]:
    """Write a result with its charts and its warnings."""
    document, told = json_document(parts, result)
    if charts:
        document["charts"] = charts
    if hasattr(result, "warnings"):
        document["warnings"] = result.warnings + told
    return json_pieces(document)


def csv_answer(columns: Columns, table: AnswerTable) -> Iterable[Piece]:
    """Write one table in pieces, lists of names as JSON text."""
    listed = {each.name for each in table.columns if each.kind == "names"} & columns.keys()
    texts = {name: [orjson.dumps(cell).decode() for cell in in_time(columns[name])] for name in listed}
    cells = pa.table({name: pa.array(cells, from_pandas=True) for name, cells in (columns | texts).items()})
    body = io.BytesIO()
    with arrow_csv.CSVWriter(body, cells.schema) as writer:
        for batch in in_time(cells.to_batches(max_chunksize=_CSV_ROWS)):
            writer.write_batch(batch)
            yield body.getvalue()
            body.seek(0)
            body.truncate()
    yield body.getvalue()  # the names alone, if there are no rows


def arrow_answer(columns: Columns, table: AnswerTable) -> Iterable[Piece]:
    """Write one table as an Arrow stream; types do not depend on cells, but for counts and what the request named."""
    kinds = {each.name: each.kind for each in table.header}
    typed = pa.table({name: _array(cells, kinds.get(name)) for name, cells in columns.items()})
    body = _Pieces()
    with pa.ipc.new_stream(body, typed.schema) as stream:
        stream.write_table(typed)
    return body.written


ONE_TABLE: dict[str, Callable[[Columns, AnswerTable], Iterable[Piece]]] = {CSV: csv_answer, ARROW_STREAM: arrow_answer}
"""{media type that holds one table of an answer: its writer}"""


def svg_answer(operation: str, result: Result, picture: Picture) -> Encoded:
    """A picture, with a policy that lets browsers apply its one constant style."""
    svg = PICTURES[operation](result, picture)
    return Encoded([svg.encode()], {"Content-Security-Policy": PICTURE_POLICY})


def png_answer(operation: str, result: Result, picture: Picture) -> Encoded:
    """A picture in pixels, which cannot follow the reader's theme."""
    theme = "light" if picture.theme == "auto" else picture.theme
    return Encoded([png_of(PICTURES[operation](result, replace(picture, theme=theme)), picture.scale)], {})


def text_answer(_operation: str, result: Result, picture: Picture) -> Encoded:
    """The curves in a terminal's characters."""
    return Encoded([curves_text(result, picture).encode()], {})


DRAWN: dict[str, Callable[[str, Result, Picture], Encoded]] = {SVG: svg_answer, PNG: png_answer, TEXT: text_answer}
"""{media type of pictures: its writer}"""


def warnings_header(warnings: tuple[CurvesWarning, ...]) -> dict[str, str]:
    """Encode the warnings for a header: ASCII, although names in them may not be."""
    return {"Rocpr-Warnings": json.dumps([asdict(warning) for warning in warnings]) if warnings else "[]"}


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


_ARROW_TYPES: dict[CellKind, pa.DataType] = {
    "number": pa.float64(),
    "exact": pa.float64(),
    "score": pa.float64(),
    "whole": pa.int64(),
    "text": pa.string(),
    "flag": pa.bool_(),
    "names": pa.list_(pa.string()),
}


def _array(cells: Any, kind: CellKind | None) -> pa.Array:  # noqa: ANN401  # an array or a sequence
    """Make a typed column; NaN becomes null. pyarrow itself would look for NaN, and write bits, cell by cell."""
    if isinstance(cells, np.ndarray) and cells.dtype == np.float64:
        has_nan = np.isnan(np.minimum.reduce(cells, initial=0.0))
        buffers = [_bits(~np.isnan(cells)) if has_nan else None, pa.py_buffer(np.ascontiguousarray(cells))]
        return pa.Array.from_buffers(pa.float64(), cells.size, buffers)
    if isinstance(cells, np.ndarray) and cells.dtype == np.bool_:
        return pa.Array.from_buffers(pa.bool_(), cells.size, [None, _bits(cells)])
    if kind is None:  # all cells of a column that the request named are of one type
        return pa.array(cells) if any(cell is not None for cell in cells) else pa.nulls(len(cells), pa.float64())
    if kind != "count":
        return pa.array(cells, _ARROW_TYPES[kind], from_pandas=True)
    of_doubles = not isinstance(cells, np.ndarray) and any(isinstance(cell, float) for cell in cells)
    return pa.array(cells, pa.float64() if of_doubles else pa.int64(), from_pandas=True)


def _bits(flags: BoolArray) -> pa.Buffer:
    return pa.py_buffer(np.packbits(flags, bitorder="little"))


def _hash(style: str) -> str:
    return f"'sha256-{base64.b64encode(hashlib.sha256(style.encode()).digest()).decode()}'"


PICTURE_POLICY = f"default-src 'none'; style-src {_hash(STYLE)}; frame-ancestors 'none'"
"""A picture runs and loads nothing; its style, which has the dark colours, is allowed by its hash."""
