"""`python -m tests.tools.error_rates_of_gates.slices`: whether gates over slices keep their level.

One slice   how often its upper end, adjusted for K slices, is below the truth; the chance that this happens in any of K
            independent slices follows. For recall it is summed over all numbers of hits.
Worst       data sets of K slices of which some are worse: how often the interval of the worst contains the least true
            area, passes a bound that this area just misses, and proves that it misses a bound that it just meets.
Gaps        likewise the interval of the greatest true area less the least.
"""

import argparse
import sys
from collections.abc import Callable
from dataclasses import dataclass

import numpy as np
from scipy.stats import binom

from service.curves.sample import Sample
from service.inference.adjusted import adjusted_interval
from service.inference.exact_proportions import exact_ends
from service.inference.gate import evaluate_gate
from service.inference.intervals import normal_quantile
from service.inference.metric import Metric
from service.inference.models import EvaluatedModel, Models
from service.inference.proportions import Share
from service.inference.rules import Rule
from service.inference.sliced import RowsInSlices, Slicing
from service.inference.verdicts import GateOptions
from tests.tools.bench.report import README, rewrite
from tests.tools.coverage_of_intervals.populations import Population

LEVEL = 0.95
COUNTS = (1, 5, 50, 500)
BEGIN, END = (f"<!-- tests.tools.error_rates_of_gates.slices: {word} -->" for word in ("begin", "end"))


@dataclass(frozen=True)
class OneSlice:
    """A slice of P positives and N negatives, whose area under the ROC curve is known."""

    metric: str
    positives: int
    negatives: int
    area: float

    def alarms(self, sets: int, seed: int) -> list[float]:
        """The chance of a false alarm among K such slices, for each K of COUNTS."""
        population, metric = Population(self.positives, self.negatives, self.area), Metric(self.metric)
        truth = self.area if self.metric == "roc" else population.pr
        found = np.zeros(len(COUNTS))
        for number in range(sets):
            sample = population.sample(np.random.default_rng([seed, number]))
            models = Models((EvaluatedModel.of(sample),))
            values = models.values(metric)
            assert values is not None
            for place, count in enumerate(COUNTS):
                interval = adjusted_interval(models, metric, values, 1 - (1 - LEVEL) / count, "logit")
                found[place] += interval is not None and interval.upper < truth
        return _in_any(found / sets)

    def __str__(self) -> str:
        return f"`{self.metric}`, area {self.area:g}, {self.positives} / {self.negatives}"


@dataclass(frozen=True)
class OneShare:
    """The recall of a slice of so many positives."""

    positives: int
    recall: float

    def alarms(self, _sets: int, _seed: int) -> list[float]:
        """The chance of a false alarm among K such slices, for each K of COUNTS, exactly."""
        hits, found = np.arange(self.positives + 1), []
        for count in COUNTS:
            z = np.array([normal_quantile(1 - (1 - LEVEL) / count)])
            ends = np.array([exact_ends(Share(each / self.positives, self.positives), z)[0] for each in hits.tolist()])
            found.append(float(binom.pmf(hits[ends < self.recall], self.positives, self.recall).sum()))
        return _in_any(np.array(found))

    def __str__(self) -> str:
        return f"recall {self.recall:g}, {self.positives} positives"


def _in_any(alone: np.ndarray) -> list[float]:
    return [float(1 - (1 - share) ** count) for share, count in zip(alone, COUNTS, strict=True)]


@dataclass(frozen=True)
class ManySlices:
    """K slices of P positives and N negatives of this area, of which some are worse by the difference."""

    count: int
    positives: int
    negatives: int
    area: float
    worse: int = 0
    difference: float = 0.08

    @property
    def least(self) -> float:
        """The least true area."""
        return self.area - self.difference * (self.worse > 0)

    def verdicts(self, rule: Callable[[float], dict[str, float]], sets: int, seed: int) -> list[float]:
        """How often the interval contains the truth, meets a bound at it, and is beyond it."""
        truth = self.least if "min" in rule(0) else self.area - self.least
        size = self.positives + self.negatives
        slicing = Slicing(np.repeat(np.arange(self.count), size), {"slice": list(range(self.count))})
        asked = Rule("roc", confidence=LEVEL, slices=("slice",), **rule(truth))
        options = GateOptions((asked,), slicings={("slice",): RowsInSlices(slicing)})
        found = np.zeros(3)
        for number in range(sets):
            (check,) = evaluate_gate(self._sample(np.random.default_rng([seed, number])), None, options).checks
            interval = check.interval
            assert interval is not None
            misses = interval.upper < truth if asked.min is not None else interval.lower > truth
            found += interval.lower <= truth <= interval.upper, check.status == "passed", misses
        return (found / sets).tolist()

    def _sample(self, random: np.random.Generator) -> Sample:
        areas = [self.area - self.difference * (number < self.worse) for number in range(self.count)]
        parts = [Population(self.positives, self.negatives, area).sample(random) for area in areas]
        return Sample(*(np.concatenate([getattr(part, name) for part in parts]) for name in ("scores", "labels")))

    def __str__(self) -> str:
        kind = f"{self.worse} worse by {self.difference:g}" if self.worse else "equal"
        return f"{self.count} of {self.positives} + {self.negatives}, {kind}"


