"""Areas under parts of curves: against their definitions, the whole areas, scikit-learn, and by hand."""

from __future__ import annotations

import math
import sys
from fractions import Fraction

import mpmath
import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from sklearn.metrics import roc_auc_score

from service.curves.areas import areas
from service.curves.confusion import ConfusionTable
from service.curves.partial_areas import OVER, PartialRange, partial_areas
from service.curves.sample import Sample
from tests import reference_partial as twin
from tests.reference import Table
from tests.support.strategies import (
    Data,
    Rows,
    classifiers,
    confusion_of,
    fractional_sweeps,
    lopsided_sweeps,
    samples,
    sweeps,
    weighted_samples,
)

STEPS = Rows([1, 1, 3, 3, 3], [0, 1, 1, 2, 3], 3, 3, [0.9, 0.8, 0.7, 0.4, 0.2])
"""The guide's example: tpr is 1/3 up to fpr 1/3, then 1."""

LEAST = mpmath.mpf(5e-324)
NEARLY_DENORMAL = Fraction(1e-300)

places = st.one_of(st.floats(0.0, 1.0), st.sampled_from([0.0, 1.0, 0.5, 1 / 3, 0.1, 0.25, 5e-324, 1e-9, 1 - 2**-53]))


@st.composite
def ranges(draw: st.DrawFn) -> PartialRange:
    start, end = draw(st.tuples(places, places).map(sorted).filter(lambda ends: ends[0] < ends[1]))
    over = draw(st.sampled_from(OVER))
    least = draw(st.one_of(st.none(), places.filter(lambda least: least < 1))) if over == "fpr" else None
    return PartialRange(over, start, end, least)


def of(table: ConfusionTable, *asked: object) -> tuple[float, float, float]:
    found = partial_areas(table, [PartialRange(*asked)])  # type: ignore[arg-type]  # a tuple of mixed types
    return float(found.area[0]), float(found.mean[0]), float(found.mcclish[0])


def close(found: float, exact: twin.Exact, relative: float, slack: mpmath.mpf = LEAST) -> bool:
    with mpmath.workdps(60):
        expected = twin.mpf(exact) if isinstance(exact, Fraction) else exact
        return bool(abs(mpmath.mpf(found) - expected) <= mpmath.mpf(relative) * abs(expected) + slack)


def check(source: Rows | Data, asked: PartialRange) -> None:
    table, exact = confusion_of(source), source.table()
    found = of(table, asked.over, asked.start, asked.end, asked.min_tpr)
    expected = twin.area(exact, asked.over, asked.start, asked.end, asked.min_tpr)
    box = (Fraction(asked.end) - Fraction(asked.start)) * (1 - Fraction(asked.min_tpr or 0))
    if isinstance(expected, Fraction) and exact.whole and table.whole:
        assert found[:2] == (float(expected), float(expected / box))
    relative = 2.0**-53 if isinstance(expected, Fraction) and exact.whole else 2.0**-45
    mean = expected / box if isinstance(expected, Fraction) else expected / twin.mpf(box)
    # With subnormal counts, an integral may be off by a few least doubles; it is divided by P and by the box.
    denormal = any(0 < count < NEARLY_DENORMAL for row in exact.rows for count in (row.tp, row.fp))
    steps = 8 * len(exact.rows) if denormal and not isinstance(expected, Fraction) else 0
    assert close(found[0], expected, relative, LEAST + steps * LEAST / twin.mpf(exact.positives))
    assert close(found[1], mean, relative, LEAST + steps * LEAST / twin.mpf(box * exact.positives))
    assert 0 <= found[1] <= 1
    standardised = None
    if isinstance(expected, Fraction) and asked.min_tpr is None:
        standardised = twin.mcclish(expected, asked.over, asked.start, asked.end)
    if standardised is None or abs(standardised) > sys.float_info.max:
        assert math.isnan(found[2])
    elif exact.whole and table.whole:
        assert found[2] == float(standardised)
    else:
        assert math.isclose(found[2], standardised, rel_tol=1e-12, abs_tol=1e-12)


class TestAgainstTheDefinition:
    """The areas are those of all steps, cut at the ends of the range."""

    @given(st.one_of(samples(), sweeps(), lopsided_sweeps()), ranges())
    def test_of_whole_counts(self, source: Rows | Data, asked: PartialRange) -> None:
        check(source, asked)

    @given(st.one_of(weighted_samples(), fractional_sweeps()), ranges())
    def test_of_others(self, source: Rows | Data, asked: PartialRange) -> None:
        check(source, asked)

    @pytest.mark.parametrize(("low", "high"), [(0.0, 1.0), (0.1, 0.5), (0.4, 0.45)])
    def test_precision_is_integrated(self, low: float, high: float) -> None:
        exact: Table = STEPS.table()
        assert float(twin.precision_part(exact, Fraction(low), Fraction(high))) == pytest.approx(
            twin.precision_by_quadrature(exact, low, high), rel=1e-13
        )


