"""Laws of groups: exact ones get the sample's answer, to the byte; the bounds of open ones hold for all samples."""

from __future__ import annotations

import json
from collections import Counter
from fractions import Fraction
from typing import Any

import mpmath
import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from service.curves.bounds import Enclosure, bounded_areas
from service.curves.histogram import Histogram
from tests import reference_pr
from tests.reference_bounds import DIGITS, Group, bounds, least_average_precision
from tests.reference_pr import AREAS
from tests.support.asking import answered, ask
from tests.support.strategies import Data, examples, samples, tied_scores

ALL = {
    "include": ["auc", "points", "interpolated_pr", "achievable_pr", "calibration", "statistics"],
    "operating_points": [{"metric": "recall_at_precision", "at": 0.5}, {"metric": "f_measure", "at": 0.5}],
    "partial": [{"over": "fpr", "to": 0.3}, {"over": "recall", "from": 0.2}],
    "costs": {"prevalence": [0.1, 0.5]},
}
COUNTS = {"tp": [2, 3], "fp": [1, 2], "positives": 4, "negatives": 5}
RULES = [
    {"metric": "roc", "min": 0.6, "confidence": 0.9},
    {"metric": "recall", "at_threshold": 0.5, "min": 0.4, "confidence": 0.9},
    {"metric": "precision_at_recall", "at": 0.5, "min": 0.4},
]


@st.composite
def partials(draw: st.DrawFn, data: Data) -> dict[str, Any]:
    """The groups of a sample as several workers count them: parts of its rows, concatenated in any order."""
    workers = draw(st.lists(st.integers(0, 2), min_size=len(data.labels), max_size=len(data.labels)))
    counts = Counter(zip(workers, data.scores, data.labels, strict=True))
    keys = draw(st.permutations(sorted({(worker, score) for worker, score, _ in counts})))
    return {
        "score": [score for _, score in keys],
        "positives": [counts[(*key, True)] for key in keys],
        "negatives": [counts[(*key, False)] for key in keys],
    }


@examples(60)
@given(st.data(), samples(score=tied_scores), st.booleans())
def test_exact_groups_answer_what_the_sample_does(draw: st.DataObject, data: Data, lower: bool) -> None:  # noqa: FBT001  # a drawn value
    sample = {"scores": data.scores, "labels": data.labels}
    groups = {"groups": draw.draw(partials(data))}
    method = draw.draw(st.sampled_from(["auto", "delong", "bootstrap", "bca"]))
    options = {"lower_is_positive": lower, "intervals": {"method": method, "resamples": 100, "level": 0.9}}
    for operation, asked in (
        ("curves", ALL | options),
        ("curves", options | {"thresholds": [0.5, 0.3]}),
        ("curves", options | {"tuning": {"scores": [0.1, 0.6, 0.9], "labels": [0, 1, 1]}}),
        ("tradeoffs", {"lower_is_positive": lower, "min_recall": 0.1}),
        ("gates", options | {"rules": RULES}),
        ("gates", {"rules": [{"metric": "pr", "max_drop": 0.1, "confidence": 0.9}], "baseline": {"counts": COUNTS}}),
    ):
        assert ask(operation, groups | asked).body == ask(operation, sample | asked).body, operation
    named = [{"name": name, **evaluation} for name, evaluation in (("a", groups), ("b", sample))]
    dominance = answered("comparisons", {"evaluations": named})["dominance"]
    assert all(dominance["dominates"]), "a curve dominates itself"


@examples(60)
@given(st.data(), samples(score=tied_scores))
def test_groups_in_slices_are_those_of_single_calls(draw: st.DataObject, data: Data) -> None:
    groups = draw.draw(partials(data))
    rows = len(groups["score"])
    slices = draw.draw(st.lists(st.sampled_from("ab"), min_size=rows, max_size=rows))
    points = [{"metric": "tpr_at_fpr", "at": 0.2}]
    asked = {"groups": groups, "slices": {"part": slices}, "intervals": {}, "operating_points": points}
    found = answered("slices", asked)["slices"]
    for number, name in enumerate(found["part"]):
        part = {
            key: [cell for cell, of in zip(column, slices, strict=True) if of == name] for key, column in groups.items()
        }
        alone = ask("curves", {"groups": part, "include": ["auc"], "intervals": {}})
        if found["reason"][number] is not None:
            assert alone.status == 422
            continue
        answer = json.loads(alone.body)
        assert {area: found[area][number] for area in ("roc", "pr", "roc_hull")} == {
            area: answer["auc"][area] for area in ("roc", "pr", "roc_hull")
        }
        interval = answer["intervals"]["average_precision"]
        assert found["average_precision_upper"][number] == (interval and interval["upper"])


