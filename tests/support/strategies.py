"""Hypothesis strategies for samples and confusion counts, and the settings that keep the whole suite short.

The strategies give plain columns (Data, Rows), which know how to become the service's objects and the reference's.
"""

from __future__ import annotations

import math
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from hypothesis import HealthCheck, settings
from hypothesis import strategies as st

from service.curves.confusion import ConfusionTable
from service.curves.counts import Counts
from service.curves.sample import Sample
from tests import reference

LARGEST = 2**53
"""The largest count up to which every integer is a double."""


examples_are_all = False
"""Whether laws are tried with all examples, not only some of them (conftest.py)."""

PART, FEWEST = 15, 6


def examples(number: int, fewest: int = FEWEST) -> settings:
    """The same examples on every run, without a deadline and without a database; in the first command, a part of them.

    A law that is tried with many strategies, or with costly references, may name fewer.
    """
    if not examples_are_all:
        number = min(number, max(number // PART, fewest))
    checks = [HealthCheck.too_slow, HealthCheck.filter_too_much, HealthCheck.data_too_large]
    return settings(max_examples=number, deadline=None, derandomize=True, database=None, suppress_health_check=checks)


@dataclass(frozen=True)
class Data:
    """A sample as plain columns."""

    scores: list[float]
    labels: list[bool]
    weights: list[float] | None = None
    lower_is_positive: bool = False

    def sample(self) -> Sample:
        """The service's sample."""
        weights = None if self.weights is None else np.array(self.weights, dtype=np.float64)
        scores, labels = np.array(self.scores, dtype=np.float64), np.array(self.labels, dtype=np.bool_)
        return Sample(scores, labels, weights, self.lower_is_positive)

    def table(self) -> reference.Table:
        """The reference's table."""
        lower = self.lower_is_positive
        return reference.table_of_sample(self.scores, self.labels, self.weights, lower_is_positive=lower)

    def table_at(self, cuts: list[float]) -> reference.Table:
        """The reference's table, rebuilt from these cuts alone."""
        lower = self.lower_is_positive
        return reference.table_at_thresholds(self.scores, self.labels, self.weights, cuts, lower_is_positive=lower)

    def rows(self, order: list[int]) -> Data:
        """The rows in another order, or some of them, or some more than once."""
        weights = None if self.weights is None else [self.weights[i] for i in order]
        return replace(
            self, scores=[self.scores[i] for i in order], labels=[self.labels[i] for i in order], weights=weights
        )


@dataclass(frozen=True)
class Rows:
    """Confusion counts as plain columns; a count may be any real number, integers may be big."""

    tp: list[Any]
    fp: list[Any]
    positives: Any
    negatives: Any
    thresholds: list[float] | None = None

    def counts(self) -> Counts:
        """The service's counts."""
        cuts = None if self.thresholds is None else np.array(self.thresholds, dtype=np.float64)
        tp, fp = np.array(self.tp, dtype=np.float64), np.array(self.fp, dtype=np.float64)
        return Counts(tp, fp, float(self.positives), float(self.negatives), cuts)

    def table(self) -> reference.Table:
        """The reference's table."""
        return reference.table_of_counts(self.tp, self.fp, self.positives, self.negatives, self.thresholds)


def evaluation_of(source: Data | Rows) -> Sample | Counts:
    """The service's sample or counts."""
    return source.sample() if isinstance(source, Data) else source.counts()


def confusion_of(source: Data | Rows) -> ConfusionTable:
    """The service's table."""
    return ConfusionTable.of(evaluation_of(source))


def neighbours(score: float) -> list[float]:
    """A score and the doubles next to it: they must never be merged."""
    return [score, math.nextafter(score, math.inf), math.nextafter(score, -math.inf)]


tied_scores = st.sampled_from([0.0, -0.0, 0.25, 0.5, 0.5, 0.75, 1.0])
near_scores = st.sampled_from([*neighbours(0.1), *neighbours(1e300), *neighbours(-7.0), *neighbours(0.0), 2.5e-323])
any_scores = st.floats(allow_nan=False, allow_infinity=False)
scores = st.one_of(tied_scores, near_scores, any_scores)

plain_weights = st.sampled_from([0.1, 0.2, 0.3, 0.7, 1.0, 1.1, 3.0, 1 / 3])
wild_weights = st.one_of(
    st.sampled_from([5e-324, 1e-300, 1e-17, 0.1, 1.0, 1e16, float(LARGEST), 1e100]),
    st.floats(min_value=0.0, max_value=1e100),
)


@st.composite
def samples(
    draw: st.DrawFn,
    score: st.SearchStrategy[float] = scores,
    weight: st.SearchStrategy[float] | None = None,
    most: int = 24,
) -> Data:
    """A sample of both classes; with weights, each class has at least one that is not tiny."""
    size = draw(st.integers(2, most))
    labels = draw(st.lists(st.booleans(), min_size=size, max_size=size))
    first, second = draw(st.permutations(range(size)))[:2]
    labels[first], labels[second] = True, False
    column = draw(st.lists(score, min_size=size, max_size=size))
    weights = None if weight is None else draw(st.lists(weight, min_size=size, max_size=size))
    if weights is not None:
        for index in (first, second):
            weights[index] = weights[index] if weights[index] >= 0.1 else 1.0
    return Data(column, labels, weights, draw(st.booleans()))


def weighted_samples(weight: st.SearchStrategy[float] = plain_weights, most: int = 24) -> st.SearchStrategy[Data]:
    """A sample with weights."""
    return samples(weight=weight, most=most)


@st.composite
def tilted_samples(draw: st.DrawFn) -> Data:
    """Weights of the two classes at scales far apart, both totals within 1e-150..1e150."""
    spread = st.one_of(st.sampled_from([1.0, 0.1, 3.0, 1e-16, 1e-30]), st.floats(1e-200, 1.0))
    data = draw(samples(weight=spread, most=12))
    scales = st.sampled_from([1e-148, 1e-100, 1e-17, 1.0, 1e20, 1e148])
    of_positives, of_negatives = draw(scales), draw(scales)
    weights = [
        weight * (of_positives if label else of_negatives)
        for weight, label in zip(data.weights or [], data.labels, strict=True)
    ]
    return replace(data, weights=weights)


@st.composite
def sweeps(draw: st.DrawFn, total: int = 30, most: int = 12) -> Rows:
    """Integer counts of one sweep, in any order, with equal rows among them at times."""
    positives, negatives = draw(st.integers(1, total)), draw(st.integers(1, total))
    size = draw(st.integers(0, most))
    tp = sorted(draw(st.lists(st.integers(0, positives), min_size=size, max_size=size)))
    fp = sorted(draw(st.lists(st.integers(0, negatives), min_size=size, max_size=size)))
    order = draw(st.permutations(range(size)))
    return Rows([tp[i] for i in order], [fp[i] for i in order], positives, negatives)


@st.composite
def classifiers(draw: st.DrawFn, total: int = 20, most: int = 10) -> Rows:
    """Integer counts of any set of classifiers, often one that no single sweep could give."""
    positives, negatives = draw(st.integers(1, total)), draw(st.integers(1, total))
    rows = draw(st.lists(st.tuples(st.integers(0, positives), st.integers(0, negatives)), max_size=most))
    return Rows([tp for tp, _ in rows], [fp for _, fp in rows], positives, negatives)


@st.composite
def big_sweeps(draw: st.DrawFn, most: int = 10) -> Rows:
    """Counts up to 2^53: on or next to one line, or anywhere; tp + fp may pass 2^53 and products reach 2^106."""
    step_tp = draw(st.integers(1, LARGEST // 40))
    step_fp = draw(st.integers(1, LARGEST // 40))
    size = draw(st.integers(1, most))
    if draw(st.booleans()):
        nudges = st.integers(-1, 1)
        multiples = sorted(draw(st.lists(st.integers(0, 40), min_size=size, max_size=size)))
        tp = [min(max(m * step_tp + draw(nudges), 0), LARGEST) for m in multiples]
        fp = [min(max(m * step_fp + draw(nudges), 0), LARGEST) for m in multiples]
        positives, negatives = min(40 * step_tp + 2, LARGEST), min(40 * step_fp + 2, LARGEST)
        tp, fp = [min(t, positives) for t in tp], [min(f, negatives) for f in fp]
    else:
        positives = draw(st.integers(LARGEST // 2, LARGEST))
        negatives = draw(st.one_of(st.integers(LARGEST // 2, LARGEST), st.integers(1, 1000)))
        tp = draw(st.lists(st.integers(0, positives), min_size=size, max_size=size))
        fp = draw(st.lists(st.integers(0, negatives), min_size=size, max_size=size))
    return Rows(sorted(tp), sorted(fp), positives, negatives)


@st.composite
def lopsided_sweeps(draw: st.DrawFn, most: int = 8) -> Rows:
    """A few counts of one class against about 2^53 of the other: sums exceed 2^53 slightly, or stop just below it."""
    few = draw(st.integers(1, 40))
    many = LARGEST - draw(st.integers(0, 40))
    size = draw(st.integers(1, most))
    near_the_end = st.integers(0, 40).map(lambda count: many - count)
    small = draw(st.lists(st.integers(0, few), min_size=size, max_size=size))
    anywhere = st.one_of(st.integers(0, 40), near_the_end, st.integers(0, many))
    large = draw(st.lists(anywhere, min_size=size, max_size=size))
    if draw(st.booleans()):
        return Rows(sorted(small), sorted(large), few, many)
    return Rows(sorted(large), sorted(small), many, few)


@st.composite
def fractional_sweeps(draw: st.DrawFn, most: int = 10) -> Rows:
    """Counts that are not integers."""
    count = st.one_of(st.floats(0.0, 50.0), st.sampled_from([0.0, 0.1, 0.2, 0.3, 0.5, 1.0, 1 / 3, 2.5]))
    size = draw(st.integers(1, most))
    tp = sorted(draw(st.lists(count, min_size=size, max_size=size)))
    fp = sorted(draw(st.lists(count, min_size=size, max_size=size)))
    positives = max(tp[-1], 0.1) + draw(st.sampled_from([0.0, 0.1, 7.0]))
    negatives = max(fp[-1], 0.1) + draw(st.sampled_from([0.0, 0.1, 7.0]))
    return Rows(tp, fp, positives, negatives)


@st.composite
def nudged_lines(draw: st.DrawFn, most: int = 10) -> Rows:
    """Fractional counts on one line or a double away from it, at any scale: only exact arithmetic tells the side."""
    step_tp = draw(st.sampled_from([0.1, 1 / 3, 0.7, 1e-100, 3e-16, 7e99]))
    step_fp = draw(st.sampled_from([0.1, 1 / 3, 0.7, 1e-90, 1e17]))
    multiples = sorted(draw(st.lists(st.integers(0, 20), min_size=1, max_size=most)))

    def nudged(count: float) -> float:
        towards = draw(st.sampled_from([count, count, 0.0, math.inf]))
        return math.nextafter(count, towards)

    tp, fp = sorted(nudged(m * step_tp) for m in multiples), sorted(nudged(m * step_fp) for m in multiples)
    return Rows(tp, fp, 21 * step_tp, 21 * step_fp)


recalls = st.lists(
    st.one_of(st.floats(0.0, 1.0), st.sampled_from([0.0, 1.0, 0.1, 0.5, 1 / 3, 0.25, 1e-9])), min_size=1, max_size=8
)
