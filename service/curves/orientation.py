"""On which side of a chord a point lies, decided exactly for doubles. The one geometric predicate of the project.

Source: Shewchuk 1997, "Adaptive precision floating-point arithmetic and fast robust geometric predicates": decide with
doubles where their error bound allows, and only the rest with more.
"""

from dataclasses import dataclass

import numpy as np

from service.curves.confusion import ConfusionTable
from service.curves.exact import (
    LARGEST_EXACT_INTEGER,
    BoolArray,
    FloatArray,
    IntArray,
    Pair,
    as_integers,
    pair_product,
    two_sum,
)

_FILTER = 2.0**-51
"""Above the error of the plain determinant relative to its two products, (3 + 16 ε) ε with ε = 2^-53."""
_PAIR_FILTER = 2.0**-99
"""The same for the determinant in pairs."""
_UNDERFLOW = 2.0**-900
"""A determinant below this may have lost bits to underflow."""
_APART = 4
"""Two products of numbers in [1/2, 1) compare by their powers of two alone when those are further apart."""


@dataclass(frozen=True, slots=True, eq=False)
class CountSpace:
    """Points of count space, x = fp and y = tp, (n,) each. `small`: whole, and products of counts are below 2^53."""

    fp: FloatArray
    tp: FloatArray
    small: bool

    @classmethod
    def of(cls, *tables: ConfusionTable) -> "CountSpace":
        """The rows of tables of equal totals, one table's after the other's."""
        first = tables[0]
        small = first.positives * first.negatives <= LARGEST_EXACT_INTEGER and all(table.whole for table in tables)
        if len(tables) == 1:
            return cls(first.fp, first.tp, small)
        return cls(
            np.concatenate([table.fp for table in tables]), np.concatenate([table.tp for table in tables]), small
        )

    def sides(self, a: IntArray, b: IntArray, c: IntArray) -> FloatArray:
        """For each triple of rows: positive when b lies above the chord from a to c, 0 on it, negative under it.

            (tp_b - tp_a)(fp_c - fp_a) - (fp_b - fp_a)(tp_c - tp_a),  with fp_a <= fp_b <= fp_c

        The sign is exact. The size only hints at the distance: it is scaled where the sign took more than doubles.
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
        rows = rows[~self._same(a[rows], b[rows]) & ~self._same(b[rows], c[rows])]
        if rows.size:
            side[rows] = self._exact_sides(a[rows], b[rows], c[rows])
        return side

    def _same(self, a: IntArray, b: IntArray) -> BoolArray:
        """Whether points coincide; their side is 0 without rounding."""
        same: BoolArray = (self.fp[a] == self.fp[b]) & (self.tp[a] == self.tp[b])
        return same

    def bends(self, rows: IntArray) -> FloatArray:
        """The same for each of `rows` and its two neighbours among them."""
        if not self.small:
            return self.sides(rows[:-2], rows[1:-1], rows[2:])
        everywhere = rows.size == self.tp.size
        climb, run = (np.diff(column if everywhere else column[rows]) for column in (self.tp, self.fp))
        bend: FloatArray = climb[:-1] * run[1:] - run[:-1] * climb[1:]
        return bend

    def beside(self, vertices: IntArray) -> FloatArray:
        """The same for every row and the two `vertices`, ascending, that it lies between, (n,); 0 for the first row."""
        rows = np.arange(1, self.tp.size)
        lengths = np.diff(vertices)
        lengths[-1] += rows.size - vertices[-1]  # rows that repeat the last vertex
        if not self.small:
            edge = np.repeat(np.arange(lengths.size), lengths)
            return np.concatenate(([0.0], self.sides(vertices[edge], rows, vertices[edge + 1])))
        climb, run = np.diff(self.tp[vertices]), np.diff(self.fp[vertices])
        start = climb * self.fp[vertices[:-1]] - run * self.tp[vertices[:-1]]
        climb, run, start = (np.repeat(of_edge, lengths) for of_edge in (climb, run, start))
        return np.concatenate(([0.0], self.tp[1:] * run - self.fp[1:] * climb + start))

    def _exact_sides(self, a: IntArray, b: IntArray, c: IntArray) -> FloatArray:
        differences = [
            two_sum(column[end], -column[a]) for column, end in ((self.tp, b), (self.fp, c), (self.fp, b), (self.tp, c))
        ]
        # Each difference as a number in [1/2, 1) and a power of two, so that no product leaves the range of a double.
        scaled, powers = zip(*map(_normalise, differences), strict=True)
        left, right = pair_product(*scaled[:2]), pair_product(*scaled[2:])
        power = np.clip((powers[2] + powers[3]) - (powers[0] + powers[1]), -_APART, _APART)
        right = np.ldexp(right[0], power), np.ldexp(right[1], power)
        high, low = left[0] - right[0], left[1] - right[1]
        # Exact differences have exact products, which compare like numbers of two digits.
        exact = np.all([error == 0 for _, error in differences], axis=0)
        side: FloatArray = np.where(exact, np.where(high != 0, high, low), high + low)
        for row in np.flatnonzero(~exact & (np.abs(side) <= _PAIR_FILTER * (np.abs(left[0]) + np.abs(right[0])))):
            side[row] = _integer_side(differences, int(row))
        return side


def _normalise(difference: Pair) -> tuple[Pair, IntArray]:
    mantissa, power = np.frexp(difference[0])
    return (mantissa, np.ldexp(difference[1], -power)), power


def _integer_side(differences: list[Pair], row: int) -> float:
    rise, run, reach, climb = (float(high[row]) for high, _ in differences)
    more_rise, more_run, more_reach, more_climb = (float(low[row]) for _, low in differences)
    rise_high, rise_low, climb_high, climb_low = as_integers(rise, more_rise, climb, more_climb)
    run_high, run_low, reach_high, reach_low = as_integers(run, more_run, reach, more_reach)
    side = (rise_high + rise_low) * (run_high + run_low) - (reach_high + reach_low) * (climb_high + climb_low)
    return float((side > 0) - (side < 0))
