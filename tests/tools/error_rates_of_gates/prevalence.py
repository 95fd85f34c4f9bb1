"""`python -m tests.tools.error_rates_of_gates.prevalence`: how often 95 % intervals at a stated prevalence hold.

Each cell is a sample of so many positives and negatives, its area under the ROC curve, and the prevalence where the
model is used. A gate with `min` at the truth passes by mistake if the lower end is above it. Paired differences are
those from a model whose area is less by 0.05, with correlated scores.
"""

from __future__ import annotations

import argparse
import sys
from collections import defaultdict
from dataclasses import dataclass, replace

import numpy as np
from scipy.stats import norm

from service.curves.decisions import Decision
from service.curves.target_prevalence import TargetPrevalence
from service.inference.estimates import Estimates
from service.inference.intervals import IntervalOptions
from service.inference.metric import Metric
from service.inference.models import Models
from tests.tools.bench.report import README, rewrite
from tests.tools.coverage_of_intervals.populations import Population
from tests.tools.error_rates_of_gates.cells import Cell
from tests.tools.error_rates_of_gates.clusters import Tally, misses

NAME = "tests.tools.error_rates_of_gates.prevalence"
ALIKE, DROP = 0.7, 0.05
LEVEL, RECALL = 0.95, 0.8
AREAS = ("average_precision", "pr")


@dataclass(frozen=True)
class CellInUse:
    """A sample of P positives and N negatives, its area, and the prevalence in use."""

    positives: int
    negatives: int
    area: float
    share: float

    @property
    def stand_ins(self) -> float:
        """ν, how many positives the negatives can stand for."""
        return self.negatives * self.share / (1 - self.share)

    def truth(self, area: float) -> float:
        """The area under the PR curve where the model is used."""
        return Population(self.share, 1 - self.share, area).pr  # type: ignore[arg-type]  # shares serve as counts

    def precision(self, threshold: float) -> float:
        """That of the better model at a threshold, where it is used."""
        return Population(self.share, 1 - self.share, self.area).precision(RECALL, float(norm.sf(threshold)))  # type: ignore[arg-type]  # as above

    def __str__(self) -> str:
        return f"{self.positives} / {self.negatives}, {self.area:g}, at {self.share:g}"


CELLS = [
    CellInUse(*sizes, area, share)
    for sizes, area, share in (
        ((100, 300), 0.9, 0.1),
        ((100, 3000), 0.9, 0.01),
        ((100, 300), 0.9, 0.02),
        ((100, 300), 0.9, 0.01),
        ((400, 400), 0.7, 0.1),
        ((400, 400), 0.9, 0.1),
        ((400, 4000), 0.97, 0.01),
    )
]


@dataclass
class Simulated:
    """What was counted: a tally of each interval, the mean width of areas, and the bias of average_precision."""

    cell: CellInUse
    tallies: dict[str, Tally]
    widths: dict[str, float]
    bias: float


def simulated(cell: CellInUse, sets: int, seed: int = 1) -> Simulated:
    """Simulate data sets; the same for a seed."""
    independent = Cell(cell.positives, cell.negatives, cell.area, DROP, ALIKE)
    truth, less = cell.truth(cell.area), cell.truth(cell.area - DROP)
    threshold = Population(1, 1, cell.area).shift - float(norm.ppf(RECALL))
    precision = Metric("precision", decision=Decision(at_threshold=threshold))
    tallies, widths, bias = defaultdict[str, Tally](Tally), defaultdict[str, float](float), 0.0
    for number in range(sets):
        drawn = independent.samples(np.random.default_rng([seed, number]))
        pair = [replace(each, target=TargetPrevalence(cell.share)) for each in drawn]
        both = Models.of(pair[0], pair[1], paired=True)
        alone = Estimates(Models(both.models[1:]), IntervalOptions())
        for name in AREAS:
            interval = alone.interval(Metric(name), LEVEL)
            tallies[name].add(interval, truth)
            widths[name] += 0.0 if interval is None else (interval.upper - interval.lower) / sets
        value = alone.value(Metric("average_precision"))
        assert value is not None
        bias += (value - truth) / sets
        change = Estimates(both, IntervalOptions()).interval(Metric("average_precision"), LEVEL, kept=1.0)
        tallies["difference"].add(change, less - truth)
        tallies["precision"].add(alone.interval(precision, LEVEL), cell.precision(threshold))
    return Simulated(cell, tallies, widths, bias)


def markdown(found: list[Simulated], sets: int) -> str:
    """A row for each cell."""
    about = (
        f"Of {sets:,} data sets of P positives and N negatives, with this `roc` and used at this prevalence, the "
        "percentage of 95 % intervals that contain the truth / are above it, so that a gate with `min` there passes by "
        "mistake (2.5 promised) / are below it. ν is how many positives the negatives can stand for. Bold is below "
        "93, or above 7 on one side."
    )
    heads = ["cell", "ν", "bias of `average_precision`", "`average_precision`", "its width", "`pr`"]
    heads += ["paired difference", "precision where recall is 0.8"]
    lines = [about, "", f"| {' | '.join(heads)} |", f"|---|{'---:|' * (len(heads) - 1)}"]
    for each in found:
        texts = {
            name: f"**{tally}**" if misses(tally) else str(tally) for name, tally in each.tallies.items() if tally.sets
        }
        bias = f"{each.bias:+.3f} of {each.cell.truth(each.cell.area):.3f}"
        width = f"{each.widths['average_precision']:.2f}"
        cells = [f"{each.cell.stand_ins:.0f}", bias, texts["average_precision"], width, texts["pr"]]
        lines.append(f"| {each.cell} | {' | '.join(cells)} | {texts['difference']} | {texts['precision']} |")
    return "\n".join(lines)


def main() -> int:
    """Simulate and report."""
    parser = argparse.ArgumentParser(prog=f"python -m {NAME}", description=__doc__)
    parser.add_argument("--sets", type=int, default=2000, help="data sets for each cell (2000)")
    parser.add_argument("--readme", action="store_true", help="put the table into tests/README.md")
    asked = parser.parse_args()
    found = []
    for cell in CELLS:
        found.append(simulated(cell, asked.sets))
        print(cell, *(f"{name}: {each}" for name, each in found[-1].tallies.items()), sep="; ", file=sys.stderr)
    section = markdown(found, asked.sets)
    print(section)
    if asked.readme:
        rewrite(README, section, f"<!-- {NAME}: begin -->", f"<!-- {NAME}: end -->")
    return 0


if __name__ == "__main__":
    sys.exit(main())
