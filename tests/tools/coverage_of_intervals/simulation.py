"""Data sets from a population, the intervals of each by each method, and how many contain the true area."""

from collections import Counter
from concurrent.futures import ProcessPoolExecutor
from dataclasses import dataclass
from math import sqrt
from multiprocessing import get_context

import numpy as np

from service.curves.sample import Sample
from service.inference.bootstrap import jackknife, replicates
from service.inference.intervals import Interval
from service.inference.methods import closed_interval, within_limits
from service.inference.models import Models
from service.inference.replicates import Replicates
from service.inference.resampled import RESAMPLED_AREAS
from service.inference.rules import Metric
from tests.tools.coverage_of_intervals.populations import Population

LEVEL = 0.95
SETS_AT_ONCE = 50

METHODS = {
    "roc": ("delong", "logit", "bootstrap", "bca"),
    "pr": ("logit", "bootstrap", "bca"),
    "average_precision": ("logit", "bootstrap", "bca"),
}
"""{area: its methods}"""


@dataclass(frozen=True)
class Coverage:
    """The number of data sets, of this many, whose interval contains the true area."""

    population: Population
    area: str
    method: str
    held: int
    sets: int

    @property
    def share(self) -> float:
        """The coverage."""
        return self.held / self.sets

    @property
    def error(self) -> float:
        """The standard error of a coverage estimated from this many sets."""
        return sqrt(self.share * (1 - self.share) / self.sets)


def simulated(population: Population, sets: int, resamples: int, seed: int, processes: int) -> list[Coverage]:
    """Simulate data sets in several processes; the result depends on the seed, not on their number."""
    starts = range(0, sets, SETS_AT_ONCE)
    held: Counter[tuple[str, str]] = Counter()
    # A fork of a process with threads, such as pytest's, may wait for ever for a lock that one of them held.
    with ProcessPoolExecutor(processes, get_context("forkserver")) as pool:
        batches = [
            pool.submit(_batch, population, resamples, seed, range(start, min(start + SETS_AT_ONCE, sets)))
            for start in starts
        ]
        for batch in batches:
            held.update(batch.result())
    return [
        Coverage(population, area, method, held[area, method], sets)
        for area, methods in METHODS.items()
        for method in methods
    ]


def _batch(population: Population, resamples: int, seed: int, numbers: range) -> Counter[tuple[str, str]]:
    truth = {"roc": population.roc, "pr": population.pr, "average_precision": population.pr}
    held: Counter[tuple[str, str]] = Counter()
    for number in numbers:
        sample = population.sample(np.random.default_rng([seed, number]))
        for (area, method), interval in _intervals(sample, resamples, number).items():
            held[area, method] += interval is not None and interval.lower <= truth[area] <= interval.upper
    return held


def _intervals(sample: Sample, resamples: int, seed: int) -> dict[tuple[str, str], Interval | None]:
    """All intervals of a data set; both bootstraps use the same resamples, which take most of the time."""
    of = Models.of(sample)
    estimates = {area: float(of.models[0].value(Metric(area)) or 0) for area in RESAMPLED_AREAS}
    found: dict[tuple[str, str], Interval | None] = {}
    for area, value in estimates.items():
        for method in ("delong", "logit"):
            found[area, method] = closed_interval(of, Metric(area), [value], LEVEL, method)
    split = of.strata
    areas = {area: area for area in RESAMPLED_AREAS}
    drawn, left_out = replicates(split, areas, resamples, seed), jackknife(split, areas, seed)
    for area in RESAMPLED_AREAS:
        value = estimates[area]
        for method, without in (("bootstrap", None), ("bca", left_out[area][0])):
            inside = 0 < value < 1
            resampled = Replicates(drawn[area][0], without).interval(value, LEVEL) if inside else found[area, "logit"]
            found[area, method] = resampled and within_limits(of, Metric(area), resampled)
    return {key: found[key] for key in found if key[1] in METHODS[key[0]]}
