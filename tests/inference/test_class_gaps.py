"""Laws of the interval of a gap between classes."""

from __future__ import annotations

from dataclasses import replace
from itertools import combinations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from service.curves.class_scores import ClassScores
from service.inference.class_gate import evaluate_class_gate
from service.inference.intervals import Interval
from service.inference.rules import ALL, Rule
from service.inference.verdicts import Check, GateOptions

NAMES = ("a", "b", "c", "d")


def drawn(seed: int, count: int = 4, decimals: int = 1) -> ClassScores:
    """Scores of 15 to 40 rows of each class, of which some classes are told apart better."""
    random = np.random.default_rng(seed)
    own = np.repeat(np.arange(count), random.integers(15, 40, count))
    scores = random.standard_normal((own.size, count)) + random.standard_normal((own.size, 1))
    scores[np.arange(own.size), own] += random.uniform(0, 3, count)[own]
    members = [own == number for number in range(count)]
    return ClassScores(NAMES[:count], [*scores.T.round(decimals).copy()], members)


def checked(of: ClassScores, classes: str | tuple[str, ...] = ALL, metric: str = "roc") -> Check:
    rule = Rule(metric, max_gap=0.1, confidence=0.95, classes=classes)
    return evaluate_class_gate(of, None, GateOptions((rule,))).checks[0]


def interval(of: ClassScores, classes: str | tuple[str, ...] = ALL, metric: str = "roc") -> Interval:
    found = checked(of, classes, metric).interval
    assert found is not None
    return found


seeds = st.integers(0, 2**32 - 1)
metrics = st.sampled_from(["roc", "pr", "average_precision", "gini"])


@given(seeds, metrics, st.permutations(range(4)))
def test_the_order_of_classes_does_not_matter(seed: int, metric: str, order: list[int]) -> None:
    of = drawn(seed)
    turned = ClassScores(
        tuple(of.names[place] for place in order),
        [of.scores[place] for place in order],
        [of.members[place] for place in order],
    )
    ours, theirs = interval(of, metric=metric), interval(turned, metric=metric)
    assert (ours.lower, ours.upper) == pytest.approx((theirs.lower, theirs.upper), rel=1e-9, abs=1e-12)


@given(seeds, metrics)
def test_the_upper_end_is_the_greatest_of_all_pairs_and_the_lower_end_is_at_most_theirs(seed: int, metric: str) -> None:
    """Pairs are gates over two classes: their lower ends need less adjustment."""
    of = drawn(seed)
    whole, value = interval(of, metric=metric), checked(of, metric=metric).value
    pairs = [interval(of, pair, metric) for pair in combinations(NAMES, 2)]
    assert value is not None
    assert 0 <= whole.lower <= value <= whole.upper
    assert whole.upper == pytest.approx(max(each.upper for each in pairs), rel=1e-12)
    assert whole.lower <= max(each.lower for each in pairs)


@given(seeds, st.floats(0.5, 8))
def test_equal_weights_change_nothing(seed: int, weight: float) -> None:
    of = drawn(seed)
    ours, theirs = interval(of), interval(replace(of, weights=np.full(of.rows, weight)))
    assert (ours.lower, ours.upper) == pytest.approx((theirs.lower, theirs.upper), rel=1e-9, abs=1e-12)


@given(seeds)
def test_two_classes_whose_scores_add_up_to_1_are_hardly_apart(seed: int) -> None:
    """Their areas are the same number, so the interval ends near 0; of independent classes it would end far above."""
    of = drawn(seed, 2)
    opposite = replace(of, scores=[of.scores[0], 1 - of.scores[0]])
    found = interval(opposite)
    alone = checked(opposite).slices
    assert alone is not None
    (width, *_) = (high - low for low, high in zip(alone["lower"], alone["upper"], strict=True))
    assert found.lower == 0
    assert found.upper < width / 2


@pytest.mark.parametrize("metric", ["roc", "average_precision"])
def test_constant_scores_are_not_apart(metric: str) -> None:
    of = drawn(3)
    even = ClassScores(of.names, [np.zeros(80)] * 4, [np.arange(80) % 4 == number for number in range(4)])
    found = interval(even, metric=metric)
    assert (found.lower, found.upper) == (0.0, 0.0)
