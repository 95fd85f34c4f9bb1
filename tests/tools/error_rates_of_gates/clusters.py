"""`python -m tests.tools.error_rates_of_gates.clusters`: how often 95 % intervals of clustered rows contain the truth.

Each cell is a kind of data: constant or varying labels within clusters, clusters of 5 rows or of skewed sizes with mean
5, how many, how alike the rows of a cluster are (the intra-cluster correlation of scores), and the area; some with ties
or weights. A gate with `min` at the truth passes by mistake if the lower end is above it.
"""

from __future__ import annotations

import argparse
import sys
import time
from collections import defaultdict
from collections.abc import Iterator
from dataclasses import dataclass, field, replace
from functools import cached_property
from itertools import product
from math import sqrt

import numpy as np
from scipy.stats import norm

from service.curves.clusters import Clusters
from service.curves.decisions import Decision
from service.curves.sample import Sample
from service.curves.sweep.sweep import COMPILED
from service.inference.estimates import Estimates
from service.inference.intervals import Interval, IntervalOptions
from service.inference.metric import Metric
from service.inference.models import Models
from tests.tools.bench.report import README, rewrite
from tests.tools.coverage_of_intervals.populations import Population
from tests.tools.error_rates_of_gates.cells import CUTS
from tests.tools.error_rates_of_gates.cells import Cell as IndependentCell

NAME = "tests.tools.error_rates_of_gates.clusters"
MEAN_SIZE = 5
BETWEEN_MODELS = 0.7
"""The correlation of the effects of two models."""

RECALL = 0.8
"""That of the threshold at which recall and precision are read."""

DROPS = {0.7: 0.05, 0.9: 0.05, 0.97: 0.02}
LEAST_HELD, MOST_BEYOND = 0.93, 0.07


@dataclass(frozen=True)
class ClusteredCell:
    """A kind of data; each negative is one, each positive has the shift of its area."""

    constant: bool
    skewed: bool
    clusters: int
    alike: float
    area: float
    share: float = 0.5
    ties: bool = False
    weights: bool = False

    @property
    def drop(self) -> float:
        """How much less the area of the current model is."""
        return DROPS[self.area]

    @property
    def threshold(self) -> float:
        """Where recall is RECALL in the better model."""
        return Population(1, 1, self.area).shift - float(norm.ppf(RECALL))

    def samples(self, random: np.random.Generator) -> tuple[Sample, Sample]:
        """A model whose area is less, and the better one, on the same rows."""
        sizes = random.geometric(1 / MEAN_SIZE, self.clusters) if self.skewed else np.full(self.clusters, MEAN_SIZE)
        numbers = np.repeat(np.arange(self.clusters), sizes)
        positive = np.arange(self.clusters) < round(self.share * self.clusters)
        labels = positive[numbers] if self.constant else random.random(numbers.size) < self.share
        weights = np.exp(random.standard_normal(numbers.size) / 2) if self.weights else None
        clusters = Clusters(numbers, [str(each) for each in range(self.clusters)])
        common = random.standard_normal(self.clusters), random.standard_normal(numbers.size)
        found = []
        for area in (self.area - self.drop, self.area):
            between, within = (
                sqrt(BETWEEN_MODELS) * each + sqrt(1 - BETWEEN_MODELS) * random.standard_normal(each.size)
                for each in common
            )
            shift = Population(1, 1, area).shift
            scores = sqrt(self.alike) * between[numbers] + sqrt(1 - self.alike) * within + shift * labels
            if self.ties:
                scores = np.digitize(scores, CUTS + shift / 2).astype(float)
            found.append(Sample(scores, labels, weights, clusters=clusters))
        return found[0], found[1]

    def pr(self, prevalence: float) -> float:
        """The better model's average precision in a population of this prevalence."""
        return float(np.interp(prevalence, *self._pr))

    @cached_property
    def _pr(self) -> tuple[np.ndarray, np.ndarray]:
        shares = np.linspace(0.01, 0.99, 50)
        cells = (IndependentCell(share, 1 - share, self.area, 0, 0, ties=self.ties) for share in shares.tolist())  # type: ignore[arg-type]  # shares serve as counts
        return shares, np.array([cell.truth(self.area)["average_precision"] for cell in cells])

    @cached_property
    def areas(self) -> tuple[float, float]:
        """The area under the ROC curve of the better model, and how much less that of the other is."""
        cell = IndependentCell(1, 1, self.area, self.drop, 0, ties=self.ties)
        better, worse = (cell.truth(area)["roc"] for area in (self.area, self.area - self.drop))
        return better, worse - better

    def __str__(self) -> str:
        labels, sizes = "constant" if self.constant else "varying", "skewed" if self.skewed else "5"
        more = [f"positives {self.share:g}"] if self.share != 0.5 else []  # the usual share
        more += ["five levels"] * self.ties + ["lognormal weights"] * self.weights
        return ", ".join([f"{labels}, {sizes}, {self.clusters}, {self.alike:g}, {self.area:g}", *more])


