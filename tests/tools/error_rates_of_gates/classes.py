"""`python -m tests.tools.error_rates_of_gates.classes`: whether rules on averages of classes keep their level.

Three classes, of which a row's scores are normal, higher by a separation for its own class, and depend on each other
because their mean is taken off. The 95 % interval of an average is compared with its true value: contains it, is above
it, so that a rule passes at its bound by mistake, or below. Of paired differences, both models see rows with a common
part, and the new one has the lesser separation.
"""

import argparse
import sys
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from math import sqrt
from statistics import NormalDist

import numpy as np

from service.curves.class_scores import ClassScores
from service.curves.classes import AVERAGES, evaluate_classes
from service.curves.clusters import Clusters
from service.inference.class_gate import evaluate_class_gate
from service.inference.rules import ALL, Rule
from service.inference.verdicts import GateOptions
from tests.tools.bench.report import README, rewrite

LEVEL = 0.95
_LARGE = 100_000
_FEW = 3
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


@dataclass(frozen=True)
class GapOfClasses:
    """The gap of an area between classes of these sizes and separations; in `clusters` of so many rows, if given."""

    metric: str
    sizes: tuple[int, ...]
    separations: tuple[float, ...]
    clusters: int | None = None

    def draw(self, random: np.random.Generator, times: int = 1) -> ClassScores:
        """The scores of one model; rows of a cluster are of one class, and a third of their noise is common."""
        own = np.repeat(np.arange(len(self.sizes)), [times * size for size in self.sizes])
        shape = own.size, len(self.sizes)
        noise, numbered = random.standard_normal(shape), None
        if self.clusters is not None:
            numbers = np.arange(own.size) // self.clusters
            noise = sqrt(2 / 3) * noise + sqrt(1 / 3) * random.standard_normal((numbers[-1] + 1, shape[1]))[numbers]
            numbered = Clusters(numbers, [*map(str, range(numbers[-1] + 1))])
        noise[np.arange(own.size), own] += np.array(self.separations)[own]
        noise -= noise.mean(axis=1, keepdims=True)
        members = [own == number for number in range(shape[1])]
        return ClassScores(tuple("abcdefgh"[: shape[1]]), [*noise.T.copy()], members, clusters=numbered)

    @cached_property
    def truth(self) -> float:
        """Of the population: by a formula for `roc`, else by a large sample, and 0 if all classes are alike."""
        if len({*self.separations}) == 1 and (self.metric == "roc" or len({*self.sizes}) == 1):
            return 0.0
        if self.metric != "roc":
            found = getattr(evaluate_classes(self.draw(np.random.default_rng(10_007), 1000)).areas, self.metric)
            return float(found.max() - found.min())
        areas = [self.area(number) for number in range(len(self.sizes))]
        return max(areas) - min(areas)

    def area(self, number: int) -> float:
        """The true area of a class: Σ n_c/Σ n_c Φ((s (1 - 1/K) + s_c/K)/√(2 (1 - 1/K))) over the other classes c."""
        count, own = len(self.sizes), self.separations[number]
        rest = [(n, s) for c, (n, s) in enumerate(zip(self.sizes, self.separations, strict=True)) if c != number]
        spread = sqrt(2 * (1 - 1 / count))
        heights = [n * NormalDist().cdf((own * (1 - 1 / count) + s / count) / spread) for n, s in rest]
        return sum(heights) / sum(n for n, _ in rest)

    def verdicts(self, sets: int, seed: int) -> list[float]:
        """How often the interval contains the truth, is above it, and is below it."""
        rule = Rule(self.metric, classes=ALL, confidence=LEVEL, max_gap=self.truth)
        options, found = GateOptions((rule,)), np.zeros(3)
        for number in range(sets):
            (check,) = evaluate_class_gate(self.draw(np.random.default_rng([seed, number])), None, options).checks
            assert check.interval is not None
            lower, upper = check.interval.lower, check.interval.upper
            found += lower <= self.truth <= upper, lower > self.truth, upper < self.truth
        return (found / sets).tolist()

    def __str__(self) -> str:
        apart = f"equal, separation {self.separations[0]}" if self.truth == 0 else f"{self.truth:.3f} apart"
        sizes = (
            ", ".join(map(str, self.sizes))
            if len({*self.sizes}) > 1 or len(self.sizes) <= _FEW
            else f"{len(self.sizes)} of {self.sizes[0]}"
        )
        return f"gap of `{self.metric}`, {sizes}, {apart}" + (f", clusters of {self.clusters}" if self.clusters else "")


GAPS = [GapOfClasses("roc", sizes, (separation,) * len(sizes)) for sizes, separation in _CELLS]
GAPS += [GapOfClasses("roc", (30,) * 3, (2.2,) * 3)]
GAPS += [GapOfClasses("roc", sizes, (1.2,) * 5) for sizes in ((50,) * 5, (15, 30, 60, 100, 200))]
GAPS += [GapOfClasses("roc", sizes, (separation, separation, separation - 0.7)) for sizes, separation in _CELLS]
GAPS += [GapOfClasses("roc", (15, 60, 200), (0.8, 1.5, 1.5)), GapOfClasses("roc", (50,) * 5, (1.2,) * 4 + (0.5,))]
GAPS += [GapOfClasses("roc", (15, 30, 60, 100, 200), (1.2, 0.5, 1.2, 1.2, 1.2))]
GAPS += [GapOfClasses("average_precision", (50,) * 3, (1.2, 1.2, last)) for last in (1.2, 0.5)]
GAPS += [GapOfClasses("average_precision", (15, 60, 200), (1.5,) * 3)]
GAPS += [GapOfClasses("roc", (100,) * 3, (1.2, 1.2, last), clusters=5) for last in (1.2, 0.5)]


def markdown(sets: int, seed: int = 1, cases: Sequence[Average | GapOfClasses] | None = None) -> str:
    """A row for each case."""
    about = (
        "The 95 % interval of an average over three classes, or of a gap between classes, from "
        f"{sets:,} data sets: how often it contains the truth, is above it, and is below it; 2.5 are promised. A rule "
        "on an average passes at its bound by mistake if the interval is above, one on a gap if it is below. "
        f"Standard errors are {100 * sqrt(0.025 * 0.975 / sets):.1f}, of the first figure "
        f"{100 * sqrt(0.05 * 0.95 / sets):.1f}."
    )
    lines = [about, "", "| average or gap, rows of the classes | contains | above | below |", "|---|---:|---:|---:|"]
    for case in [*CASES, *GAPS] if cases is None else cases:
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
