"""From a result to bytes: one encoder per operation and media type.

JSON stays columnar; CSV is one of the tables. NaN in a column is null, and never appears as a number.
"""

import io
import json
from collections.abc import Callable
from dataclasses import asdict, dataclass, fields
from typing import Any

import numpy as np
import orjson
import pyarrow as pa
from pyarrow import csv as arrow_csv

from service.curves.areas import Areas
from service.curves.comparison import Best, Comparison
from service.curves.evaluation import Curves, CurvesWarning, Points
from service.curves.exact import LARGEST_EXACT_INTEGER
from service.curves.pr import AtRecall, PrCurve
from service.curves.tradeoff import Tradeoffs

Columns = dict[str, Any]
"""A table: columns of equal length by name, arrays or sequences."""

_COUNTS = ("tp", "fp", "fn", "tn")


@dataclass(frozen=True, slots=True)
class Encoded:
    """A body and the headers that go with it."""

    body: bytes
    headers: dict[str, str]


def _encode_curves_json(curves: Curves, _: str | None) -> Encoded:
    """All that was asked for; what was asked for and does not exist is null."""
    document = _totals(curves)
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
    return _json(document, curves.warnings)


def _encode_curves_csv(curves: Curves, table: str | None) -> Encoded:
    """One table. A curve that does not exist has no rows."""
    if table == "auc":
        columns: Columns = {area.name: [getattr(curves.auc, area.name)] for area in fields(Areas)}
    else:
        kind = Points if table == "points" else PrCurve
        columns = _columns(getattr(curves, str(table))) or _empty(kind)
    return _csv(columns, curves.warnings)


def _encode_tradeoffs_json(answer: Tradeoffs, _: str | None) -> Encoded:
    document = _totals(answer)
    document["tradeoffs"] = {
        name: {
            "optimal": _columns(tradeoff.optimal),
            "area": tradeoff.area,
            "uninformative_from": tradeoff.uninformative_from,
        }
        | ({} if tradeoff.at is None else {"at": _columns(tradeoff.at)})
        for name, tradeoff in answer.tradeoffs.items()
    }
    return _json(document, ())


def _encode_tradeoffs_csv(answer: Tradeoffs, table: str | None) -> Encoded:
    """One table, that of all indices one below the other, told apart by the first column."""
    if table == "area":
        return _csv(
            {
                "index": list(answer.tradeoffs),
                "area": [tradeoff.area for tradeoff in answer.tradeoffs.values()],
                "uninformative_from": [tradeoff.uninformative_from for tradeoff in answer.tradeoffs.values()],
            },
            (),
        )
    return _csv(_stacked({name: _columns(getattr(each, str(table))) for name, each in answer.tradeoffs.items()}), ())


def _encode_comparison_json(comparison: Comparison, _: str | None) -> Encoded:
    """Everything; what does not exist for sets that are no sweep is null."""
    document = _totals(comparison)
    document |= {name: _compared(comparison, name) for name in COMPARISON_TABLES if name != "best_tradeoff"}
    document["best_tradeoff"] = {name: _best(best, "lambda") for name, best in comparison.best_tradeoff.items()}
    return _json(document, comparison.warnings)


def _encode_comparison_csv(comparison: Comparison, table: str | None) -> Encoded:
    """One table; lists of names are JSON text. A table that does not exist has no rows."""
    if table == "best_tradeoff":
        columns = _stacked({name: _best(best, "lambda") for name, best in comparison.best_tradeoff.items()})
    else:
        columns = _compared(comparison, str(table)) or dict.fromkeys(_COMPARED_COLUMNS[str(table)], ())
    texts = {name: [orjson.dumps(names).decode() for names in columns[name]] for name in _NAME_LISTS & set(columns)}
    return _csv(columns | texts, comparison.warnings)


def _compared(comparison: Comparison, table: str) -> Columns | None:
    """One of the tables of a comparison; None where it does not exist."""
    if table == "auc":
        rows = [asdict(areas) for areas in comparison.auc]
        return {"name": comparison.names} | {field.name: [row[field.name] for row in rows] for field in fields(Areas)}
    found = getattr(comparison, table)
    if isinstance(found, Best):
        return _best(found, {"best_roc": "fpr", "best_pr": "recall"}[table])
    return _columns(found)


