"""How far each row moves the averages of several classes, and the standard errors that follow.

    V_i = Σ_k a_k v_ik                           a_k = 1/K for macro, P_k/Σ P for weighted
    V_i = Σ_k v_ik of the pooled sample          for micro: K of its rows are one row of the data
    var = Σ_c m/(m - 1) Σ_i (V_i - V̄)²           over the rows i of each true class c, of effective number m
    var = Σ_c Σ_c' m/(m - 1) Σ_g V_gc V_gc'       with clusters: V_gc is the sum of V_i - V̄ over the rows of class c in
                                                  cluster g, and m the lesser of the effective clusters of c and c'

v_ik is how far row i moves the area of class k, as one of its positives or negatives (spread.py). The difference of two
averages, or of the areas of two classes, has the differences of their moves. Knows the scores of classes and
influences; nothing of intervals.
"""

import math
from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np

from service.curves.area_columns import Undefined, sample_or_reason
from service.curves.arrays import BoolArray, FloatArray, IntArray
from service.curves.class_scores import ClassScores
from service.curves.classes import AVERAGED_AREAS, AVERAGES, Classes, pooled_classes
from service.curves.clock import in_time
from service.curves.confusion import ConfusionTable
from service.curves.sample import Sample
from service.inference.clustering import ClassClusters, design_effect
from service.inference.influence import INFLUENCES
from service.inference.metric import ENDS
from service.inference.spread import Spread
from service.inference.strata import FEWEST

AveragedArea = tuple[float, float, float]
"""Of an average: the weight of an area, the area, and the effective number of its positives."""

_SUMS_KEPT = 1 << 20
"""Sums of a class over a cluster that are kept at a time."""


@dataclass(frozen=True, slots=True)
class AverageError:
    """The standard error of an average; with clusters, its design effect and its degrees of freedom."""

    error: float
    design_effect: float | None = None
    freedom: float = math.inf


class ClassRows:
    """The rows of all classes, and the standard error of what they move.

    own      the true class of each row, (n,), and `masses` what the row weighs.
    totals   what the rows of each class weigh, (k,); `sizes` are their effective numbers, of classes that have rows.
    clusters of each class that has rows; None if rows are independent.
    """

    def __init__(self, given: ClassScores) -> None:
        """Sort the rows by true class; each has one."""
        count = len(given.names)
        self.own = np.stack(given.members).argmax(axis=0)
        self.masses = np.ones(given.rows) if given.weights is None else given.weights / (given.weights.max() or 1.0)
        greatest = np.zeros(count)
        np.maximum.at(greatest, self.own, self.masses)
        self._there = greatest > 0
        shares = self.masses / np.where(self._there, greatest, 1.0)[self.own]  # whose squares are not all 0
        sums, squares = (
            np.bincount(self.own, each, minlength=count)[self._there] for each in (shares, shares * shares)
        )
        self.sizes = sums * sums / squares
        totals = np.bincount(self.own, self.masses, minlength=count)
        self.totals = totals
        self.clusters: list[ClassClusters] | None = None
        self._numbers = np.empty(0, np.int64)
        if given.clusters is not None and given.clusters.repeats(given.weights):
            self._numbers = given.clusters.numbers
            there = [(self.own == number) & (self.masses > 0) for number in np.flatnonzero(self._there).tolist()]
            kinds = [(self._numbers[rows], self.masses[rows]) for rows in there]
            sizes = self.sizes.tolist()
            self.clusters = [ClassClusters.of(*each, size) for each, size in zip(kinds, sizes, strict=True)]

    @property
    def enough(self) -> bool:
        """Whether there are enough rows, or clusters, of each class for intervals."""
        return min(self.units, default=0.0) >= FEWEST and self.sizes.size > 1

    @property
    def units(self) -> list[float]:
        """The effective numbers of clusters of the classes that have rows; of rows if these are independent."""
        return self.sizes.tolist() if self.clusters is None else [each.effective for each in self.clusters]

    def sums(self, apart: FloatArray) -> FloatArray:
        """Centred moves added up within each cluster; unchanged if rows are independent."""
        if self.clusters is None:
            return apart
        return np.bincount(self._numbers, apart).astype(np.float64)

    def centred(self, moves: FloatArray) -> FloatArray:
        """Moves less the mean of those within the true class, (n,)."""
        sums = np.bincount(self.own, moves, minlength=self._there.size)
        means = np.divide(sums, self.totals, out=np.zeros(sums.size), where=self._there)
        centred: FloatArray = moves - self.masses * means[self.own]
        return centred

    def error_of(self, apart: FloatArray) -> "AverageError":
        """The standard error of an average, or of a difference, by its centred moves."""
        variances = np.bincount(self.own, apart * apart, minlength=self._there.size)[self._there]
        of_rows = float((self.sizes / (self.sizes - 1) * variances).sum())
        if self.clusters is None:
            return AverageError(math.sqrt(of_rows))
        variance = self._of_clusters(apart)
        effect = design_effect(variance, of_rows)
        freedom = min(each.freedom(effect or 1.0) for each in self.clusters)
        return AverageError(math.sqrt(of_rows if effect is None else variance), effect, freedom)

    def _of_clusters(self, apart: FloatArray) -> float:
        """Σ_c Σ_c' m/(m - 1) Σ_g V_gc V_gc', at least 0; clusters are taken some at a time, to save memory."""
        count, units = self._there.size, np.array(self.units)
        products = np.zeros((count, count))
        order = np.argsort(self._numbers, kind="stable")
        numbers, most = self._numbers[order], _SUMS_KEPT // count
        for start in range(0, int(numbers[-1]) + 1, most):
            rows = order[slice(*numbers.searchsorted([start, start + most]))]
            keys = self.own[rows] * most + self._numbers[rows] - start
            sums = np.bincount(keys, apart[rows], count * most).reshape(count, most)
            products += sums @ sums.T
        lesser = np.minimum.outer(units, units)
        return max(float((products[np.ix_(self._there, self._there)] * lesser / (lesser - 1)).sum()), 0.0)

    def spread_of(self, one: FloatArray, other: FloatArray, kept: float = 1.0) -> Spread:
        """The spread of a number less a share of another one, of the same rows, by the centred moves of both."""
        errors = self.error_of(one).error, self.error_of(other).error
        part, less = kept * errors[1], one - kept * other
        found, apart = self.error_of(less), 1.0
        if errors[0] * part > 0:
            apart = min(max(found.error**2 - (errors[0] - part) ** 2, 0.0) / (2 * errors[0] * part), 2.0)
        fewest = min(*self.sizes.tolist(), found.freedom)
        return Spread(found.error, jump_of(self.sums(less)), errors, apart, fewest, found.design_effect, kept)


