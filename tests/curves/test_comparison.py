"""Comparisons of small tables: which curve is best where, all kinds of ties, facts, warnings; and large inputs."""

from __future__ import annotations

import itertools
import math

import numpy as np
import pytest

from service.curves.comparison import Best, Comparison, evaluate_comparison
from service.curves.errors import DomainError, TotalsDiffer
from service.curves.sample import Sample
from tests.properties.comparison_agreement import agree
from tests.support.strategies import LARGEST, Data, Rows, evaluation_of

HALF = LARGEST // 2


def rows(points: list[tuple[int, int]], positives: int = 4, negatives: float = 4) -> Rows:
    """A curve's rows, given as (tp, fp)."""
    return Rows([t for t, _ in points], [f for _, f in points], positives, negatives)


def compared(**curves: Rows | Data) -> Comparison:
    """The answer for some curves, by name."""
    return evaluate_comparison({name: evaluation_of(curve) for name, curve in curves.items()})


def listed(best: Best | None) -> list[tuple[float, float, str]]:
    """The intervals, with names of one letter joined."""
    assert best is not None
    return [
        (s, e, "".join(names)) for s, e, names in zip(best.start.tolist(), best.end.tolist(), best.best, strict=True)
    ]


def dominating(found: Comparison) -> set[str]:
    """The ordered pairs in which the first curve dominates the second."""
    assert found.dominance is not None
    pairs = zip(found.dominance.curve, found.dominance.over, found.dominance.dominates.tolist(), strict=True)
    return {one + other for one, other, dominates in pairs if dominates}


# Two curves that cross once: tp = 2 + fp/2 and tp = 2 fp, at fp = 4/3 and tp = 8/3.
EARLY, LATE = rows([(2, 0)]), rows([(4, 2)])


def test_curves_that_cross_once() -> None:
    found = compared(a=EARLY, b=LATE)
    assert found.names == ("a", "b")
    assert (found.positives, found.negatives) == (4, 4)
    assert listed(found.best_roc) == [(0, 1 / 3, "a"), (1 / 3, 1, "b")]
    assert listed(found.best_pr) == [(0, 2 / 3, "a"), (2 / 3, 1, "b")]
    assert dominating(found) == set()
    assert [areas.roc for areas in found.auc] == [0.75, 0.75]
    assert found.warnings == ()


def test_dominance_lists_every_ordered_pair() -> None:
    found = compared(a=LATE, b=rows([]), c=LATE)
    assert found.dominance is not None
    assert found.dominance.curve == ("a", "a", "b", "b", "c", "c")
    assert found.dominance.over == ("b", "c", "a", "c", "a", "b")
    assert found.dominance.dominates.tolist() == [True, True, False, False, True, True]
    assert listed(found.best_roc) == listed(found.best_pr) == [(0, 1, "ac")]


def test_joint_hull_names_all_suppliers_and_the_first_ones_threshold() -> None:
    a = Rows([2, 2, 3], [0, 0, 3], 4, 4, [0.9, 0.8, 0.7])
    b = Rows([2, 4], [0, 2], 4, 4, [12.0, 11.0])
    hull = compared(a=a, b=b).joint_hull
    assert hull.tp.tolist() == [0, 2, 4, 4]
    assert hull.fp.tolist() == [0, 0, 2, 4]
    assert hull.tpr.tolist() == [0, 0.5, 1, 1]
    assert hull.fpr.tolist() == [0, 0, 0.5, 1]
    assert hull.suppliers == (("a", "b"), ("a", "b"), ("b",), ("a", "b"))
    np.testing.assert_array_equal(hull.threshold, [math.nan, 0.9, 11.0, math.nan])


