"""Data sets from a population, the intervals of each by each method, and how many contain the true area."""

from collections import Counter
from concurrent.futures import ProcessPoolExecutor
from dataclasses import dataclass
from multiprocessing import get_context

import numpy as np

from service.curves.sample import Sample
from service.inference.bootstrap import jackknife, replicates
from service.inference.intervals import Interval
from service.inference.methods import closed_interval, within_limits
from service.inference.metric import Metric
from service.inference.models import Models
from service.inference.replicates import Replicates
from service.inference.resampled import RESAMPLED_AREAS
from tests.tools.coverage_of_intervals.populations import Population

LEVEL = 0.95
SETS_AT_ONCE = 50

CLOSED = {"roc": ("delong", "logit"), "pr": ("logit",), "average_precision": ("logit",)}
"""{area: its methods in closed form}"""

RESAMPLED = dict.fromkeys(RESAMPLED_AREAS, ("bootstrap", "bca"))
"""{area: its methods that resample}"""


@dataclass(frozen=True)
class Coverage:
    """The number of data sets, of this many, whose interval contains the true area; and how many lie `above` it."""

    population: Population
    area: str
    method: str
    held: int
    above: int
    sets: int

    @property
    def share(self) -> float:
        """The coverage."""
        return self.held / self.sets

    @property
    def cell(self) -> str:
        """The percentage that contain the area, and those that lie above and below it."""
        below = self.sets - self.held - self.above
        return "/".join(f"{100 * count / self.sets:.1f}" for count in (self.held, self.above, below))


def simulated(population: Population, sets: int, resamples: int, seed: int, processes: int) -> list[Coverage]:
    """Simulate data sets in several processes; the result depends on the seed, not on their number.

    Without resamples, only the methods in closed form are tried.
    """
    starts = range(0, sets, SETS_AT_ONCE)
    tally: Counter[tuple[str, str, str]] = Counter()
    # A fork of a process with threads, such as pytest's, may wait for ever for a lock that one of them held.
    with ProcessPoolExecutor(processes, get_context("forkserver")) as pool:
        batches = [
            pool.submit(_batch, population, resamples, seed, range(start, min(start + SETS_AT_ONCE, sets)))
            for start in starts
        ]
        for batch in batches:
            tally.update(batch.result())
    return [
        Coverage(population, area, method, tally[area, method, "held"], tally[area, method, "above"], sets)
        for area, methods in (RESAMPLED if resamples else CLOSED).items()
        for method in methods
    ]


def _batch(population: Population, resamples: int, seed: int, numbers: range) -> Counter[tuple[str, str, str]]:
    truth = {"roc": population.roc, "pr": population.pr, "average_precision": population.pr}
    tally: Counter[tuple[str, str, str]] = Counter()
    for number in numbers:
        sample = population.sample(np.random.default_rng([seed, number]))
        for (area, method), interval in _intervals(sample, resamples, number).items():
            if interval is not None:
                tally[area, method, "held"] += interval.lower <= truth[area] <= interval.upper
                tally[area, method, "above"] += interval.lower > truth[area]
    return tally


def _intervals(sample: Sample, resamples: int, seed: int) -> dict[tuple[str, str], Interval | None]:
    """All intervals of a data set; both bootstraps use the same resamples, which take most of the time."""
    of = Models.of(sample)
    estimates = {area: float(of.models[0].value(Metric(area)) or 0) for area in RESAMPLED_AREAS}
    if not resamples:
        return {
            (area, method): closed_interval(of, Metric(area), [estimates[area]], LEVEL, method)
            for area, methods in CLOSED.items()
            for method in methods
        }
    split = of.strata
    areas = {area: area for area in RESAMPLED_AREAS}
    drawn, left_out = replicates(split, areas, resamples, seed), jackknife(split, areas, seed)
    found: dict[tuple[str, str], Interval | None] = {}
    for area, value in estimates.items():
        if not 0 < value < 1:
            exact = closed_interval(of, Metric(area), [value], LEVEL, "logit")
            found |= dict.fromkeys(((area, method) for method in RESAMPLED[area]), exact)
            continue
        for method, without in (("bootstrap", None), ("bca", left_out[area][0])):
            resampled = Replicates(drawn[area][0], without).interval(value, LEVEL)
            found[area, method] = resampled and within_limits(of, Metric(area), resampled)
    return found
