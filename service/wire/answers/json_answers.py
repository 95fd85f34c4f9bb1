"""From a result to JSON: everything requested, with tables as columns; NaN becomes null.

Knows the results of the operations and their tables, not the client.
"""

from collections.abc import Callable, Iterator
from itertools import tee
from typing import Any

import numpy as np
import orjson

from service.curves.classes import Classes
from service.curves.comparison import Comparison
from service.curves.evaluation import Points
from service.curves.pr import AtRecall
from service.curves.tradeoff import Tradeoffs
from service.inference.curves_with_intervals import EvaluatedCurves
from service.inference.sliced import Sliced
from service.wire.answers.answer_tables import (
    average_columns,
    best_columns,
    class_columns,
    columns_of,
    compared_areas,
    integer_if_whole,
    pair_columns,
    partial_columns,
    slice_columns,
    slice_point_columns,
)
from service.wire.answers.infinite import without_infinities
from service.wire.columns import Listing
from service.wire.formats.codings import Piece

_SHORT_COLUMN = 1 << 10
"""A document whose columns are all this short is written in one call, since calls are most of its cost."""

_PIECE_ROWS = 1 << 16
"""The rows of a longer column written at once."""

_PIECE_LISTS = 1 << 6
"""The same for cells that are lists of names: up to 50 names of 400 bytes."""

_LISTS = (np.ndarray, list, tuple)

Result = EvaluatedCurves | Tradeoffs | Comparison | Sliced | Classes


def json_answer(operation: str, result: Result, charts: dict[str, str] | None = None) -> Iterator[Piece]:
    """Write a result with its charts in pieces: a whole answer may take more memory than its evaluation."""
    contents, told = without_infinities(_CONTENTS[operation](result))
    document = {
        **contents,
        **({"charts": charts} if charts else {}),
        "warnings": result.warnings + told,
    }
    if _is_short(document):
        yield orjson.dumps(document, option=orjson.OPT_SERIALIZE_NUMPY | orjson.OPT_APPEND_NEWLINE)
        return
    yield from _pieces(document)
    yield b"\n"


def listing_answer(listing: Listing) -> Iterator[Piece]:
    """Write the contents of a table's columns, as another table."""
    columns = [found for _, found in listing.columns]
    table = {
        # In a JSON body a column's name may have half of a surrogate pair.
        "name": [name.encode("utf-8", "replace").decode() for name, _ in listing.columns],
        "type": [found.kind for found in columns],
        "missing": [found.missing for found in columns],
        "values": [found.values for found in columns],
        "more": [found.more for found in columns],
    }
    yield orjson.dumps({"rows": listing.rows, "columns": table}, option=orjson.OPT_APPEND_NEWLINE)


def _is_short(value: object) -> bool:
    """Whether all columns of a value are short."""
    if isinstance(value, dict):
        return all(map(_is_short, value.values()))
    return not isinstance(value, _LISTS) or len(value) <= (
        _SHORT_COLUMN if isinstance(value, np.ndarray) else _PIECE_LISTS
    )


def _pieces(value: object) -> Iterator[Piece]:
    """Write a value: objects and long columns in pieces, everything else by orjson, dataclasses as objects."""
    if isinstance(value, Iterator):
        yield from value
    elif isinstance(value, dict) and value:
        before = b"{"
        for name, content in value.items():
            yield before + orjson.dumps(name) + b":"
            yield from _pieces(content)
            before = b","
        yield b"}"
    elif isinstance(value, _LISTS) and len(value) > (
        step := _PIECE_ROWS if isinstance(value, np.ndarray) else _PIECE_LISTS
    ):
        before = b"["
        for start in range(0, len(value), step):
            yield before
            yield memoryview(orjson.dumps(value[start : start + step], option=orjson.OPT_SERIALIZE_NUMPY))[1:-1]
            before = b","
        yield b"]"
    else:
        yield orjson.dumps(value, option=orjson.OPT_SERIALIZE_NUMPY)


def _totals(answer: EvaluatedCurves | Tradeoffs | Comparison) -> dict[str, Any]:
    return {"positives": integer_if_whole(answer.positives), "negatives": integer_if_whole(answer.negatives)}