CELLS = [
    ClusteredCell(constant, skewed, clusters, alike, area)
    for constant, skewed, clusters, alike, area in product(
        (True, False), (False, True), (20, 50, 200), (0.0, 0.3, 0.7), (0.7, 0.9, 0.97)
    )
]
USUAL = len(CELLS)
"""How many cells have neither ties, weights, few clusters nor few positives."""

CELLS += [
    ClusteredCell(constant, skewed, clusters, 0.3, 0.9, ties=ties, weights=not ties)
    for constant, skewed, clusters, ties in product((True, False), (False, True), (20, 50, 200), (True, False))
]
CELLS += [ClusteredCell(*kind, 10, 0.3, 0.9) for kind in ((True, False), (True, True), (False, False))]
CELLS += [ClusteredCell(*kind, 200, 0.3, 0.9, share=0.1) for kind in ((True, True), (False, True))]

METRICS = ("roc", "average_precision", "recall", "precision", "difference of roc", "difference of recall")


@dataclass
class Tally:
    """How many intervals contain the truth, are above it and below it, of `sets`."""

    counts: list[int] = field(default_factory=lambda: [0, 0, 0])
    sets: int = 0

    def add(self, interval: Interval | None, truth: float) -> None:
        """Count an interval; none is counted if there is none."""
        if interval is not None:
            above, below = interval.lower > truth, interval.upper < truth
            self.counts[1 if above else 2 if below else 0] += 1
            self.sets += 1

    def __str__(self) -> str:
        return "/".join(f"{100 * count / max(self.sets, 1):.1f}" for count in self.counts)


Found = tuple[ClusteredCell, dict[tuple[str, bool], Tally]]
"""A cell, and {(metric, whether clusters are ignored): what was counted}."""


def simulated(cell: ClusteredCell, sets: int, seed: int = 1) -> Found:
    """Simulate data sets; the same for a seed."""
    tallies: dict[tuple[str, bool], Tally] = defaultdict(Tally)
    for number in range(sets):
        current, better = cell.samples(np.random.default_rng([seed, number]))
        weights = np.ones(better.rows) if better.weights is None else better.weights
        prevalence = float(weights @ better.labels / weights.sum())
        for ignored in (False, True):
            pair = [replace(each, clusters=None) if ignored else each for each in (current, better)]
            for name, interval, truth in _intervals(cell, Models.of(pair[0], pair[1], paired=True), prevalence):
                tallies[name, ignored].add(interval, truth)
    return cell, tallies


def _intervals(cell: ClusteredCell, pair: Models, prevalence: float) -> Iterator[tuple[str, Interval | None, float]]:
    """Each interval, and the truth."""
    alone, both = (Estimates(each, IntervalOptions()) for each in (Models(pair.models[1:]), pair))
    roc, less = cell.areas
    yield "roc", alone.interval(Metric("roc"), 0.95), roc
    yield "average_precision", alone.interval(Metric("average_precision"), 0.95), cell.pr(prevalence)
    yield "difference of roc", both.interval(Metric("roc"), 0.95, kept=1.0), less
    if not cell.ties:
        decision, fpr = Decision(at_threshold=cell.threshold), float(norm.sf(cell.threshold))
        recall, precision = (Metric(name, decision=decision) for name in ("recall", "precision"))
        called = prevalence * RECALL
        other = float(norm.sf(cell.threshold - Population(1, 1, cell.area - cell.drop).shift))
        yield "recall", alone.interval(recall, 0.95), RECALL
        yield "precision", alone.interval(precision, 0.95), called / (called + (1 - prevalence) * fpr)
        yield "difference of recall", both.interval(recall, 0.95, kept=1.0), other - RECALL


