"""The two areas with logarithms, `pr` and `pr_achievable`, against 60-digit arithmetic: 1e-12 relative, everywhere."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from service.curves.evaluation import CurvesOptions, evaluate_curves
from tests import reference_pr
from tests.properties.agreement import RELATIVE
from tests.support.strategies import (
    LARGEST,
    Data,
    Rows,
    big_sweeps,
    evaluation_of,
    examples,
    fractional_sweeps,
    lopsided_sweeps,
    nudged_lines,
    sweeps,
    tilted_samples,
    weighted_samples,
    wild_weights,
)

AREAS = CurvesOptions(include=frozenset({"auc"}))


def areas_are_close(evaluation: Rows | Data) -> None:
    """Compare both areas with the reference; its exact inputs are the doubles of the service's own table."""
    counts = evaluation_of(evaluation)
    table = evaluation.table()
    if isinstance(evaluation, Data):
        points = evaluate_curves(counts).points
        assert points is not None
        columns = points.tp.tolist(), points.fp.tolist()
        table = Rows(*columns, columns[0][-1], columns[1][-1]).table()
    areas = evaluate_curves(counts, AREAS).auc
    assert areas is not None
    assert reference_pr.relative_error(areas.pr, reference_pr.pr_area(table)) <= RELATIVE
    assert reference_pr.relative_error(areas.pr_achievable, reference_pr.pr_achievable_area(table)) <= RELATIVE


half = LARGEST // 2
SEGMENTS = {
    "one step from the origin": Rows([], [], 433, 56164),
    "worst ranking": Rows([0], [10], 10, 10),
    "worst ranking, skewed": Rows([0], [LARGEST], 1, LARGEST),
    "worst ranking, one negative in 2^53": Rows([0], [1], LARGEST, 1),
    "long and steep": Rows([1], [0], LARGEST, 1),
    "long and flat": Rows([1], [0], 2, LARGEST),
    "short, far from the origin": Rows([half, half + 1], [half, half], LARGEST, LARGEST),
    "short and level, far from the origin": Rows([half, half + 1], [half, half + 1], LARGEST, LARGEST),
    "short and slanted, far from the origin": Rows([half, half + 3], [half, half + 2], LARGEST, LARGEST),
    "many short steps, far from the origin": Rows(
        [half + k for k in range(60)], [half + (k * k) // 7 for k in range(60)], LARGEST, LARGEST
    ),
    "nearly through the origin": Rows([half], [half + 1], LARGEST - 1, LARGEST),
    "nearly through the origin, below": Rows([half], [half - 1], LARGEST, LARGEST - 1),
    "nearly flat": Rows([1000, 10**9], [10**9, 10**9 + 1], 10**9 + 1, 10**12),
    "nearly vertical": Rows([1000, 1001], [10, 10**12], 2000, 10**15),
    "leading negatives": Rows([0, 0, 5], [3, 9, 9], 10, 100),
    "one leading negative, then all": Rows([0], [1], 1000, 1000),
    "2^52 leading negatives, then one step": Rows([0, 1], [half, half], 1000, LARGEST),
    "positives first, then a long tail": Rows([9], [0], 433, 56164),
    "tiny slope": Rows([1, half], [1, 2], LARGEST, LARGEST),
    "tiny slope after many negatives": Rows([0, half], [half, half + 1], LARGEST, LARGEST),
    "huge slope": Rows([1, 2], [0, LARGEST - 1], 3, LARGEST),
}


@pytest.mark.parametrize("name", SEGMENTS)
def test_pr_has_twelve_digits_over_long_short_far_and_flat_segments(name: str) -> None:
    """'Also for long, short, far-away and nearly flat segments.'"""
    areas_are_close(SEGMENTS[name])


@pytest.mark.parametrize("power", range(1, 53, 3))
@pytest.mark.parametrize("steps", [(1, 0), (1, 1), (3, 2), (2, 3), (1, 7)])
def test_a_short_step_farther_and_farther_away(power: int, steps: tuple[int, int]) -> None:
    """The printed closed form loses a digit per power of ten here."""
    here = 2**power
    areas_are_close(Rows([here, here + steps[0]], [here - 1, here - 1 + steps[1]], here + steps[0], here + steps[1]))


@pytest.mark.parametrize("power", range(1, 53, 3))
def test_the_same_step_ever_longer(power: int) -> None:
    """From (3, 5) on, one step of any length: short steps need a series, long ones the logarithm."""
    areas_are_close(Rows([3, 3 + 2**power], [5, 5 + 2 ** (53 - power)], LARGEST, LARGEST))


@pytest.mark.parametrize("ratio", [1 + 2.0**-k for k in range(1, 50, 4)])
def test_ends_of_any_ratio(ratio: float) -> None:
    """With hi/lo near 1 and far from it, and fractional counts."""
    areas_are_close(Rows([1.0, ratio], [2.0, 2.0], ratio, 5.0))
    areas_are_close(Rows([1.0, ratio], [2.0, 1.0 + ratio], ratio, 5.0))


KINDS: dict[str, st.SearchStrategy[Data | Rows]] = {
    "small integer counts": sweeps(),
    "counts up to 2^53": big_sweeps(),
    "fractional counts": fractional_sweeps(),
    "a few counts against 2^53": lopsided_sweeps(),
    "lines that are straight except for a double's rounding": nudged_lines(),
    "classes whose totals are anywhere in 1e-150..1e150, so the area itself may be 1e-296": tilted_samples(),
    "weights from 5e-324 to 1e100 in one column": weighted_samples(weight=wild_weights),
}


@pytest.mark.parametrize("kind", KINDS)
@examples(80)
@given(st.data())
def test_pr_of_any_table_has_twelve_digits(kind: str, data: st.DataObject) -> None:
    areas_are_close(data.draw(KINDS[kind]))


@examples(80)
@given(st.integers(1, LARGEST - 2), st.integers(0, LARGEST - 2), st.integers(1, 1000), st.integers(0, 1000))
def test_one_short_step_anywhere(tp: int, fp: int, dtp: int, dfp: int) -> None:
    """One short step at any place up to 2^53."""
    areas_are_close(Rows([tp, min(tp + dtp, LARGEST)], [fp, min(fp + dfp, LARGEST)], LARGEST, LARGEST))
