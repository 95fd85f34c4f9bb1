"""Bands of curves: against polygons moved corner by corner, what must hold of all, and worked numbers."""

from __future__ import annotations

import math
from itertools import pairwise

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from service.curves.confusion import ConfusionTable
from service.curves.counts import Counts
from service.curves.sample import Sample
from service.inference.bands import BandOptions, CurveBand, Width, bands, distance_from, fixed_width, joint_width
from service.inference.intervals import IntervalOptions
from service.inference.models import EvaluatedModel
from tests import reference_bands as slow
from tests import reference_score
from tests.inference.test_rates_on_curves import Curve, curves
from tests.support.strategies import examples

RANDOM = np.random.default_rng(11)
WIDTHS = st.floats(0.003, 0.4)
PLACES = st.lists(st.floats(0, 1), min_size=1, max_size=5)


def model_of(tp: list[float], fp: list[float]) -> EvaluatedModel:
    counts = Counts(np.array(tp), np.array(fp), tp[-1], fp[-1])
    return EvaluatedModel(counts, ConfusionTable.from_counts(counts))


FRACTIONAL = model_of([0.0, 120, 180.5, 200], [0.0, 30, 90, 300])
COUNTED = model_of([0.0, 120, 180, 200], [0.0, 30, 90, 300])


def sample_of(positives: int, negatives: int, lift: float, *, weights: bool = False) -> EvaluatedModel:
    labels = np.arange(positives + negatives) < positives
    scores = RANDOM.standard_normal(labels.size) + lift * labels
    sample = Sample(scores, labels, RANDOM.random(labels.size) + 0.1 if weights else None)
    return EvaluatedModel(sample, ConfusionTable.from_sample(sample))


def ends_of(table: ConfusionTable, plane: str, at: list[float], width: Width) -> list[tuple[float, float]]:
    """The ends, without the curve between them."""
    middle = np.array([slow_height(table, plane, each) for each in at])
    lower, upper = width.ends(table, plane, np.array(at), middle)
    return list(zip(lower.tolist(), upper.tolist(), strict=True))


def corners_of(table: ConfusionTable) -> list[tuple[float, float]]:
    return list(zip((table.fp / table.negatives).tolist(), (table.tp / table.positives).tolist(), strict=True))


def slow_height(table: ConfusionTable, plane: str, at: float) -> float:
    if plane == "roc":
        return max(slow.heights(corners_of(table), at))
    rate = min(slow.heights([(y, x) for x, y in corners_of(table)], at))
    found = at * table.positives
    return found / (found + rate * table.negatives) if found else 1.0


def test_the_joint_width_is_that_of_the_worked_example() -> None:
    width = joint_width(FRACTIONAL.strata, 0.95)
    assert (width.up, width.left) == pytest.approx((0.1045141800, 0.0853354706), abs=5e-11)
    assert 2 * math.exp(-2 * 200 * width.up**2) == pytest.approx(0.0253205655, abs=5e-11)
    found = ends_of(COUNTED.table, "roc", [0.1, 0.2, 0.3, 0.5], width)
    wanted = [(0, 0.832517), (0.517483, 0.982517), (0.667483, 1), (0.811866, 1)]
    assert np.array(found) == pytest.approx(np.array(wanted), abs=5e-7)


@examples(150)
@given(curves(), PLACES, WIDTHS, WIDTHS)
def test_the_ends_are_those_of_the_moved_curves(curve: Curve, at: list[float], up: float, left: float) -> None:
    table, corners = curve
    width = Width(up, left, "")
    for place, found in zip(at, ends_of(table, "roc", at, width), strict=True):
        assert found == pytest.approx(slow.roc_ends(corners, place, up, left), abs=1e-9)
    totals = table.positives, table.negatives
    for place, found in zip(at, ends_of(table, "pr", at, width), strict=True):
        assert found == pytest.approx(slow.pr_ends(corners, place, up, left, totals), abs=1e-9)


@examples(100)
@given(curves(), curves(), st.tuples(st.floats(2, 900), st.floats(2, 900)))
def test_the_distance_of_two_curves_is_the_greatest_at_a_corner(one: Curve, other: Curve, sizes: tuple[float, float]):
    found = distance_from(one[0], sizes)(other[0].tp, other[0].fp)
    assert found == pytest.approx(slow.distance(one[1], other[1], sizes), abs=1e-9)


def test_a_curve_moved_by_its_distance_holds_the_other() -> None:
    for _ in range(20):
        one, other = sample_of(12, 30, 1), sample_of(12, 30, 1)
        width = Width.of(distance_from(one.table, (12, 30))(other.table.tp, other.table.fp), (12, 30), "")
        at = RANDOM.random(50)
        for plane in ("roc", "pr"):
            heights = np.array([slow_height(one.table, plane, each) for each in at.tolist()])
            lower, upper = width.ends(one.table, plane, at, heights)
            truth = np.array([slow_height(other.table, plane, each) for each in at.tolist()])
            assert (lower <= truth + 1e-9).all()
            assert (truth <= upper + 1e-9).all()


