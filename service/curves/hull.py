"""The ROC convex hull, and the rows where a curve bends, as selections of the table's rows.

    walk along the rows by fp; before keeping a row, drop the last row kept while it is not above the line from the row
    kept before it to the new row (Andrew 1979); the rows kept are the vertices
    a row is on the hull if it is a vertex or exactly on the edge between two

All of it works on counts, not on rates, so that decisions are exact. Knows the table and the geometric predicate only.
Source: Davis & Goadrich 2006, section 3 and corollary 3.1: the hull drops exactly the points beneath it.
"""

from bisect import bisect_left
from dataclasses import dataclass
from fractions import Fraction
from functools import cached_property

import numpy as np

from service.curves.arrays import BoolArray, IntArray
from service.curves.confusion import ConfusionTable
from service.curves.orientation import CountSpace
from service.curves.sweep import sweep


@dataclass(eq=False)
class RocHull:
    """The upper convex hull of a table's (fp, tp), as rows of the table, ascending.

    vertices   from the first row to the last point; of equal rows the first. Rows on an edge are not vertices.
    members    whether each row is on the hull, (n,): vertices, rows equal to them, and rows on an edge between two.
    """

    table: ConfusionTable
    vertices: IntArray
    members: BoolArray

    @classmethod
    def of(cls, table: ConfusionTable) -> "RocHull":
        """Find the hull of a table's rows."""
        return cls(table, *sweep.hull_and_members(table.tp, table.fp))

    @cached_property
    def boundary(self) -> IntArray:
        """All rows on the hull, ascending."""
        return np.flatnonzero(self.members)

    def best(self, gain: Fraction, loss: Fraction) -> int:
        """Find the row where gain · tp - loss · fp is greatest, decided without rounding; the first if two are equal.

        Slopes fall along a hull, so it is where the first segment without a gain begins. Both factors are >= 0.
        """

        def is_no_gain(segment: int) -> bool:
            first, last = self.vertices[segment : segment + 2]
            more = Fraction(self.table.tp[last]) - Fraction(self.table.tp[first])
            return gain * more <= loss * (Fraction(self.table.fp[last]) - Fraction(self.table.fp[first]))

        found = bisect_left(range(self.vertices.size - 1), True, key=is_no_gain)  # noqa: FBT003  # the value to find
        return int(self.vertices[found])


def roc_convex_hull(table: ConfusionTable) -> IntArray:
    """Return the rows that are vertices of the upper convex hull of (fp, tp), ascending.

    For the scores of `ConfusionTable.from_sample` they are 0, 2 and 4; row 1 is on the edge between the first two.
    """
    return sweep.hull(table.tp, table.fp)


def drop_collinear(table: ConfusionTable) -> IntArray:
    """The rows where the curve bends, ascending: leaving out the others changes neither the ROC nor the PR curve.

    A row on the straight line between its neighbours in count space is dropped, and so is a repeated row. Of the rows
    (tp, fp) = (0, 0), (1, 0), (2, 0), (2, 1) the second is. Rows that no sweep could give form no curve, so all stay.
    """
    tp, fp = table.tp, table.fp
    if not table.rises:
        return np.arange(tp.size)
    rows = np.flatnonzero(np.append(True, (tp[1:] != tp[:-1]) | (fp[1:] != fp[:-1])))
    bends = CountSpace.of(table).turns(rows) != 0
    out: IntArray = rows[np.concatenate(([True], bends, [True]))]
    return out
