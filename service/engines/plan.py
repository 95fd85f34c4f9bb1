"""From rows in an engine to groups: probe, group exactly or into bins, divide the widest until the areas are bounded.

Works with any Engine. What is guaranteed about the result rests on the engine's MIN, MAX and counts, never on which
bin a row was put into: overlapping groups are united, and lost rows are noticed.
"""

import math
from dataclasses import dataclass, field

import numpy as np

from service.curves.errors import DomainError
from service.curves.sample import check_weights
from service.engines import sql
from service.engines.checks import ReadLabels, RowColumns, checked_kinds, probe_range, with_labels
from service.engines.engine import Engine, NamedArrays
from service.engines.failures import EngineFailed
from service.engines.refining import RowGroups
from service.engines.search import FIRST_BINS, MOST_BINS, Search, groups_of

_LOGARITHMIC = 1e6
"""Scores above 0 whose ends differ by more than this factor are binned by their logarithm."""


@dataclass(frozen=True, slots=True)
class Found:
    """The groups of the rows.

    groups   in any order, without overlap; with slices, without overlap within each slice.
    slices   {column of slices: its value in each group}, (m,).
    rest     if the negatives have several labels, a sentence that names them.
    rows     how many rows there are.
    passes   how many times the engine read them, after the two that look at labels and range.
    """

    groups: RowGroups
    rows: int
    passes: int
    rest: str | None = None
    slices: NamedArrays = field(default_factory=dict)


def group_rows(
    engine: Engine,
    columns: RowColumns,
    read_labels: ReadLabels,
    *,
    tolerance: float | None = None,
    most_bins: int = MOST_BINS,
) -> Found:
    """Group the rows: by score, or if there is a `tolerance`, so that the bounds of each area differ by at most that.

    Slices, and tables with few rows, are always grouped by score.

    Raises ColumnRefused, NoRows, OneClassLabels, TotalOutOfRange, EngineFailed, and what `read_labels` raises.
    """
    kinds = checked_kinds(engine, columns)
    rows = sql.RowSource(
        engine.table,
        columns.scores,
        columns.labels,
        columns.weights,
        by=columns.by,
        through_text=kinds["scores"].through_text,
        weight_decimals=columns.weight_decimals,
        dialect=engine.dialect,
        unquoted=True,
    )
    rows, rest = with_labels(engine, rows, read_labels)
    probe = probe_range(engine, rows, kinds)
    bins = min(FIRST_BINS, most_bins)
    first = None if columns.by or probe["rows"] <= bins else _first_bins(probe, bins)
    slices: NamedArrays = {}
    if tolerance is None or first is None:
        table = engine.rows(sql.exact_text(rows), "grouping by score")
        slices = {name: table[f"slice_{place}"] for place, name in enumerate(columns.by)}
        if not slices:
            _sort_by_score(table)
        groups, passes = groups_of(table, rows), 1
    else:
        search = Search(engine, rows, first, tolerance, most_bins, columns.lower_is_positive)
        groups, passes = search.run(), search.passes
    if groups.rows.sum() != probe["rows" if rows.weights is None else "weighty"]:
        raise EngineFailed(
            "The number of rows grouped differs from the number counted before; did the data change in between?"
        )
    if rows.weights is not None:
        with np.errstate(over="ignore"):
            totals = [float(groups.masses[name].sum()) for name in ("positives", "negatives")]
        try:
            check_weights(*totals)
        except DomainError as error:
            error.column = columns.labels if error.column == "labels" else columns.weights
            raise
    return Found(groups, int(probe["rows"]), passes, rest, slices)


def _sort_by_score(table: NamedArrays) -> None:
    """Sort the groups of a table, one column at a time; an evaluation does not copy groups that are in order."""
    order = np.argsort(table["score"])
    for name in table:
        table[name] = table[name][order]


def _first_bins(probe: dict[str, float], bins: int) -> sql.FirstBins | None:
    """Bins over the whole range; None if there are none, because all scores are equal or too far apart."""
    low, high = probe["low"], probe["high"]
    if low > 0 and high / low > _LOGARITHMIC:
        return sql.FirstBins(math.log(low), bins / (math.log(high) - math.log(low)), logarithmic=True)
    if not 0 < high - low < math.inf:
        return None
    return sql.FirstBins(low, min(bins / (high - low), 1e300))
