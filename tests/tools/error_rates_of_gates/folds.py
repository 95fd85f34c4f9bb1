"""`python -m tests.tools.error_rates_of_gates.folds`: how often 95 % intervals of means over folds hold.

Linear discriminants of 10 features are cross-validated, and compared with those of the first 4 on the same folds. The
truth is the mean of the true areas of the very models that were tested: each is known, as features are normal.
"""

from __future__ import annotations

import argparse
import sys
from collections import defaultdict
from dataclasses import dataclass
from math import sqrt

import numpy as np
from numpy.typing import NDArray
from scipy.stats import norm

from service.curves.sample import Sample
from service.inference.gate import evaluate_gate
from service.inference.rules import Rule
from service.inference.sliced import RowsInSlices, Slicing
from service.inference.verdicts import GateOptions
from tests.tools.bench.report import README, rewrite
from tests.tools.error_rates_of_gates.clusters import Tally, misses

NAME = "tests.tools.error_rates_of_gates.folds"
FEATURES, FEW, TELLING = 10, 4, 5
"""How many features there are, how many the simpler model has, and how many of them tell anything."""

RULES = (
    Rule("roc", min=0.0, confidence=0.95, folds=("fold",)),
    Rule("roc", max_drop=1.0, confidence=0.95, folds=("fold",)),
)
Floats = NDArray[np.float64]


@dataclass(frozen=True)
class FoldsCell:
    """So many rows, half of them positive, in so many folds; how far apart the classes are."""

    rows: int
    folds: int
    apart: float = 1.2

    def __str__(self) -> str:
        return f"{self.rows}, {self.folds}{', no signal' * (self.apart == 0)}"


CELLS = [
    FoldsCell(100, 5),
    FoldsCell(100, 10),
    FoldsCell(200, 5),
    FoldsCell(400, 5),
    FoldsCell(1000, 5),
    FoldsCell(1000, 10),
    FoldsCell(1000, 5, 0.0),
]


def discriminant(features: Floats, labels: NDArray[np.bool_]) -> Floats:
    """Fisher's linear discriminant."""
    means = [features[labels == of].mean(axis=0) for of in (True, False)]
    within = features - np.where(labels[:, None], *means)
    return np.linalg.solve(within.T @ within, means[0] - means[1])  # type: ignore[no-any-return]  # floats


def cross_validated(
    features: Floats, labels: NDArray[np.bool_], folds: NDArray[np.int64], centre: Floats
) -> tuple[Sample, float]:
    """The scores of rows by the models that were not fitted to them, and the mean true area of these models."""
    scores, areas = np.empty(labels.size), []
    for fold in range(int(folds.max()) + 1):
        tested = folds == fold
        weights = discriminant(features[~tested], labels[~tested])
        scores[tested] = features[tested] @ weights
        areas.append(float(norm.cdf(weights @ centre / (sqrt(2) * np.linalg.norm(weights)))))
    return Sample(scores, labels), float(np.mean(areas))


def simulated(cell: FoldsCell, sets: int, seed: int = 1) -> dict[str, Tally]:
    """Simulate data sets; the same for a seed."""
    found = defaultdict[str, Tally](Tally)
    centre = np.where(np.arange(FEATURES) < TELLING, cell.apart / sqrt(TELLING), 0.0)
    labels = np.arange(cell.rows) % 2 == 0
    folds = np.arange(cell.rows) // 2 % cell.folds
    slicings = {("fold",): RowsInSlices(Slicing(folds, {"fold": list(range(cell.folds))}))}
    options = GateOptions(RULES, paired=True, slicings=slicings)
    for number in range(sets):
        random = np.random.default_rng([seed, number])
        features = random.standard_normal((cell.rows, FEATURES)) + np.outer(labels, centre)
        all_of, true = cross_validated(features, labels, folds, centre)
        few, true_of_few = cross_validated(features[:, :FEW], labels, folds, centre[:FEW])
        value, difference = evaluate_gate(all_of, few, options).checks
        found["of its own models"].add(value.interval, true)
        found["difference from fewer features"].add(difference.interval, true - true_of_few)
    return found


def markdown(found: dict[FoldsCell, dict[str, Tally]], sets: int) -> str:
    """A row for each cell."""
    about = (
        f"Of {sets:,} data sets, the percentage of 95 % intervals of the mean over folds that contain the mean true "
        "area of the models that were tested / are above it / are below it. Bold is below 93, or above 7 on one side."
    )
    heads = [*next(iter(found.values()))]
    lines = [about, "", f"| rows, folds | {' | '.join(heads)} |", f"|---|{'---:|' * len(heads)}"]
    for cell, tallies in found.items():
        texts = [f"**{each}**" if misses(each) else str(each) for each in tallies.values()]
        lines.append(f"| {cell} | {' | '.join(texts)} |")
    return "\n".join(lines)


def main() -> int:
    """Simulate and report."""
    parser = argparse.ArgumentParser(prog=f"python -m {NAME}", description=__doc__)
    parser.add_argument("--sets", type=int, default=2000, help="data sets for each cell (2000)")
    parser.add_argument("--readme", action="store_true", help="put the table into tests/README.md")
    asked = parser.parse_args()
    found = {}
    for cell in CELLS:
        found[cell] = simulated(cell, asked.sets)
        print(cell, *(f"{name}: {each}" for name, each in found[cell].items()), sep="; ", file=sys.stderr)
    section = markdown(found, asked.sets)
    print(section)
    if asked.readme:
        rewrite(README, section, f"<!-- {NAME}: begin -->", f"<!-- {NAME}: end -->")
    return 0


if __name__ == "__main__":
    sys.exit(main())
