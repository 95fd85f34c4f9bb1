"""Laws of comparisons: everything against exact brute force, and the paper's theorem 3.2."""

from __future__ import annotations

import itertools
import random
from dataclasses import replace
from itertools import product

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from service.curves.comparison import evaluate_comparison
from service.curves.confusion import ConfusionTable
from service.curves.counts import Counts
from service.curves.hull import roc_convex_hull
from tests import reference_comparison
from tests.properties.comparison_agreement import (
    INDICES,
    NAMES,
    Entry,
    agree,
    compared,
    dominance,
    evaluations,
    intervals,
    table_of,
)
from tests.properties.rivals import (
    any_rivals,
    rival_classifiers,
    rival_fractions,
    rival_giants,
    rival_samples,
    rival_scales,
    rival_sweeps,
)
from tests.support.sampling import some
from tests.support.strategies import (
    Data,
    Rows,
    examples,
    plain_weights,
    wild_weights,
)


@examples(150)
@given(rival_sweeps())
def test_small_counts_are_brute_force(entries: list[Rows]) -> None:
    """'Exact crossings, ties name all'; dominance 'decided exactly'; the joint hull and its suppliers."""
    agree(entries)


@examples(150)
@given(rival_giants())
def test_big_counts_are_brute_force(entries: list[Rows]) -> None:
    """The same up to 2^53, where products of four counts decide; every end is the correctly rounded double."""
    agree(entries)


@examples(100)
@given(rival_fractions())
def test_fractional_counts_are_brute_force(entries: list[Rows]) -> None:
    """The same for counts that are not integers: the doubles are exact numbers, and decide."""
    agree(entries)


@examples(120)
@given(st.one_of(rival_samples(), rival_samples(plain_weights)))
def test_samples_are_brute_force(entries: list[Data]) -> None:
    """Columns of scores over shared labels and weights; each curve has its own direction."""
    agree(entries)


@examples(80)
@given(rival_samples(wild_weights))
def test_wild_weights_are_brute_force(entries: list[Data]) -> None:
    """Weights from 5e-324 to 1e100 in one column: totals are equal whatever the order of the rows."""
    agree(entries)


@examples(100)
@given(rival_scales())
def test_counts_of_any_scale_are_brute_force(entries: list[Rows]) -> None:
    """Classes' totals anywhere in 1e-150..1e150 and counts down to 5e-324, crossings among them."""
    agree(entries, indices=())


STRAIGHT = {
    # Three rows (tp, fp), in units, whose trade-off curves meet in one point if there are 12 positives.
    "kulczynski": [(3, 0), (6, 2), (9, 9)],
    "f_measure": [(3, 1), (6, 3), (9, 5)],
    "fowlkes_mallows": [(3, 0), (6, 6), (12, 36)],
    "jaccard": [(3, 1), (6, 3), (9, 5)],
}


@pytest.mark.parametrize(("index", "power", "nudge"), some(product(INDICES, [1, 3, 6, 8, 10, 12], [-1, 0, 1]), 5))
def test_rows_nearly_equal_at_one_lambda_are_brute_force(index: str, power: int, nudge: int) -> None:
    """The row between is best nowhere, or on an interval that shrinks as the counts grow."""
    unit = 10**power
    rows = [(t * unit, f * unit) for t, f in STRAIGHT[index]]
    rows[1] = (rows[1][0] + nudge, rows[1][1])
    agree([Rows([t], [f], 12 * unit, 600 * unit) for t, f in rows], indices=(index,))


TINY = {
    # The first curve is best up to lambda 1/1075 (5e-324 is 2^-1074); 1/3; and a little before 1/3.
    "a recall of 2^-1074": ("fowlkes_mallows", [Rows([5e-324], [0], 1, 1), Rows([], [], 1, 1)]),
    "beside all of tiny classes": (
        "kulczynski",
        [Rows([1e-290], [1e-310], 1e-150, 1e-150), Rows([], [], 1e-150, 1e-150)],
    ),
    "beside another": ("kulczynski", [Rows([1e-300], [1e-310], 1, 1), Rows([2e-300], [5e-310], 1, 1)]),
}


@pytest.mark.parametrize("name", TINY)
def test_tradeoffs_of_tiny_counts_are_brute_force(name: str) -> None:
    """A row of precision 1 is best at lambda 0, however small its counts."""
    index, entries = TINY[name]
    agree(entries, indices=(index,))


@examples(80)
@given(rival_classifiers())
def test_sets_that_are_not_a_sweep(entries: list[Rows]) -> None:
    """'With a set that is not a sweep among them: only areas, joint_hull and best_tradeoff; the rest null.'"""
    agree(entries)


