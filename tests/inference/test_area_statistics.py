"""The areas of many resamples at once, against exact ones, table by table."""

from __future__ import annotations

import math

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from service.curves.positive_steps import LARGEST_IN_SERIES
from service.inference import area_statistics
from service.inference.area_statistics import AREA_STATISTICS, row_by_row
from tests.reference_pr import AREAS
from tests.support.strategies import Rows, examples

FAR_APART = st.one_of(st.just(0.0), st.integers(0, 9).map(float), st.floats(1e-3, 1e9))

Steps = list[tuple[float, float]]


def cumulated(steps: Steps) -> tuple[np.ndarray, np.ndarray]:
    """Rows of tp and fp from (0, 0); both totals are positive."""
    tp, fp = np.cumsum(np.array([(0.0, 0.0), *steps, (1.0, 1.0)]), axis=0).T
    return tp, fp


def exact(tp: np.ndarray, fp: np.ndarray) -> dict[str, float]:
    table = Rows(tp.tolist(), fp.tolist(), tp[-1], fp[-1]).table()
    return {name: float(AREAS[name](table)) for name in AREA_STATISTICS}


@examples(300)
@given(st.lists(st.lists(st.tuples(FAR_APART, FAR_APART), min_size=5, max_size=5), min_size=1, max_size=3))
def test_areas_are_the_exact_ones(tables: list[Steps]) -> None:
    rows = [cumulated(steps) for steps in tables]
    tp, fp = (np.stack(column) for column in zip(*rows, strict=True))
    for name, statistic in AREA_STATISTICS.items():
        expected = [exact(*row)[name] for row in rows]
        np.testing.assert_allclose(statistic(tp, fp), expected, rtol=1e-9, atol=0, err_msg=name)


def test_areas_of_many_short_steps() -> None:
    """Steps of all lengths, on both sides of the limit of the series."""
    random = np.random.default_rng(1)
    steps = random.integers(0, 4, (400, 2)) * random.choice([1.0, 1.0, 1.0, 30.0], (400, 1))
    tp, fp = cumulated(steps.tolist())
    for name, expected in exact(tp, fp).items():
        assert AREA_STATISTICS[name](tp[np.newaxis], fp[np.newaxis])[0] == pytest.approx(expected, rel=1e-10)


def test_where_the_series_ends() -> None:
    for z in (LARGEST_IN_SERIES * (1 - 1e-9), LARGEST_IN_SERIES * (1 + 1e-9)):
        growth = 2 * z / (1 - z)
        tp, fp = np.array([[0.0, 0.25, 0.25 + growth / 2]]), np.array([[0.0, 0.75, 0.75 + growth / 2]])
        assert AREA_STATISTICS["pr"](tp, fp)[0] == pytest.approx(exact(tp[0], fp[0])["pr"], rel=1e-9)


def test_a_perfect_and_a_constant_score() -> None:
    perfect = np.array([[0.0, 7.0, 7.0]]), np.array([[0.0, 0.0, 5.0]])
    constant = np.array([[0.0, 7.0]]), np.array([[0.0, 5.0]])
    for name, statistic in AREA_STATISTICS.items():
        assert statistic(*perfect).tolist() == [1.0]
        assert statistic(*constant)[0] == pytest.approx(0.5 if name == "roc" else 7 / 12, rel=1e-12)


@pytest.mark.parametrize("scales", [(1e-300, 1e-290), (1e150, 1e-150), (1e-150, 1e150), (1e150, 1e150)])
def test_weights_of_any_scale(scales: tuple[float, float]) -> None:
    tp, fp = (np.array([row]) for row in cumulated([(1.0, 0.0), (2.0, 3.0), (0.0, 1.0), (1.0, 0.0)]))
    expected = AREA_STATISTICS["roc"](tp, fp)
    np.testing.assert_allclose(AREA_STATISTICS["roc"](tp * scales[0], fp * scales[1]), expected, rtol=1e-14)
    for name in ("pr", "average_precision"):
        expected = AREA_STATISTICS[name](tp, fp)
        np.testing.assert_allclose(AREA_STATISTICS[name](tp * scales[0], fp * scales[0]), expected, rtol=1e-14)


@pytest.mark.parametrize("tile", [1, 3, 1 << 20])
def test_tiles_change_nothing(tile: int, monkeypatch: pytest.MonkeyPatch) -> None:
    steps = np.random.default_rng(2).integers(0, 5, (6, 40, 2))
    tp, fp = (np.stack(column) for column in zip(*(cumulated(table.tolist()) for table in steps), strict=True))
    before = {name: statistic(tp, fp) for name, statistic in AREA_STATISTICS.items()}
    monkeypatch.setattr(area_statistics, "_TILE_STEPS", tile)
    for name, statistic in AREA_STATISTICS.items():
        np.testing.assert_allclose(statistic(tp, fp), before[name], rtol=1e-14)


@examples(100)
@given(
    st.lists(st.tuples(st.integers(0, 2), st.integers(0, 2)), min_size=1, max_size=12),
    st.integers(0, 2**32 - 1),
)
def test_rows_that_are_left_out_carry_no_information(kinds: list[tuple[int, int]], seed: int) -> None:
    """In any resample of the same kinds of examples, even if it lacks some of them."""
    kinds = [*kinds, (1, 1)]
    gains, losses = (np.array([False, *(count > 0 for count in column)]) for column in zip(*kinds, strict=True))
    drawn = np.random.default_rng(seed).integers(0, 3, (4, len(kinds), 2)) * np.array(kinds)
    drawn[:, -1] = 1
    tp, fp = (np.concatenate((np.zeros((4, 1)), np.cumsum(drawn[..., side], axis=1)), axis=1) for side in (0, 1))
    best = row_by_row(lambda tp, fp: float((tp / (tp[-1] + fp)).max()))
    for statistic in (*AREA_STATISTICS.values(), best):
        rows = statistic.rows(gains, losses)
        assert rows[0] == 0
        assert rows[-1] == len(kinds)
        np.testing.assert_allclose(statistic(tp[:, rows], fp[:, rows]), statistic(tp, fp), rtol=1e-9)


def test_rows_needed_by_hand() -> None:
    # Rows 1 and 2 gain positives, row 3 nothing, rows 4 and 5 negatives, rows 6 and 7 both, row 8 positives.
    gains = np.array([0, 1, 1, 0, 0, 0, 1, 1, 1], dtype=np.bool_)
    losses = np.array([0, 0, 0, 0, 1, 1, 1, 1, 0], dtype=np.bool_)
    assert AREA_STATISTICS["roc"].rows(gains, losses).tolist() == [0, 2, 5, 6, 7, 8]
    assert AREA_STATISTICS["pr"].rows(gains, losses).tolist() == [0, 2, 5, 6, 7, 8]
    assert AREA_STATISTICS["average_precision"].rows(gains, losses).tolist() == [0, 1, 2, 6, 7, 8]


def test_a_function_of_one_resample_is_asked_for_each() -> None:
    def precision_at_row_1(tp: np.ndarray, fp: np.ndarray) -> float:
        return float(tp[1] / (tp[1] + fp[1])) if tp[1] + fp[1] else math.nan

    tp, fp = np.array([[0, 1, 2], [0, 0, 2], [0, 0, 1.0]]), np.array([[0, 3, 3], [0, 0, 3], [0, 1, 1.0]])
    found = row_by_row(precision_at_row_1)(tp, fp)
    assert found[[0, 2]].tolist() == [0.25, 0.0]
    assert math.isnan(found[1])
