"""Laws of curves side by side: everything against the exact brute force, and the paper's theorem 3.2."""

from __future__ import annotations

import itertools
import math
import random
from collections.abc import Sequence
from dataclasses import replace
from fractions import Fraction
from typing import TypeAlias

import numpy as np
import pytest
from hypothesis import currently_in_test_context, given, note
from hypothesis import strategies as st

from service.curves.comparison import Best, Comparison, evaluate_comparison
from service.curves.confusion import ConfusionTable
from service.curves.counts import Counts
from service.curves.evaluation import CurvesOptions, evaluate_curves
from service.curves.hull import roc_convex_hull
from service.curves.sample import Sample
from tests import reference_comparison
from tests.reference import Row, Table, correctly_rounded
from tests.reference_comparison import Interval
from tests.strategies import (
    LARGEST,
    Data,
    Rows,
    examples,
    plain_weights,
    samples,
    scores,
    tied_scores,
    wild_weights,
)

Entry: TypeAlias = Rows | Data
Pair: TypeAlias = tuple[int, int]

NAMES = "abcdef"
INDICES = ("kulczynski", "f_measure", "fowlkes_mallows", "jaccard")
TOLERANCE = 1e-12
FEW = 40
"""With no more positives and negatives than this, two breakpoints that are fractions differ by much more than 1e-12."""


def evaluations(entries: Sequence[Entry]) -> dict[str, Sample | Counts]:
    """The service's objects, by name."""
    pairs = zip(NAMES, entries, strict=False)
    return {name: entry.counts() if isinstance(entry, Rows) else entry.sample() for name, entry in pairs}


def table_of(evaluation: Sample | Counts) -> Table:
    """The reference's table of the doubles reported, which decide everything here; other tests prove them right."""
    curves = evaluate_curves(evaluation, CurvesOptions(include=frozenset({"points"})))
    assert curves.points is not None
    columns = (curves.points.tp.tolist(), curves.points.fp.tolist(), curves.points.threshold.tolist())
    rows = [
        Row(Fraction(tp), Fraction(fp), None if math.isnan(cut) else cut) for tp, fp, cut in zip(*columns, strict=True)
    ]
    return Table(tuple(rows), Fraction(curves.positives), Fraction(curves.negatives))


def compared(entries: Sequence[Entry]) -> Comparison:
    """The service's answer."""
    return evaluate_comparison(evaluations(entries))


def agree(entries: Sequence[Entry], indices: Sequence[str] = INDICES) -> Comparison:
    """Compare all with the reference: ends of intervals to the bit, those over lambda within 1e-12; hand it on."""
    named = evaluations(entries)
    tables = {name: table_of(evaluation) for name, evaluation in named.items()}
    if currently_in_test_context():
        note(f"{tables}")
    found = evaluate_comparison(named, frozenset(indices))
    assert found.names == tuple(named)
    assert found.positives == tables["a"].positives
    assert found.negatives == tables["a"].negatives
    curves = [evaluate_curves(evaluation, CurvesOptions(include=frozenset({"auc"}))) for evaluation in named.values()]
    assert found.auc == tuple(curve.auc for curve in curves)
    codes = {warning.code for curve in curves for warning in curve.warnings}
    assert sorted(warning.code for warning in found.warnings) == sorted(codes)
    if all(table.sweep for table in tables.values()):
        same_curves(found, tables)
    else:
        assert (found.dominance, found.best_roc, found.best_pr) == (None, None, None)
    same_hull(found, tables)
    assert tuple(found.best_tradeoff) == tuple(indices)
    for index, best in found.best_tradeoff.items():
        expected = reference_comparison.best_tradeoff(tables, index)
        same_tradeoff(intervals(best), expected)
        if tables["a"].whole and tables["a"].positives + tables["a"].negatives <= FEW and index != "fowlkes_mallows":
            assert [interval.best for interval in intervals(best)] == [interval.best for interval in expected]
    return found