@examples(80)
@given(st.one_of(rival_samples(), rival_sweeps()))
def test_theorem_3_2(entries: list[Entry]) -> None:
    """'One curve dominates a second curve in ROC space if and only if the first dominates the second in PR space.'

    ROC space by the reference, from tp as a function of fp alone; PR space by the service.
    """
    tables = {name: table_of(evaluation) for name, evaluation in evaluations(entries).items()}
    for (one, other), found in dominance(compared(entries)).items():
        assert found == reference_comparison.dominates_in_roc_space(tables[one], tables[other])


@examples(60)
@given(any_rivals)
def test_dominance_is_an_order(entries: list[Entry]) -> None:
    """Equal curves dominate each other, and dominance is transitive."""
    named = evaluations([*entries[:5], entries[0]])
    above = dominance(evaluate_comparison(named))
    assert above["a", NAMES[len(named) - 1]]
    assert above[NAMES[len(named) - 1], "a"]
    for one, two, three in itertools.permutations(named, 3):
        assert above[one, three] or not (above[one, two] and above[two, three])


@examples(60)
@given(any_rivals)
def test_a_dominating_curve_is_best_everywhere(entries: list[Entry]) -> None:
    """A curve that dominates all others is among the best everywhere, and no other curve has a larger area than it."""
    found = compared(entries)
    areas = dict(zip(found.names, found.auc, strict=True))
    above = dominance(found)
    for (one, other), dominates in above.items():
        if dominates:
            for area, slack in (("roc", 1.0), ("pr", 1 - 1e-12)):
                assert getattr(areas[one], area) >= getattr(areas[other], area) * slack
            for interval in [*intervals(found.best_roc), *intervals(found.best_pr)]:
                assert one in interval.best or other not in interval.best
    for one in found.names:
        if all(above[one, other] for other in found.names if other != one):
            assert all(one in interval.best for interval in [*intervals(found.best_roc), *intervals(found.best_pr)])


@examples(60)
@given(any_rivals)
def test_the_joint_hull_dominates_all(entries: list[Entry]) -> None:
    """'The convex hull dominates all other curves that could be constructed with those points' (corollary 3.1).

    It is the hull of all rows in one set, and every supplier has the row.
    """
    named = evaluations(entries)
    found = evaluate_comparison(named)
    hull = found.joint_hull
    own = {name: {(row.tp, row.fp) for row in table_of(evaluation).rows} for name, evaluation in named.items()}
    assert all(
        (t, f) in own[name] for t, f, names in zip(hull.tp, hull.fp, hull.suppliers, strict=True) for name in names
    )
    pool = np.array([[float(t), float(f)] for rows in own.values() for t, f in rows])
    table = ConfusionTable.from_counts(Counts(pool[:, 0], pool[:, 1], found.positives, found.negatives))
    vertices = roc_convex_hull(table)
    assert hull.tp.tolist() == table.tp[vertices].tolist()
    assert hull.fp.tolist() == table.fp[vertices].tolist()
    joint = Counts(hull.tp, hull.fp, found.positives, found.negatives)
    with_hull = evaluate_comparison({**named, "hull": joint})
    assert all(dominates for (one, _), dominates in dominance(with_hull).items() if one == "hull")
    for best in (with_hull.best_roc, with_hull.best_pr, *with_hull.best_tradeoff.values()):
        assert all("hull" in interval.best for interval in intervals(best))


@examples(60)
@given(any_rivals, st.randoms(use_true_random=False))
def test_order_permutes_names_only(entries: list[Entry], chance: random.Random) -> None:
    """Another order of the evaluations names the same curves in the same places."""
    named = evaluations(entries)
    names = list(named)
    chance.shuffle(names)
    one, other = evaluate_comparison(named), evaluate_comparison({name: named[name] for name in names})
    assert dict(zip(one.names, one.auc, strict=True)) == dict(zip(other.names, other.auc, strict=True))
    assert dominance(one) == dominance(other)
    for best, again in (
        (one.best_roc, other.best_roc),
        (one.best_pr, other.best_pr),
        *((one.best_tradeoff[index], other.best_tradeoff[index]) for index in INDICES),
    ):
        in_order = [replace(i, best=tuple(sorted(i.best, key=names.index))) for i in intervals(best)]
        assert in_order == intervals(again)
    assert one.joint_hull.tp.tolist() == other.joint_hull.tp.tolist()
    assert one.joint_hull.fp.tolist() == other.joint_hull.fp.tolist()
    suppliers = [tuple(sorted(those, key=names.index)) for those in one.joint_hull.suppliers]
    assert suppliers == list(other.joint_hull.suppliers)


@examples(60)
@given(any_rivals)
def test_a_copy_is_always_named_too(entries: list[Entry]) -> None:
    """'Ties name all.'"""
    named = evaluations(entries)
    found = evaluate_comparison({**named, "copy": named["a"]})
    best = [found.best_roc, found.best_pr, *found.best_tradeoff.values()]
    lists = [interval.best for those in best for interval in intervals(those)]
    assert all(("a" in names) == ("copy" in names) for names in [*lists, *found.joint_hull.suppliers])
    assert found.auc[0] == found.auc[-1]
