"""Compares a comparison with exact brute force; not a test by itself."""

from __future__ import annotations

import itertools
import math
from collections.abc import Sequence
from fractions import Fraction
from typing import TypeAlias

from hypothesis import currently_in_test_context, note

from service.curves.comparison import Best, Comparison, evaluate_comparison
from service.curves.counts import Counts
from service.curves.evaluation import CurvesOptions, evaluate_curves
from service.curves.sample import Sample
from tests import reference_comparison
from tests.reference import Row, Table, correctly_rounded
from tests.reference_comparison import Interval
from tests.support.strategies import Data, Rows, evaluation_of

Entry: TypeAlias = Rows | Data
Pair: TypeAlias = tuple[int, int]

NAMES = "abcdef"
INDICES = ("kulczynski", "f_measure", "fowlkes_mallows", "jaccard")
TOLERANCE = 1e-12
FEW = 40
"""Up to this many positives and negatives, different rational breakpoints differ by much more than 1e-12."""


def evaluations(entries: Sequence[Entry]) -> dict[str, Sample | Counts]:
    """The service's objects, by name."""
    return {name: evaluation_of(entry) for name, entry in zip(NAMES, entries, strict=False)}


def table_of(evaluation: Sample | Counts) -> Table:
    """The reference's table, made of the reported doubles: here they decide everything, and other tests check them."""
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
    """Compare everything: ends of intervals bit for bit, those over lambda within 1e-12; return the answer."""
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
    pairs = zip(found.auc, named.values(), strict=True)
    rocs = [areas.roc for areas, given in pairs if not isinstance(given, Counts) and areas.roc is not None]
    codes |= {"below_chance"} if min(rocs, default=1) < 0.5 else set()
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
    """The columns as intervals: of positive length, from 0 to 1 without gaps, neighbours with different `best`."""
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
    """Every ordered pair, in the order of evaluations, the dominating curve first."""
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
    """Check which are best wherever an interval of the answer and one of the reference share more than 1e-12."""
    for one, other in itertools.product(found, expected):
        assert one.best == other.best or min(one.end, other.end) - max(one.start, other.start) <= TOLERANCE
