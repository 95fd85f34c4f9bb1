"""`python -m tests.tools.error_rates_of_gates.cells`: whether gates and intervals keep their level with few data.

Each cell is a kind of data: how many, how good the models are, how alike, with ties or weights. For each data set, the
lower end of the difference at 90 % is compared with the true difference, as by a rule of non-inferiority with its bound
there; and 95 % intervals, of the difference and of one area, with the true values.
"""

import argparse
import sys
import time
from collections import Counter
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from itertools import compress
from math import sqrt

import numpy as np
from scipy.stats import norm

from service.curves.sample import Sample
from service.inference.estimates import Estimates
from service.inference.intervals import IntervalOptions
from service.inference.metric import Metric
from service.inference.models import Models
from service.inference.resampled import RESAMPLED_AREAS
from tests.tools.bench.report import README, rewrite
from tests.tools.coverage_of_intervals.populations import Population

MOST_PASSED, LEAST_HELD, MOST_HELD = 0.07, 0.93, 0.99
CUTS = np.array([-0.75, -0.25, 0.25, 0.75])
"""The cuts between five levels of a score, relative to the middle between both classes."""

_STEPS = 4000


@dataclass(frozen=True)
class Cell:
    """A kind of data: the current model's area is less by the drop; both models' noise has the correlation."""

    positives: int
    negatives: int
    area: float
    drop: float
    correlation: float
    ties: bool = False
    weights: bool = False

    def samples(self, random: np.random.Generator) -> tuple[Sample, Sample]:
        """Draw a pair of data sets of the same examples."""
        labels = np.arange(self.positives + self.negatives) < self.positives
        shared = random.standard_normal(labels.size)
        weights = np.exp(random.standard_normal(labels.size)) if self.weights else None
        found = []
        for area in (self.area - self.drop, self.area):
            noise = sqrt(self.correlation) * shared + sqrt(1 - self.correlation) * random.standard_normal(labels.size)
            shift = Population(1, 1, area).shift
            scores = noise + shift * labels
            found.append(
                Sample(np.digitize(scores, CUTS + shift / 2).astype(float) if self.ties else scores, labels, weights)
            )
        return found[0], found[1]

    def truth(self, area: float) -> dict[str, float]:
        """The areas in the whole population."""
        population = Population(self.positives, self.negatives, area)
        if not self.ties:
            return {"roc": area, "pr": population.pr, "average_precision": population.pr}
        cuts = np.concatenate([[np.inf], (CUTS + population.shift / 2)[::-1], [-np.inf]])
        tp, fp = self.positives * norm.sf(cuts - population.shift), self.negatives * norm.sf(cuts)
        share = (np.arange(_STEPS) + 0.5) / _STEPS
        climb = np.diff(tp)
        between = [tp[:-1, None] + share * climb[:, None], fp[:-1, None] + share * np.diff(fp)[:, None]]
        return {
            "roc": float(np.diff(fp) @ (tp[1:] + tp[:-1]) / 2 / self.positives / self.negatives),
            "pr": float((climb @ (between[0] / (between[0] + between[1])).mean(axis=1)) / self.positives),
            "average_precision": float(climb @ (tp[1:] / (tp[1:] + fp[1:])) / self.positives),
        }

    def __str__(self) -> str:
        kind = ", five levels" if self.ties else ", lognormal weights" if self.weights else ""
        alike = "alike" if self.correlation else "independent"
        return f"{self.positives} / {self.negatives}, {self.area:g} less {self.drop:g}, {alike}{kind}"


SIZES = ((15, 15), (15, 200), (20, 2000), (50, 300), (100, 300), (200, 2000), (200, 15))
CELLS = [
    Cell(*size, area, drop, correlation)
    for size in SIZES
    for area, drop in ((0.7, 0.05), (0.9, 0.05), (0.99, 0.01))
    for correlation in (0.0, 0.9)
]
CELLS += [
    Cell(*size, 0.9, 0.05, correlation, ties, not ties)
    for size in ((20, 200), (50, 300), (100, 300))
    for correlation in (0.0, 0.9)
    for ties in (True, False)
]


@dataclass(frozen=True)
class Found:
    """For the data sets of a cell: in which a drop at the bound passed, and whose intervals contained the truth."""

    cell: Cell
    area: str
    sets: int
    passed: float
    held: float
    held_alone: float
    warned: float

    @property
    def misses(self) -> bool:
        """Whether a figure misses its limits by more than two standard errors."""
        over = 2 * sqrt(MOST_PASSED * (1 - MOST_PASSED) / self.sets)
        above = 2 * sqrt(MOST_HELD * (1 - MOST_HELD) / self.sets)
        shares = self.held, self.held_alone
        return self.passed > MOST_PASSED + over or min(shares) < LEAST_HELD - over or max(shares) > MOST_HELD + above