labelled = st.tuples(st.booleans(), st.sampled_from([1.0, 1.0, 2.0, 0.5, 0.25]))


@st.composite
def grouped(draw: st.DrawFn) -> list[Group]:
    """Up to four groups, two of them open, with both classes."""
    made = [
        Group(tuple(draw(st.lists(labelled, min_size=1, max_size=3))), exact)
        for exact in draw(st.permutations([False, False, True, True]))
    ]
    ends = [Group(((True, 1.0),), exact=True), Group(((False, 1.0),), exact=True)]
    return made if all(sum(group.total(of=of) for group in made) for of in (True, False)) else [*made, *ends]


def columns_of(groups: list[Group]) -> Histogram:
    """The columns of groups, the most positive first."""
    place = -np.arange(float(len(groups)))
    width = np.array([0.0 if group.exact else 0.5 for group in groups])
    masses = [[float(group.total(of=of)) for group in groups] for of in (True, False)]
    return Histogram(place, place + width, (np.array(masses[0]), np.array(masses[1])))


@pytest.mark.parametrize("area", AREAS)
@examples(25)
@given(groups=grouped())
def test_bounds_are_those_of_all_samples(area: str, groups: list[Group]) -> None:
    """They hold for every order, and an order attains them; for average precision, lighter examples approach them."""
    found = bounded_areas(columns_of(groups).merged())[area]
    if found is None:
        assert area == "pr_trapezoid"
        return
    least, greatest = bounds(groups, AREAS[area])
    assert found.lower <= float(least)
    assert float(greatest) <= found.upper
    if area == "average_precision":
        least = least_average_precision(groups)
    units = 32 if area in ("pr", "pr_achievable", "average_precision") else 8
    assert near(found.lower, least, units)
    assert near(found.upper, greatest, units)


def near(value: float, exact: Fraction | mpmath.mpf, units: int) -> bool:
    """Whether a bound is within the units that it may be rounded outwards, more for integrals."""
    with mpmath.workdps(DIGITS):
        number = reference_pr.mp(exact) if isinstance(exact, Fraction) else exact
        return bool(abs(mpmath.mpf(value) - number) <= abs(number) * units * mpmath.mpf(2) ** -52)


@examples(150)
@given(st.data(), samples(score=st.floats(0, 1)))
def test_bounds_hold_the_sample_whatever_the_partition(draw: st.DataObject, data: Data) -> None:
    """Whatever the partition of the scores into groups that do not touch; narrower groups never give wider bounds."""
    scores = sorted(set(data.scores))
    cuts = sorted(draw.draw(st.sets(st.integers(1, max(1, len(scores) - 1)))))
    exact = answered("curves", {"scores": data.scores, "labels": data.labels, "include": ["auc"]})["auc"]
    wide, narrow = (areas_of(scores, starts, data) for starts in (cuts[::2], cuts))
    for area, value in exact.items():
        for found in (wide, narrow):
            assert found[area].lower <= value <= found[area].upper
        assert wide[area].lower <= narrow[area].lower * (1 + 2**-48)
        assert narrow[area].upper <= wide[area].upper * (1 + 2**-48)


def areas_of(scores: list[float], starts: list[int], data: Data) -> dict[str, Enclosure | None]:
    """The bounds of a sample whose distinct scores are grouped from each start up to the next."""
    parts = [scores[a:b] for a, b in zip([0, *starts], [*starts, len(scores)], strict=True) if scores[a:b]]
    rows = list(zip(data.scores, data.labels, strict=True))
    masses = [[sum(score in part and label == of for score, label in rows) for part in parts] for of in (True, False)]
    low, high, positives, negatives = np.array(
        ([part[0] for part in parts], [part[-1] for part in parts], *masses), np.float64
    )
    return bounded_areas(Histogram(low, high, (positives, negatives)).merged())


