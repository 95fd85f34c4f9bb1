"""The rows that a picture needs, compared with the whole curves, point by point."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from service.curves import simplification
from service.curves.confusion import ConfusionTable
from service.curves.counts import Counts
from service.curves.evaluation import CurvesOptions, evaluate_curves
from service.curves.hull import roc_convex_hull
from service.curves.sample import Sample
from service.curves.simplification import DRAWN_SIDE, Line, drawn_rows, pr_line, roc_line
from tests import reference_drawing as slow
from tests.reference import Table, table_of_counts
from tests.support.strategies import Rows, examples

QUARTER = 0.25 + slow.STEP / 2
"""In pixels: the promise, and how closely it is measured."""


def table_of(rows: Rows) -> ConfusionTable:
    return ConfusionTable.of(rows.counts())


def reference_of(table: ConfusionTable) -> Table:
    return table_of_counts(table.tp.tolist(), table.fp.tolist(), table.positives, table.negatives)


def pixels(line: Line, side: float) -> slow.Polyline:
    return side * np.column_stack((line.x, line.y))


def normal(rows: int, share: float, *, seed: int = 1) -> ConfusionTable:
    """A typical sample: the scores of both classes are normal."""
    random = np.random.default_rng(seed)
    labels = random.random(rows) < share
    return ConfusionTable.of(Sample(random.normal(size=rows) + 1.5 * labels, labels))


def concave(rows: int) -> ConfusionTable:
    """A table of which every row is a vertex of the hull."""
    steps = np.arange(rows, dtype=np.float64)
    tp, fp = np.cumsum(rows - steps), np.cumsum(steps + 1)
    return ConfusionTable.of(Counts(tp, fp, float(tp[-1]), float(fp[-1])))


@st.composite
def short_sweeps(draw: st.DrawFn) -> Rows:
    """Sweeps of a few steps of very different lengths, whose PR curves bend strongly."""
    steps = draw(st.lists(st.tuples(*[st.sampled_from([0, 0, 1, 2, 7, 40, 1000])] * 2), min_size=1, max_size=12))
    tp, fp = np.cumsum([(0, 0), *steps], axis=0).T.tolist()
    return Rows(tp, fp, tp[-1] + draw(st.integers(1, 50)), fp[-1] + draw(st.integers(1, 5000)))


@examples(40, fewest=4)
@given(short_sweeps(), st.sampled_from([20, 60]))
def test_both_lines_are_within_a_quarter_of_a_pixel(rows: Rows, side: int) -> None:
    table, exact = table_of(rows), rows.table()
    assert slow.apart(pixels(roc_line(table, side), side), slow.roc_curve(exact, side)) <= QUARTER
    assert slow.apart(pixels(pr_line(table, side), side), slow.pr_curve(exact, side)) <= QUARTER


@pytest.mark.parametrize(
    ("tp", "fp"),
    [
        pytest.param([20, 20, 80, 90, 90], [0, 80, 80, 80, 90], id="down, then up"),
        pytest.param([0, 60, 60, 70, 70], [30, 30, 150, 150, 170], id="up, then down"),
    ],
)
def test_what_happens_within_a_column_is_drawn(tp: list[int], fp: list[int]) -> None:
    """100 of 100,000 positives are less than a tenth of a pixel; precision rises and falls within it."""
    rows = Rows(tp, fp, 100_000, 100_000)
    line = pr_line(table_of(rows), 60)
    assert slow.apart(pixels(line, 60), slow.pr_curve(rows.table(), 60)) <= QUARTER


def test_each_column_begins_with_its_first_row() -> None:
    """Half a pixel has five columns, which begin at counts 0, 2, 4, 6 and 8."""
    counts = np.array([0.0, 1.0, 2.0, 5.0, 7.0, 7.0, 8.0, 9.0, 10.0])
    starts, stops = simplification._columns(counts, 10.0, 0.5)
    assert starts.tolist() == [0, 2, 3, 4, 6]
    assert stops.tolist() == [2, 3, 4, 6, 9]


@pytest.mark.all
@pytest.mark.parametrize("share", [0.5, 0.02])
def test_so_are_those_of_many_rows(share: float) -> None:
    table = normal(1_500, share)
    exact = reference_of(table)
    assert slow.apart(pixels(roc_line(table, 60), 60), slow.roc_curve(exact, 60)) <= QUARTER
    assert slow.apart(pixels(pr_line(table, 60), 60), slow.pr_curve(exact, 60, pieces=8)) <= QUARTER


@examples(12, fewest=2)
@given(short_sweeps(), st.integers(0, 2**32))
def test_the_drawn_rows_have_the_curves_of_all_rows(rows: Rows, seed: int) -> None:
    """Both the exact curves of the drawn rows, linear in counts, and the lines drawn through them are close."""
    random = np.random.default_rng(seed)
    more = [np.sort(random.integers(0, total + 1, 30)) for total in (rows.positives, rows.negatives)]
    many = Rows(more[0].tolist(), more[1].tolist(), rows.positives, rows.negatives)
    table, exact, side = table_of(many), many.table(), 60
    drawn = np.union1d(simplification._roc_rows(table, side), simplification._pr_rows(table, side)).tolist()
    few = slow.selected(exact, drawn)
    assert slow.apart(slow.roc_curve(few, side), slow.roc_curve(exact, side)) <= QUARTER
    assert slow.apart(slow.pr_curve(few, side), slow.pr_curve(exact, side, pieces=20)) <= QUARTER


@pytest.mark.parametrize("table", [normal(20_000, 0.3), concave(3_000)], ids=["normal", "concave"])
def test_every_vertex_of_the_hull_is_drawn(table: ConfusionTable) -> None:
    vertices = roc_convex_hull(table)
    assert set(vertices.tolist()) <= set(drawn_rows(table, vertices).tolist())


def test_keep_drawn_are_these_rows_and_areas_stay() -> None:
    random = np.random.default_rng(2)
    labels = random.random(20_000) < 0.1
    sample = Sample(random.normal(size=20_000) + labels, labels)
    table = ConfusionTable.of(sample)
    rows = drawn_rows(table, roc_convex_hull(table))
    drawn, every = (evaluate_curves(sample, CurvesOptions(keep=keep)) for keep in ("drawn", "all"))
    assert drawn.points is not None
    assert drawn.points.tp.tolist() == table.tp[rows].tolist()
    assert drawn.points.threshold.size < table.tp.size / 4
    assert drawn.auc == every.auc


def test_rows_that_are_not_a_sweep_all_stay() -> None:
    rows = Rows([3, 1], [1, 2], 5, 5)
    points = evaluate_curves(rows.counts(), CurvesOptions(keep="drawn")).points
    assert points is not None
    assert points.tp.tolist() == [0, 3, 1, 5]


@pytest.mark.parametrize("share", [0.5, pytest.param(0.05, marks=pytest.mark.all)])
def test_a_million_rows_become_a_few_hundred_points(share: float) -> None:
    table = normal(1_000_000, share)
    assert roc_line(table, 320).x.size <= 150
    assert pr_line(table, 320).x.size <= 550
    assert drawn_rows(table, roc_convex_hull(table)).size <= 4_000


def test_a_million_vertices_are_no_more() -> None:
    table = concave(1_000_000)
    assert roc_convex_hull(table).size >= 1_000_000
    for side in (320, DRAWN_SIDE):
        assert roc_line(table, side).x.size + pr_line(table, side).x.size <= 2_000


def test_a_long_step_of_the_pr_curve_is_drawn_as_it_bends() -> None:
    # Figure 6 of Davis & Goadrich: after 9 true positives a straight line would be far above the curve.
    table = table_of(Rows([9], [0], 433, 56164))
    line = pr_line(table, 320)
    middle = np.interp(0.5, line.x, line.y)
    assert middle == pytest.approx(216.5 / (216.5 + 56164 * (216.5 - 9) / (433 - 9)), abs=0.25 / 320)
    assert line.x.size <= 58


def test_counts_of_any_size_are_drawn() -> None:
    for scale in (1e-144, 1e143):
        table = table_of(Rows([1 * scale, 2 * scale], [0, 3 * scale], 4 * scale, 1e7 * scale))
        for line in (roc_line(table, 320), pr_line(table, 320)):
            assert np.isfinite(line.x).all()
            assert np.isfinite(line.y).all()


def test_stretches_that_are_cut_next_to_their_ends_end_soon(monkeypatch: pytest.MonkeyPatch) -> None:
    passes = []
    monkeypatch.setattr(simplification, "still_time", lambda: passes.append(1))
    x = np.arange(3_000.0)
    y = np.cumsum(1.01 ** np.arange(3_000.0))  # each point is far from the line through all earlier ones
    kept = simplification.simplify(x, y)
    assert kept.size > 100
    assert len(passes) <= simplification._PASSES_WITHOUT_HALVING + 15
