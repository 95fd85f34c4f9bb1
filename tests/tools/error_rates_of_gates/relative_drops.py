"""`python -m tests.tools.error_rates_of_gates.relative_drops`: whether rules on relative drops keep their level.

The current model's metric is exactly 1 - r times the baseline's. For each pair of data sets, the 95 % interval of
a - (1 - r) b is compared with its true value, 0: contains it, is above it (then the rule passes by mistake), or below.
"""

import argparse
import sys
from dataclasses import dataclass, replace
from math import sqrt

import numpy as np
from scipy.optimize import brentq

from service.curves.decisions import Decision
from service.inference.gate import evaluate_gate
from service.inference.rules import Rule
from service.inference.verdicts import GateOptions
from tests.tools.bench.report import README, rewrite
from tests.tools.error_rates_of_gates.simulation import Case

LEVEL = 0.95
BEGIN, END = (f"<!-- tests.tools.error_rates_of_gates.relative_drops: {word} -->" for word in ("begin", "end"))


@dataclass(frozen=True)
class RelativeDrop:
    """Two models; the current one's metric is the baseline's less this share of it."""

    metric: str
    positives: int
    negatives: int
    area: float
    share: float
    at_threshold: float | None = None
    paired: bool = True

    def case(self) -> Case:
        """The models: the current one's area is less by a drop that makes the metric less by the share."""
        same = Case(
            self.positives,
            self.negatives,
            self.area,
            0.0,
            correlation=0.7,
            paired=self.paired,
            metric=self.metric,
            at_threshold=self.at_threshold,
        )
        wanted = (1 - self.share) * same.truth(self.area)
        area = brentq(lambda each: same.truth(each) - wanted, 0.5, self.area, xtol=1e-10)
        return replace(same, drop=self.area - area)

    def verdicts(self, sets: int, seed: int) -> list[float]:
        """How often the interval contains the truth, is above it, and is below it."""
        case, found = self.case(), np.zeros(3)
        decision = None if self.at_threshold is None else Decision(at_threshold=self.at_threshold)
        rule = Rule(self.metric, decision=decision, max_relative_drop=self.share, confidence=LEVEL)
        options = GateOptions((rule,), self.paired)
        for number in range(sets):
            (check,) = evaluate_gate(*case.samples(np.random.default_rng([seed, number])), options).checks
            assert check.interval is not None
            lower, upper = check.interval.lower, check.interval.upper
            found += lower <= 0 <= upper, lower > 0, upper < 0
        return (found / sets).tolist()

    def __str__(self) -> str:
        at = "" if self.at_threshold is None else f" at threshold {self.at_threshold:g}"
        how = "paired" if self.paired else "not paired"
        sizes = f"{self.positives} / {self.negatives}"
        return f"`{self.metric}`{at}, {sizes}, area {self.area:g}, {100 * self.share:g} % less, {how}"


_SIZES = ((50, 200, 0.9, 0.05), (15, 85, 0.85, 0.1), (100, 1000, 0.97, 0.01))
CASES = [RelativeDrop(metric, *size) for size in _SIZES for metric in ("roc", "average_precision")]
CASES += [RelativeDrop("roc", *_SIZES[0], paired=False), RelativeDrop("average_precision", *_SIZES[0], paired=False)]
CASES += [
    RelativeDrop(metric, *size, threshold, paired)
    for metric, threshold in (("recall", 1.0), ("precision", 1.0))
    for size in ((50, 200, 0.9, 0.05), (20, 100, 0.95, 0.1))
    for paired in (True, False)
]


def markdown(sets: int, seed: int = 1, cases: list[RelativeDrop] | None = None) -> str:
    """A row for each case."""
    about = (
        f"The 95 % interval of a - (1 - r) b where that is 0 in truth, from {sets:,} pairs of data sets: how often it "
        "contains 0, how often it is above, so that the rule passes by mistake, and how often it is below; 2.5 are "
        f"promised. Standard errors are {100 * sqrt(0.025 * 0.975 / sets):.1f}, of the first figure "
        f"{100 * sqrt(0.05 * 0.95 / sets):.1f}."
    )
    lines = [about, "", "| metric, P / N, models | contains | above | below |", "|---|---:|---:|---:|"]
    for case in CASES if cases is None else cases:
        print(case, file=sys.stderr, flush=True)
        lines.append(f"| {case} | {' | '.join(f'{100 * each:.1f}' for each in case.verdicts(sets, seed))} |")
        print(lines[-1], file=sys.stderr, flush=True)
    return "\n".join(lines)


def main() -> int:
    """Simulate and report."""
    program = "python -m tests.tools.error_rates_of_gates.relative_drops"
    parser = argparse.ArgumentParser(prog=program, description=__doc__)
    parser.add_argument("--sets", type=int, default=2000, help="pairs of data sets (2000)")
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
