"""Classes: every area equals that of a single call, bit for bit; averages are exact; no order matters."""

from __future__ import annotations

import math
from fractions import Fraction
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from sklearn.metrics import average_precision_score, roc_auc_score

from service.curves import classes as module
from service.curves.area_columns import SHARED_AREAS
from service.curves.areas import areas
from service.curves.classes import AVERAGED_AREAS, ClassScores, evaluate_classes
from service.curves.confusion import ConfusionTable
from service.curves.hull import RocHull
from service.curves.sample import Sample
from tests import reference_classes
from tests.support.strategies import examples

NAMES = ("cat", "dog", "owl", "eel")
UNIT = 2.0**-52


@st.composite
def given_classes(draw: st.DrawFn) -> ClassScores:
    """A few rows of two to four classes, with ties; some classes have no rows, some rows have no weight."""
    names = NAMES[: draw(st.integers(2, 4))]
    rows = draw(st.integers(1, 10))
    column = st.lists(st.sampled_from([-1.5, 0.0, 0.25, 0.5, 3.0]), min_size=rows, max_size=rows)
    scores = [np.array(draw(column)) for _ in names]
    exclusive = draw(st.booleans())
    if exclusive:
        labels = np.array(draw(st.lists(st.sampled_from(range(len(names))), min_size=rows, max_size=rows)))
        members = [labels == place for place in range(len(names))]
    else:
        members = [np.array(draw(st.lists(st.booleans(), min_size=rows, max_size=rows))) for _ in names]
    weighing = st.lists(st.sampled_from([0.0, 0.1, 1.0, 2.5]), min_size=rows, max_size=rows)
    weights = draw(st.none() | weighing.map(np.array))
    return ClassScores(names, scores, members, weights, draw(st.booleans()), exclusive)


def single(found: ClassScores, place: int) -> dict[str, float | None]:
    """The areas of one class, from a call for it alone."""
    weights = np.ones(found.rows) if found.weights is None else found.weights
    if {bool(member) for member in found.members[place][weights > 0]} != {True, False}:
        return dict.fromkeys(SHARED_AREAS)
    sample = Sample(found.scores[place], found.members[place], found.weights, found.lower_is_positive)
    table = ConfusionTable.from_sample(sample)
    alone = areas(table, table.select(RocHull.of(table).vertices))
    return {name: getattr(alone, name) for name in SHARED_AREAS}


def columns(answer: module.Classes) -> dict[str, Any]:
    """The numbers of an answer by their names, to be compared bit for bit; None instead of NaN."""

    def plain(values: Any) -> list[float | None]:
        return [None if math.isnan(value) else float(value) for value in values]

    found: dict[str, Any] = {}
    for name in SHARED_AREAS:
        found |= dict(zip(((name, each) for each in answer.names), plain(getattr(answer.areas, name)), strict=True))
    for name in AVERAGED_AREAS:
        found[name] = plain(getattr(answer.averages, name))
    if answer.pairs is not None:
        sides = ([answer.names[place] for place in side] for side in (answer.pairs.number, answer.pairs.against))
        found |= dict(zip(zip(*sides, strict=True), plain(answer.pairs.roc), strict=True))
        found["hand_till"] = plain([answer.hand_till])
    return found


@given(given_classes())
@examples(150)
def test_every_class_is_what_a_single_call_says(found: ClassScores) -> None:
    answer = columns(evaluate_classes(found))
    for place, name in enumerate(found.names):
        assert {area: answer[area, name] for area in SHARED_AREAS} == single(found, place)


@given(given_classes())
@examples(150)
def test_averages_and_pairs_are_those_of_the_definitions(found: ClassScores) -> None:
    sign = -1 if found.lower_is_positive else 1
    scores = {name: (sign * column).tolist() for name, column in zip(found.names, found.scores, strict=True)}
    members = {name: column.tolist() for name, column in zip(found.names, found.members, strict=True)}
    weights = [1.0] * found.rows if found.weights is None else found.weights.tolist()
    each = [reference_classes.area(scores[name], members[name], weights) for name in found.names]
    positives = [
        sum((Fraction(weight) for weight, is_in in zip(weights, members[name], strict=True) if is_in), Fraction(0))
        for name in found.names
    ]
    expected = [
        reference_classes.mean(each, [Fraction(1)] * len(each)),
        reference_classes.mean(each, positives),
        reference_classes.micro(scores, members, weights),
    ]
    answer = evaluate_classes(found)
    units = 2 if found.weights is None else 6  # an area of weights is within 4 units
    # Sums of weights such as 0.1 are rounded to a unit of the totals, which may be many units of a small area.
    least = 0.0 if found.weights is None or (found.weights % 0.5 == 0).all() else 1.0
    check(answer.averages.roc.tolist(), expected, units, least)
    if answer.pairs is None:
        assert not found.exclusive
        return
    labels = [next(name for name in found.names if members[name][row]) for row in range(found.rows)]
    pairs = [
        (found.names[of], found.names[other])
        for of, other in zip(answer.pairs.number, answer.pairs.against, strict=True)
    ]
    check(
        [*answer.pairs.roc.tolist(), answer.hand_till],
        [
            *(reference_classes.against(scores, labels, weights, *pair) for pair in pairs),
            reference_classes.hand_till(scores, labels, weights),
        ],
        units,
        least,
    )


