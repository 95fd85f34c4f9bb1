"""`python -m tests.tools.coverage_of_intervals.bands`: how often simultaneous bands hold the whole true curve.

Each cell is a kind of data: how many, how good the scores are, with ties or weights. A band holds a curve if the true
height is within its ends at a thousand places, those of evenly spaced quantiles of the scores. The ROC and the PR band
are read through the functions that answers have.
"""

import argparse
import sys
import time
from collections.abc import Iterable
from concurrent.futures import ProcessPoolExecutor
from dataclasses import dataclass
from functools import partial
from multiprocessing import get_context

import numpy as np
from scipy.stats import norm

from service.curves.arrays import FloatArray
from service.curves.confusion import ConfusionTable
from service.curves.roc import fpr, tpr
from service.curves.sample import Sample
from service.inference.bands import fixed_width, joint_width
from service.inference.intervals import IntervalOptions
from service.inference.strata import strata
from tests.tools.bench.report import README, rewrite
from tests.tools.coverage_of_intervals.populations import Population
from tests.tools.error_rates_of_gates.cells import CUTS

LEVEL, LEAST_HELD = 0.95, 0.93
ROUNDED = 1e-12
_PLACES = 1000
_MARK = "<!-- tests.tools.coverage_of_intervals.bands: {} -->"


@dataclass(frozen=True)
class BandCell:
    """A kind of data."""

    positives: int
    negatives: int
    area: float
    ties: bool = False
    weights: bool = False

    def __str__(self) -> str:
        kind = ", five levels" if self.ties else ", lognormal weights" if self.weights else ""
        return f"{self.positives} / {self.negatives}, {self.area:g}{kind}"

    @property
    def shift(self) -> float:
        """The difference between the means of positives and negatives."""
        return Population(1, 1, self.area).shift

    def sample(self, random: np.random.Generator) -> Sample:
        """Draw a data set."""
        labels = np.arange(self.positives + self.negatives) < self.positives
        scores = random.standard_normal(labels.size) + self.shift * labels
        weights = np.exp(random.standard_normal(labels.size)) if self.weights else None
        return Sample(
            np.digitize(scores, CUTS + self.shift / 2).astype(float) if self.ties else scores, labels, weights
        )

    def curve(self) -> tuple[FloatArray, FloatArray]:
        """The true curve, fpr and tpr, from (0, 0) to (1, 1); straight between levels."""
        if not self.ties:
            cuts = np.linspace(self.shift + 6, -6, _PLACES)
            return np.append(norm.sf(cuts), 1.0), np.append(norm.sf(cuts - self.shift), 1.0)
        cuts = np.concatenate([[np.inf], (CUTS + self.shift / 2)[::-1], [-np.inf]])
        steps = np.linspace(0, cuts.size - 1, _PLACES)
        ends = norm.sf(cuts), norm.sf(cuts - self.shift)
        across, up = (np.interp(steps, np.arange(cuts.size), each) for each in ends)
        return across, up


CELLS = [
    *(BandCell(15, 15, area) for area in (0.7, 0.98)),
    *(BandCell(30, 300, area) for area in (0.7, 0.9, 0.98)),
    *(BandCell(100, 300, area) for area in (0.9, 0.98)),
    *(BandCell(20, 1000, area) for area in (0.9, 0.98)),
    BandCell(200, 15, 0.9),
    BandCell(100, 300, 0.9, ties=True),
    BandCell(100, 300, 0.9, weights=True),
]

METHODS = "fixed_width", "joint"


@dataclass(frozen=True)
class BandCoverage:
    """Of so many data sets: the shares whose ROC and whose PR band hold the curve, the mean width, by method."""

    cell: BandCell
    sets: int
    held: dict[tuple[str, str], float]
    wide: dict[str, float]

    @property
    def row(self) -> str:
        """A row of the table."""
        shares = [self.held[method, plane] for method in METHODS for plane in ("roc", "pr")]
        found = [self._percent(share) for share in shares]
        widths = [f"{self.wide[method]:.2f}" for method in METHODS]
        return f"| {' | '.join([str(self.cell), *found[:2], widths[0], *found[2:], widths[1]])} |"

    def _percent(self, share: float) -> str:
        low = share < LEAST_HELD
        return f"{'**' * low}{100 * share:.1f}{'**' * low}"


