"""The section "Seeds" of service/guide/intervals.md, followed to the letter in plain NumPy: it suffices to draw again.

Only the answers come from the service; the resamples and their areas are made here.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator, Sequence
from functools import cache, partial
from itertools import islice
from statistics import NormalDist
from typing import Any

import numpy as np
import pytest
from numpy.random import PCG64, Generator, SeedSequence
from numpy.typing import NDArray

from tests.support.asking import answered

Counts = NDArray[np.int64]
Column = NDArray[np.float64]
Class = tuple[Column, Column]
"""The scores of a class, a kind each, and the size and weight of each kind: columns (kinds,)."""

RESAMPLES, LEVEL = 100, 0.9
NORMAL = NormalDist()


def by_kind(sizes: Counts, sequence: SeedSequence) -> Iterator[Counts]:
    order = np.argsort(sizes, kind="stable")
    generator, size = Generator(PCG64(sequence)), int(sizes.sum())
    while True:
        counts = np.zeros_like(sizes)
        counts[order] = generator.multinomial(size, sizes[order] / size)
        yield counts


@cache
def cells_and_rests(mean: float) -> tuple[list[int], Column]:
    shares = [2**16 * math.exp(-mean) * mean**count / math.factorial(count) for count in range(30)]
    cells = [math.floor(share) if count <= 4 else 0 for count, share in enumerate(shares)]
    rests = np.cumsum(np.subtract(shares, cells))
    return cells, rests / rests[-1]


def poisson(mean: float, word: int, uniform: Callable[[], float]) -> int:
    cells, rests = cells_and_rests(mean)
    below = 2**16
    for count in range(5):
        below -= cells[count]
        if word >= below:
            return count
    return int(np.searchsorted(rests, uniform(), side="right"))


def one_by_one(sizes: Counts, sequence: SeedSequence) -> Iterator[Counts]:
    size = int(sizes.sum())
    first, second, third = (PCG64(child) for child in sequence.spawn(3))
    uniform, mean = Generator(second).random, 1 - 3 / math.sqrt(size)
    more = Generator(third)
    kinds = np.repeat(np.arange(sizes.size), sizes)
    while True:
        counts = np.zeros(size, np.int64)
        if mean > 0:
            outputs = first.random_raw(math.ceil(size / 4))
            words = [int(output) >> shift & 0xFFFF for output in outputs for shift in (0, 16, 32, 48)]
            counts = np.array([poisson(mean, word, uniform) for word in words][:size])
        if counts.sum() > size:
            counts[:] = 0
        while counts.sum() < size:
            counts[more.integers(0, size)] += 1
        yield np.bincount(kinds, weights=counts, minlength=sizes.size).astype(np.int64)


def resamples(sizes: Counts, seed: int, stream: int, number: int) -> Iterator[Counts]:
    sequence = SeedSequence(seed, spawn_key=(stream, number))
    many = sizes.sum() > 32 * sizes.size
    return islice((by_kind if many else one_by_one)(sizes, sequence), RESAMPLES)


def left_out(sizes: Counts, seed: int, number: int) -> Iterator[tuple[Counts, int]]:
    """What `bca` leaves out of a class, and how often it counts."""
    if sizes.size <= 500:
        yield from ((np.eye(sizes.size, dtype=np.int64)[kind], int(sizes[kind])) for kind in range(sizes.size))
        return
    generator = Generator(PCG64(SeedSequence(seed, spawn_key=(2, number))))
    if sizes.sum() <= 32 * sizes.size:
        dealt = generator.permutation(np.repeat(np.arange(sizes.size), sizes))
        yield from ((np.bincount(dealt[group::500], minlength=sizes.size), 1) for group in range(500))
        return
    left = sizes.copy()
    for groups in range(500, 0, -1):
        part = generator.binomial(left, 1 / groups)
        left -= part
        yield part, 1


def kinds_of(columns: Sequence[Column]) -> tuple[list[Column], Counts]:
    """The kinds of a class, in the order of its columns, and the size of each."""
    table, sizes = np.unique(np.stack(columns), axis=1, return_counts=True)
    return list(table), sizes


def roc(positives: tuple[Column, Column], negatives: tuple[Column, Column]) -> float:
    """Pairs in which the positive has the higher score, a tie counting one half, by weight; of (scores, masses)."""
    order = np.argsort(negatives[0])
    scores, sums = negatives[0][order], np.append(0, np.cumsum(negatives[1][order]))
    twice = sums[np.searchsorted(scores, positives[0])] + sums[np.searchsorted(scores, positives[0], side="right")]
    return float(positives[1] @ twice / (2 * positives[1].sum() * sums[-1]))


class Sample:
    """One model on one sample, or two on the same: kinds of positives and of negatives."""

    def __init__(self, models: Sequence[Column], labels: NDArray[np.bool_], weights: Column) -> None:
        self.models = len(models)
        self.classes, self.sizes = [], []
        for chosen in (labels, ~labels):
            columns, sizes = kinds_of([*(-scores[chosen] for scores in models), weights[chosen]])
            self.classes.append(columns)
            self.sizes.append(sizes)

    def area(self, counts: Sequence[Counts], model: int = 0) -> float:
        positives, negatives = (
            (-columns[model], columns[-1] * times) for columns, times in zip(self.classes, counts, strict=True)
        )
        return roc(positives, negatives)

    def difference(self, counts: Sequence[Counts]) -> float:
        return self.area(counts) - self.area(counts, 1)

    def replicates(self, seed: int, stream: int, statistic: Callable[[Sequence[Counts]], float]) -> Column:
        drawn = (resamples(sizes, seed, stream, number) for number, sizes in enumerate(self.sizes))
        return np.array([statistic(counts) for counts in zip(*drawn, strict=True)])

    def jackknife(self, seed: int, statistic: Callable[[Sequence[Counts]], float]) -> list[tuple[Column, Counts]]:
        found = []
        for number, sizes in enumerate(self.sizes):
            parts = list(left_out(sizes, seed, number))
            without = [[*self.sizes] for _ in parts]
            for whole, (part, _) in zip(without, parts, strict=True):
                whole[number] = sizes - part
            values = np.array([statistic(whole) for whole in without])
            found.append((values, np.array([often for _, often in parts])))
        return found


def percentile(values: Column) -> tuple[float, float]:
    lower, upper = np.quantile(values, [(1 - LEVEL) / 2, (1 + LEVEL) / 2])
    return float(lower), float(upper)


def bca(values: Column, estimate: float, jackknife: Sequence[tuple[Column, Counts]]) -> tuple[float, float]:
    equal = np.abs(values - estimate) <= 1e-9
    z0 = NORMAL.inv_cdf(float(np.mean((values < estimate) & ~equal) + np.mean(equal) / 2))
    cubes = squares = 0.0
    for without, often in jackknife:
        size = int(often.sum())
        influences = (size - 1) * (without @ often / size - without)
        cubes += float(often @ influences**3) / size**3
        squares += float(often @ influences**2) / size**2
    acceleration = cubes / (6 * squares**1.5)
    moved = (z0 + NORMAL.inv_cdf(share) for share in ((1 - LEVEL) / 2, (1 + LEVEL) / 2))
    lower, upper = np.quantile(values, [NORMAL.cdf(z0 + z / (1 - acceleration * z)) for z in moved])
    return float(lower), float(upper)


def sample(size: int, step: float, gain: float, weights: Sequence[float]) -> tuple[Column, Column, Column, Column]:
    """Scores of two models, which are multiples of a step and higher by the gain for positives; labels; weights."""
    random = np.random.default_rng(size)
    labels = random.random(size) < 0.4
    models = [np.round((random.normal(size=size) + gain * labels) / step) * step for _ in range(2)]
    return *models, labels, random.choice(weights, size=size)


SAMPLES = {
    "too few for Poisson counts": (16, 0.1, 0.0, [1.0]),
    "singly": (150, 1e-9, 1.0, [1.0]),
    "singly, with ties and weights": (150, 0.1, 1.0, [0.5, 1.0, 3.0]),
    "by kind": (3_000, 0.5, 1.0, [1.0]),
    "singly, in 500 groups": (1_500, 1e-3, 1.0, [1.0, 2.0]),
    "by kind, in 500 groups": (60_000, 1e-2, 1.0, [1.0]),
}
"""The arguments of `sample`. With few examples the gain is 0: near 1, an interval would end at that of perfect data."""


def asked_for(method: str) -> dict[str, Any]:
    return {"method": method, "seed": 7, "resamples": RESAMPLES, "level": LEVEL}


def body(scores: Column, labels: Column, weights: Column) -> dict[str, Any]:
    return {"scores": scores.tolist(), "labels": labels.tolist(), "weights": weights.tolist()}


def ends_of(interval: dict[str, Any]) -> tuple[float, float]:
    return interval["lower"], interval["upper"]


@pytest.mark.parametrize(
    ("method", "name"),
    [
        *(("bca", name) for name in SAMPLES),
        *(("bootstrap", name) for name in SAMPLES if "groups" not in name),
        *(pytest.param("bootstrap", name, marks=pytest.mark.all) for name in SAMPLES if "groups" in name),
    ],
)
def test_the_interval_of_an_area(name: str, method: str) -> None:
    scores, _, labels, weights = sample(*SAMPLES[name])
    given = Sample([scores], labels, weights)
    values = given.replicates(7, 0, given.area)
    estimate = given.area(given.sizes)
    expected = percentile(values)
    if method == "bca":
        expected = bca(values, estimate, given.jackknife(7, given.area))
    answer = answered("curves", {**body(scores, labels, weights), "include": ["auc"], "intervals": asked_for(method)})
    assert answer["auc"]["roc"] == pytest.approx(estimate, rel=1e-12)
    assert ends_of(answer["intervals"]["roc"]) == pytest.approx(expected, abs=1e-9)
    assert answer["intervals"]["roc"]["standard_error"] == pytest.approx(values.std(ddof=1), rel=1e-9)


@pytest.mark.parametrize("paired", [True, False])
@pytest.mark.parametrize("method", ["bootstrap", "bca"])
def test_the_interval_of_a_difference(method: str, *, paired: bool) -> None:
    scores, others, labels, weights = sample(*SAMPLES["singly, with ties and weights"])
    if paired:
        both = Sample([scores, others], labels, weights)
        values = both.replicates(7, 0, both.difference)
        estimate, jackknife = both.difference(both.sizes), both.jackknife(7, both.difference)
    else:
        one, two = (Sample([each], labels, weights) for each in (scores, others))
        values = one.replicates(7, 0, one.area) - two.replicates(7, 1, two.area)
        estimate = one.area(one.sizes) - two.area(two.sizes)
        jackknife = one.jackknife(7, one.area) + two.jackknife(7, partial(lambda model, x: -model.area(x), two))
    answer = answered(
        "gates",
        {
            **body(scores, labels, weights),
            "baseline": body(others, labels, weights),
            "paired": paired,
            "intervals": asked_for(method),
            "rules": [{"metric": "roc", "max_drop": 0.1, "confidence": LEVEL}],
        },
    )
    expected = percentile(values) if method == "bootstrap" else bca(values, estimate, jackknife)
    assert ends_of(answer["checks"][0]["interval"]) == pytest.approx(expected, abs=1e-9)
