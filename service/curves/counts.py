"""Raw confusion-matrix counts, in any order of rows.

    find the totals on which all rows agree: tp + fn = P and fp + tn = N
    check that both lie in the range of totals, and that no count is above its total

Knows what makes counts one data set; nothing of curves.
"""

from dataclasses import dataclass

import numpy as np

from service.curves.arrays import FloatArray
from service.curves.double_double import two_sum
from service.curves.errors import ContradictingTotals, LengthsDiffer, plain
from service.curves.sample import check_total
from service.curves.target_prevalence import TargetPrevalence

_TOTALS_TOLERANCE = 2.0**-49
"""How far tp + fn of fractional rows may differ, relatively: fn = P - tp was rounded when it was computed."""


@dataclass(frozen=True, slots=True, eq=False)
class Counts:
    """Confusion matrices over one data set: `tp` and `fp` per row, and the totals.

    tp, fp      (n,) finite, >= 0, whole or fractional; rows in any order.
    positives, negatives   the totals P and N.
    thresholds  (n,) or None; NaN where a row has none, infinite where it calls nothing positive, or everything.
                Carried along; never used to order different rows.
    lower_is_positive   whether thresholds ascend as more is called positive.
    target      how common positives are where the model is used; None if as common as here.

    Raises LengthsDiffer, TotalOutOfRange, and ContradictingTotals when a count is above its total.
    """

    tp: FloatArray
    fp: FloatArray
    positives: float
    negatives: float
    thresholds: FloatArray | None = None
    lower_is_positive: bool = False
    target: TargetPrevalence | None = None

    @property
    def rows(self) -> int:
        """How many rows there are, n."""
        return self.tp.size

    def __post_init__(self) -> None:
        for name, column in (("fp", self.fp), ("threshold", self.thresholds)):
            if column is not None and column.size != self.tp.size:
                raise LengthsDiffer.of(name, column.size, "tp", self.tp.size)
        check_total("positives", self.positives)
        check_total("negatives", self.negatives)
        for name, column, total in (("tp", self.tp, self.positives), ("fp", self.fp, self.negatives)):
            above = np.flatnonzero(column > total)
            if above.size:
                raise ContradictingTotals(f"{name} is above its total, {plain(total)}.", name, int(above[0]))


def total(hits: FloatArray, misses: FloatArray, stated: float | None, names: tuple[str, str, str]) -> float:
    """The total on which all rows of hits (tp or fp) and misses (fn or tn) agree, and the stated total, if given.

    Whole numbers must agree exactly, fractional ones to a few ulp. The stated total takes precedence, then a row
    without misses, then the largest sum. Hits 1 and 3 with misses 2 and 0 have the total 3. `names` are those of hits,
    misses and the total. Raises ContradictingTotals or LengthsDiffer.
    """
    if misses.size != hits.size:
        raise LengthsDiffer.of(names[1], misses.size, names[0], hits.size)
    with np.errstate(over="ignore", invalid="ignore"):
        sums, errors = two_sum(hits, misses)
    if stated is None:
        complete = hits[misses == 0]
        stated = float(complete.max() if complete.size else sums.max())
    whole = bool(np.all(hits % 1 == 0) and np.all(misses % 1 == 0))
    slack = 0.0 if whole else _TOTALS_TOLERANCE * stated
    with np.errstate(invalid="ignore"):
        apart = np.flatnonzero(np.abs((sums - stated) + errors) > slack)
    if apart.size:
        row = int(apart[0])
        raise ContradictingTotals(
            f"{names[0]} + {names[1]} is {plain(sums[row])} here but {names[2]} is {plain(stated)}.", names[1], row
        )
    return stated
