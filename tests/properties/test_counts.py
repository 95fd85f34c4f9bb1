"""Laws of tables that come from confusion counts: exactness, the hull, sets that are not a sweep."""

from __future__ import annotations

import itertools
import random
from fractions import Fraction

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from service.curves.confusion import ConfusionTable
from service.curves.evaluation import CurvesOptions, evaluate_curves
from service.curves.hull import RocHull, drop_collinear, roc_convex_hull
from service.curves.pr import AtRecall, Every
from tests import reference
from tests.properties.agreement import agree, columns
from tests.support.strategies import (
    LARGEST,
    Rows,
    big_sweeps,
    classifiers,
    examples,
    fractional_sweeps,
    lopsided_sweeps,
    nudged_lines,
    recalls,
    sweeps,
)

AT_FEW_RECALLS = CurvesOptions(interpolation=AtRecall(np.array([0.0, 0.25, 0.5, 1.0])))


def hull_is_brute_force(rows: Rows) -> None:
    """Compare membership, strict vertices and corners with every possible segment."""
    table, service = rows.table(), ConfusionTable.from_counts(rows.counts())
    vertices = roc_convex_hull(service)
    assert RocHull.of(service).members.tolist() == reference.on_hull(table)
    found = [(Fraction(service.fp[i]), Fraction(service.tp[i])) for i in vertices.tolist()]
    assert found == reference.hull_corners(table)
    assert drop_collinear(service).tolist() == np.flatnonzero(reference.corners(table)).tolist()


COUNTS: dict[str, tuple[st.SearchStrategy[Rows], CurvesOptions | None]] = {
    "integers, in any order": (sweeps(), None),
    "up to 2^53, where tp + fp may pass it and products reach 2^106": (big_sweeps(), AT_FEW_RECALLS),
    "a few beside 2^53, where sums exceed 2^53 by one": (lopsided_sweeps(), AT_FEW_RECALLS),
    "fractional, within 4 ulp": (fractional_sweeps(), None),
    "of any set of classifiers": (classifiers(), None),
    "nearly on a line": (nudged_lines(), None),
}


@pytest.mark.parametrize("kind", COUNTS)
@examples(80)
@given(st.data())
def test_every_view_is_that_of_the_reference(kind: str, data: st.DataObject) -> None:
    """'Every rational result is the correctly rounded double'; a set that is no sweep has the hull's answers alone."""
    counts, options = COUNTS[kind]
    rows = data.draw(counts)
    agree(rows.counts(), rows.table(), options)


HULLS = {
    "small counts, which may be no sweep": st.one_of(sweeps(), classifiers()),
    "big counts": big_sweeps(),
    "a few counts beside 2^53": lopsided_sweeps(),
    "fractions, of which the doubles decide": fractional_sweeps(),
    "rows a double away from a line, at very different scales": nudged_lines(),
}


@pytest.mark.parametrize("kind", HULLS)
@examples(100)
@given(st.data())
def test_hull_is_brute_force(kind: str, data: st.DataObject) -> None:
    """'A row is on_hull when it lies on the hull's boundary: a vertex, or on an edge'; collinear rows stay.

    'For integer counts no rounding may decide it, at any size up to 2^53.'
    """
    hull_is_brute_force(data.draw(HULLS[kind]))