def intervals(best: Best | None) -> list[Interval]:
    """The columns as intervals: of positive length, from 0 to 1 without a gap, neighbours with different best."""
    assert best is not None
    found = list(itertools.starmap(Interval, zip(best.start.tolist(), best.end.tolist(), best.best, strict=True)))
    assert found[0].start == 0.0
    assert found[-1].end == 1.0
    assert all(interval.start < interval.end for interval in found)
    assert all(a.end == b.start and a.best != b.best for a, b in itertools.pairwise(found))
    return found


def same_curves(found: Comparison, tables: dict[str, Table]) -> None:
    """Check dominance and both lists of intervals."""
    assert intervals(found.best_roc) == reference_comparison.best_roc(tables)
    assert intervals(found.best_pr) == reference_comparison.best_pr(tables)
    assert dominance(found) == {
        (one, other): reference_comparison.dominates(tables[one], tables[other])
        for one, other in itertools.permutations(tables, 2)
    }


def dominance(found: Comparison) -> dict[tuple[str, str], bool]:
    """Every ordered pair, in the order of evaluations, the dominating curve's first."""
    assert found.dominance is not None
    pairs = list(zip(found.dominance.curve, found.dominance.over, strict=True))
    assert pairs == list(itertools.permutations(found.names, 2))
    return dict(zip(pairs, found.dominance.dominates.tolist(), strict=True))


def same_hull(found: Comparison, tables: dict[str, Table]) -> None:
    """Check the joint hull's vertices, their rates, suppliers and thresholds."""
    expected = reference_comparison.joint_hull(tables)
    hull = found.joint_hull
    assert hull.tp.tolist() == [vertex.tp for vertex in expected]
    assert hull.fp.tolist() == [vertex.fp for vertex in expected]
    assert hull.tpr.tolist() == [correctly_rounded(vertex.tp / tables["a"].positives) for vertex in expected]
    assert hull.fpr.tolist() == [correctly_rounded(vertex.fp / tables["a"].negatives) for vertex in expected]
    assert hull.suppliers == tuple(vertex.suppliers for vertex in expected)
    cuts = [None if math.isnan(cut) else cut for cut in hull.threshold.tolist()]
    assert cuts == [vertex.threshold for vertex in expected]


def same_tradeoff(found: list[Interval], expected: list[Interval]) -> None:
    """Check who is best wherever an interval of the one and an interval of the other share more than 1e-12."""
    for one, other in itertools.product(found, expected):
        assert one.best == other.best or min(one.end, other.end) - max(one.start, other.start) <= TOLERANCE


# The curves that are compared.