ALONE = [
    OneSlice("roc", 50, 50, 0.9),
    OneSlice("roc", 50, 50, 0.97),
    OneSlice("roc", 15, 85, 0.9),
    OneSlice("average_precision", 50, 450, 0.8),
    OneShare(50, 0.95),
    OneShare(50, 0.99),
    OneShare(500, 0.95),
]
WORST = [ManySlices(5, 50, 50, 0.85), ManySlices(5, 50, 50, 0.85, 1), ManySlices(50, 50, 50, 0.85)]
WORST += [ManySlices(50, 50, 50, 0.85, 25)]
GAPS = [ManySlices(2, 50, 50, 0.85), ManySlices(5, 50, 50, 0.85), ManySlices(2, 500, 500, 0.85)]
GAPS += [ManySlices(2, 500, 500, 0.85, 1), ManySlices(5, 500, 500, 0.85, 1)]


def markdown(alone: int, sets: int, seed: int = 1) -> str:
    """Both tables, from so many data sets for one slice and for many."""
    alarms = (
        "False alarms, a slice proven to be below a bound that it just meets, among K slices with 95 % confidence: "
        f"percent, of 2.5 promised, from {alone:,} data sets of one slice; of recall, exactly."
    )
    lines = [
        alarms,
        "",
        f"| one slice | {' | '.join(f'K = {count}' for count in COUNTS)} |",
        f"|---|{'---:|' * len(COUNTS)}",
    ]
    for one in ALONE:
        print(one, file=sys.stderr, flush=True)
        lines.append(f"| {one} | {' | '.join(_percent(each) for each in one.alarms(alone, seed))} |")
    verdicts = (
        f"The 95 % interval of the worst slice's area, and of the gap between slices, from {sets:,} data sets: how "
        "often it contains the truth, and how often a rule passes at its bound and is proven to miss it there; 2.5 "
        "promised."
    )
    lines += [
        "",
        verdicts,
        "",
        "| slices, area 0.85 | contains the truth | passes at the bound | proven beyond it |",
        "|---|---:|---:|---:|",
    ]
    rules: list[tuple[str, list[ManySlices], Callable[[float], dict[str, float]]]] = [
        ("worst", WORST, lambda truth: {"min": truth}),
        ("gap", GAPS, lambda truth: {"max_gap": truth}),
    ]
    for what, cells, rule in rules:
        for many in cells:
            print(what, many, file=sys.stderr, flush=True)
            few = sets if many.count < 50 else max(sets // 5, 1)
            texts = [_percent(each) for each in many.verdicts(rule, few, seed)]
            lines.append(f"| {what}: {many}{f' ({few} sets)' * (few < sets)} | {' | '.join(texts)} |")
    return "\n".join(lines)


def _percent(share: float) -> str:
    return f"{100 * share:.1f}"


def main() -> int:
    """Simulate and report."""
    parser = argparse.ArgumentParser(prog="python -m tests.tools.error_rates_of_gates.slices", description=__doc__)
    parser.add_argument("--alone", type=int, default=400_000, help="data sets of one slice (400000)")
    parser.add_argument("--sets", type=int, default=2000, help="data sets of many slices (2000)")
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--readme", action="store_true", help="put the tables into tests/README.md")
    asked = parser.parse_args()
    found = markdown(asked.alone, asked.sets, asked.seed)
    print(found)
    if asked.readme:
        rewrite(README, found, BEGIN, END)
    return 0


if __name__ == "__main__":
    sys.exit(main())
