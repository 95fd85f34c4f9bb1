"""`python -m tests.tools.error_rates_of_gates.classes`: whether rules on averages of classes keep their level.

Three classes, of which a row's scores are normal, higher by a separation for its own class, and depend on each other
because their mean is taken off. The 95 % interval of an average is compared with its true value: contains it, is above
it, so that a rule passes at its bound by mistake, or below. Of paired differences, both models see rows with a common
part, and the new one has the lesser separation.
"""

import argparse
import sys
from dataclasses import dataclass
from functools import cached_property
from math import sqrt

import numpy as np

from service.curves.class_scores import ClassScores
from service.curves.classes import AVERAGES, evaluate_classes
from service.inference.class_gate import evaluate_class_gate
from service.inference.rules import Rule
from service.inference.verdicts import GateOptions
from tests.tools.bench.report import README, rewrite

LEVEL = 0.95
_LARGE = 100_000
BEGIN, END = (f"<!-- tests.tools.error_rates_of_gates.classes: {word} -->" for word in ("begin", "end"))


@dataclass(frozen=True)
class Average:
    """An average of an area over classes of these sizes; with `worse`, its difference from a model that is better."""

    metric: str
    average: str
    sizes: tuple[int, ...]
    separation: float
    worse: float | None = None

    def draw(self, random: np.random.Generator, times: int = 1) -> list[ClassScores]:
        """The new model's scores and, for a difference, the old one's."""
        own = np.repeat(np.arange(len(self.sizes)), [times * size for size in self.sizes])
        shape = own.size, len(self.sizes)
        common = random.standard_normal(shape)
        members = [own == number for number in range(len(self.sizes))]
        found = []
        for separation in (self.separation - (self.worse or 0.0), self.separation)[: 1 if self.worse is None else 2]:
            noise = sqrt(0.7) * common + sqrt(0.3) * random.standard_normal(shape)
            noise[np.arange(own.size), own] += separation
            noise -= noise.mean(axis=1, keepdims=True)
            found.append(ClassScores(tuple("abcdefgh"[: shape[1]]), [*noise.T.copy()], members))
        return found

    @cached_property
    def truth(self) -> float:
        """Of the population, by a large sample with the same shares of classes."""
        times = max(_LARGE * len(self.sizes) // sum(self.sizes), 1)
        place = AVERAGES.index(self.average)
        drawn = self.draw(np.random.default_rng(10_007), times)
        values = [getattr(evaluate_classes(each).averages, self.metric)[place] for each in drawn]
        return float(values[0] - sum(values[1:]))

    def verdicts(self, sets: int, seed: int) -> list[float]:
        """How often the interval contains the truth, is above it, and is below it."""
        bound = {"min": self.truth} if self.worse is None else {"max_drop": -self.truth}
        rule = Rule(self.metric, average=self.average, confidence=LEVEL, **bound)
        options, found = GateOptions((rule,), paired=self.worse is not None), np.zeros(3)
        for number in range(sets):
            current, *baseline = self.draw(np.random.default_rng([seed, number]))
            (check,) = evaluate_class_gate(current, baseline[0] if baseline else None, options).checks
            assert check.interval is not None
            lower, upper = check.interval.lower, check.interval.upper
            found += lower <= self.truth <= upper, lower > self.truth, upper < self.truth
        return (found / sets).tolist()

    def __str__(self) -> str:
        what = f"{self.average} `{self.metric}`"
        return f"{what}, {', '.join(map(str, self.sizes))}" + (", paired difference" if self.worse is not None else "")


_CELLS = (((30, 30, 30), 1.2), ((15, 60, 200), 1.5), ((100, 100, 300), 2.2))
CASES = [Average("roc", "macro", *cell) for cell in _CELLS]
CASES += [Average("roc", average, *cell) for average in ("weighted", "micro") for cell in _CELLS[:2]]
CASES += [Average("average_precision", average, *_CELLS[0]) for average in ("macro", "micro")]
CASES += [Average("roc", "macro", *cell, 0.2) for cell in _CELLS[:2]]
CASES += [Average("roc", "micro", *_CELLS[0], 0.2), Average("average_precision", "macro", *_CELLS[0], 0.2)]


def markdown(sets: int, seed: int = 1, cases: list[Average] | None = None) -> str:
    """A row for each case."""
    about = (
        f"The 95 % interval of an average over three classes, from {sets:,} data sets: how often it contains the "
        "truth, is above it, so that a rule passes at its bound by mistake, and is below it; 2.5 are promised. "
        f"Standard errors are {100 * sqrt(0.025 * 0.975 / sets):.1f}, of the first figure "
        f"{100 * sqrt(0.05 * 0.95 / sets):.1f}."
    )
    lines = [about, "", "| average, rows of the classes | contains | above | below |", "|---|---:|---:|---:|"]
    for case in CASES if cases is None else cases:
        lines.append(f"| {case} | {' | '.join(f'{100 * each:.1f}' for each in case.verdicts(sets, seed))} |")
        print(lines[-1], file=sys.stderr, flush=True)
    return "\n".join(lines)


def main() -> int:
    """Simulate and report."""
    parser = argparse.ArgumentParser(prog="python -m tests.tools.error_rates_of_gates.classes", description=__doc__)
    parser.add_argument("--sets", type=int, default=2000, help="data sets (2000)")
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--readme", action="store_true", help="put the table into tests/README.md")
    asked = parser.parse_args()
    found = markdown(asked.sets, asked.seed)
    print(found)
    if asked.readme:
        rewrite(README, found, BEGIN, END)
    return 0


if __name__ == "__main__":
    sys.exit(main())
