"""From a result to its tables: columns by name. JSON holds all tables, other formats one each.

Knows the results of the operations; nothing of formats. Names are those of the contract.
"""

from collections.abc import Callable, Iterable, Mapping
from dataclasses import asdict, fields
from functools import cache
from typing import Any

import numpy as np

from service.curves.area_columns import SHARED_AREAS, AreaColumns
from service.curves.areas import Areas
from service.curves.arrays import LARGEST_EXACT_INTEGER, are_integers
from service.curves.bounds import Enclosure
from service.curves.calibration import Calibration
from service.curves.classes import AVERAGES, Classes, ClassPairs
from service.curves.comparison import Best, Comparison, Dominance
from service.curves.costs import Costs
from service.curves.curve_statistics import CurveStatistics
from service.curves.evaluation import Points
from service.curves.operating_points import OperatingPoints
from service.curves.partial_areas import PartialAreas
from service.curves.pr import PrCurve
from service.curves.tradeoff import Tradeoffs
from service.inference.curves_with_intervals import EvaluatedCurves
from service.inference.intervals import Interval
from service.inference.sliced import Sliced

Columns = dict[str, Any]
"""A table: columns of equal length by name, arrays or sequences; NaN and None are cells without a value."""

COUNTS = ("tp", "fp", "fn", "tn", "positives", "negatives")
"""Columns that become integers if all of their cells are whole."""


def columns_of(table: object | None, *, counted: bool = False) -> Columns | None:
    """Return a table's columns, with whole counts as integers; None if there is no table.

    counted   whether all counts are known to be integers, up to 2^53.
    """
    if table is None:
        return None
    columns = {name: getattr(table, name) for name in _names_of(type(table))}  # type: ignore[arg-type]  # types are hashable
    for name in COUNTS:
        if name in columns:
            columns[name] = columns[name].astype(np.int64) if counted else _whole(columns[name])
    return columns


@cache
def _names_of(kind: type[Any]) -> tuple[str, ...]:
    """The names of the columns of a kind of table."""
    return tuple(column.name for column in fields(kind))


def integer_if_whole(number: float) -> float | int:
    """Return a count, as an integer if it is whole."""
    return int(number) if number <= LARGEST_EXACT_INTEGER and float(number).is_integer() else number


def best_columns(best: Best, rate: str) -> Columns:
    """Return the intervals of a rate, or of lambda, with the names of the best."""
    return {f"{rate}_from": best.start, f"{rate}_to": best.end, "best": best.best}


def compared_areas(comparison: Comparison) -> Columns:
    """Return the areas, a row for each curve."""
    rows = [asdict(areas) for areas in comparison.auc]
    return {"name": comparison.names} | {field.name: [row[field.name] for row in rows] for field in fields(Areas)}


def interval_columns(intervals: Mapping[str, Interval | None]) -> Columns:
    """Return the intervals, a row for each area; without an interval a row has only the name."""
    columns: Columns = {"area": list(intervals)}
    for field in fields(Interval):
        columns[field.name] = [interval and getattr(interval, field.name) for interval in intervals.values()]
    return columns


def partial_columns(partial: PartialAreas) -> Columns:
    """Return the areas of parts of curves, a row for each range."""
    ranges = partial.ranges
    columns = {
        "over": [each.over for each in ranges],
        "from": np.array([each.start for each in ranges], dtype=np.float64),
        "to": np.array([each.end for each in ranges], dtype=np.float64),
        "min_tpr": np.array([each.min_tpr for each in ranges], dtype=np.float64),  # None is NaN
        "area": partial.area,
        "mean": partial.mean,
        "mcclish": partial.mcclish,
    }
    bounds = [each.name for each in fields(partial) if each.name not in {"ranges", *columns}]
    return columns | {name: getattr(partial, name) for name in bounds}


def _whole(column: np.ndarray) -> np.ndarray | list[int | None]:
    """Return a column as integers if all its numbers are whole, else unchanged; NaN among integers becomes None."""
    known, greatest = column, np.maximum.reduce(column, initial=0.0)
    if np.isnan(greatest):
        known = column[~np.isnan(column)]
        greatest = np.maximum.reduce(known, initial=0.0)
    if greatest > LARGEST_EXACT_INTEGER or not are_integers(known):
        return column
    return known.astype(np.int64) if known is column else [None if np.isnan(cell) else int(cell) for cell in column]


def _one_row_of_areas(answer: EvaluatedCurves) -> Columns:
    return {area.name: [getattr(answer.curves.auc, area.name)] for area in fields(Areas)}


def bound_columns(bounds: Mapping[str, Enclosure | None]) -> Columns:
    """Return the bounds, a row for each area."""
    return {"area": list(bounds)} | _ends_of(bounds.values())


def class_columns(answer: Classes) -> Columns:
    """Return each class against the rest, a row for each."""
    return {"name": list(answer.names)} | _area_columns(answer.areas) | {"reason": answer.areas.reason}


def average_columns(answer: Classes) -> Columns:
    """Return the averages over the classes, a row for each."""
    return {"average": list(AVERAGES)} | (columns_of(answer.averages) or {})


def pair_columns(answer: Classes) -> Columns:
    """Return the classes in pairs, a row for each."""
    pairs = answer.pairs or ClassPairs((), (), np.empty(0))
    sides = {"name": pairs.number, "against": pairs.against}
    return {name: [answer.names[place] for place in side] for name, side in sides.items()} | {"roc": pairs.roc}