def test_the_fixed_width_is_the_quantile_of_the_distances_of_resamples() -> None:
    """Resamples drawn anew by NumPy have nearly the same quantile."""
    model = sample_of(60, 90, 1.2)
    options = IntervalOptions(resamples=2000)
    found = fixed_width(model.table, model.strata, options).up * 2 * math.sqrt(60)
    sample = model.evaluation
    assert isinstance(sample, Sample)
    of_classes = sample.scores[sample.labels], sample.scores[~sample.labels]
    distances = []
    for _ in range(1500):
        drawn = [RANDOM.choice(each, each.size) for each in of_classes]
        again = ConfusionTable.from_sample(Sample(np.concatenate(drawn), np.repeat([True, False], (60, 90))))
        distances.append(slow.distance(corners_of(model.table), corners_of(again), (60, 90)))
    assert found == pytest.approx(np.quantile(distances, 0.95), rel=0.06)


@pytest.mark.parametrize("level", [0.5, 0.95])
def test_separated_classes_have_the_least_width(level: float) -> None:
    """The rule of three at 95 %: of ten examples without an error, three may be wrong."""
    model = sample_of(10, 40, 99)
    width = fixed_width(model.table, model.strata, IntervalOptions(level))
    least = math.log(1 / (1 - level)) / 10
    assert (width.up, width.left) == pytest.approx((least, least / 2))


def test_a_longer_table_has_nearly_the_same_width(monkeypatch: pytest.MonkeyPatch) -> None:
    model = sample_of(3000, 3000, 1)
    options = IntervalOptions(resamples=300)
    whole = fixed_width(model.table, model.strata, options)
    monkeypatch.setattr("service.inference.bands._MOST_VERTICES", 1000)
    some = fixed_width(model.table, model.strata, options)
    assert some.up == pytest.approx(whole.up, rel=0.02)


def test_a_pointwise_band_is_made_of_score_intervals() -> None:
    model = sample_of(20, 30, 1)
    found = bands(model, BandOptions(at=np.array([0.1, 0.35])), IntervalOptions(0.9)).curves
    corners = corners_of(model.table)
    for number, at in enumerate((0.1, 0.35)):
        for plane, reference in (("roc", reference_score.tpr_at_fpr_ends), ("pr", _precision_ends)):
            band = found[plane]
            wanted = reference(corners, at, band.value[number], (20, 30), 1.6448536269514722)
            assert (band.lower[number], band.upper[number]) == pytest.approx(tuple(map(float, wanted)), abs=1e-8)


def _precision_ends(corners, at, value, trials, z):
    return reference_score.precision_at_recall_ends(corners, at, value, trials, z, totals=(20.0, 30.0))


@pytest.mark.parametrize("kind", ["pointwise", "simultaneous"])
@pytest.mark.parametrize("weights", [False, True])
def test_a_band_encloses_its_curve_and_a_higher_level_is_wider(*, kind: str, weights: bool) -> None:
    model = sample_of(25, 60, 1, weights=weights)
    low, high = (bands(model, BandOptions(kind), IntervalOptions(level, resamples=500)).curves for level in (0.8, 0.99))
    for plane in ("roc", "pr"):
        inner, outer = low[plane], high[plane]
        order = outer.lower, inner.lower, inner.value, inner.upper, outer.upper
        for a, b in pairwise(order):
            assert (a <= b + 1e-12).all()
        assert outer.lower.min() >= 0
        assert outer.upper.max() <= 1


def test_the_same_seed_gives_the_same_band_in_every_order_of_rows() -> None:
    model = sample_of(25, 60, 1)
    sample = model.evaluation
    assert isinstance(sample, Sample)
    order = RANDOM.permutation(85)
    shuffled = Sample(sample.scores[order], sample.labels[order])
    again = EvaluatedModel(shuffled, ConfusionTable.from_sample(shuffled))

    def upper(of: EvaluatedModel, seed: int) -> list[float]:
        found: CurveBand = bands(of, BandOptions("simultaneous"), IntervalOptions(seed=seed, resamples=200)).curves[
            "roc"
        ]
        return found.upper.tolist()

    assert upper(model, 1) == upper(again, 1)
    assert upper(model, 1) != upper(model, 2)


def test_the_method_is_joint_where_no_resamples_can_be_drawn() -> None:
    assert bands(FRACTIONAL, BandOptions("simultaneous"), IntervalOptions()).method == "joint"
    assert bands(COUNTED, BandOptions("simultaneous"), IntervalOptions(resamples=100)).method == "fixed_width"