def test_best_tradeoffs_of_two_rows() -> None:
    # Precision 1 and recall 1/2, against precision 2/3 and recall 1; worked out on paper:
    # 1 - l/2 = 2/3 + l/3;  1 + l = 3/2 - l/2;  l log 2 = (1 - l) log 3/2;  1 + 2 l = 3/2 on the left half.
    found = compared(a=EARLY, b=LATE).best_tradeoff
    places = {"kulczynski": 0.4, "f_measure": 1 / 3, "fowlkes_mallows": math.log(1.5) / math.log(3), "jaccard": 0.25}
    assert list(found) == list(places)
    for index, best in found.items():
        (start, middle, first), (again, end, second) = listed(best)
        assert (start, end, first, second) == (0, 1, "a", "b")
        assert middle == again == pytest.approx(places[index], abs=1e-12)


def test_indices_answer_what_was_asked() -> None:
    curves = {"a": EARLY.counts(), "b": LATE.counts()}
    found = evaluate_comparison(curves, frozenset({"jaccard", "kulczynski"}))
    assert list(found.best_tradeoff) == ["kulczynski", "jaccard"]


def test_samples_and_counts_side_by_side() -> None:
    # The sample's rows are (1, 0), (2, 0), (2, 1), ...: both curves have (2, 0) and all that follow.
    sample = Data([8, 7, 6, 5, 4, 3, 2, 1], [True, True, False, False, True, True, False, False])
    found = compared(a=sample, b=EARLY)
    assert found.joint_hull.suppliers[1] == ("a", "b")
    assert found.joint_hull.threshold.tolist()[1] == 7.0
    assert listed(found.best_roc) == [(0, 0.5, "b"), (0.5, 1, "a")]


@pytest.mark.parametrize(
    ("third", "evaluation"),
    [(rows([], 4, 5), 2), (rows([], 5, 4), 2), (rows([], 4, 4.000000000000001), 2), (rows([], 8, 8), 2)],
)
def test_totals_must_be_equal(third: Rows, evaluation: int) -> None:
    with pytest.raises(TotalsDiffer) as raised:
        compared(a=EARLY, b=LATE, c=third, d=rows([], 3, 3))
    assert raised.value.evaluation == evaluation
    assert isinstance(raised.value, DomainError)
    assert raised.value.detail


def test_a_set_that_is_not_a_sweep() -> None:
    found = compared(a=EARLY, b=rows([(3, 1), (2, 2)]))
    assert (found.dominance, found.best_roc, found.best_pr) == (None, None, None)
    assert [warning.code for warning in found.warnings] == ["not_a_sweep"]
    assert found.auc[0].roc == 0.75
    assert (found.auc[1].roc, found.auc[1].pr, found.auc[1].pr_trapezoid, found.auc[1].average_precision) == (None,) * 4
    assert found.auc[1].roc_hull == 0.75
    assert found.joint_hull.suppliers == (("a", "b"), ("a",), ("b",), ("a", "b"))
    # Precision 1, 3/4, 1/2 and recall 1/2, 3/4, 1: a straight line that ends in (P, N) for both.
    assert listed(found.best_tradeoff["kulczynski"]) == [(0, 0.5, "a"), (0.5, 1, "ab")]


def test_trapezoids_left_out_are_warned_of_once() -> None:
    half = Rows([0.5], [1], 4, 4)
    assert [warning.code for warning in compared(a=half, b=half, c=EARLY).warnings] == ["pr_trapezoid_omitted"]
    no_sweep = rows([(3, 1), (2, 2)])
    codes = {warning.code for warning in compared(a=half, b=no_sweep).warnings}
    assert codes == {"not_a_sweep", "pr_trapezoid_omitted"}


def test_a_trapezoid_that_no_sweep_has_is_not_left_out() -> None:
    no_sweep = Rows([2.5, 1], [1, 2], 4, 4)
    assert [warning.code for warning in compared(a=EARLY, b=no_sweep).warnings] == ["not_a_sweep"]