def _area_columns(areas: AreaColumns) -> Columns:
    columns: Columns = {name: _whole(getattr(areas, name)) for name in ("positives", "negatives")}
    return columns | {name: getattr(areas, name) for name in SHARED_AREAS}


def _one_row_of_statistics(answer: EvaluatedCurves) -> Columns:
    return {each.name: [getattr(answer.curves.statistics, each.name)] for each in fields(CurveStatistics)}


def slice_columns(answer: Sliced) -> Columns:
    """Return the slices, a row for each."""
    columns: Columns = {name: list(values) for name, values in answer.keys.items()}
    columns |= {"rows": answer.rows} | _area_columns(answer.areas)
    for name, (lower, upper) in (answer.intervals or {}).items():
        columns |= {f"{name}_lower": lower, f"{name}_upper": upper}
    return columns | {"reason": answer.areas.reason}


def slice_point_columns(answer: Sliced) -> Columns:
    """Return the operating points of slices, a row for each point of each slice."""
    points = answer.operating_points
    if points is None:
        return {}
    of_each = points.at.size // answer.rows.size
    keys = {name: [value for value in values for _ in range(of_each)] for name, values in answer.keys.items()}
    return keys | (columns_of(points) or {})


def _or_no_rows(table: object | None, kind: type[Any], *, counted: bool = False) -> Columns:
    """Return a table's columns, without rows if it does not exist."""
    no_counts = np.empty(0, np.int64)
    return columns_of(table, counted=counted) or {
        field.name: no_counts if field.name in COUNTS else () for field in fields(kind)
    }


def _index_areas(answer: Tradeoffs) -> Columns:
    tradeoffs = answer.tradeoffs.values()
    columns = {
        "index": list(answer.tradeoffs),
        "area": [tradeoff.area for tradeoff in tradeoffs],
        "uninformative_from": [tradeoff.uninformative_from for tradeoff in tradeoffs],
    }
    bounds = [tradeoff.bounds for tradeoff in tradeoffs if tradeoff.bounds is not None]
    return columns | (_ends_of(bounds) if bounds else {})


def _ends_of(bounds: Iterable[Enclosure | None]) -> Columns:
    """The lower and the upper bounds, as columns."""
    listed = list(bounds)
    return {end: [each and getattr(each, end) for each in listed] for end in ("lower", "upper")}


def _best_or_no_rows(best: Best | None, rate: str) -> Columns:
    return best_columns(best or Best(np.empty(0), np.empty(0), ()), rate)


def _stacked(tables: dict[str, Columns | None]) -> Columns:
    """Stack tables with equal columns, with their names as the column `index`."""
    there = {name: columns for name, columns in tables.items() if columns}
    names = [name for name, columns in there.items() for _ in next(iter(columns.values()))]
    keys = next(iter(there.values()))
    return {"index": names} | {key: _joined([table[key] for table in there.values()]) for key in keys}


def _joined(columns: list[Any]) -> Any:  # noqa: ANN401  # an array of arrays, a list of sequences
    if isinstance(columns[0], np.ndarray):
        return np.concatenate(columns)
    return [cell for column in columns for cell in column]


TABLES: dict[str, dict[str, Callable[[Any], Columns]]] = {
    "curves": {
        "points": lambda answer: _or_no_rows(answer.curves.points, Points, counted=answer.curves.counted),
        "auc": _one_row_of_areas,
        "interpolated_pr": lambda answer: _or_no_rows(answer.curves.interpolated_pr, PrCurve),
        "achievable_pr": lambda answer: _or_no_rows(answer.curves.achievable_pr, PrCurve),
        "calibration": lambda answer: _or_no_rows(answer.curves.calibration, Calibration),
        "statistics": _one_row_of_statistics,
        "bounds": lambda answer: bound_columns(answer.bounds or {}),
        "intervals": lambda answer: interval_columns(answer.intervals or {}),
        "operating_points": lambda answer: _or_no_rows(answer.curves.operating_points, OperatingPoints),
        "partial": lambda answer: partial_columns(answer.curves.partial),
        "costs": lambda answer: _or_no_rows(answer.curves.costs, Costs),
    },
    "tradeoffs": {
        "optimal": lambda answer: _stacked({name: columns_of(each.optimal) for name, each in answer.tradeoffs.items()}),
        "area": _index_areas,
        "at": lambda answer: _stacked({name: columns_of(each.at) for name, each in answer.tradeoffs.items()}),
    },
    "slices": {
        "slices": slice_columns,
        "overall": lambda answer: {
            "positives": _whole(np.array([answer.overall.positives])),
            "negatives": _whole(np.array([answer.overall.negatives])),
            **_one_row_of_areas(answer.overall),
        },
        "operating_points": slice_point_columns,
    },
    "classes": {"classes": class_columns, "averages": average_columns, "pairs": pair_columns},
    "comparisons": {
        "auc": compared_areas,
        "dominance": lambda comparison: _or_no_rows(comparison.dominance, Dominance),
        "best_roc": lambda comparison: _best_or_no_rows(comparison.best_roc, "fpr"),
        "best_pr": lambda comparison: _best_or_no_rows(comparison.best_pr, "recall"),
        "joint_hull": lambda comparison: columns_of(comparison.joint_hull) or {},
        "best_tradeoff": lambda comparison: _stacked(
            {name: best_columns(best, "lambda") for name, best in comparison.best_tradeoff.items()}
        ),
    },
}
"""{operation: {table: its columns}}; each operation's default comes first."""