def simulated(cell: Cell, sets: int, seed: int = 1) -> list[Found]:
    """Simulate data sets; the same for a seed."""
    truths = cell.truth(cell.area - cell.drop), cell.truth(cell.area)
    counts: Counter[tuple[str, str]] = Counter()
    for number in range(sets):
        pair = Models.of(*cell.samples(np.random.default_rng([seed, number])), paired=True)
        for area in RESAMPLED_AREAS:
            counts.update((area, kind) for kind in kinds_of(pair, Metric(area), truths[0][area], truths[1][area]))
    return [Found(cell, area, sets, *(counts[area, kind] / sets for kind in KINDS)) for area in RESAMPLED_AREAS]


KINDS = "passed", "held", "alone", "warned"


def kinds_of(pair: Models, metric: Metric, current: float, before: float) -> Iterator[str]:
    """What counts for one pair of data sets, whose metric has these true values."""
    estimates = Estimates(pair, IntervalOptions())
    low, both = (estimates.interval(metric, level, kept=1.0) for level in (0.9, 0.95))
    warned = any(each.code == "narrow_interval" for each in estimates.warnings)
    alone = estimates.interval(metric, 0.95)
    assert low is not None
    assert both is not None
    assert alone is not None
    holds = (
        low.lower >= current - before,
        both.lower <= current - before <= both.upper,
        alone.lower <= current <= alone.upper,
        warned,
    )
    return compress(KINDS, holds)


def markdown(found: list[Found]) -> str:
    """A row for each cell, three figures for each area."""
    sets = found[0].sets
    about = (
        f"Each cell has three percentages, from {sets:,} simulated pairs of data sets. How many pass a rule with 90 % "
        "confidence whose bound is the true drop? 5 are promised, 7 allowed. How many 95 % intervals of the difference "
        "contain the true difference? How many 95 % intervals of the current model's area contain its true area? "
        f"Standard errors are {100 * sqrt(0.05 * 0.95 / sets):.1f}. A cell is bold if a figure is more than two of "
        "them above 7, or outside 93 to 99. The last column has the percentage of pairs with a warning, for each area."
    )
    lines = [
        about,
        "",
        "| P / N, `roc`, models | `roc` | `pr` | `average_precision` | warned |",
        "|---|---:|---:|---:|---:|",
    ]
    for cell in dict.fromkeys(each.cell for each in found):
        of_cell = [each for each in found if each.cell == cell]
        texts = [f"{100 * each.passed:.1f}, {100 * each.held:.1f}, {100 * each.held_alone:.1f}" for each in of_cell]
        shown = [f"**{text}**" if each.misses else text for text, each in zip(texts, of_cell, strict=True)]
        warned = ", ".join(f"{100 * each.warned:.0f}" for each in of_cell)
        lines.append(f"| {cell} | {' | '.join(shown)} | {warned} |")
    return "\n".join(lines)


def report(
    name: str,
    about: str | None,
    cells: list[Cell],
    simulate: Callable[[Cell, int], list[Found]],
    table: Callable[[list[Found]], str],
) -> int:
    """Simulate, report; the program's name is also that of its place in tests/README.md."""
    parser = argparse.ArgumentParser(prog=f"python -m {name}", description=about)
    parser.add_argument("--sets", type=int, default=2000, help="data sets for each cell (2000)")
    parser.add_argument("--readme", action="store_true", help="put the table into tests/README.md")
    asked = parser.parse_args()
    found: list[Found] = []
    for number, cell in enumerate(cells, 1):
        print(f"{time.strftime('%H:%M:%S')} {number}/{len(cells)} {cell}", file=sys.stderr, flush=True)
        of_cell = simulate(cell, asked.sets)
        for each in of_cell:
            print(each, file=sys.stderr, flush=True)
        found += of_cell
    section = table(found)
    print(section)
    if asked.readme:
        rewrite(README, section, f"<!-- {name}: begin -->", f"<!-- {name}: end -->")
    print(f"\n{sum(each.misses for each in found)} of {len(found)} miss.")
    return 0


if __name__ == "__main__":
    sys.exit(report("tests.tools.error_rates_of_gates.cells", __doc__, CELLS, simulated, markdown))
