"""Statistics of many resamples, from how often each kind of example was drawn.

    mass of a kind   how often it was drawn, times its weight
    tp, fp           the masses of either class, added up over the rows of the whole sample's table, without sorting
    a statistic      an area, all of a block in one call of the sweep, or a function of one resample's tp and fp

A run of rows at which only negatives lie is one step: its ends are kept. Knows strata, not where counts come from.
"""

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, TypeAlias

import numpy as np
from numpy.typing import NDArray

from service.curves.arrays import FloatArray, IntArray
from service.curves.clock import still_time
from service.curves.sweep import sweep
from service.curves.sweep.sweep import Drawn
from service.inference.strata import Strata

RESAMPLED_AREAS = ("roc", "pr", "average_precision")
"""The areas of resamples, in the order of the sweep."""

_RESAMPLED_PR = [RESAMPLED_AREAS.index("pr"), RESAMPLED_AREAS.index("average_precision")]

OfRows: TypeAlias = Callable[[FloatArray, FloatArray], float]
"""From tp and fp of one resample, (K,) each, from 0 to its totals, to a number; NaN where undefined."""

Statistic: TypeAlias = str | OfRows
"""The name of an area, or a function."""

Statistics: TypeAlias = Mapping[Any, Statistic | Sequence[Statistic]]
"""Statistics by name; a sequence has one for each evaluation."""

DrawCounts: TypeAlias = NDArray[np.integer[Any]] | FloatArray
"""How often each kind was drawn, (b, kinds), or (1, kinds) if it is the same in all resamples."""


@dataclass(frozen=True, slots=True, eq=False)
class _Rows:
    """The rows of one evaluation's table that resamples need: how many, and the row of each kind of either class."""

    count: int
    of_classes: tuple[IntArray, IntArray]

    @classmethod
    def of(cls, table_rows: int, positives: IntArray, negatives: IntArray) -> "_Rows":
        """Leave out the rows that lie within a run of negatives in every resample."""
        gains = np.zeros(table_rows, np.bool_)
        gains[positives] = True
        kept = gains | np.append(gains[1:], True)
        kept[0] = True
        place = np.cumsum(np.append(False, kept[:-1]))  # of a row that is left out, that of the next one kept
        return cls(int(kept.sum()), (place[positives], place[negatives]))


class ReplicateEvaluator:
    """Evaluates statistics of the one or two evaluations of strata.

    `kinds` gives, for each class, the kind of each count; None if counts are of all kinds, in order. `width` is roughly
    how many numbers one resample takes.
    """

    def __init__(self, strata: Strata, statistics: Statistics, kinds: Iterable[IntArray | None] = (None, None)) -> None:
        self._statistics = statistics
        chosen = [slice(None) if each is None else each for each in kinds]
        self._weights = [
            None if stratum.weights is None else stratum.weights[which]
            for stratum, which in zip(strata.classes, chosen, strict=True)
        ]
        self._rows, self._tables = [], strata.tables
        for number, size in enumerate(strata.table_rows):
            of_classes = [stratum.rows[number][at] for stratum, at in zip(strata.classes, chosen, strict=True)]
            self._rows.append(_Rows.of(size, *of_classes))
        examples = sum(rows.size for rows in self._rows[0].of_classes)
        self.width = max(examples, *(rows.count for rows in self._rows))

    def evaluate(self, *counts: DrawCounts) -> dict[Any, FloatArray]:
        """Statistics, (E, b) each, from the counts of positives and of negatives."""
        still_time()
        resamples = max(each.shape[0] for each in counts)
        masses = [np.broadcast_to(_as_drawn(each), (resamples, each.shape[1])) for each in counts]
        found: dict[Any, list[FloatArray]] = {name: [] for name in self._statistics}
        for evaluation, rows in enumerate(self._rows):
            drawn = [Drawn(*each) for each in zip(rows.of_classes, self._weights, masses, strict=True)]
            statistics = {name: _of(each, evaluation) for name, each in self._statistics.items()}
            areas = [each for each in statistics.values() if isinstance(each, str)]
            if areas:
                values = sweep.resampled_areas(rows.count, *drawn, roc_alone=set(areas) == {"roc"})
                table = self._tables[evaluation]
                if table.target is not None and set(areas) != {"roc"}:
                    totals = table.in_use.positives, table.in_use.negatives
                    used = [_scaled(each, total) for each, total in zip(drawn, totals, strict=True)]
                    values[:, _RESAMPLED_PR] = sweep.resampled_areas(rows.count, *used)[:, _RESAMPLED_PR]
            if len(areas) < len(statistics):
                columns = sweep.resamples(rows.count, *drawn)
            for name, each in statistics.items():
                if isinstance(each, str):
                    found[name].append(values[:, RESAMPLED_AREAS.index(each)])
                else:
                    found[name].append(_row_by_row(each, *columns))
        return {name: np.stack(each) for name, each in found.items()}


def _scaled(drawn: Drawn, total: float) -> Drawn:
    """What was drawn of a class, with this mass in each resample."""
    masses = drawn.counts * (1.0 if drawn.weights is None else drawn.weights)
    return Drawn(drawn.rows, None, masses * (total / masses.sum(axis=1))[:, np.newaxis])


def _row_by_row(function: OfRows, tp: FloatArray, fp: FloatArray) -> FloatArray:
    out = np.empty(tp.shape[0])
    for number, rows in enumerate(zip(tp, fp, strict=True)):
        still_time()
        out[number] = function(*rows)
    return out


def _as_drawn(counts: DrawCounts) -> NDArray[Any]:
    """Counts as C reads them: small ones, or doubles."""
    return counts if counts.dtype == np.uint8 else counts.astype(np.float64)


def _of(statistic: Statistic | Sequence[Statistic], evaluation: int) -> Statistic:
    return statistic if isinstance(statistic, str) or callable(statistic) else statistic[evaluation]
