"""`python -m tests.tools.coverage_of_intervals.classes`: how often 95 % intervals of averages contain the true average.

The score of a row for its own class is normal around a shift, and for every other class normal around 0. So each class
against the rest, and all of them in one sample, are populations whose true areas are known.
"""

import argparse
import os
import sys
from collections import Counter
from concurrent.futures import ProcessPoolExecutor
from dataclasses import dataclass
from functools import partial
from math import sqrt
from multiprocessing import get_context

import numpy as np

from service.curves.class_scores import ClassScores
from service.curves.classes import AVERAGED_AREAS, AVERAGES, evaluate_classes
from service.inference.class_averages import class_intervals
from service.inference.intervals import IntervalOptions
from tests.tools.bench.report import README, rewrite
from tests.tools.coverage_of_intervals.populations import Population

_MARK = "<!-- tests.tools.coverage_of_intervals.classes: {} -->"
LEAST_HELD = 0.93
COLUMNS = [(area, average) for area in AVERAGED_AREAS for average in AVERAGES]


@dataclass(frozen=True)
class Cell:
    """The rows of each class, and the area under the ROC curve of each."""

    sizes: tuple[int, ...]
    roc: float

    def __str__(self) -> str:
        return f"{', '.join(map(str, self.sizes))}; {self.roc:g}"

    def draw(self, random: np.random.Generator) -> ClassScores:
        """Draw a data set."""
        own = np.repeat(np.arange(len(self.sizes)), self.sizes)
        members = [own == number for number in range(len(self.sizes))]
        shift = Population(1, 1, self.roc).shift
        scores = [random.standard_normal(own.size) + shift * each for each in members]
        return ClassScores(tuple(f"class {number}" for number in range(len(self.sizes))), scores, members)

    def truth(self, area: str, average: str) -> float:
        """The average in the whole population."""
        if area == "roc":
            return self.roc
        rows = sum(self.sizes)
        if average == "micro":
            return Population(rows, rows * (len(self.sizes) - 1), self.roc).pr
        areas = [Population(size, rows - size, self.roc).pr for size in self.sizes]
        return float(np.average(areas, weights=self.sizes if average == "weighted" else None))


CELLS = [
    *(Cell((20, 30, 60), roc) for roc in (0.7, 0.8)),
    Cell((10, 10, 200), 0.7),
    Cell((15, 20, 100), 0.75),
    *(Cell((size, size, size), 0.7) for size in (40, 100)),
    Cell((10, 10, 10, 10), 0.6),
]


Shares = dict[tuple[str, str], float | None]
"""{area, average: the share of data sets whose interval contains the true average}; None if it has no intervals."""


def simulated(cell: Cell, sets: int, seed: int = 1) -> Shares:
    """Simulate data sets; the same for a seed."""
    truths = {column: cell.truth(*column) for column in COLUMNS}
    held: Counter[tuple[str, str]] = Counter()
    there: Counter[tuple[str, str]] = Counter()
    for number in range(sets):
        given = cell.draw(np.random.default_rng([seed, number]))
        intervals = class_intervals(given, evaluate_classes(given), IntervalOptions()).of_averages
        for (area, average), truth in truths.items():
            lower, upper = intervals[area][:, AVERAGES.index(average)]
            held[area, average] += bool(lower <= truth <= upper)
            there[area, average] += not np.isnan(lower)
    return {column: held[column] / sets if there[column] else None for column in COLUMNS}


def markdown(found: dict[Cell, Shares], sets: int) -> str:
    """A row for each cell."""
    about = (
        f"The percentage of {sets:,} simulated data sets whose 95 % interval contains the true average (near 95, the "
        f"standard error is {100 * sqrt(0.05 * 0.95 / sets):.1f}). Two of them below {100 * LEAST_HELD:g}, it is bold. "
        "Averages of many areas have no intervals."
    )
    least = LEAST_HELD - 2 * sqrt(0.05 * 0.95 / sets)
    head = " | ".join(f"`{area}` {average}" for area, average in COLUMNS)
    lines = [about, "", f"| rows of each class; `roc` of each | {head} |", f"|---|{'---:|' * len(COLUMNS)}"]
    for cell, shares in found.items():
        lines.append(f"| {cell} | {' | '.join(_cell(shares[column], least) for column in COLUMNS)} |")
    return "\n".join(lines)


def _cell(share: float | None, least: float) -> str:
    if share is None:
        return "none"
    return f"**{100 * share:.1f}**" if share < least else f"{100 * share:.1f}"


def main() -> int:
    """Simulate, report."""
    parser = argparse.ArgumentParser(prog="python -m tests.tools.coverage_of_intervals.classes", description=__doc__)
    parser.add_argument("--sets", type=int, default=2_000, help="data sets for each kind of data (2000)")
    parser.add_argument("--processes", type=int, default=os.cpu_count() or 1)
    parser.add_argument("--readme", action="store_true", help="put the table into tests/README.md")
    asked = parser.parse_args()
    with ProcessPoolExecutor(asked.processes, get_context("forkserver")) as pool:
        found = dict(zip(CELLS, pool.map(partial(simulated, sets=asked.sets), CELLS), strict=True))
    section = markdown(found, asked.sets)
    print(section)
    if asked.readme:
        rewrite(README, section, _MARK.format("begin"), _MARK.format("end"))
    return 0


if __name__ == "__main__":
    sys.exit(main())