@examples(40, fewest=3)
@given(big_sweeps(), st.integers(2, 12))
def test_big_counts_interpolated_at_whole_steps(rows: Rows, parts: int) -> None:
    """Interpolated rows at whole true positives are correctly rounded at any size."""
    every = float(-(-rows.positives // parts))
    agree(rows.counts(), rows.table(), CurvesOptions(interpolation=Every(every)))


@examples(40)
@given(fractional_sweeps(), st.sampled_from([1.0, 2.0, 0.3, 0.7, 10.0]))
def test_fractional_counts_interpolated(rows: Rows, every: float) -> None:
    """Fractional counts at any step."""
    agree(rows.counts(), rows.table(), CurvesOptions(interpolation=Every(every)))


@examples(60)
@given(sweeps(), st.integers(2, 9))
def test_every_n(rows: Rows, every: int) -> None:
    """'every n > 1: tp = 0, n, 2n, ... and P only. At a vertical step: the least fp.'"""
    agree(rows.counts(), rows.table(), CurvesOptions(interpolation=Every(float(every))))


@examples(60)
@given(sweeps(), recalls)
def test_at_recall(rows: Rows, column: list[float]) -> None:
    """One row per recall asked, at that recall, on the curve."""
    agree(rows.counts(), rows.table(), CurvesOptions(interpolation=AtRecall(np.array(column))))


@examples(40)
@given(sweeps())
def test_at_the_recall_of_rows(rows: Rows) -> None:
    """A recall that is a row's own double means that row, whatever recall times P rounds to."""
    table = rows.table()
    column = sorted({reference.correctly_rounded(row.tp / table.positives) for row in table.rows})
    agree(rows.counts(), table, CurvesOptions(interpolation=AtRecall(np.array(column))))


@examples(40)
@given(fractional_sweeps(), recalls)
def test_at_recall_of_fractional_counts(rows: Rows, column: list[float]) -> None:
    """The same, for counts that are not integers."""
    agree(rows.counts(), rows.table(), CurvesOptions(interpolation=AtRecall(np.array(column))))


@examples(60)
@given(st.one_of(sweeps(), classifiers(), big_sweeps(), fractional_sweeps()), st.sampled_from(["corners", "hull"]))
def test_keep_thins_points_only(rows: Rows, keep: str) -> None:
    """'keep thins points only, never an area'; corners lose nothing of either curve, hull keeps what is on the hull."""
    counts = rows.counts()
    everything = evaluate_curves(counts)
    thinned = evaluate_curves(counts, CurvesOptions(keep=keep))
    assert thinned.auc == everything.auc
    assert (thinned.positives, thinned.negatives) == (everything.positives, everything.negatives)
    for name in ("interpolated_pr", "achievable_pr"):
        one, other = getattr(thinned, name), getattr(everything, name)
        assert (one is None) == (other is None)
        if one is not None:
            for column, values in columns(one).items():
                assert values.tobytes() == columns(other)[column].tobytes(), (name, column)
    agree(counts, rows.table(), CurvesOptions(keep=keep))


@examples(60)
@given(st.one_of(sweeps(), big_sweeps()))
def test_corners_rebuild_the_curve(rows: Rows) -> None:
    """The rows that `corners` drops lie on the line between their neighbours: without them, the areas are the same."""
    thinned = evaluate_curves(rows.counts(), CurvesOptions(keep="corners"))
    assert thinned.points is not None
    assert thinned.auc is not None
    again = Rows(thinned.points.tp.tolist(), thinned.points.fp.tolist(), rows.positives, rows.negatives)
    rebuilt = evaluate_curves(again.counts())
    assert rebuilt.auc is not None
    assert (rebuilt.auc.roc, rebuilt.auc.roc_hull) == (thinned.auc.roc, thinned.auc.roc_hull)
    left = [(row.tp, row.fp) for row in again.table().rows]
    for row in rows.table().rows:
        on_a_segment = any(
            a[0] <= row.tp <= b[0]
            and a[1] <= row.fp <= b[1]
            and (row.tp - a[0]) * (b[1] - a[1]) == (row.fp - a[1]) * (b[0] - a[0])
            for a, b in itertools.pairwise(left)
        )
        assert on_a_segment
    inner = list(dict.fromkeys(left))
    for a, b, c in zip(inner, inner[1:], inner[2:], strict=False):
        assert (b[0] - a[0]) * (c[1] - b[1]) != (b[1] - a[1]) * (c[0] - b[0])


@examples(30)
@given(st.integers(1, 12), st.integers(1, 12), st.integers(1, 3), st.randoms(use_true_random=False))
def test_hull_of_lattices_is_brute_force(width: int, height: int, scale: int, chance: random.Random) -> None:
    """Rows on a lattice: collinear ones by the dozen, on every edge."""
    cells = [(t, f) for t in range(height + 1) for f in range(width + 1)]
    taken = chance.sample(cells, min(len(cells), 12))
    factor = scale**20
    hull_is_brute_force(
        Rows([t * factor for t, _ in taken], [f * factor for _, f in taken], height * factor, width * factor)
    )


@pytest.mark.parametrize("factor", [0.1, 0.3, 1 / 3, 1e-100, 7e99])
def test_hull_of_scaled_lattice_is_decided_by_the_doubles(factor: float) -> None:
    """0.1, 0.2 and 0.3 are not on a line: 0.1 + 0.2 is not 0.3, and the doubles decide."""
    steps = [k * factor for k in range(8)]
    hull_is_brute_force(Rows(steps, [k * 0.1 for k in range(8)], steps[-1], 7 * 0.1))


@pytest.mark.parametrize("nudge", [-1, 0, 1])
def test_hull_a_unit_off_a_line_at_full_size(nudge: int) -> None:
    """One count in 2^53 off the diagonal decides, on either side."""
    tp, fp = LARGEST // 2 + nudge, LARGEST // 2
    rows = Rows([tp], [fp], LARGEST, LARGEST)
    table = ConfusionTable.from_counts(rows.counts())
    assert RocHull.of(table).members.tolist() == [True, nudge >= 0, True]
    hull_is_brute_force(rows)


def test_hull_products_that_doubles_cannot_distinguish() -> None:
    """Cross products of about 2^106 that differ by one."""
    a, b = LARGEST - 1, LARGEST - 2
    for tp in (b - 1, b, a):
        hull_is_brute_force(Rows([tp // 2, tp // 2 + 1], [a // 2, a // 2 + 1], LARGEST, LARGEST - 3))


@examples(40)
@given(sweeps(), st.randoms(use_true_random=False))
def test_counts_in_any_order(rows: Rows, chance: random.Random) -> None:
    """'Rows in any order.'"""
    order = list(range(len(rows.tp)))
    chance.shuffle(order)
    shuffled = Rows([rows.tp[i] for i in order], [rows.fp[i] for i in order], rows.positives, rows.negatives)
    one, other = evaluate_curves(rows.counts()), evaluate_curves(shuffled.counts())
    assert one.auc == other.auc
    assert one.points is not None
    assert other.points is not None
    for name, values in columns(one.points).items():
        assert values.tobytes() == columns(other.points)[name].tobytes(), name
