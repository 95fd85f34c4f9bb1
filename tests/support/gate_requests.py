"""Rules and evaluations for the tests of gates: strategies, and bodies of requests."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import KW_ONLY, dataclass, replace
from typing import Any

from hypothesis import strategies as st

from service.inference.gate import Gate, evaluate_gate
from service.inference.intervals import IntervalOptions
from service.inference.methods import INTERVAL_METHODS
from service.inference.metric import Metric
from service.inference.rules import CHANGES, Rule
from service.inference.verdicts import Check, GateOptions
from tests import reference_gate_intervals
from tests.reference_gate import Evaluation, kinds_of_bounds, metrics
from tests.support.strategies import Data, Rows, evaluation_of, plain_weights, samples, sweeps, tied_scores

ANALYTIC = ("auto", "delong", "logit")
"""The methods that compute intervals of areas by formulas."""

FEW = 100
"""Enough resamples for an interval."""

places = st.sampled_from([0.0, 0.25, 0.5, 0.6, 1 / 3, 1.0])
thresholds = st.sampled_from([0.0, 0.25, 0.3, 0.5, 1.0, 2.0, -1.0])
few_scores = st.one_of(tied_scores, st.integers(0, 5).map(float))
bounds = st.one_of(st.sampled_from([0.0, 1.0, 0.5]), st.floats(0.0, 1.0))


@dataclass(frozen=True)
class Request:
    """A request for a gate."""

    current: Evaluation
    baseline: Evaluation | None
    rules: list[dict[str, Any]]
    _: KW_ONLY
    paired: bool = False
    intervals: IntervalOptions | None = None

    @property
    def options(self) -> IntervalOptions:
        return self.intervals or IntervalOptions()

    def gate(self) -> Gate:
        """The service's answer."""
        rules = tuple(Rule.read(rule) for rule in self.rules)
        baseline = None if self.baseline is None else evaluation_of(self.baseline)
        return evaluate_gate(
            evaluation_of(self.current), baseline, GateOptions(rules, paired=self.paired, intervals=self.intervals)
        )

    def checks(self) -> tuple[Check, ...]:
        return self.gate().checks


def metric_of(rule: dict[str, Any]) -> Metric:
    """The metric that a rule names."""
    return Rule.read(rule).of


def has_interval(rule: dict[str, Any]) -> bool:
    """Whether the metric of a rule has intervals at all."""
    return reference_gate_intervals.has_interval(rule)


@st.composite
def placed_metrics(draw: st.DrawFn) -> dict[str, Any]:
    """A metric at any place at which it may be read."""
    metric = dict(draw(st.sampled_from(metrics())))
    if "at" in metric:
        metric["at"] = draw(places)
    if "at_threshold" in metric:
        metric["at_threshold"] = draw(thresholds)
    for way in ("at_share", "at_fpr", "at_recall"):
        if way in metric:
            metric[way] = draw(places)
    return metric


@st.composite
def rules(draw: st.DrawFn, *, baseline: bool) -> dict[str, Any]:
    """Any rule."""
    rule = draw(placed_metrics())
    kind = draw(st.sampled_from(kinds_of_bounds(rule) if baseline else ["min", "max"]))
    rule[kind] = draw(bounds)
    if has_interval(rule) and draw(st.booleans()):
        rule["confidence"] = draw(st.sampled_from([0.5, 0.9, 0.95, 0.999]))
        if kind in CHANGES and draw(st.booleans()):
            rule["prove"] = CHANGES[kind]
        elif draw(st.booleans()):
            rule["inconclusive"] = draw(st.sampled_from(["fail", "pass", "undecided"]))
    return rule


@st.composite
def counts(draw: st.DrawFn) -> Rows:
    """Whole counts of one sweep, some with thresholds."""
    rows = draw(sweeps(total=9, most=5))
    order = sorted(range(len(rows.tp)), key=lambda i: (rows.tp[i], rows.fp[i]))
    rows = replace(rows, tp=[rows.tp[i] for i in order], fp=[rows.fp[i] for i in order])
    if not order or draw(st.booleans()):
        return rows
    steps = draw(st.lists(st.sampled_from([0.25, 0.5]), min_size=len(order), max_size=len(order)))
    return replace(rows, thresholds=[2 - sum(steps[: i + 1]) for i in range(len(order))])


small = samples(few_scores, most=12)
weighted = samples(few_scores, plain_weights, most=10)


@st.composite
def pairs(draw: st.DrawFn) -> tuple[Data, Data]:
    """Two samples of the same examples."""
    one = draw(st.one_of(small, weighted))
    size = len(one.scores)
    if draw(st.integers(0, 5)) == 0:
        return one, replace(one, lower_is_positive=draw(st.booleans()))
    column = draw(st.lists(few_scores, min_size=size, max_size=size))
    return one, replace(one, scores=column, lower_is_positive=draw(st.booleans()))


@st.composite
def requests(draw: st.DrawFn, methods: tuple[str, ...] = INTERVAL_METHODS, most: int = 3) -> Request:
    """Any request with small evaluations."""
    kind = draw(st.sampled_from(["alone", "paired", "unpaired"]))
    baseline: Evaluation | None = None
    if kind == "paired":
        current, baseline = draw(pairs())
    else:
        current = draw(st.one_of(small, weighted, counts()))
        if kind == "unpaired":
            baseline = draw(st.one_of(small, weighted, counts()))
    asked_for = draw(st.lists(rules(baseline=baseline is not None), min_size=1, max_size=most))
    method = draw(st.sampled_from(methods))
    intervals = IntervalOptions(level=draw(st.sampled_from([0.8, 0.95])), method=method, resamples=FEW)
    options = draw(st.sampled_from([*[intervals] * 5, None]))
    return Request(current, baseline, asked_for, paired=kind == "paired", intervals=options)


ONE = Data(
    [0.9, 0.8, 0.8, 0.7, 0.6, 0.55, 0.5, 0.5, 0.4, 0.35, 0.3, 0.3, 0.2, 0.1],
    [label == "+" for label in "++-++-+-+--+--"],
)
OTHER = replace(ONE, scores=[0.7, 0.9, 0.5, 0.8, 0.3, 0.6, 0.55, 0.4, 0.45, 0.5, 0.2, 0.6, 0.35, 0.1])

PERFECT = Data([4.0, 3.0, 2.5, 2.0, 1.0, 0.0], [True, True, True, False, False, False])
BASELINES: dict[str, tuple[Evaluation, bool]] = {
    "paired": (OTHER, True),
    "unpaired": (OTHER, False),
    "counts": (Rows([1, 3, 5, 7], [0, 2, 3, 6], 8, 9, [0.8, 0.6, 0.5, 0.1]), False),
}


def every_rule() -> Iterator[dict[str, Any]]:
    """Every metric with every kind of bound, each without confidence, with it, and with prove; all bounds are 0."""
    for metric in metrics():
        for kind in kinds_of_bounds(metric):
            yield metric | {kind: 0.0}
            if has_interval(metric):
                yield metric | {kind: 0.0, "confidence": 0.9}
        for kind in set(kinds_of_bounds(metric)) & CHANGES.keys() if has_interval(metric) else ():
            yield metric | {kind: 0.0, "confidence": 0.9, "prove": CHANGES[kind]}
