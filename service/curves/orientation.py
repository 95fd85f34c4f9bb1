"""On which side of a chord a point lies, decided exactly for doubles. The one geometric predicate of the project.

Source: Shewchuk 1997, "Adaptive precision floating-point arithmetic and fast robust geometric predicates": decide with
doubles where their error bound allows, and only the rest with more.
"""

from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np

from service.curves.budget import EXACT_SIDE, PAIR_SIDE, PAIR_SIDES, one_by_one, spend
from service.curves.confusion import ConfusionTable
from service.curves.exact import (
    LARGEST_EXACT_INTEGER,
    BoolArray,
    FloatArray,
    FloatPair,
    IntArray,
    as_integers,
    blocks,
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
    """Points of count space, x = fp and y = tp, (n,) each. `small`: whole, and no product of counts above 2^53."""

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
        tp_a, fp_a = self.tp[a], self.fp[a]
        rise, run = self.tp[b] - tp_a, self.fp[c] - fp_a
        reach, climb = self.fp[b] - fp_a, self.tp[c] - tp_a
        rise *= run
        reach *= climb
        if self.small:
            rise -= reach
            return rise
        return self._certain(rise, reach, a, b, c)

    def _certain(self, left: FloatArray, right: FloatArray, a: IntArray, b: IntArray, c: IntArray) -> FloatArray:
        """The difference of two products as doubles have them, with its sign made sure."""
        side = left - right
        bound = np.abs(left)
        bound += np.abs(right)
        bound *= _FILTER
        bound += _UNDERFLOW
        doubtful = np.flatnonzero(np.abs(side) <= bound)
        if doubtful.size:
            a, b, c = (rows[doubtful] for rows in (a, b, c))
            # Where one of a product's differences is 0, the product is; points that coincide have no side.
            left_is_zero = (self.tp[b] == self.tp[a]) | (self.fp[c] == self.fp[a])
            right_is_zero = (self.fp[b] == self.fp[a]) | (self.tp[c] == self.tp[a])
            open_ = np.flatnonzero(~(left_is_zero & right_is_zero) & ~self._same(b, c))
            if open_.size:
                side[doubtful[open_]] = self._exact_sides(a[open_], b[open_], c[open_])
        return side

    def _same(self, a: IntArray, b: IntArray) -> BoolArray:
        """Whether points coincide; their side is 0 without rounding."""
        same: BoolArray = (self.fp[a] == self.fp[b]) & (self.tp[a] == self.tp[b])
        return same

    def bends(self, rows: IntArray) -> FloatArray:
        """The sides of each of `rows` and its two neighbours among them."""
        everywhere = rows.size == self.tp.size
        bends = []
        for some in blocks(rows.size, overlap=2):
            tp, fp = (column[some] if everywhere else column.take(rows[some]) for column in (self.tp, self.fp))
            bends.append(self._bends(tp, fp, rows[some]))
        return bends[0] if len(bends) == 1 else np.concatenate(bends)

    def _bends(self, tp: FloatArray, fp: FloatArray, rows: IntArray) -> FloatArray:
        climb, run = tp[1:] - tp[:-1], fp[1:] - fp[:-1]
        left, right = climb[:-1] * run[1:], run[:-1] * climb[1:]
        return left - right if self.small else self._certain(left, right, rows[:-2], rows[1:-1], rows[2:])

    def beside(self, vertices: IntArray, rows: IntArray) -> Iterator[tuple[IntArray, FloatArray]]:
        """Some ascending rows, block by block, and their sides of the two of the `vertices` that each lies between."""
        everywhere = rows.size == self.tp.size
        for some in blocks(rows.size):
            tp, fp = (column[some] if everywhere else column.take(rows[some]) for column in (self.tp, self.fp))
            yield rows[some], self._beside(vertices, tp, fp, rows[some])

    def _beside(self, vertices: IntArray, tp: FloatArray, fp: FloatArray, rows: IntArray) -> FloatArray:
        rise, reach, vertices, lengths = self._over_edges(vertices, tp, fp, rows)
        if self.small:
            rise -= reach
            return rise
        return self._certain(rise, reach, vertices[:-1].repeat(lengths), rows, vertices[1:].repeat(lengths))

    def near(self, chain: IntArray, piece: int) -> IntArray:
        """Cut a sweep into pieces of so many rows; the first rows of those that may reach a chain, which never falls.

        No row lies higher or further to the left than its piece's corner, the fp of its first row and the tp of the
        next piece's; where that is under the chain, all of them are.
        """
        first = np.arange(0, self.tp.size, piece)
        rise, reach, _, _ = self._over_edges(
            chain, np.append(self.tp[piece::piece], self.tp[-1]), self.fp[::piece], first
        )
        slack = rise + reach
        slack *= _FILTER
        slack += _UNDERFLOW
        return first[rise + slack >= reach]

    def _over_edges(
        self, vertices: IntArray, tp: FloatArray, fp: FloatArray, rows: IntArray
    ) -> tuple[FloatArray, FloatArray, IntArray, IntArray]:
        """The two products whose difference is the side of points (fp, tp) and the edges that `rows` lie on.

        And the vertices of those edges, and how many rows each edge has.
        """
        first, last = vertices[1:-1].searchsorted(rows[[0, -1]])
        vertices = vertices[first : last + 2]
        ends = np.concatenate(([0], rows.searchsorted(vertices[1:-1], side="right"), [rows.size]))
        lengths = ends[1:] - ends[:-1]
        tp_there, fp_there = self.tp.take(vertices), self.fp.take(vertices)
        edges = [tp_there[:-1], fp_there[1:] - fp_there[:-1], fp_there[:-1], tp_there[1:] - tp_there[:-1]]
        # Numbers of a single edge go with all rows as they are.
        tp_a, run, fp_a, climb = [column.repeat(lengths) for column in edges] if lengths.size > 1 else edges
        rise, reach = tp - tp_a, fp - fp_a
        rise *= run
        reach *= climb
        return rise, reach, vertices, lengths

    def _exact_sides(self, a: IntArray, b: IntArray, c: IntArray) -> FloatArray:
        spend(PAIR_SIDES + a.size * PAIR_SIDE)
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
        doubtful = np.flatnonzero(~exact & (np.abs(side) <= _PAIR_FILTER * (np.abs(left[0]) + np.abs(right[0]))))
        for row in one_by_one(doubtful, EXACT_SIDE):
            side[row] = _integer_side(differences, int(row))
        return side


def _normalise(difference: FloatPair) -> tuple[FloatPair, IntArray]:
    mantissa, power = np.frexp(difference[0])
    return (mantissa, np.ldexp(difference[1], -power)), power


def _integer_side(differences: list[FloatPair], row: int) -> float:
    rise, run, reach, climb = (float(high[row]) for high, _ in differences)
    more_rise, more_run, more_reach, more_climb = (float(low[row]) for _, low in differences)
    rise_high, rise_low, climb_high, climb_low = as_integers(rise, more_rise, climb, more_climb)
    run_high, run_low, reach_high, reach_low = as_integers(run, more_run, reach, more_reach)
    side = (rise_high + rise_low) * (run_high + run_low) - (reach_high + reach_low) * (climb_high + climb_low)
    return float((side > 0) - (side < 0))
