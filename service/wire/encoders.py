"""From a result to bytes: one encoder per operation and media type.

JSON stays columnar; CSV is one of the tables. NaN in a column is null, and never appears as a number.
"""

import io
from collections.abc import Callable
from dataclasses import asdict, dataclass, fields
from typing import Any

import numpy as np
import orjson
import pyarrow as pa
from pyarrow import csv as arrow_csv

from service.curves.areas import Areas
from service.curves.evaluation import Curves, Points
from service.curves.exact import LARGEST_EXACT_INTEGER
from service.curves.pr import AtRecall, PrCurve

_COUNTS = ("tp", "fp", "fn", "tn")


@dataclass(frozen=True, slots=True)
class Encoded:
    """A body and the headers that go with it."""

    body: bytes
    headers: dict[str, str]


def _encode_curves_json(curves: Curves, _: str | None) -> Encoded:
    """All that was asked for; what was asked for and does not exist is null."""
    document: dict[str, Any] = {"positives": _count(curves.positives), "negatives": _count(curves.negatives)}
    if curves.auc is not None:
        document["auc"] = asdict(curves.auc)
    if "points" in curves.include:
        document["points"] = _columns(curves.points)
    if isinstance(curves.interpolation, AtRecall):
        document["interpolation"] = {"at_recall": curves.interpolation.at_recall}
    elif curves.interpolation is not None:
        document["interpolation"] = {"every": _count(curves.interpolation.every)}
    for name in ("interpolated_pr", "achievable_pr"):
        if name in curves.include:
            document[name] = _columns(getattr(curves, name))
    if curves.selected_thresholds is not None:
        document["selected_thresholds"] = curves.selected_thresholds
    document["warnings"] = _warnings(curves)
    return Encoded(orjson.dumps(document, option=orjson.OPT_SERIALIZE_NUMPY | orjson.OPT_APPEND_NEWLINE), {})


def _encode_curves_csv(curves: Curves, table: str | None) -> Encoded:
    """One table; the warnings go in a header. A curve that does not exist has no rows."""
    name = table or CURVES_TABLES[0]
    if name == "auc":
        columns = {field.name: pa.array([getattr(curves.auc, field.name)], pa.float64()) for field in fields(Areas)}
    else:
        kind = Points if name == "points" else PrCurve
        found = _columns(getattr(curves, name)) or {field.name: np.empty(0) for field in fields(kind)}
        columns = {key: pa.array(column, from_pandas=True) for key, column in found.items()}
    body = io.BytesIO()
    arrow_csv.write_csv(pa.table(columns), body)
    return Encoded(body.getvalue(), {"Rocpr-Warnings": orjson.dumps(_warnings(curves)).decode()})


Encoder = Callable[[Any, str | None], Encoded]
"""From a result and the table that is asked for, where the format holds only one."""

CURVES_TABLES = ("points", "auc", "interpolated_pr", "achievable_pr")
"""The tables of a curves answer, the default first."""

ENCODERS: dict[tuple[str, str], Encoder] = {
    ("curves", "application/json"): _encode_curves_json,
    ("curves", "text/csv"): _encode_curves_csv,
}
"""{(operation, media type): encoder}, an operation's default first."""

ONE_TABLE = frozenset({"text/csv"})
"""The media types that hold one table of an answer."""


def _columns(table: Points | PrCurve | None) -> dict[str, np.ndarray] | None:
    """A table's columns, a column of counts as integers where all of it are."""
    if table is None:
        return None
    columns = {column.name: getattr(table, column.name) for column in fields(table)}
    for name in _COUNTS:
        if name in columns and _all_whole(columns[name]):
            columns[name] = columns[name].astype(np.int64)
    return columns


def _count(count: float) -> float | int:
    return int(count) if _all_whole(np.array(count)) else count


def _all_whole(column: np.ndarray) -> bool:
    return bool(np.all(np.floor(column) == column) and np.max(column, initial=0.0) <= LARGEST_EXACT_INTEGER)


def _warnings(curves: Curves) -> list[dict[str, Any]]:
    return [asdict(warning) for warning in curves.warnings]
