"""On which side of a chord a point lies, decided exactly: the one geometric predicate of the project.

See turn() in sweep/sweep.c. Knows tables and the sweep.
"""

from dataclasses import dataclass

import numpy as np

from service.curves.arrays import FloatArray, IntArray
from service.curves.confusion import ConfusionTable
from service.curves.sweep import sweep


@dataclass(frozen=True, slots=True, eq=False)
class CountSpace:
    """Points in count space, x = fp and y = tp, (n,) each."""

    fp: FloatArray
    tp: FloatArray

    @classmethod
    def of(cls, *tables: ConfusionTable) -> "CountSpace":
        """The rows of tables of equal totals, one table after another."""
        if len(tables) == 1:
            return cls(tables[0].fp, tables[0].tp)
        return cls(np.concatenate([table.fp for table in tables]), np.concatenate([table.tp for table in tables]))

    def orientation(self, a: IntArray, b: IntArray, c: IntArray) -> FloatArray:
        """For each triple of rows: positive when b lies above the chord from a to c, 0 on it, negative under it.

            (tp_b - tp_a)(fp_c - fp_a) - (fp_b - fp_a)(tp_c - tp_a),  with fp_a <= fp_b <= fp_c

        The sign is exact. The size means nothing.
        """
        return sweep.turns(self.tp, self.fp, a, b, c)

    def turns(self, rows: IntArray) -> FloatArray:
        """The orientation of each inner row of `rows` to its two neighbours among them, (n - 2,)."""
        return self.orientation(rows[:-2], rows[1:-1], rows[2:])
