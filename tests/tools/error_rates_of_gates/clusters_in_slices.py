"""`python -m tests.tools.error_rates_of_gates.clusters_in_slices`: gates over slices of clustered rows.

In each cell the slices are whole clusters, or cut across them: then two slices share clusters, and are correlated. As
many rows of a slice are positive as negative. A rule has its bound at the least true value; how often does it pass by
mistake, prove that a slice misses the bound, which none does, and has an interval that contains the least true value?
"""

import argparse
import sys
import time
from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass
from functools import cached_property
from itertools import product
from math import sqrt

import numpy as np
from scipy.stats import norm

from service.curves.clusters import Clusters
from service.curves.decisions import Decision
from service.curves.sample import Sample
from service.curves.sweep.sweep import COMPILED
from service.inference.gate import evaluate_gate
from service.inference.rules import Rule
from service.inference.sliced import RowsInSlices, Slicing
from service.inference.verdicts import GateOptions
from tests.tools.bench.report import README, rewrite
from tests.tools.coverage_of_intervals.populations import Population
from tests.tools.error_rates_of_gates.clusters import LEAST_HELD, MOST_BEYOND, RECALL

NAME = "tests.tools.error_rates_of_gates.clusters_in_slices"
LEVEL = 0.95
ROWS = 5
"""The rows of each cluster."""

LEAST, BETTER = 0.85, 0.93
"""The area of the worst slice, and of the others if only one is at the bound."""

COUNTED = "contains", "passes", "proven"


@dataclass(frozen=True)
class SlicedCell:
    """K slices of rows of so many clusters in all; `alike` is the correlation of scores within clusters."""

    whole: bool
    constant: bool
    count: int
    clusters: int
    alike: float
    one_worse: bool = False

    def sample(self, random: np.random.Generator) -> tuple[Sample, Slicing]:
        """Rows and their slices."""
        numbers = np.repeat(np.arange(self.clusters), ROWS)
        labels = numbers % 2 == 0
        slices = numbers // (self.clusters // self.count) if self.whole else np.zeros(numbers.size, np.int64)
        if not self.whole:
            for rows in (labels, ~labels):
                slices[rows] = random.permutation(np.arange(np.count_nonzero(rows)) % self.count)
        if not self.constant:
            for number in range(self.count):
                labels[slices == number] = random.permutation(labels[slices == number])
        between, within = random.standard_normal(self.clusters), random.standard_normal(numbers.size)
        shifts = np.full(self.count, Population(1, 1, BETTER if self.one_worse else LEAST).shift)
        shifts[0] = self._worst.shift
        scores = sqrt(self.alike) * between[numbers] + sqrt(1 - self.alike) * within + shifts[slices] * labels
        clusters = Clusters(numbers, [str(each) for each in range(self.clusters)])
        return Sample(scores, labels, clusters=clusters), Slicing(slices, {"slice": list(range(self.count))})

    @property
    def _worst(self) -> Population:
        return Population(1, 1, LEAST)

    @cached_property
    def rules(self) -> dict[str, Rule]:
        """A rule for each metric, whose bound is the least true value."""
        at = Decision(at_threshold=self._worst.shift - float(norm.ppf(RECALL)))
        least = {"roc": LEAST, "average_precision": self._worst.pr, "recall": RECALL}
        return {
            metric: Rule(
                metric, decision=at if metric == "recall" else None, min=bound, confidence=LEVEL, slices=("slice",)
            )
            for metric, bound in least.items()
        }

    def counted(self, sets: int, seed: int = 1) -> dict[str, Counter[str]]:
        """{metric: how often each of COUNTED was the case}; the same for a seed."""
        found: dict[str, Counter[str]] = {metric: Counter() for metric in self.rules}
        for number in range(sets):
            sample, slicing = self.sample(np.random.default_rng([seed, number]))
            options = GateOptions((*self.rules.values(),), slicings={("slice",): RowsInSlices(slicing)})
            checks = evaluate_gate(sample, None, options).checks
            for (metric, rule), check in zip(self.rules.items(), checks, strict=True):
                assert check.interval is not None
                assert check.slices is not None
                found[metric]["contains"] += check.interval.lower <= rule.bound <= check.interval.upper
                found[metric]["passes"] += check.status == "passed"
                found[metric]["proven"] += "missed" in check.slices["status"]
        return found

    def __str__(self) -> str:
        labels = "constant" if self.constant else "varying"
        kind = f"of {self.clusters // self.count} whole clusters" if self.whole else f"across {self.clusters} clusters"
        which = ", one at the bound" if self.one_worse else ""
        return f"{self.count} slices {kind}, {labels}, {self.alike:g}{which}"


KINDS = [(True, 3, 90), (True, 3, 180), (True, 10, 300), (True, 10, 600), (False, 3, 60), (False, 10, 120)]
CELLS = [
    SlicedCell(whole, constant, count, clusters, alike, one_worse)
    for one_worse, (whole, count, clusters), constant, alike in product((False, True), KINDS, (True, False), (0.3, 0.8))
]


def markdown(found: dict[SlicedCell, dict[str, Counter[str]]], sets: int) -> Iterator[str]:
    """A row for each cell."""
    yield (
        f"Of {sets:,} data sets, the percentage in which the 95 % interval of the worst slice contains the least true "
        "value / in which a rule with its bound there passes by mistake / in which it proves a slice to be below "
        'that bound, so that it fails even with `inconclusive = "pass"`; 2.5 are promised for each mistake. A cell '
        "is the slices, the clusters of 5 rows, the labels within clusters and the correlation within them. All "
        f"slices have a `roc` of {LEAST:g}, or all but one have {BETTER:g}. Bold is below 93, or above 7 for a mistake."
    )
    yield ""
    metrics = [*next(iter(found.values()))]
    yield f"| cell | {' | '.join(metrics)} |"
    yield f"|---|{'---:|' * len(metrics)}"
    for cell, counts in found.items():
        texts = []
        for each in counts.values():
            contains, *wrong = shares = [each[what] / sets for what in COUNTED]
            text = "/".join(f"{100 * share:.1f}" for share in shares)
            texts.append(f"**{text}**" if contains < LEAST_HELD or max(wrong) > MOST_BEYOND else text)
        yield f"| {cell} | {' | '.join(texts)} |"


def main() -> int:
    """Simulate and report."""
    parser = argparse.ArgumentParser(prog=f"python -m {NAME}", description=__doc__)
    parser.add_argument("--sets", type=int, default=2000, help="data sets for each cell (2000)")
    parser.add_argument("--readme", action="store_true", help="put the table into tests/README.md")
    asked = parser.parse_args()
    COMPILED.use_installed()
    found = {}
    for cell in CELLS:
        found[cell] = cell.counted(asked.sets)
        print(time.strftime("%H:%M:%S"), [*markdown({cell: found[cell]}, asked.sets)][-1], file=sys.stderr, flush=True)
    section = "\n".join(markdown(found, asked.sets))
    print(section)
    if asked.readme:
        rewrite(README, section, f"<!-- {NAME}: begin -->", f"<!-- {NAME}: end -->")
    return 0


if __name__ == "__main__":
    sys.exit(main())