class RowMoves(ClassRows):
    """How far each row moves the averages: V for each area, and macro, weighted and micro, (n,) each."""

    def __init__(self, given: ClassScores, found: Classes) -> None:
        """Begin with no move."""
        super().__init__(given)
        count, self._found = len(given.names), found
        shares = self.totals / (self.totals.sum() or 1.0)
        self._parts = {"macro": np.full(count, 1 / count), "weighted": shares}
        self._by = {area: np.zeros((len(AVERAGES), given.rows)) for area in AVERAGED_AREAS}

    @classmethod
    def of(cls, given: ClassScores, found: Classes) -> "RowMoves":
        """The moves of all averages."""
        moves = cls(given, found)
        for number, sample in samples_of(given):
            moves.add(number, *ConfusionTable.from_sample_with_rows(sample))
        moves.add_pooled(given)
        return moves

    def trials(self, error: "AverageError", value: float) -> list[float]:
        """The effective numbers of rows of these classes, for exact ends."""
        if self.clusters is None or value in ENDS:
            return self.units
        return [each.trials(error.design_effect or 1.0) for each in self.clusters]

    @property
    def smallest(self) -> int:
        """The number of that class."""
        return int(np.flatnonzero(self._there)[self.sizes.argmin()])

    def add(self, number: int, table: ConfusionTable, rows: IntArray) -> None:
        """Add the moves of one class's areas; `rows` are those of its table."""
        for area, by in self._by.items():
            moves = moves_in(area, table, rows, self.own == number, self.masses)
            for average, parts in self._parts.items():
                by[AVERAGES.index(average)] += parts[number] * moves

    def add_pooled(self, given: ClassScores) -> None:
        """Add the moves of the areas of all classes in one sample."""
        pooled = pooled_classes(given)
        if isinstance(pooled, Undefined):
            return
        table, rows = ConfusionTable.from_sample_with_rows(pooled)
        masses = np.tile(self.masses, len(given.names))
        for area, by in self._by.items():
            moves = moves_in(area, table, rows, pooled.labels, masses)
            by[AVERAGES.index("micro")] += moves.reshape(len(given.names), -1).sum(axis=0)

    def of_average(self, area: str, place: int) -> FloatArray:
        """The centred moves of an average, (n,)."""
        return self.centred(self._by[area][place])

    def parts(self, area: str, place: int, value: float, trials: list[float]) -> list[AveragedArea]:
        """What an average is made of; micro is one area, of all rows."""
        shares = self._parts.get(AVERAGES[place])
        if shares is None:
            return [(1.0, value, float(np.sum(trials)))]
        areas = getattr(self._found.areas, area)
        columns = (each[self._there].tolist() for each in (shares, areas))
        return list(zip(*columns, trials, strict=True))

    def errors(self) -> Iterator[tuple[str, int, float, "AverageError"]]:
        """The area, the place among the averages, the value and the standard error of those that have both."""
        for area, by in self._by.items():
            values = getattr(self._found.averages, area)
            for place, moves in enumerate(in_time(by)):
                if not np.isnan(values[place]):
                    yield area, place, float(values[place]), self.error_of(self.centred(moves))


def samples_of(given: ClassScores) -> Iterator[tuple[int, Sample]]:
    """The number of each class that has areas, and its sample."""
    for number, (scores, members) in enumerate(in_time(zip(given.scores, given.members, strict=True))):
        sample = sample_or_reason(
            scores, members, given.weights, lower_is_positive=given.lower_is_positive, clusters=given.clusters
        )
        if isinstance(sample, Sample):
            yield number, sample


def moves_in(area: str, table: ConfusionTable, rows: IntArray, members: BoolArray, masses: FloatArray) -> FloatArray:
    """How far each row moves an area, w (u - ū)/Σ w, (n,); `members` are the rows of its class."""
    moves = np.zeros(rows.size)
    for (influences, unit), side in zip(INFLUENCES[area](table), (members, ~members), strict=True):
        weights, own = masses[side], influences.take(rows[side])
        # Equal influences must deviate by exactly 0, although their mean is rounded.
        own -= own.min()
        own -= float(weights @ own) / float(weights.sum())
        moves[side] = weights * own / (float(weights.sum()) * unit)
    return moves


def jump_of(by: FloatArray) -> float:
    """Σ|V|³/ΣV²: how far a single row, or cluster, moves a number."""
    squares = float(by @ by)
    return float((np.abs(by) ** 3).sum()) / squares if squares > 0 else 0.0