STAIRS = ([(k, k // 2 * 2 + 1) for k in range(1, 20)], [(k, (k + 1) // 2 * 2) for k in range(1, 20)])
"""Two lattice paths that take turns at being ahead."""

AHEAD = rows([(0, HALF), (80, HALF + 8)], 100, LARGEST)
BRIEFLY_AHEAD = rows([(0, HALF), (27, HALF + 3), (42, HALF + 4), (45, HALF + 5)], 100, LARGEST)
"""The second is ahead only from fp = 2^52 + 3.6 to 2^52 + 4 + 2/7; there, one count in 2^53 is one ulp of fpr."""

TIES = {
    "identical": [EARLY, EARLY],
    "identical but for rows on a line": [rows([(2, 2)], 8, 8), rows([(1, 1), (2, 2), (4, 4)], 8, 8), rows([], 8, 8)],
    "identical but for rows on a vertical step": [rows([(1, 1), (4, 1)]), rows([(1, 1), (2, 1), (3, 1), (4, 1)])],
    "identical but for rows on a level step": [rows([(2, 0), (2, 3)]), rows([(2, 0), (2, 1), (2, 3)])],
    "identical but for repeated rows": [rows([(2, 1)]), rows([(2, 1), (2, 1), (0, 0), (4, 4)])],
    "shared prefix": [rows([(2, 0), (3, 1)]), rows([(2, 0), (3, 1), (3, 3)]), rows([(2, 0), (3, 1), (4, 2)])],
    "shared suffix": [rows([(1, 0), (3, 2), (4, 3)]), rows([(0, 1), (3, 2), (4, 3)])],
    "shared middle": [rows([(2, 0), (2, 2), (3, 3)]), rows([(1, 1), (2, 1), (2, 2), (3, 3), (4, 3)])],
    "a row on the other's segment, beneath elsewhere": [rows([(4, 4)], 8, 8), rows([(1, 2), (4, 4), (5, 6)], 8, 8)],
    "a row on the other's segment, crossing": [rows([(4, 4)], 8, 8), rows([(1, 2), (4, 4), (6, 5)], 8, 8)],
    "corner touches corner": [rows([(2, 1), (4, 3)]), rows([(1, 1), (2, 1), (2, 3)]), rows([(0, 1), (2, 1), (3, 3)])],
    "crossing at a row of both": [rows([(3, 1), (4, 5)], 8, 8), rows([(1, 1), (4, 5), (7, 6)], 8, 8)],
    "crossing at a row of one": [rows([(3, 1), (7, 5)], 8, 8), rows([(4, 0), (5, 3), (5, 6)], 8, 8)],
    "three through one point": [
        rows([(6, 0)], 12, 12),
        rows([(8, 4)], 12, 12),
        rows([(4, 0), (8, 4), (10, 4)], 12, 12),
    ],
    "three through one point between rows": [
        rows([(2, 0), (10, 8)], 12, 12),
        rows([(4, 0), (8, 8)], 12, 12),
        rows([(0, 0), (12, 8)], 12, 12),
    ],
    "up at once, right at once": [rows([(4, 0)]), rows([(0, 4)]), rows([(0, 1), (4, 1)]), rows([(3, 0), (3, 4)])],
    "leading negatives": [rows([(0, 1)]), rows([(0, 2)]), rows([(0, 1), (0, 2)])],
    "trailing positives": [rows([(2, 4)]), rows([(3, 4)]), rows([(2, 4), (3, 4)])],
    "crossing in every interval": [rows(STAIRS[0], 20, 20), rows(STAIRS[1], 20, 20)],
    "two crossings within one count": [
        rows([(10, HALF), (20, HALF + 1)], 40, LARGEST),
        rows([(13, HALF), (17, HALF + 1)], 40, LARGEST),
        rows([(14, HALF), (14, HALF + 1)], 40, LARGEST),
    ],
    "ahead for less than an ulp": [AHEAD, BRIEFLY_AHEAD],
    "one count in 2^53 apart": [rows([(HALF, HALF)], LARGEST, LARGEST), rows([(HALF + 1, HALF)], LARGEST, LARGEST)],
    "nearly straight, at full size": [
        rows([(HALF // 2 + 1, HALF // 2), (HALF, HALF)], LARGEST, LARGEST),
        rows([(HALF // 3, HALF // 3), (HALF + 1, HALF + 1)], LARGEST, LARGEST),
    ],
}


@pytest.mark.parametrize("name", TIES)
def test_ties_are_brute_force(name: str) -> None:
    agree(TIES[name])


def test_an_interval_without_length_is_dropped_and_its_neighbours_are_one() -> None:
    assert listed(compared(a=AHEAD, b=BRIEFLY_AHEAD).best_roc) == [(0, 0.5, "ab"), (0.5, 1, "a")]


def test_a_touch_makes_no_interval() -> None:
    found = compared(a=rows([(4, 4)], 8, 8), b=rows([(1, 2), (4, 4), (5, 6)], 8, 8))
    assert listed(found.best_roc) == [(0, 1, "a")]
    assert listed(found.best_pr) == [(0, 1, "a")]
    assert dominating(found) == {"ab"}


def test_at_a_vertical_step_a_curve_is_at_its_top_right_after_it() -> None:
    # Both have tp = 1 up to fp = 2; there b rises to 3 and a to 2; a catches up at fp = 3.
    found = compared(a=rows([(1, 0), (1, 2), (2, 2), (3, 3)]), b=rows([(1, 0), (1, 2), (3, 2), (3, 3)]))
    assert listed(found.best_roc) == [(0, 0.5, "ab"), (0.5, 0.75, "b"), (0.75, 1, "ab")]
    assert listed(found.best_pr) == [(0, 0.5, "ab"), (0.5, 0.75, "b"), (0.75, 1, "ab")]
    assert dominating(found) == {"ba"}


def test_at_a_level_step_fp_is_the_least() -> None:
    # Both reach tp = 2 at fp = 1; b stays there until fp = 3, a does not.
    found = compared(a=rows([(2, 1)]), b=rows([(2, 1), (2, 3)]))
    assert listed(found.best_pr) == [(0, 0.5, "ab"), (0.5, 1, "a")]
    assert listed(found.best_roc) == [(0, 0.25, "ab"), (0.25, 1, "a")]
    assert dominating(found) == {"ab"}


def lattice(sample: Sample) -> tuple[np.ndarray, np.ndarray]:
    """With distinct scores, each row adds one count: tp on each (k, k + 1) of fp, and fp on each (k, k + 1) of tp."""
    ranked = sample.labels[np.argsort(-sample.scores)]
    return np.cumsum(ranked)[~ranked], np.cumsum(~ranked)[ranked]


def runs(best: np.ndarray) -> list[tuple[float, float, tuple[int, ...]]]:
    """Runs of equal columns in a boolean table (curves, steps): intervals of [0, 1], and the curves that are true."""
    steps = best.shape[1]
    starts = [0, *(np.flatnonzero((best[:, 1:] != best[:, :-1]).any(axis=0)) + 1).tolist()]
    return [
        (start / steps, end / steps, tuple(np.flatnonzero(best[:, start]).tolist()))
        for start, end in itertools.pairwise([*starts, steps])
    ]


@pytest.mark.parametrize(("curves", "size"), [(2, 100_000), (10, 10_000)])
def test_big_lattice_paths(curves: int, size: int) -> None:
    """Curves that meet thousands of times, against whole numbers, step by step."""
    random = np.random.default_rng(5)
    labels = random.random(size) < 0.3
    common = random.normal(size=size) + labels
    columns = [common + random.normal(size=size) / 4 for _ in range(curves)]
    entries = {str(k): Sample(column, labels) for k, column in enumerate(columns)}
    found = evaluate_comparison(entries)
    tops, lefts = (np.stack(side) for side in zip(*(lattice(sample) for sample in entries.values()), strict=True))
    for best, expected in ((found.best_roc, tops == tops.max(axis=0)), (found.best_pr, lefts == lefts.min(axis=0))):
        assert best is not None
        names = [tuple(int(name) for name in those) for those in best.best]
        assert list(zip(best.start.tolist(), best.end.tolist(), names, strict=True)) == runs(expected)
        assert len(names) > 100
    assert found.dominance is not None
    dominates = [bool((a <= b).all()) for a, b in itertools.permutations(lefts, 2)]
    assert found.dominance.dominates.tolist() == dominates
    beneath_the_hull(found, tops)
    best_rows_are_best(found, entries)


def beneath_the_hull(found: Comparison, tops: np.ndarray) -> None:
    """Check in whole numbers that the joint hull turns right at each vertex, and that no curve is above it."""
    tp, fp = found.joint_hull.tp.astype(np.int64), found.joint_hull.fp.astype(np.int64)
    rise, run = np.diff(tp), np.diff(fp)
    assert (rise[:-1] * run[1:] > rise[1:] * run[:-1]).all()
    places = np.arange(tops.shape[1])
    edge = np.searchsorted(fp, places, side="right") - 1
    edge = np.minimum(edge, run.size - 1)
    assert ((tops - tp[edge]) * run[edge] <= rise[edge] * (places - fp[edge])).all()


def best_rows_are_best(found: Comparison, entries: dict[str, Sample]) -> None:
    """Check that in the middle of each interval of f_measure, no row of any curve beats the best of those named."""
    tables = {}
    for name, sample in entries.items():
        ranked = sample.labels[np.argsort(-sample.scores)]
        tp = np.cumsum(ranked)
        tables[name] = tp, np.arange(1, tp.size + 1)
    for start, end, names in listed_names(found.best_tradeoff["f_measure"]):
        at = (start + end) / 2
        tops = {name: float((tp / (at * found.positives + (1 - at) * n)).max()) for name, (tp, n) in tables.items()}
        for name, top in tops.items():
            assert top == pytest.approx(max(tops.values()), rel=1e-12) if name in names else top < max(tops.values())


def listed_names(best: Best) -> list[tuple[float, float, tuple[str, ...]]]:
    """The intervals."""
    return list(zip(best.start.tolist(), best.end.tolist(), best.best, strict=True))


def test_big_slanted_curves() -> None:
    """Ten curves with many ties, and weights: in the middle of each interval, those named are ahead of the others."""
    size = 10_000
    random = np.random.default_rng(6)
    labels, weights = random.random(size) < 0.5, random.lognormal(size=size)
    common = random.normal(size=size) + labels
    entries = {str(k): Sample(np.round(common + random.normal(size=size) / 4, 3), labels, weights) for k in range(10)}
    found = evaluate_comparison(entries)
    for best, total, sign in ((found.best_roc, found.negatives, 1), (found.best_pr, found.positives, -1)):
        assert best is not None
        assert best.start.size > 100
        np.testing.assert_array_equal(best.start, np.concatenate(([0.0], best.end[:-1])))
        assert best.end[-1] == 1.0
        assert (best.start < best.end).all()
        middles = (best.start + best.end) / 2 * total
        heights = np.stack([sign * ordinate(sample, middles, sign) for sample in entries.values()])
        named = np.array([[name in names for names in best.best] for name in entries])
        short = heights < heights.max(axis=0) - 1e-9 * total
        assert not (named & short).any()
        assert named.any(axis=0).all()


def ordinate(sample: Sample, places: np.ndarray, sign: int) -> np.ndarray:
    """tp at these fp (sign 1), or fp at these tp (sign -1), along straight lines, in doubles."""
    order = np.argsort(-sample.scores, kind="stable")
    ends = np.append(np.flatnonzero(np.diff(sample.scores[order])), order.size - 1)
    assert sample.weights is not None
    sums = [np.cumsum(np.where(side, sample.weights, 0.0)[order])[ends] for side in (sample.labels, ~sample.labels)]
    tp, fp = (np.concatenate(([0.0], column)) for column in sums)
    out: np.ndarray = np.interp(places, fp, tp) if sign == 1 else np.interp(places, tp, fp)
    return out