class TestLaws:
    @given(st.one_of(samples(), sweeps()))
    def test_the_whole_range_is_the_whole_area(self, source: Rows | Data) -> None:
        table = confusion_of(source)
        whole = areas(table, table)
        assert of(table, "fpr", 0.0, 1.0)[0] == whole.roc
        assert of(table, "tpr", 0.0, 1.0)[0] == whole.roc
        assert of(table, "recall", 0.0, 1.0)[0] == pytest.approx(whole.pr, rel=1e-15)
        assert of(table, "fpr", 0.0, 1.0)[2] == whole.roc

    @given(samples(), st.sampled_from(OVER), st.tuples(places, places, places).map(sorted))
    def test_ranges_add_up(self, source: Data, over: str, ends: list[float]) -> None:
        table = confusion_of(source)
        low, middle, high = ends
        parts = [of(table, over, *pair)[0] for pair in ((low, middle), (middle, high)) if pair[0] < pair[1]]
        if low < high:
            assert sum(parts) == pytest.approx(of(table, over, low, high)[0], rel=1e-13, abs=1e-300)

    @given(classifiers().filter(lambda rows: not rows.table().sweep))
    def test_a_set_that_is_not_a_sweep_has_none(self, rows: Rows) -> None:
        assert all(map(math.isnan, of(confusion_of(rows), "fpr", 0.0, 0.5)))


@pytest.mark.parametrize("most", [0.01, 0.1, 0.3, 1.0])
def test_mcclish_is_that_of_scikit_learn(most: float) -> None:
    """roc_auc_score(max_fpr) is McClish's."""
    random = np.random.default_rng(5)
    labels = random.random(2000) < 0.2
    scores = np.round(random.normal(size=2000) + labels, 2)
    found = of(ConfusionTable.of(Sample(scores, labels)), "fpr", 0.0, most)[2]
    assert found == pytest.approx(roc_auc_score(labels, scores, max_fpr=most), rel=1e-14)


def test_partial_areas_are_those_worked_out_by_hand() -> None:
    """Up to fpr 1/4, tpr is 1/3; from 1/2 on, it is 1; above tpr 1/2, nothing is left before fpr 1/3."""
    table = confusion_of(STEPS)
    area, mean, mcclish = of(table, "fpr", 0.0, 0.25)
    assert (area, mean) == (0.25 / 3, 1 / 3)
    assert mcclish == pytest.approx((1 + (0.25 / 3 - 1 / 32) / (0.25 - 1 / 32)) / 2, rel=1e-15)
    assert of(table, "fpr", 0.5, 1.0) == (0.5, 1.0, 1.0)
    assert of(table, "fpr", 0.0, 1.0, 0.5)[:2] == (1 / 3, 2 / 3)
    assert of(table, "tpr", 0.0, 0.25) == (0.25, 1.0, 1.0)
    assert of(table, "recall", 0.0, 0.25)[:2] == (0.25, 1.0)


@pytest.mark.parametrize("end", [5e-324, 1e-309, 1e-300])
def test_far_below_chance_mcclish_s_may_be_beyond_a_double(end: float) -> None:
    """If all negatives rank first, nothing lies to the right of the curve: mcclish is about -1/end."""
    check(Rows([0, 3], [3, 3], 3, 3), PartialRange("tpr", 0.0, end))


@pytest.mark.parametrize("least", [1e-290, 1e-305, 5e-324])
@pytest.mark.parametrize("over", OVER)
def test_a_range_of_tiny_weights_alone(over: str, least: float) -> None:
    """Whole steps far below the total, whose products no double can hold."""
    for fp in ([2 * least, 3 * least, 1.0], [0.25, 0.5, 1.0]):
        check(Rows([least, 3 * least, 1.0], fp, 1.0, 1.0), PartialRange(over, 0.0, 3 * least))


def test_a_small_piece_of_a_big_area_is_still_exact() -> None:
    """Within one step, where the areas up to both ends agree in all digits of a double."""
    low, high = 0.5, 0.5 + 2**-50
    rows = Rows([10], [20], 10, 1000, [0.5])
    assert close(of(confusion_of(rows), "recall", low, high)[0], twin.area(rows.table(), "recall", low, high), 2.0**-52)
