"""Pairs of models whose metrics are all known, the verdicts on each pair, and how often they passed.

Scores are normal with variance 1 in both classes, so that the area is Φ(shift/√2). The two models see the same
examples: a common effect of each example moves both scores, which gives them the required correlation.
"""

from collections.abc import Callable, Iterator
from dataclasses import dataclass, replace
from functools import cached_property
from math import log, sqrt
from typing import Any

import numpy as np
from scipy.integrate import quad
from scipy.special import expit, log_expit
from scipy.stats import norm

from service.curves.decisions import Decision
from service.curves.sample import Sample
from service.inference.gate import evaluate_gate
from service.inference.intervals import IntervalOptions
from service.inference.rules import CHANGES, Rule
from service.inference.verdicts import Check, GateOptions
from tests.tools.coverage_of_intervals.populations import Population

LEVEL = 0.9
LOSSES: dict[str, Callable[[float], float]] = {
    "brier": lambda log_odds: expit(-log_odds) ** 2,
    "log_loss": lambda log_odds: -log_expit(log_odds),
}
"""{metric: the loss of an example to which a model gives these log odds}"""

TAIL = (1 - LEVEL) / 2
"""The probability that an end of such an interval is beyond the truth."""


@dataclass(frozen=True)
class Case:
    """Two models evaluated on P positives and N negatives, the same ones if `paired`."""

    positives: int
    negatives: int
    area: float
    drop: float
    correlation: float = 0.6
    paired: bool = True
    metric: str = "roc"
    at: float | None = None
    at_threshold: float | None = None
    method: str = "auto"
    resamples: int = 500

    def truth(self, area: float) -> float:
        """The metric of a model of this area."""
        population = Population(self.positives, self.negatives, area)
        if self.metric in LOSSES:
            return self._mean_loss(population)
        threshold = self.at_threshold or 0.0
        recall, fpr = norm.sf(threshold - population.shift), norm.sf(threshold)
        if self.metric in {"roc", "pr", "average_precision"}:
            return area if self.metric == "roc" else population.pr
        if self.metric == "tpr_at_fpr":
            return float(norm.sf(norm.isf(self.at) - population.shift))
        if self.metric == "precision_at_recall":
            recall, fpr = self.at, norm.sf(norm.isf(self.at) + population.shift)
        precision = population.precision(recall, fpr)
        if self.metric == "f_measure":
            return float(1 / (self.at / recall + (1 - self.at) / precision))
        return float(recall) if self.metric == "recall" else precision

    def _mean_loss(self, population: Population) -> float:
        """Over both classes, of a model whose probabilities are right."""
        mean = 0.0
        for sign, shift, share in ((1, population.shift, population.prevalence), (-1, 0, 1 - population.prevalence)):

            def at(x: float, sign: int = sign, shift: float = shift) -> float:
                return float(norm.pdf(x) * LOSSES[self.metric](sign * self.log_odds(x + shift, population)))

            mean += share * quad(at, -9, 9, limit=500, epsabs=1e-10)[0]
        return mean

    def log_odds(self, scores: Any, population: Population) -> Any:
        """What a score says: the logarithm of the ratio of both densities, times the classes' numbers."""
        shift = population.shift
        return shift * scores - shift**2 / 2 + log(self.positives / self.negatives)

    @cached_property
    def bound(self) -> float:
        """By how much the current model is worse than the baseline."""
        return abs(self.truth(self.area) - self.truth(self.area - self.drop))

    def samples(self, random: np.random.Generator) -> tuple[Sample, Sample]:
        """The current model's, which is worse by the drop, and the baseline's."""
        labels = np.arange(self.positives + self.negatives) < self.positives
        areas = (self.area - self.drop, self.area)
        shared = random.standard_normal(labels.size)
        found = []
        for area in areas:
            if not self.paired:
                shared = random.standard_normal(labels.size)
            own = random.standard_normal(labels.size)
            noise = sqrt(self.correlation) * shared + sqrt(1 - self.correlation) * own
            population = Population(self.positives, self.negatives, area)
            scores = noise + population.shift * labels
            found.append(Sample(expit(self.log_odds(scores, population)) if self.metric in LOSSES else scores, labels))
        return found[0], found[1]

    @cached_property
    def rules(self) -> tuple[Rule, ...]:
        """Bounds that are exactly met: by the drop, to be shown to hold and to be shown not to, and by the value.

        Between them one that the drop is within.
        """
        decision = None if self.at_threshold is None else Decision(at_threshold=self.at_threshold)
        kind, least = ("max_rise", "max") if self.metric in LOSSES else ("max_drop", "min")
        at = Rule(self.metric, self.at, decision, confidence=LEVEL, **{kind: self.bound})
        value = replace(at, **{kind: None, least: self.truth(self.area - self.drop)})
        return at, replace(at, prove=CHANGES[kind]), replace(at, **{kind: self.bound + 0.05}), value

    def checks(self, sets: int, seed: int) -> Iterator[tuple[Check, ...]]:
        """The checks of this many data sets."""
        intervals = IntervalOptions(method=self.method, resamples=self.resamples)
        for number in range(sets):
            random = np.random.default_rng([seed, number])
            options = GateOptions(self.rules, self.paired, replace(intervals, seed=number))
            yield evaluate_gate(*self.samples(random), options).checks


@dataclass(frozen=True)
class Rates:
    """Of this many data sets, the shares of passed checks.

    at_bound     a drop exactly as large as allowed passes: at most TAIL.
    proven       such a drop fails if the drop has to be proven: TAIL again.
    within       a drop that is 0.05 within the bound passes, and how often it should, by the standard errors found.
    least        a value that is exactly the lowest allowed passes: TAIL.
    """

    case: Case
    sets: int
    at_bound: float
    proven: float
    within: float
    expected_within: float | None
    least: float

    @property
    def error(self) -> float:
        """The standard error of a share that is TAIL."""
        return sqrt(TAIL * (1 - TAIL) / self.sets)


def simulated(case: Case, sets: int, seed: int) -> Rates:
    """Simulate data sets; the same for a seed."""
    passed = np.zeros(4)
    expected = []
    quantile = norm.isf(TAIL)
    for checks in case.checks(sets, seed):
        passed += [check.status == "passed" for check in checks]
        error = checks[0].interval.standard_error if checks[0].interval else None
        if error:
            expected.append(norm.cdf(0.05 / error - quantile))
    at_bound, unproven, within, least = (passed / sets).tolist()
    by_errors = float(np.mean(expected)) if expected else None
    return Rates(case, sets, at_bound, 1 - unproven, within, by_errors, least)