def simulated(cell: BandCell, sets: int, resamples: int, seed: int, processes: int) -> BandCoverage:
    """Simulate data sets; the result depends on the seed, not on the number of processes."""
    with ProcessPoolExecutor(processes, get_context("forkserver")) as pool:
        found = list(pool.map(partial(_one, cell, resamples, seed), range(sets), chunksize=50))
    held, wide = ([each[place] for each in found] for place in range(2))
    return BandCoverage(cell, sets, _mean(held), _mean(wide))


def _mean(found: list[dict]) -> dict:
    return {name: float(np.mean([each[name] for each in found])) for name in found[0]}


def _one(cell: BandCell, resamples: int, seed: int, number: int) -> tuple[dict, dict]:
    """Whether the bands of a data set hold the true curves, and how high that of the ROC curve is, up and down."""
    sample = cell.sample(np.random.default_rng([seed, number]))
    table = ConfusionTable.from_sample(sample)
    split = strata(sample, table)
    options = IntervalOptions(LEVEL, resamples=resamples, seed=number)
    across, up = cell.curve()
    held, wide = {}, {}
    for width in (fixed_width(table, split, options), joint_width(split, LEVEL)):
        wide[width.method] = 2 * width.up
        for plane, at, truth, found in (
            ("roc", across, up, np.interp(across, fpr(table), tpr(table))),
            ("pr", up, _precision(table, up, across), _precision(table, up, np.interp(up, tpr(table), fpr(table)))),
        ):
            lower, upper = width.ends(table, plane, at, found)
            held[width.method, plane] = bool(((lower <= truth + ROUNDED) & (truth <= upper + ROUNDED)).all())
    return held, wide


def _precision(table: ConfusionTable, recall: FloatArray, rate: FloatArray) -> FloatArray:
    """The precision at these recalls and false positive rates, at the prevalence of a table; 1 at recall 0."""
    tp, fp = recall * table.positives, rate * table.negatives
    return np.divide(tp, tp + fp, out=np.ones(tp.size), where=tp > 0)


def markdown(found: Iterable[BandCoverage], sets: int, resamples: int) -> str:
    """Lay out the coverages."""
    about = (
        f"The percentage of {sets:,} simulated data sets whose simultaneous 95 % band holds the whole true curve (near "
        f"95, the standard error is {100 * (0.95 * 0.05 / sets) ** 0.5:.2f}; {resamples:,} resamples), and the mean "
        "height of the ROC band, up and down together."
    )
    lines = [
        about,
        "",
        "| P / N, `roc` | ROC, `fixed_width` | PR | height | ROC, `joint` | PR | height |",
        "|---|---:|---:|---:|---:|---:|---:|",
        *(each.row for each in found),
    ]
    return "\n".join(lines)


def main() -> int:
    """Simulate, report."""
    parser = argparse.ArgumentParser(prog="python -m tests.tools.coverage_of_intervals.bands", description=__doc__)
    parser.add_argument("--sets", type=int, default=2000, help="data sets of each cell (2000)")
    parser.add_argument("--resamples", type=int, default=400, help="resamples of each band (400)")
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--processes", type=int, default=1)
    parser.add_argument("--readme", action="store_true", help="put the table into tests/README.md")
    asked = parser.parse_args()
    found = []
    for cell in CELLS:
        found.append(simulated(cell, asked.sets, asked.resamples, asked.seed, asked.processes))
        print(f"{time.strftime('%H:%M:%S')} {found[-1].row}", file=sys.stderr, flush=True)
    section = markdown(found, asked.sets, asked.resamples)
    print(section)
    if asked.readme:
        rewrite(README, section, _MARK.format("begin"), _MARK.format("end"))
    return 0


if __name__ == "__main__":
    sys.exit(main())
