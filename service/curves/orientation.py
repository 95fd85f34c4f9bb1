"""On which side of a chord a point lies, decided exactly for doubles. The one geometric predicate of the project.

Source: Shewchuk 1997, "Adaptive precision floating-point arithmetic and fast robust geometric predicates": decide in
doubles where their error bound allows, and only the rest in higher precision.
"""

from dataclasses import dataclass

import numpy as np

from service.curves.clock import still_time
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
"""An upper bound of the plain determinant's error relative to its two products, (3 + 16 ε) ε with ε = 2^-53."""
_PAIR_FILTER = 2.0**-99
"""The same for the determinant in pairs of doubles."""
_UNDERFLOW = 2.0**-900
"""A determinant below this may have lost bits to underflow."""
_APART = 4
"""Two products of numbers in [1/2, 1) compare by their powers of two alone if those differ by more than this."""


@dataclass(frozen=True, slots=True, eq=False)
class CountSpace:
    """Points in count space, x = fp and y = tp, (n,) each. `small`: whole, with products of counts up to 2^53."""

    fp: FloatArray
    tp: FloatArray
    small: bool

    @classmethod
    def of(cls, *tables: ConfusionTable) -> "CountSpace":
        """The rows of tables of equal totals, one table after another."""
        first = tables[0]
        small = first.positives * first.negatives <= LARGEST_EXACT_INTEGER and all(table.whole for table in tables)
        if len(tables) == 1:
            return cls(first.fp, first.tp, small)
        return cls(
            np.concatenate([table.fp for table in tables]), np.concatenate([table.tp for table in tables]), small
        )

    def orientation(self, a: IntArray, b: IntArray, c: IntArray) -> FloatArray:
        """For each triple of rows: positive when b lies above the chord from a to c, 0 on it, negative under it.

            (tp_b - tp_a)(fp_c - fp_a) - (fp_b - fp_a)(tp_c - tp_a),  with fp_a <= fp_b <= fp_c

        The sign is exact. The size only indicates the distance: it is scaled where doubles could not decide the sign.
        """
        out = np.empty(b.size)
        for some in blocks(b.size):
            out[some] = self._orientation(a[some], b[some], c[some])
        return out

    def turns(self, rows: IntArray) -> FloatArray:
        """The orientation of each inner row of `rows` to its two neighbours among them, (n - 2,)."""
        return self.orientation(rows[:-2], rows[1:-1], rows[2:])

    def beside(self, vertices: IntArray, rows: IntArray) -> FloatArray:
        """The orientation of ascending rows, each to the two `vertices` that it lies between."""
        lengths = np.diff(rows.searchsorted(vertices[1:-1], side="right"), prepend=0, append=rows.size)
        return self.orientation(vertices[:-1].repeat(lengths), rows, vertices[1:].repeat(lengths))

    def _orientation(self, a: IntArray, b: IntArray, c: IntArray) -> FloatArray:
        tp_a, fp_a, tp_b, fp_b, tp_c, fp_c = (column.take(rows) for rows in (a, b, c) for column in (self.tp, self.fp))
        left, right = (tp_b - tp_a) * (fp_c - fp_a), (fp_b - fp_a) * (tp_c - tp_a)
        difference: FloatArray = left - right
        if self.small:
            return difference
        doubtful = np.flatnonzero(np.abs(difference) <= (np.abs(left) + np.abs(right)) * _FILTER + _UNDERFLOW)
        doubtful = doubtful[~self._are_flat(a[doubtful], b[doubtful], c[doubtful])]
        if doubtful.size:
            difference[doubtful] = self._exact_orientation(a[doubtful], b[doubtful], c[doubtful])
        return difference

    def _are_flat(self, a: IntArray, b: IntArray, c: IntArray) -> BoolArray:
        """Whether both products have a factor 0, or b equals c, so that the orientation is exactly 0."""
        tp, fp = ([column.take(rows) for rows in (a, b, c)] for column in (self.tp, self.fp))
        flat: BoolArray = ((tp[1] == tp[0]) | (fp[2] == fp[0])) & ((fp[1] == fp[0]) | (tp[2] == tp[0]))
        flat |= (tp[1] == tp[2]) & (fp[1] == fp[2])
        return flat

    def _exact_orientation(self, a: IntArray, b: IntArray, c: IntArray) -> FloatArray:
        still_time()
        differences = [
            two_sum(column[end], -column[a]) for column, end in ((self.tp, b), (self.fp, c), (self.fp, b), (self.tp, c))
        ]
        # Each difference as a number in [1/2, 1) and a power of two, so that no product leaves the range of a double.
        scaled, powers = zip(*map(_normalise, differences), strict=True)
        left, right = pair_product(*scaled[:2]), pair_product(*scaled[2:])
        power = np.clip((powers[2] + powers[3]) - (powers[0] + powers[1]), -_APART, _APART)
        right = np.ldexp(right[0], power), np.ldexp(right[1], power)
        high, low = left[0] - right[0], left[1] - right[1]
        # Products of exact differences are exact: compare the high parts, then the low ones.
        exact = np.all([error == 0 for _, error in differences], axis=0)
        out: FloatArray = np.where(exact, np.where(high != 0, high, low), high + low)
        doubtful = np.flatnonzero(~exact & (np.abs(out) <= _PAIR_FILTER * (np.abs(left[0]) + np.abs(right[0]))))
        for row in doubtful:
            still_time()
            out[row] = _integer_orientation(differences, int(row))
        return out


def _normalise(difference: FloatPair) -> tuple[FloatPair, IntArray]:
    mantissa, power = np.frexp(difference[0])
    return (mantissa, np.ldexp(difference[1], -power)), power


def _integer_orientation(differences: list[FloatPair], row: int) -> float:
    up, run, across, rise = (float(high[row]) for high, _ in differences)
    more_up, more_run, more_across, more_rise = (float(low[row]) for _, low in differences)
    up_high, up_low, rise_high, rise_low = as_integers(up, more_up, rise, more_rise)
    run_high, run_low, across_high, across_low = as_integers(run, more_run, across, more_across)
    determinant = (up_high + up_low) * (run_high + run_low) - (across_high + across_low) * (rise_high + rise_low)
    return float((determinant > 0) - (determinant < 0))
