"""The proportions that models compute from their examples, and the intervals and p-values from those."""

from __future__ import annotations

from dataclasses import replace
from fractions import Fraction

import numpy as np
import pytest
from hypothesis import assume, example, given
from hypothesis import strategies as st

from service.curves.decisions import Decision
from service.inference.intervals import normal_quantile
from service.inference.methods import closed_interval, closed_p_value
from service.inference.metric import Metric
from service.inference.models import Models
from service.inference.proportions import PairedShares
from service.inference.rates import Rate, paired_rate_ends
from tests import reference_score as reference
from tests.inference.shares import Parts, Z
from tests.reference_gate_intervals import trials_of
from tests.support.strategies import Data, examples, plain_weights, samples

THRESHOLD = 0.5


def class_of(data: Data, other: Data, *, positive: bool) -> Parts:
    """The proportions of a class called positive by both, by only one and by only the other; the effective size."""
    found, values = [Fraction(0)] * 4, []
    weights = [Fraction(weight) for weight in data.weights or [1.0] * len(data.scores)]
    for mine, its, label, weight in zip(data.scores, other.scores, data.labels, weights, strict=True):
        if label == positive:
            called = [
                score <= THRESHOLD if each.lower_is_positive else score >= THRESHOLD
                for each, score in ((data, mine), (other, its))
            ]
            found[2 * called[0] + called[1]] += weight
            values.append((weight, Fraction(called[0] if other is data else called[0] - called[1])))
    total, trials = sum(found), float(trials_of(values))
    return float(found[3] / total), float(found[2] / total), float(found[1] / total), trials


@st.composite
def pairs_of_data(draw: st.DrawFn) -> tuple[Data, Data]:
    score = st.sampled_from([0.1, 0.4, 0.5, 0.6, 0.9])
    data = draw(samples(score, draw(st.sampled_from([None, plain_weights]))))
    column = draw(st.lists(score, min_size=len(data.scores), max_size=len(data.scores)))
    assume(column != data.scores)
    assume(Models.of(data.sample()).are_enough)
    return data, replace(data, scores=column)


@examples(40)
@given(pairs_of_data())
def test_the_shares_of_an_evaluation_are_those_of_its_examples(both):
    data, _ = both
    model = Models.of(data.sample())
    (recall, _, _, of_positives), (fpr, _, _, of_negatives) = (
        class_of(data, data, positive=positive) for positive in (True, False)
    )
    for name, share, trials in (("recall", recall, of_positives), ("fpr", fpr, of_negatives)):
        interval = closed_interval(
            model, Metric(name, decision=Decision(at_threshold=THRESHOLD)), [share], 0.95, "score"
        )
        wanted = [reference.wilson_end(share, trials, z) for z in (-Z, Z)]
        assert (interval.lower, interval.upper) == pytest.approx(tuple(wanted), rel=0, abs=1e-9)
        assert (interval.method, interval.standard_error) == ("score", None)


HEAVY = Data([0.9, 0.9, 0.9, 0.1, 0.1, 0.9] * 2, [True] * 6 + [False] * 6, [5.0, 5.0, 1.0, 1.0, 1.0, 1.0] * 2)
"""The other of the pair calls one heavy example of each class otherwise, so that weight and difference go together."""


@examples(40)
@given(pairs_of_data())
@example((HEAVY, replace(HEAVY, scores=[0.1, 0.9, 0.9, 0.1, 0.1, 0.9] * 2)))
def test_the_paired_shares_of_two_evaluations_are_those_of_their_examples(both):
    pair = Models.of(*(each.sample() for each in both), paired=True)
    for name, positive in (("recall", True), ("fpr", False)):
        metric = Metric(name, decision=Decision(at_threshold=THRESHOLD))
        values = pair.values(metric)
        _, b, c, trials = class_of(*both, positive=positive)
        interval = closed_interval(pair, metric, values, 0.95, "score")
        wanted = [reference.tango_end(b, c, trials, z) for z in (-Z, Z)]
        assert (interval.lower, interval.upper) == pytest.approx(tuple(wanted), rel=0, abs=1e-9)
        got, exact = closed_p_value(pair, metric, values, "score"), float(reference.mcnemar_p_value(b, c, trials))
        assert got == pytest.approx(exact, rel=1e-9, abs=0)


def test_a_paired_precision_is_made_of_the_shares_of_both_classes():
    random = np.random.default_rng(5)
    labels = (random.random(60) < 0.4).tolist()
    weights = random.choice([0.5, 1.0, 2.0], 60).tolist()
    columns = [
        random.choice([0.2, 0.4, 0.5, 0.8], 60, p=p).tolist() for p in ([0.3, 0.3, 0.2, 0.2], [0.5, 0, 0.2, 0.3])
    ]
    one, other = (Data([x + 0.3 * y for x, y in zip(c, labels, strict=True)], labels, weights) for c in columns)
    pair, metric = (
        Models.of(one.sample(), other.sample(), paired=True),
        Metric("precision", decision=Decision(at_threshold=THRESHOLD)),
    )
    interval = closed_interval(pair, metric, pair.values(metric), 0.9, "score")
    classes = [class_of(one, other, positive=positive) for positive in (True, False)]
    sizes = tuple(
        float(sum(Fraction(weight) for weight, label in zip(weights, labels, strict=True) if label == positive))
        for positive in (True, False)
    )
    shares = tuple(PairedShares((both + b, both + c), b + c, count) for both, b, c, count in classes)
    difference = np.subtract(*pair.values(metric))
    wanted = paired_rate_ends(Rate("precision", None, *sizes), difference, shares, normal_quantile(0.9))
    assert (interval.lower, interval.upper) == pytest.approx(wanted, rel=0, abs=1e-9)