def check(actual: list[Any], expected: list[Fraction | None], units: int, least: float) -> None:
    """Whether numbers are at most this many units of the exact value, or of `least` if that is more; NaN for None."""
    for value, exact in zip(actual, expected, strict=True):
        assert math.isnan(value) == (exact is None)
        if exact is not None:
            assert abs(Fraction(value) - exact) <= units * Fraction(UNIT) * max(exact, Fraction(least))


def test_a_weighted_average_is_rounded_once() -> None:
    # With each product, each sum and the quotient rounded, the average of pr would be 2.004 units off.
    scores = [
        np.array([0.5397324012014094, 0.08666943383553705, 0.06146603504469328, 0.8517218156508959, 0.15897, 0.44554]),
        np.array([0.62, 0.65, 0.64, 0.94, 0.47, 0.16]),
    ]
    second = np.array([True, False, False, False, True, True])
    weights = np.array([3.7, 1, 1, 1, 2, 0.5])
    answer = evaluate_classes(ClassScores(("a", "b"), scores, [~second, second], weights, exclusive=True))
    positives = list(map(Fraction, answer.areas.positives))
    for name in AVERAGED_AREAS:
        areas_of_classes = map(Fraction, getattr(answer.areas, name))
        exact = sum(area * of for area, of in zip(areas_of_classes, positives, strict=True)) / sum(positives)
        assert getattr(answer.averages, name)[1] == float(exact)


@given(given_classes(), st.randoms(use_true_random=False))
@examples(100)
def test_no_order_matters(found: ClassScores, random: Any) -> None:
    rows, places = list(range(found.rows)), list(range(len(found.names)))
    random.shuffle(rows)
    random.shuffle(places)
    moved = ClassScores(
        tuple(found.names[place] for place in places),
        [found.scores[place][rows] for place in places],
        [found.members[place][rows] for place in places],
        None if found.weights is None else found.weights[rows],
        found.lower_is_positive,
        found.exclusive,
    )
    assert columns(evaluate_classes(moved)) == columns(evaluate_classes(found))


def test_pairs_with_inexact_products_have_the_same_bits(monkeypatch: pytest.MonkeyPatch) -> None:
    found = many(300)
    expected = columns(evaluate_classes(found))
    monkeypatch.setattr(module, "LARGEST_EXACT_INTEGER", 10)
    assert columns(evaluate_classes(found)) == expected


def many(rows: int) -> ClassScores:
    random = np.random.default_rng(5)
    labels = random.integers(0, 4, rows)
    scores = random.normal(size=(4, rows)).round(1)
    scores[labels, np.arange(rows)] += 1
    return ClassScores(NAMES, list(scores), [labels == place for place in range(4)])


def test_scikit_learn_agrees() -> None:
    found = many(2000)
    truth = np.stack(found.members).T
    odds = np.exp(np.stack(found.scores).T)
    scores = odds / odds.sum(axis=1, keepdims=True)
    answer = evaluate_classes(ClassScores(NAMES, list(scores.T.copy()), found.members))
    for place, average in enumerate(("macro", "weighted", "micro")):
        assert answer.averages.roc[place] == pytest.approx(roc_auc_score(truth, scores, average=average), rel=1e-14)
        precision = average_precision_score(truth, scores, average=average)
        assert answer.averages.average_precision[place] == pytest.approx(precision, rel=1e-13)
    labels = truth.argmax(axis=1)
    assert answer.hand_till == pytest.approx(roc_auc_score(labels, scores, multi_class="ovo"), rel=1e-14)