def misses(tally: Tally) -> bool:
    """Whether intervals hold in less than 93 %, or more than 7 % are on one side of the truth."""
    sets = max(tally.sets, 1)
    return tally.counts[0] / sets < LEAST_HELD or max(tally.counts[1:]) / sets > MOST_BEYOND


def markdown(found: list[Found], sets: int) -> str:
    """A row for each metric, of the usual cells and of the others."""
    about = (
        f"Of {sets:,} simulated data sets, the percentage of 95 % intervals that contain the truth / are above it, so "
        "that a gate with `min` there passes by mistake (2.5 promised) / are below it: the cells where the fewest "
        "contain it, and where the most are above. A cell is the labels within clusters, the rows of each, the "
        "clusters, the correlation within them, and `roc`. Bold is below 93, or above 7 on one side."
    )
    lines, bold = [about], []
    kinds = {"": CELLS[:USUAL], " with ties, weights, 10 clusters or few positives": CELLS[USUAL:]}
    for kind, cells in kinds.items():
        chosen = [(cell, tallies) for cell, tallies in found if cell in cells]
        if not chosen:
            continue
        heads = [f"in {len(chosen)} cells{kind}", "bold", "contain the truth", "fewest contain it", "most are above"]
        lines += ["", f"| {' | '.join(heads)} |", "|---|---:|---:|---|---|"]
        for name, ignored in (("roc", True), *((name, False) for name in METRICS)):
            if tallies := {cell: of[name, ignored] for cell, of in chosen if (name, ignored) in of}:
                lines.append(f"| {name}{', clusters ignored' * ignored} | {_extremes(tallies)} |")
                if not ignored:
                    bold += [f"{name} of {_figures(cell, each)}" for cell, each in tallies.items() if misses(each)]
    return "\n".join([*lines, "", f"All bold cells in which clusters are not ignored: {'; '.join(bold) or 'none'}."])


def _extremes(tallies: dict[ClusteredCell, Tally]) -> str:
    """How many cells are bold, how often intervals contain the truth, where they do least, and most are above it."""
    held = {cell: tally.counts[0] / max(tally.sets, 1) for cell, tally in tallies.items()}
    fewest = min(held, key=held.__getitem__)
    most = max(tallies, key=lambda cell: tallies[cell].counts[1] / max(tallies[cell].sets, 1))
    span = f"{100 * held[fewest]:.1f} to {100 * max(held.values()):.1f}"
    bold = str(sum(map(misses, tallies.values())))
    return " | ".join([bold, span, *(_figures(cell, tallies[cell]) for cell in (fewest, most))])


def _figures(cell: ClusteredCell, tally: Tally) -> str:
    return f"{cell}: {f'**{tally}**' if misses(tally) else tally}"


def main() -> int:
    """Simulate and report."""
    parser = argparse.ArgumentParser(prog=f"python -m {NAME}", description=__doc__)
    parser.add_argument("--sets", type=int, default=2000, help="data sets for each cell (2000)")
    parser.add_argument("--every", type=int, default=1, help="simulate every n-th cell only (1)")
    parser.add_argument("--minutes", type=float, default=float("inf"), help="begin no cell after this many minutes")
    parser.add_argument("--readme", action="store_true", help="put the table into tests/README.md")
    asked = parser.parse_args()
    COMPILED.use_installed()  # five times as fast
    begun, found = time.monotonic(), []
    for cell in CELLS[:: asked.every]:
        if time.monotonic() - begun > 60 * asked.minutes:
            break
        print(f"{time.strftime('%H:%M:%S')} {cell}", file=sys.stderr, flush=True)
        found.append(simulated(cell, asked.sets))
        print(*(f"{key[0]}: {each}" for key, each in found[-1][1].items() if not key[1]), sep="; ", file=sys.stderr)
    section = markdown(found, asked.sets)
    print(section)
    if asked.readme:
        rewrite(README, section, f"<!-- {NAME}: begin -->", f"<!-- {NAME}: end -->")
    return 0


if __name__ == "__main__":
    sys.exit(main())
