"""Data sets from a population, the intervals of each by each method, and how many of them hold the true area."""

from collections import Counter
from concurrent.futures import ProcessPoolExecutor
from dataclasses import dataclass
from math import sqrt

import numpy as np

from service.curves.areas import areas
from service.curves.confusion import ConfusionTable
from service.curves.hull import roc_convex_hull
from service.curves.sample import Sample
from service.inference.bootstrap import RESAMPLED, jackknife, replicates
from service.inference.intervals import Interval, IntervalOptions, area_intervals, resampled_interval
from service.inference.strata import strata
from tests.coverage_of_intervals.populations import Population

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
    """How many of so many data sets have an interval that holds the true area."""

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
        """The standard error of the coverage that so many sets tell."""
        return sqrt(self.share * (1 - self.share) / self.sets)


def simulated(population: Population, sets: int, resamples: int, seed: int, processes: int) -> list[Coverage]:
    """Simulate data sets on several processes; the same for a seed, however many there are."""
    starts = range(0, sets, SETS_AT_ONCE)
    held: Counter[tuple[str, str]] = Counter()
    with ProcessPoolExecutor(processes) as pool:
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
    """All intervals of a data set; both bootstraps from the same resamples, which are what takes the time."""
    table = ConfusionTable.of(sample)
    estimates = areas(table, table.select(roc_convex_hull(table)))
    found: dict[tuple[str, str], Interval | None] = {}
    for method in ("delong", "logit"):
        intervals, _ = area_intervals(sample, table, estimates, IntervalOptions(LEVEL, method))
        found |= {(area, method): interval for area, interval in intervals.items()}
    split = strata(sample, table)
    drawn, left_out = replicates(split, RESAMPLED, resamples, seed), jackknife(split, RESAMPLED)
    for area in RESAMPLED:
        value = getattr(estimates, area)
        for method, without in (("bootstrap", None), ("bca", left_out[area][0])):
            inside = 0 < value < 1
            resampled = resampled_interval(drawn[area][0], LEVEL, value, without) if inside else found[area, "logit"]
            found[area, method] = resampled
    return {key: found[key] for key in found if key[1] in METHODS[key[0]]}
