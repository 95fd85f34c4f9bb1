"""From the number of times each example occurs in resamples to statistics, by counts cumulated on the table's rows.

Knows strata and statistics of cumulated counts, not where counts come from.
"""

import math
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, TypeAlias, TypeVar

import numpy as np
from numpy.typing import NDArray

from service.curves.exact import BoolArray, FloatArray, IntArray
from service.inference.area_statistics import Statistic
from service.inference.strata import Stratum

_Number = TypeVar("_Number", bound=np.generic)


class Scratch:
    """Memory reused by every block of resamples: new pages would cost more than the arithmetic."""

    def __init__(self) -> None:
        self._bytes = np.empty(0, np.uint8)

    def array(self, shape: tuple[int, int], dtype: type[_Number]) -> NDArray[_Number]:
        """The memory as an array, uninitialised."""
        size = math.prod(shape) * np.dtype(dtype).itemsize
        if self._bytes.size < size:
            self._bytes = np.empty(size, np.uint8)
        return self._bytes[:size].view(dtype).reshape(shape)


class Examples:
    """The examples of one class, whose counts are cumulated in the order of each evaluation's table."""

    def __init__(self, stratum: Stratum, kinds: IntArray | None = None) -> None:
        """Take all kinds of a stratum, or one entry for each of the given kinds."""
        columns = [rows if kinds is None else rows[kinds] for rows in stratum.rows]
        weights = stratum.weights if kinds is None or stratum.weights is None else stratum.weights[kinds]
        orders = [None if (np.diff(rows) >= 0).all() else np.argsort(rows, kind="stable") for rows in columns]
        self.kinds = columns[0].size
        self.rows = [rows if order is None else rows[order] for rows, order in zip(columns, orders, strict=True)]
        self._orders = orders
        self._weights = [weights if weights is None or order is None else weights[order] for order in orders]
        self._sorted, self._cumulated = Scratch(), Scratch()

    def at(self, evaluation: int, table_rows: int) -> BoolArray:
        """Whether each row of a table has any, (K,)."""
        out = np.zeros(table_rows, np.bool_)
        out[self.rows[evaluation]] = True
        return out

    def cumulated(self, counts: NDArray[np.number[Any]], evaluation: int) -> FloatArray | NDArray[np.int32]:
        """The total weight of the first 0, 1, ... kinds in each resample, (b, kinds + 1); valid until the next call."""
        order, weights = self._orders[evaluation], self._weights[evaluation]
        if order is not None:
            counts = counts.take(order, axis=1, out=self._sorted.array(counts.shape, counts.dtype.type), mode="clip")
        shape = counts.shape[0], self.kinds + 1
        if weights is None and counts.dtype == np.uint8:  # integers add faster; sums are below 2^31
            whole = self._cumulated.array(shape, np.int32)
            whole[:, 0] = 0
            np.cumsum(counts, axis=1, dtype=np.int32, out=whole[:, 1:])
            return whole
        out = self._cumulated.array(shape, np.float64)
        out[:, 0] = 0
        np.multiply(counts, 1.0 if weights is None else weights, out=out[:, 1:])
        np.cumsum(out, axis=1, out=out)
        return out


@dataclass(frozen=True, slots=True, eq=False)
class View:
    """Rows of one table, as how many positives and negatives come before each, and the statistics that use them."""

    ends: tuple[IntArray, IntArray]
    statistics: dict[str, Statistic]
    scratch: tuple[Scratch, Scratch, Scratch]

    def counts(self, cumulated: Sequence[FloatArray | NDArray[np.int32]]) -> Iterator[FloatArray]:
        """Return tp and fp on these rows, (b, K) each; valid until the next call."""
        for column, ends, scratch in zip(cumulated, self.ends, self.scratch, strict=False):
            shape = column.shape[0], ends.size
            out = scratch.array(shape, np.float64)
            if column.dtype == np.float64:
                column.take(ends, axis=1, out=out, mode="clip")
            else:
                taken = self.scratch[2].array(shape, np.int32)
                out[:] = column.take(ends, axis=1, out=taken, mode="clip")
            yield out


Statistics: TypeAlias = Mapping[str, Statistic | Sequence[Statistic]]
"""Statistics by name, a tuple of one for each evaluation."""


class Tables:
    """Statistics from counts of both classes, each on the rows that it needs.

    `width` is roughly how many numbers one resample takes.
    """

    def __init__(self, classes: tuple[Examples, Examples], table_rows: Sequence[int], statistics: Statistics) -> None:
        self._classes = classes
        self._views = [
            self._views_of(number, rows, {name: _of(each, number) for name, each in statistics.items()})
            for number, rows in enumerate(table_rows)
        ]
        longest = max((view.ends[0].size for views in self._views for view in views), default=1)
        self.width = max(longest, sum(each.kinds for each in classes))

    def _views_of(self, evaluation: int, table_rows: int, statistics: Mapping[str, Statistic]) -> list[View]:
        gains, losses = (each.at(evaluation, table_rows) for each in self._classes)
        views: list[tuple[IntArray, View]] = []
        scratch = Scratch(), Scratch(), Scratch()
        for name, statistic in statistics.items():
            rows = statistic.rows(gains, losses)
            view = next((view for others, view in views if np.array_equal(others, rows)), None)
            if view is None:
                positives, negatives = (each.rows[evaluation].searchsorted(rows, "right") for each in self._classes)
                view = View((positives, negatives), {}, scratch)
                views.append((rows, view))
            view.statistics[name] = statistic
        return [view for _, view in views]

    def evaluate(self, *counts: NDArray[np.number[Any]]) -> dict[str, FloatArray]:
        """Statistics (E, b) from the counts of positives and of negatives, (b, kinds) each or (1, kinds) for all."""
        found: dict[str, list[FloatArray]] = {}
        resamples = max(each.shape[0] for each in counts)
        for evaluation, views in enumerate(self._views):
            both = [each.cumulated(drawn, evaluation) for each, drawn in zip(self._classes, counts, strict=True)]
            for view in views:
                tp, fp = (np.broadcast_to(column, (resamples, column.shape[1])) for column in view.counts(both))
                for name, statistic in view.statistics.items():
                    found.setdefault(name, []).append(statistic(tp, fp))
        return {name: np.stack(rows) for name, rows in found.items()}


def _of(statistic: Statistic | Sequence[Statistic], evaluation: int) -> Statistic:
    return statistic[evaluation] if isinstance(statistic, Sequence) else statistic
