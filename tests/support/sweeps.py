"""Strategies for the loops over rows: samples and counts as columns, with hostile weights and scores."""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np
from hypothesis import strategies as st

from service.curves.confusion import ConfusionTable
from service.curves.sweep import sweep
from tests.support import strategies

WEIGHTS: dict[str, st.SearchStrategy[float]] = {
    "small integers": st.integers(0, 4).map(float),
    "shares": st.floats(0.0, 1.0),
    "tenths": st.just(0.1),
    "of 60 decades": st.floats(-30.0, 30.0).map(lambda power: 10.0**power),
    "of few bits": st.builds(math.ldexp, st.integers(1, 8).map(float), st.integers(-60, 60)),
    "some too light to change a sum": st.sampled_from([1.0, 0.5, 3e-16, 1e-16, 1e-17]),
    "some denormal": st.sampled_from([1.0, 1e-300, 1e-310, 5e-324]),
    "of 470 decades": st.sampled_from([1e149, 1e140, 1.0, 1e-150, 5e-324]),
    "tiny": st.sampled_from([1e-149, 3e-150, 1e-160, 1e-300]),
    "about 2^53": st.sampled_from([0.0, 1.0, 3.0, 2.0**52 + 1, 2.0**53]),
}
"""Kinds of weights of a column."""

BEYOND = st.sampled_from([1e308, 1.7e308, 1.0, 5e-324])
"""Weights whose sums may exceed all doubles."""

SCORES: dict[str, st.SearchStrategy[float]] = {
    "many ties": st.sampled_from([0.0, 0.5, 1.0]),
    "tenths": st.integers(-20, 20).map(lambda tenths: tenths / 10),
    "distinct": st.floats(0.0, 1.0),
    "zeros and their neighbours": st.sampled_from([0.0, -0.0, 5e-324, -5e-324, 1.0]),
    "greatest": st.sampled_from([1e308, -1e308, 1.7976931348623157e308, -1.7976931348623157e308, 5e307, 0.0]),
    "any": st.floats(allow_nan=False, allow_infinity=False),
}
"""Kinds of scores of a column."""


@dataclass(frozen=True)
class Columns:
    """A sample as columns, of one class or both."""

    scores: np.ndarray
    labels: np.ndarray
    weights: np.ndarray | None
    descending: bool

    def at(self, rows: np.ndarray) -> Columns:
        """Some of the rows, in any order."""
        weights = None if self.weights is None else self.weights[rows]
        return Columns(self.scores[rows], self.labels[rows], weights, self.descending)

    def table(self) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
        """Thresholds, tp and fp, as the sweep makes them."""
        return sweep.table(self.scores, self.labels, self.weights, descending=self.descending)

    def plain(self) -> dict[str, object]:
        """The columns as lists."""
        lists = {name: getattr(self, name).tolist() for name in ("scores", "labels")}
        return {
            **lists,
            "weights": None if self.weights is None else self.weights.tolist(),
            "descending": self.descending,
        }


@st.composite
def columns(draw: st.DrawFn, most: int = 30, least: int = 1, weight: st.SearchStrategy[float] | None = None) -> Columns:
    """Any rows, with or without weights of one kind."""
    size = draw(st.integers(least, most))

    def column(strategy: st.SearchStrategy[float] | st.SearchStrategy[bool], kind: type) -> np.ndarray:
        return np.array(draw(st.lists(strategy, min_size=size, max_size=size)), dtype=kind)

    if weight is None:
        weight = draw(st.sampled_from([None, *WEIGHTS.values()]))
    scores = column(SCORES[draw(st.sampled_from(sorted(SCORES)))], np.float64)
    weights = None if weight is None else column(weight, np.float64)
    return Columns(scores, column(st.booleans(), np.bool_), weights, draw(st.booleans()))


Counts = tuple[np.ndarray, np.ndarray]


def has_both(counts: Counts) -> bool:
    """Whether neither total is 0."""
    return all(column[-1] > 0 for column in counts)


def is_in_range(counts: Counts) -> bool:
    """Whether both totals are such as a sample may have."""
    return all(1e-150 <= column[-1] <= 1e150 for column in counts)


def tables_of_samples(most: int = 14) -> st.SearchStrategy[Counts]:
    """Tp and fp of samples of both classes."""
    return columns(most=most, least=2).map(lambda sample: sample.table()[1:]).filter(has_both)


@st.composite
def lopsided_tables(draw: st.DrawFn) -> Counts:
    """Counts of positives up to 1,000, and whole numbers of negatives up to 1e150."""
    size = draw(st.integers(1, 10))
    tp = sorted(draw(st.lists(st.integers(0, 1_000), min_size=size, max_size=size)))
    fp = sorted(draw(st.lists(st.integers(0, 2**53), min_size=size, max_size=size)))
    scale = 2.0 ** draw(st.sampled_from([0, 100, 440]))
    return np.array([0.0, *tp, 1_001.0]), np.array([0.0, *fp, 2.0**53]) * scale


def rows_of(counts: strategies.Rows) -> Counts:
    """Tp and fp of the table of given counts."""
    table = ConfusionTable.of(counts.counts())
    return table.tp, table.fp


whole_sweeps = st.one_of(
    strategies.sweeps(), strategies.sweeps(total=1_000), strategies.big_sweeps(), strategies.lopsided_sweeps()
).map(rows_of)
given_sweeps = st.one_of(
    whole_sweeps,
    lopsided_tables(),
    st.one_of(strategies.fractional_sweeps(), strategies.nudged_lines()).map(rows_of),
)
sweeps = st.one_of(tables_of_samples(), given_sweeps).filter(has_both)
"""Rows of a threshold's sweep."""

any_rows = st.one_of(sweeps, strategies.classifiers(most=8).map(rows_of))
"""Rows from (0, 0) to (P, N) in order of fp; tp may fall."""