def fresh(draw: st.DrawFn, positives: int, negatives: int, most: int) -> list[Pair]:
    """Rows (tp, fp) of any sweep, or of one that climbs by equal steps but for one count here and there."""
    kind = draw(st.sampled_from(["spread", "spread", "spread", "drawn", "line"]))
    size = draw(st.integers(0, most))
    if kind == "spread":
        chance = draw(st.randoms(use_true_random=True))
        tp = sorted(chance.randint(0, positives) for _ in range(most))
        fp = sorted(chance.randint(0, negatives) for _ in range(most))
    elif kind == "drawn":
        tp = sorted(draw(st.lists(st.integers(0, positives), min_size=size, max_size=size)))
        fp = sorted(draw(st.lists(st.integers(0, negatives), min_size=size, max_size=size)))
    else:
        steps = sorted(draw(st.lists(st.integers(0, 12), min_size=size, max_size=size)))
        ratio = draw(st.integers(1, 3))
        line = [(min(step * ratio, 12) * positives // 12, step * negatives // 12) for step in steps]
        return nudged(draw, line, positives, negatives)
    return list(zip(tp, fp, strict=True))


def nudged(draw: st.DrawFn, rows: list[Pair], positives: int, negatives: int) -> list[Pair]:
    """Each count moved by one at most, and still a sweep."""
    nudge = st.integers(-1, 1)
    tp = sorted(min(max(t + draw(nudge), 0), positives) for t, _ in rows)
    fp = sorted(min(max(f + draw(nudge), 0), negatives) for _, f in rows)
    return list(zip(tp, fp, strict=True))


def relative(draw: st.DrawFn, rows: list[Pair], positives: int, negatives: int) -> list[Pair]:
    """A curve that has much in common with another: a copy, with rows more or fewer, or one with a part of it."""
    ends = [(0, 0), *rows, (positives, negatives)]
    place = draw(st.integers(0, len(rows)))
    (s, e), (t, f) = ends[place : place + 2]
    kind = draw(st.sampled_from(["copy", "thin", "thick", "nudged", "prefix", "suffix", "step"]))
    if kind == "thin":
        rows = [row for row in rows if draw(st.booleans())]
    elif kind == "thick":
        pairs = [(a, b) for a, b in itertools.pairwise(ends) if (a[0] + b[0]) % 2 == (a[1] + b[1]) % 2 == 0]
        rows = sorted([*rows, *(((a[0] + b[0]) // 2, (a[1] + b[1]) // 2) for a, b in pairs)])
    elif kind == "nudged":
        rows = nudged(draw, rows, positives, negatives)
    elif kind == "prefix":
        rows = rows[:place] + [(s + up, e + right) for up, right in fresh(draw, positives - s, negatives - e, 3)]
    elif kind == "suffix":
        rows = fresh(draw, t, f, 3) + rows[place:]
    elif kind == "step":
        rows = sorted([*rows, (s, f), (t, f)])
    return rows


def rivals(draw: st.DrawFn, positives: int, negatives: int, most: int) -> list[Rows]:
    """Two to five sweeps over the same totals, many of them relatives of those before."""
    curves = [fresh(draw, positives, negatives, most)]
    for _ in range(draw(st.integers(1, 4))):
        if draw(st.sampled_from([False, False, True])):
            curves.append(relative(draw, draw(st.sampled_from(curves)), positives, negatives))
        else:
            curves.append(fresh(draw, positives, negatives, most))
    return [Rows([t for t, _ in rows], [f for _, f in rows], positives, negatives) for rows in curves]


@st.composite
def rival_sweeps(draw: st.DrawFn, total: int = 16) -> list[Rows]:
    """Small whole counts."""
    small, large = st.integers(1, 3), st.integers(total - 4, total)
    totals = draw(st.sampled_from([(large, large), (large, large), (small, large), (large, small)]))
    return rivals(draw, draw(totals[0]), draw(totals[1]), 8)


@st.composite
def rival_giants(draw: st.DrawFn) -> list[Rows]:
    """Counts up to 2^53, of both classes or of one."""
    many, few = st.integers(LARGEST - 3, LARGEST), st.integers(1, 40)
    totals = draw(st.sampled_from([(many, many), (many, many), (few, many), (many, few)]))
    return rivals(draw, draw(totals[0]), draw(totals[1]), 8)


@st.composite
def rival_fractions(draw: st.DrawFn) -> list[Rows]:
    """Counts that are no integers: what is straight or meets in one point among whole counts does so no more."""
    scale = st.sampled_from([0.1, 1 / 3, 0.7, 1e-100, 3e-16, 7e99])
    of_positives, of_negatives = draw(scale), draw(scale)
    return [
        Rows(
            [t * of_positives for t in rows.tp],
            [f * of_negatives for f in rows.fp],
            rows.positives * of_positives,
            rows.negatives * of_negatives,
        )
        for rows in draw(rival_sweeps())
    ]


@st.composite
def rival_scales(draw: st.DrawFn) -> list[Rows]:
    """Counts of every size down to the least double, the rows of one curve a little beside those of another."""
    chance = draw(st.randoms(use_true_random=True))
    total = st.sampled_from([1.0, 7e99, 1e150, 1e-150])
    positives, negatives = draw(total), draw(total)
    lowest = draw(st.sampled_from([-4, -40, -320]))
    shared = [[most * 10 ** chance.uniform(lowest, 0) for _ in range(6)] for most in (positives, negatives)]
    beside = [1.0, 1.0, 1 + 2.0**-52, 1 - 2.0**-40, 0.99, 0.5, 2.0]
    curves = []
    for _ in range(draw(st.integers(2, 4))):
        tp = sorted(min(count * chance.choice(beside), positives) for count in shared[0])
        fp = sorted(min(count * chance.choice(beside), negatives) for count in shared[1])
        curves.append(Rows(tp, fp, positives, negatives))
    return curves


@st.composite
def rival_samples(draw: st.DrawFn, weight: st.SearchStrategy[float] | None = None, most: int = 14) -> list[Data]:
    """Columns of scores over the same labels and weights; some are others with two rows changed about."""
    chance = draw(st.randoms(use_true_random=True))
    data = [draw(samples(score=draw(st.sampled_from([scores, tied_scores])), weight=weight, most=most))]
    size = len(data[0].scores)
    for _ in range(draw(st.integers(1, 4))):
        known = draw(st.sampled_from(data))
        kind = draw(st.sampled_from(["spread", "spread", "drawn", "changed"]))
        column = list(known.scores)
        if kind == "drawn":
            column = draw(st.lists(draw(st.sampled_from([scores, tied_scores])), min_size=size, max_size=size))
        elif kind == "spread":
            column = [chance.random() + label * chance.random() for label in known.labels]
        else:
            i, j = draw(st.integers(0, size - 1)), draw(st.integers(0, size - 1))
            column[i], column[j] = column[j], column[i]
        lower = known.lower_is_positive if kind == "changed" else draw(st.booleans())
        data.append(replace(known, scores=column, lower_is_positive=lower))
    return data


@st.composite
def rival_classifiers(draw: st.DrawFn) -> list[Rows]:
    """Sets of classifiers that no sweep could give, among others that one could."""
    entries = draw(rival_sweeps())
    positives, negatives = entries[0].positives, entries[0].negatives
    cells = st.lists(st.tuples(st.integers(0, positives), st.integers(0, negatives)), max_size=6)
    place = draw(st.integers(0, len(entries) - 1))
    rows = draw(cells)
    entries[place] = Rows([t for t, _ in rows], [f for _, f in rows], positives, negatives)
    return entries


any_rivals = st.one_of(rival_sweeps(), rival_giants(), rival_fractions(), rival_samples(), rival_samples(plain_weights))


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
    """The same where the doubles are no integers: they are exact numbers and decide."""
    agree(entries)


@examples(120)
@given(st.one_of(rival_samples(), rival_samples(plain_weights)))
def test_samples_are_brute_force(entries: list[Data]) -> None:
    """Columns of scores over shared labels, and weights; a curve's own direction."""
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
    # Three rows (tp, fp), in units, whose trade-off curves go through one point when there are 12 positives.
    "kulczynski": [(3, 0), (6, 2), (9, 9)],
    "f_measure": [(3, 1), (6, 3), (9, 5)],
    "fowlkes_mallows": [(3, 0), (6, 6), (12, 36)],
    "jaccard": [(3, 1), (6, 3), (9, 5)],
}


@pytest.mark.parametrize("nudge", [-1, 0, 1])
@pytest.mark.parametrize("power", [1, 3, 6, 8, 10, 12])
@pytest.mark.parametrize("index", INDICES)
def test_rows_nearly_equal_at_one_lambda_are_brute_force(index: str, power: int, nudge: int) -> None:
    """The row between is best nowhere, or on an interval ever shorter as the counts grow."""
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
def test_sets_that_are_no_sweep(entries: list[Rows]) -> None:
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
    """Equal curves dominate each other; and who dominates one that dominates a third dominates the third."""
    named = evaluations([*entries[:5], entries[0]])
    above = dominance(evaluate_comparison(named))
    assert above["a", NAMES[len(named) - 1]]
    assert above[NAMES[len(named) - 1], "a"]
    for one, two, three in itertools.permutations(named, 3):
        assert above[one, three] or not (above[one, two] and above[two, three])


@examples(60)
@given(any_rivals)
def test_a_dominating_curve_is_best_everywhere(entries: list[Entry]) -> None:
    """Who dominates all others is named wherever anybody is, and no area of theirs along the rows is greater."""
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