@examples(60)
@given(st.data(), samples(score=tied_scores))
def test_sums_of_weights_and_of_their_squares_have_the_intervals_of_the_weights(
    draw: st.DataObject, data: Data
) -> None:
    weights = [draw.draw(st.sampled_from([0.5, 1.0, 2.0, 3.0])) for _ in data.scores]
    keys = sorted(set(data.scores))
    groups: dict[str, Any] = {"score": keys}
    for name, of in (("positives", True), ("negatives", False)):
        for power, suffix in ((1, ""), (2, "_squared")):
            groups[name + suffix] = [
                sum(w**power for s, y, w in zip(data.scores, data.labels, weights, strict=True) if s == key and y == of)
                for key in keys
            ]
    options = {"intervals": {}, "include": ["auc"]}
    sample = answered("curves", {"scores": data.scores, "labels": data.labels, "weights": weights} | options)
    found = answered("curves", {"groups": groups} | options)
    assert found["auc"] == sample["auc"]
    for area, interval in sample["intervals"].items():
        other = found["intervals"][area]
        assert (interval is None) == (other is None)
        if interval is not None:
            ends = [[each[end] for end in ("lower", "upper")] for each in (interval, other)]
            assert np.allclose(*ends, rtol=1e-9, atol=1e-12)


@pytest.mark.parametrize(
    ("positives", "negatives"),
    [
        ([0, 1, 2.0**53], [2.0**53, 1, 0]),  # the totals, 2^53 + 1, are not doubles
        ([0, 1, 2.0**60], [2.0**60, 1, 0]),
        ([0, 0.3, 1e20], [1e20, 0.3, 0]),
        ([1, 2.0**53 - 1, 1, 1, 0], [0, 1, 2.0**53, 2.0**53 - 1, 2]),
        ([0, 0.3, 1e20][::-1], [1e20, 0.3, 0][::-1]),
        ([2.0**53 - 1, 2.0**53], [1, 1]),
        ([1, 1, 1e20, 1e20], [2.0**53 - 1, 1e20, 1e20, 1]),  # the lower bound is 1e-20
    ],
)
def test_bounds_hold_where_sums_lose_small_groups(positives: list[float], negatives: list[float]) -> None:
    ends = np.arange(2.0 * len(positives))[::-1]
    given = Histogram(ends[1::2], ends[::2], (np.array(positives, float), np.array(negatives, float)))
    found = bounded_areas(given.merged())["roc"]
    assert found is not None
    above, least, greatest = Fraction(0), Fraction(0), Fraction(0)
    for mass, other in zip(map(Fraction, positives), map(Fraction, negatives), strict=True):
        least += other * above
        above += mass
        greatest += other * above
    pairs = above * sum(map(Fraction, negatives))
    assert found.lower <= least / pairs
    assert greatest / pairs <= found.upper
    assert found.upper - found.lower <= (greatest - least) / pairs + Fraction(2) ** -48


def test_bounds_of_a_perfect_order_are_one() -> None:
    """Whatever the order within each group, all positives come first."""
    groups = Histogram(np.array([0.3, 0.1]), np.array([0.5, 0.2]), (np.array([3.0, 0.0]), np.array([0.0, 5.0])))
    assert set(bounded_areas(groups.merged()).values()) == {Enclosure(1.0, 1.0)}
    later = Histogram(np.array([0.3, 0.1]), np.array([0.5, 0.2]), (np.array([3.0, 1e-30]), np.array([0.0, 5.0])))
    assert all(each.lower < 1 for each in bounded_areas(later.merged()).values() if each is not None)


@pytest.mark.parametrize("negatives", [1.0, 6.0, 40.0, 1e3, 1e6])
def test_the_least_average_precision_of_a_group_is_no_greater_than_its_limit(negatives: float) -> None:
    groups = Histogram(np.array([0.1]), np.array([0.5]), (np.array([1.0]), np.array([negatives]))).merged()
    found = bounded_areas(groups)["average_precision"]
    assert found is not None
    with mpmath.workdps(DIGITS):
        limit = 1 - negatives * mpmath.log(1 + 1 / mpmath.mpf(negatives))
        assert limit * (1 - 1e-14) <= found.lower <= limit
