"""The rows of a table in both spaces, all of them or those that are kept, with their metrics.

Knows the table, its hull and the metrics of a row.
"""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field

import numpy as np

from service.curves.arrays import LARGEST_EXACT_INTEGER, BoolArray, FloatArray, IntArray
from service.curves.confusion import ConfusionTable
from service.curves.hull import RocHull, drop_collinear
from service.curves.row_metrics import values_of
from service.curves.simplification import drawn_rows
from service.curves.sweep import sweep

KEEPS = ("all", "corners", "drawn", "hull")
"""Which rows `points` has: all, those where a curve bends, those that a picture needs, or those on the hull."""


# Not frozen, like other results with many fields: setting each would take five times as long.
@dataclass(slots=True, eq=False)
class Points:
    """The table's rows in both spaces, as columns (n,); NaN where a threshold or a precision does not exist.

    counts    tp, fp, fn and tn.
    counted   whether they are known to be integers, so that nobody need look for fractions.
    metrics   {name: its values}, those that were asked for.
    rows      those of the table; None for all.
    ends      {name: the lower and the upper ends of its intervals, (2, n)}, if they were asked for.
    """

    threshold: FloatArray
    counts: tuple[FloatArray, FloatArray, FloatArray, FloatArray]
    counted: bool
    fpr: FloatArray
    tpr: FloatArray
    recall: FloatArray
    precision: FloatArray
    on_hull: BoolArray
    metrics: Mapping[str, FloatArray] = field(default_factory=dict)
    rows: IntArray | None = None
    ends: Mapping[str, FloatArray] = field(default_factory=dict)

    @property
    def tp(self) -> FloatArray | IntArray:
        """True positives."""
        return self._whole(0)

    @property
    def fp(self) -> FloatArray | IntArray:
        """False positives."""
        return self._whole(1)

    @property
    def fn(self) -> FloatArray | IntArray:
        """False negatives."""
        return self._whole(2)

    @property
    def tn(self) -> FloatArray | IntArray:
        """True negatives."""
        return self._whole(3)

    def _whole(self, place: int) -> FloatArray | IntArray:
        return self.counts[place].astype(np.int64) if self.counted else self.counts[place]


def points_of(table: ConfusionTable, hull: RocHull, keep: str, metrics: Iterable[str] = ()) -> Points:
    """Read the rows of a table that are kept; `hull` is its own, `metrics` are further columns.

    For the scores of `areas.roc_area`: fpr 0, 0, 0, 1, 1 and tpr 0, 1/3, 2/3, 2/3, 1, of which the fourth row is below
    the hull.
    """
    kept: IntArray | None = None
    rows, on_hull = table, hull.members
    if keep != "all":
        kept = _kept_rows(table, hull, keep)
        rows, on_hull = table.select(kept), on_hull[kept]
    fn, tn, fpr, recall, precision = sweep.points(rows.tp, rows.fp, rows.positives, rows.negatives)
    is_simple = rows.target is None and rows.positives + rows.negatives < LARGEST_EXACT_INTEGER
    return Points(
        threshold=rows.thresholds,
        counts=(rows.tp, rows.fp, fn, tn),
        counted=rows.counted,
        fpr=fpr,
        tpr=recall,
        recall=recall,
        precision=precision if is_simple else rows.precision,
        on_hull=on_hull,
        metrics={name: values_of(name, rows) for name in {*metrics} - {*Points.__slots__}},
        rows=kept,
    )


def _kept_rows(table: ConfusionTable, hull: RocHull, keep: str) -> IntArray:
    """The rows on the hull, those that a picture needs, or (`corners`) all rows where a curve bends."""
    if keep == "hull":
        return hull.boundary
    return drawn_rows(table, hull.vertices) if keep == "drawn" else drop_collinear(table)
