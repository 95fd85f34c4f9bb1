"""On which side of a chord a point lies, decided exactly for doubles. The one geometric predicate of the project.

Source: Shewchuk 1997, "Adaptive precision floating-point arithmetic and fast robust geometric predicates": decide with
doubles where their error bound allows, and only the rest with more.
"""

from dataclasses import dataclass
from fractions import Fraction

import numpy as np

from service.curves.confusion import ConfusionTable
from service.curves.exact import LARGEST_EXACT_INTEGER, FloatArray, IntArray, Pair, pair_product, two_sum

_FILTER = 2.0**-51
"""Above the error of the plain determinant relative to its two products, (3 + 16 ε) ε with ε = 2^-53."""
_PAIR_FILTER = 2.0**-99
"""The same for the determinant in pairs."""
_UNDERFLOW = 2.0**-900
"""A determinant below this may have lost bits to underflow."""


@dataclass(frozen=True, slots=True, eq=False)
class Points:
    """Points in count space: x = fp, y = tp. `small` promises whole counts whose products are below 2^53."""

    fp: FloatArray
    tp: FloatArray
    small: bool

    @classmethod
    def of(cls, table: ConfusionTable) -> "Points":
        """The rows of a table."""
        small = table.positives * table.negatives <= LARGEST_EXACT_INTEGER and table.whole
        return cls(table.fp, table.tp, small)

    def sides(self, a: IntArray, b: IntArray, c: IntArray) -> FloatArray:
        """For each triple of rows: positive when b lies above the chord from a to c, 0 on it, negative under it.

            (tp_b - tp_a)(fp_c - fp_a) - (fp_b - fp_a)(tp_c - tp_a),  with fp_a <= fp_b <= fp_c

        The sign is exact; the size is the determinant rounded.
        """
        rise, run = self.tp[b] - self.tp[a], self.fp[c] - self.fp[a]
        reach, climb = self.fp[b] - self.fp[a], self.tp[c] - self.tp[a]
        left, right = rise * run, reach * climb
        side = left - right
        if self.small:
            return side
        doubtful = np.abs(side) <= _FILTER * (np.abs(left) + np.abs(right)) + _UNDERFLOW
        doubtful &= ((rise != 0) & (run != 0)) | ((reach != 0) & (climb != 0))
        rows = np.flatnonzero(doubtful)
        if rows.size:
            side[rows] = self._exact_sides(a[rows], b[rows], c[rows])
        return side

    def _exact_sides(self, a: IntArray, b: IntArray, c: IntArray) -> FloatArray:
        differences = [
            two_sum(column[end], -column[a]) for column, end in ((self.tp, b), (self.fp, c), (self.fp, b), (self.tp, c))
        ]
        left, right = pair_product(*differences[:2]), pair_product(*differences[2:])
        high, low = left[0] - right[0], left[1] - right[1]
        size = np.abs(left[0]) + np.abs(right[0])
        # Exact differences have exact products, which compare like numbers of two digits.
        exact = np.all([error == 0 for _, error in differences], axis=0)
        side = np.where(exact, np.where(high != 0, high, low), high + low)
        doubtful = (size < _UNDERFLOW) | (~exact & (np.abs(side) <= _PAIR_FILTER * size))
        for row in np.flatnonzero(doubtful):
            side[row] = _rational_side(differences, int(row))
        return side


def _rational_side(differences: list[Pair], row: int) -> float:
    rise, run, reach, climb = (Fraction(float(high[row])) + Fraction(float(low[row])) for high, low in differences)
    side = rise * run - reach * climb
    return float((side > 0) - (side < 0))