def _slices(answer: Sliced) -> dict[str, Any]:
    """The whole sample as in an answer of curves, and the slices as tables."""
    document = {"overall": _curves(answer.overall), "slices": slice_columns(answer)}
    if answer.operating_points is not None:
        document["operating_points"] = slice_point_columns(answer)
    return document


def _classes(answer: Classes) -> dict[str, Any]:
    """The classes and the averages as tables; the pairs and their mean where a row is of one class."""
    document: dict[str, Any] = {"classes": class_columns(answer), "averages": average_columns(answer)}
    if answer.pairs is not None:
        document |= {"hand_till": answer.hand_till, "pairs": pair_columns(answer)}
    return document


def _curves(answer: EvaluatedCurves) -> dict[str, Any]:
    """Everything requested; null for what does not exist."""
    document = _totals(answer)
    curves = answer.curves
    if "auc" in curves.include:
        document["auc"] = curves.auc
    if "points" in curves.include:
        document["points"] = _points(curves.points, counted=curves.counted)
    if isinstance(curves.interpolation, AtRecall):
        document["interpolation"] = {"at_recall": curves.interpolation.at_recall}
    elif curves.interpolation is not None:
        document["interpolation"] = {"every": integer_if_whole(curves.interpolation.every)}
    for name in ("interpolated_pr", "achievable_pr", "calibration"):
        if name in curves.include:
            document[name] = columns_of(getattr(curves, name))
    if "statistics" in curves.include:
        document["statistics"] = curves.statistics
    if curves.selected_thresholds is not None:
        document["selected_thresholds"] = curves.selected_thresholds
    read_off = {
        "bounds": answer.bounds if "auc" in curves.include else None,
        "intervals": answer.intervals and dict(answer.intervals),
        "operating_points": columns_of(curves.operating_points),
        "partial": curves.partial and partial_columns(curves.partial),
        "costs": columns_of(curves.costs),
    }
    return document | {name: columns for name, columns in read_off.items() if columns}


def _points(points: Points | None, *, counted: bool) -> dict[str, Any] | None:
    """The points. Recall equals tpr, so its digits are formatted only once: they are most of a long answer's cost."""
    columns = columns_of(points, counted=counted)
    if columns and columns["recall"] is columns["tpr"]:
        rates = columns["tpr"]
        if _is_short(rates):
            written = orjson.Fragment(orjson.dumps(rates, option=orjson.OPT_SERIALIZE_NUMPY))
            columns["tpr"] = columns["recall"] = written
        else:
            columns["tpr"], columns["recall"] = tee(_pieces(rates))
    return columns


def _tradeoffs(answer: Tradeoffs) -> dict[str, Any]:
    """One object per index; `at` only if values were requested."""
    tradeoffs: dict[str, dict[str, Any]] = {}
    for name, tradeoff in answer.tradeoffs.items():
        tradeoffs[name] = {
            "optimal": columns_of(tradeoff.optimal),
            "area": tradeoff.area,
            "uninformative_from": tradeoff.uninformative_from,
        }
        if tradeoff.bounds is not None:
            tradeoffs[name]["bounds"] = tradeoff.bounds
        if tradeoff.at is not None:
            tradeoffs[name]["at"] = columns_of(tradeoff.at)
    return _totals(answer) | {"tradeoffs": tradeoffs}


def _comparison(comparison: Comparison) -> dict[str, Any]:
    """Everything; null for what does not exist without a sweep."""
    return _totals(comparison) | {
        "auc": compared_areas(comparison),
        "dominance": columns_of(comparison.dominance),
        "best_roc": comparison.best_roc and best_columns(comparison.best_roc, "fpr"),
        "best_pr": comparison.best_pr and best_columns(comparison.best_pr, "recall"),
        "joint_hull": columns_of(comparison.joint_hull),
        "best_tradeoff": {name: best_columns(best, "lambda") for name, best in comparison.best_tradeoff.items()},
    }


_CONTENTS: dict[str, Callable[[Any], dict[str, Any]]] = {
    "curves": _curves,
    "tradeoffs": _tradeoffs,
    "comparisons": _comparison,
    "slices": _slices,
    "classes": _classes,
}
"""{operation: the content of its answer besides the warnings}."""
