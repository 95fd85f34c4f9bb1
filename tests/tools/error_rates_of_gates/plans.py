"""`python -m tests.tools.error_rates_of_gates.plans`: whether plans reach their power of 80 %.

Each pilot gives a plan for a value that is known to be true. New data sets, as large as the median of these plans says,
pass the rule as often as its power. The same at the 10 % and 90 % quantiles of the plans shows what a single pilot may
do.
"""

import sys
from collections.abc import Iterator
from dataclasses import dataclass
from math import sqrt

import numpy as np
from scipy.stats import norm

from service.curves.decisions import Decision
from service.curves.sample import Sample
from service.inference.gate import evaluate_gate
from service.inference.intervals import IntervalOptions
from service.inference.models import Models
from service.inference.plans import planned
from service.inference.rules import Rule
from service.inference.verdicts import GateOptions
from tests.tools.bench.report import README, rewrite

PILOTS, SETS = 200, 1000
QUANTILES = (0.1, 0.5, 0.9)
CORRELATION = 0.7


@dataclass(frozen=True)
class PlanCell:
    """A pilot's sizes, the areas of the model and perhaps of a baseline, and a rule."""

    positives: int
    negatives: int
    area: float
    rule: Rule
    baseline: float | None = None

    def draw(self, random: np.random.Generator, times: float) -> tuple[Sample, Sample | None]:
        """A data set this many times as large as a pilot."""
        sizes = round(self.positives * times), round(self.negatives * times)
        labels = np.arange(sum(sizes)) < sizes[0]
        common, own, other = random.standard_normal((3, labels.size))
        one, two = (sqrt(CORRELATION) * common + sqrt(1 - CORRELATION) * each for each in (own, other))
        model = Sample(one + sqrt(2) * norm.ppf(self.area) * labels, labels)
        if self.baseline is None:
            return model, None
        return model, Sample(two + sqrt(2) * norm.ppf(self.baseline) * labels, labels)

    def __str__(self) -> str:
        of = "" if self.baseline is None else f" against {self.baseline:g}, paired"
        return f"{self.positives} / {self.negatives}, `roc` {self.area:g}{of}: {self.rule.phrase}"


def _at(area: float, threshold: float) -> float:
    """The recall of a model of this area at a threshold."""
    return float(norm.sf(threshold - sqrt(2) * norm.ppf(area)))


CELLS = (
    PlanCell(50, 200, 0.85, Rule("roc", min=0.8, expected=0.85, confidence=0.95)),
    PlanCell(30, 30, 0.9, Rule("roc", min=0.85, expected=0.9, confidence=0.95)),
    PlanCell(100, 1000, 0.97, Rule("roc", min=0.95, expected=0.97, confidence=0.95)),
    PlanCell(50, 200, 0.85, Rule("roc", max_drop=0.03, expected=0.0, confidence=0.95), 0.85),
    PlanCell(100, 1000, 0.89, Rule("roc", max_drop=0.03, expected=0.01, confidence=0.95), 0.9),
    PlanCell(100, 400, 0.9, Rule("average_precision", max_drop=0.03, expected=0.0, confidence=0.95), 0.9),
    PlanCell(
        50,
        200,
        0.9,
        Rule("recall", decision=Decision(at_threshold=0.5), min=0.8, expected=_at(0.9, 0.5), confidence=0.95),
    ),
    PlanCell(
        50,
        200,
        0.9,
        Rule("recall", decision=Decision(at_threshold=0.5), max_drop=0.05, expected=0.0, confidence=0.95),
        0.9,
    ),
)


@dataclass(frozen=True)
class Power:
    """Of a cell: quantiles of the factors of its plans, and the share of data sets that pass with each."""

    cell: PlanCell
    factors: tuple[float, ...]
    shares: tuple[float, ...]


def simulated(cell: PlanCell, pilots: int = PILOTS, sets: int = SETS, seed: int = 1) -> Power:
    """Plan from pilots, and try the plans on new data; the same for a seed."""
    random = np.random.default_rng(seed)
    found = []
    for _ in range(pilots):
        model, baseline = cell.draw(random, 1)
        plan = planned(cell.rule, Models.of(model, baseline, paired=baseline is not None), IntervalOptions())
        if plan.factor is not None:
            found.append(plan.factor)
    factors = tuple(float(each) for each in np.quantile(found, QUANTILES))
    options = GateOptions((cell.rule,), paired=cell.baseline is not None)
    shares = []
    for factor in factors:
        passed = sum(evaluate_gate(*cell.draw(random, factor), options).passed for _ in range(sets))
        shares.append(passed / sets)
    return Power(cell, factors, tuple(shares))


def markdown(found: list[Power], sets: int = SETS) -> Iterator[str]:
    """A row for each cell."""
    error = 100 * sqrt(0.8 * 0.2 / sets)
    yield (
        f"Of {PILOTS} pilots, the median plan in multiples of the pilot, and the percentage of {sets:,} new data sets "
        f"of that size that pass, where 80 is right (standard error {error:.1f}); in brackets, those of the 10 % and "
        "90 % "
        "quantiles of the plans."
    )
    yield ""
    yield "| positives / negatives of the pilot, truth: rule | times | passes |"
    yield "|---|---:|---:|"
    for each in found:
        few, median, many = each.factors
        least, share, most = (100 * each for each in each.shares)
        yield f"| {each.cell} | {median:.2f} ({few:.2f}, {many:.2f}) | {share:.1f} ({least:.1f}, {most:.1f}) |"


BEGIN, END = (f"<!-- tests.tools.error_rates_of_gates.plans: {word} -->" for word in ("begin", "end"))


if __name__ == "__main__":
    powers = []
    for cell in CELLS:
        powers.append(simulated(cell))
        print(*[*markdown(powers)][-1:], file=sys.stderr, flush=True)
    text = "\n".join(markdown(powers))
    print(text)
    if "--readme" in sys.argv:
        rewrite(README, text, BEGIN, END)