def _best(best: Best, over: str) -> Columns:
    return {f"{over}_from": best.start, f"{over}_to": best.end, "best": best.best}


_COMPARED_COLUMNS = {
    "dominance": ("curve", "over", "dominates"),
    "best_roc": ("fpr_from", "fpr_to", "best"),
    "best_pr": ("recall_from", "recall_to", "best"),
}
"""The columns of the tables that may not exist."""

_NAME_LISTS = {"best", "suppliers"}
"""Columns whose cells are lists of names."""

Encoder = Callable[[Any, str | None], Encoded]
"""From a result and the table that is asked for, where the format holds only one."""

CURVES_TABLES = ("points", "auc", "interpolated_pr", "achievable_pr")
TRADEOFFS_TABLES = ("optimal", "area", "at")
COMPARISON_TABLES = ("auc", "dominance", "best_roc", "best_pr", "joint_hull", "best_tradeoff")
"""The tables of an answer, the default first."""

ENCODERS: dict[tuple[str, str], Encoder] = {
    ("curves", "application/json"): _encode_curves_json,
    ("curves", "text/csv"): _encode_curves_csv,
    ("tradeoffs", "application/json"): _encode_tradeoffs_json,
    ("tradeoffs", "text/csv"): _encode_tradeoffs_csv,
    ("comparisons", "application/json"): _encode_comparison_json,
    ("comparisons", "text/csv"): _encode_comparison_csv,
}
"""{(operation, media type): encoder}, an operation's default first."""

ONE_TABLE = frozenset({"text/csv"})
"""The media types that hold one table of an answer."""


def _totals(answer: Curves | Tradeoffs | Comparison) -> dict[str, Any]:
    return {"positives": _count(answer.positives), "negatives": _count(answer.negatives)}


def _json(document: dict[str, Any], warnings: tuple[CurvesWarning, ...]) -> Encoded:
    document["warnings"] = [asdict(warning) for warning in warnings]
    return Encoded(orjson.dumps(document, option=orjson.OPT_SERIALIZE_NUMPY | orjson.OPT_APPEND_NEWLINE), {})


def _csv(columns: Columns, warnings: tuple[CurvesWarning, ...]) -> Encoded:
    """A table; its warnings go in a header."""
    arrays = {name: pa.array(column, from_pandas=True) for name, column in columns.items()}
    body = io.BytesIO()
    arrow_csv.write_csv(pa.table(arrays), body)
    # A header is ASCII; names in a warning need not be.
    return Encoded(body.getvalue(), {"Rocpr-Warnings": json.dumps([asdict(each) for each in warnings])})


def _stacked(tables: dict[str, Columns | None]) -> Columns:
    """Put tables of equal columns one below the other, with their names as the column `index`."""
    there = {name: columns for name, columns in tables.items() if columns}
    names = [name for name, columns in there.items() for _ in next(iter(columns.values()))]
    return {"index": names} | {
        key: _joined([table[key] for table in there.values()]) for key in next(iter(there.values()))
    }


def _joined(columns: list[Any]) -> Any:  # noqa: ANN401  # an array of arrays, a list of sequences
    if isinstance(columns[0], np.ndarray):
        return np.concatenate(columns)
    return [cell for column in columns for cell in column]


def _empty(kind: type[Any]) -> Columns:
    return {field.name: np.empty(0) for field in fields(kind)}


def _columns(table: object | None) -> Columns | None:
    """A table's columns, a column of counts as integers where all of it are."""
    if table is None:
        return None
    columns = {column.name: getattr(table, column.name) for column in fields(table)}  # type: ignore[arg-type]  # of a dataclass
    for name in _COUNTS:
        if name in columns and _all_whole(columns[name]):
            columns[name] = columns[name].astype(np.int64)
    return columns


def _count(count: float) -> float | int:
    return int(count) if _all_whole(np.array(count)) else count


def _all_whole(column: np.ndarray) -> bool:
    return bool(np.all(np.floor(column) == column) and np.max(column, initial=0.0) <= LARGEST_EXACT_INTEGER)
