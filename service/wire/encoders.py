"""From a result to bytes: one encoder per operation and media type.

JSON stays columnar and holds everything; CSV is one of the tables. NaN in a column is null, and never appears as a
number.
"""

import io
import json
from collections.abc import Callable
from dataclasses import asdict, dataclass
from typing import Any

import orjson
import pyarrow as pa
from pyarrow import csv as arrow_csv

from service.curves.comparison import Comparison
from service.curves.evaluation import Curves, CurvesWarning
from service.curves.pr import AtRecall
from service.curves.tradeoff import Tradeoffs
from service.wire.answer_tables import TABLES, best_columns, columns_of, compared_areas, count


@dataclass(frozen=True, slots=True)
class Encoded:
    """A body and the headers that go with it."""

    body: bytes
    headers: dict[str, str]


Encoder = Callable[[Any, str | None], Encoded]
"""From a result and the table that is asked for, where the format holds only one."""


def _curves_document(curves: Curves) -> dict[str, Any]:
    """All that was asked for; what was asked for and does not exist is null."""
    document: dict[str, Any] = {}
    if curves.auc is not None:
        document["auc"] = asdict(curves.auc)
    if "points" in curves.include:
        document["points"] = columns_of(curves.points)
    if isinstance(curves.interpolation, AtRecall):
        document["interpolation"] = {"at_recall": curves.interpolation.at_recall}
    elif curves.interpolation is not None:
        document["interpolation"] = {"every": count(curves.interpolation.every)}
    for name in ("interpolated_pr", "achievable_pr"):
        if name in curves.include:
            document[name] = columns_of(getattr(curves, name))
    if curves.selected_thresholds is not None:
        document["selected_thresholds"] = curves.selected_thresholds
    return document


def _tradeoffs_document(answer: Tradeoffs) -> dict[str, Any]:
    """One object per index; `at` only where values were to be read off."""
    tradeoffs = {}
    for name, tradeoff in answer.tradeoffs.items():
        tradeoffs[name] = {
            "optimal": columns_of(tradeoff.optimal),
            "area": tradeoff.area,
            "uninformative_from": tradeoff.uninformative_from,
        }
        if tradeoff.at is not None:
            tradeoffs[name]["at"] = columns_of(tradeoff.at)
    return {"tradeoffs": tradeoffs}


def _comparison_document(comparison: Comparison) -> dict[str, Any]:
    """Everything; what does not exist for sets that are no sweep is null."""
    return {
        "auc": compared_areas(comparison),
        "dominance": columns_of(comparison.dominance),
        "best_roc": comparison.best_roc and best_columns(comparison.best_roc, "fpr"),
        "best_pr": comparison.best_pr and best_columns(comparison.best_pr, "recall"),
        "joint_hull": columns_of(comparison.joint_hull),
        "best_tradeoff": {name: best_columns(best, "lambda") for name, best in comparison.best_tradeoff.items()},
    }


def _json_encoder(contents: Callable[[Any], dict[str, Any]]) -> Encoder:
    def encode(result: Curves | Tradeoffs | Comparison, _: str | None) -> Encoded:
        document = {
            "positives": count(result.positives),
            "negatives": count(result.negatives),
            **contents(result),
            "warnings": _warnings(result.warnings),
        }
        return Encoded(orjson.dumps(document, option=orjson.OPT_SERIALIZE_NUMPY | orjson.OPT_APPEND_NEWLINE), {})

    return encode


def _csv_encoder(operation: str) -> Encoder:
    def encode(result: Curves | Tradeoffs | Comparison, table: str | None) -> Encoded:
        """One table, lists of names as JSON text; warnings go in a header, which is ASCII as names need not be."""
        columns = TABLES[operation][str(table)](result)
        texts = {name: [orjson.dumps(names).decode() for names in columns[name]] for name in _NAME_LISTS & set(columns)}
        arrays = {name: pa.array(column, from_pandas=True) for name, column in (columns | texts).items()}
        body = io.BytesIO()
        arrow_csv.write_csv(pa.table(arrays), body)
        return Encoded(body.getvalue(), {"Rocpr-Warnings": json.dumps(_warnings(result.warnings))})

    return encode


ENCODERS: dict[tuple[str, str], Encoder] = {
    ("curves", "application/json"): _json_encoder(_curves_document),
    ("curves", "text/csv"): _csv_encoder("curves"),
    ("tradeoffs", "application/json"): _json_encoder(_tradeoffs_document),
    ("tradeoffs", "text/csv"): _csv_encoder("tradeoffs"),
    ("comparisons", "application/json"): _json_encoder(_comparison_document),
    ("comparisons", "text/csv"): _csv_encoder("comparisons"),
}
"""{(operation, media type): encoder}, an operation's default first."""

ONE_TABLE = frozenset({"text/csv"})
"""The media types that hold one table of an answer."""

_NAME_LISTS = {"best", "suppliers"}
"""Columns whose cells are lists of names."""


def _warnings(warnings: tuple[CurvesWarning, ...]) -> list[dict[str, Any]]:
    return [asdict(warning) for warning in warnings]
