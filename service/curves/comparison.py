"""Several evaluations of one data set side by side: the operation behind `POST /v1/comparisons`.

    build the tables, which must have the same totals, and their hulls
    compare each pair of curves, in either plane: a curve dominates another that is never ahead of it
    a curve is best where no other is ahead of it
    join the rows of all hulls, and find the hull of these rows: it has the best row for each trade-off

Knows the other modules of this package; nothing of wire formats.
Sources: Davis & Goadrich 2006, section 3; Hanczar & Nadif 2014, section 5.2.
"""

import itertools
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass

import numpy as np

from service.curves.areas import Areas, areas
from service.curves.arrays import BoolArray, FloatArray
from service.curves.clock import in_time, still_time
from service.curves.confusion import ConfusionTable, Evaluation
from service.curves.counts import Counts
from service.curves.crossings import CurveComparison, compare_curves
from service.curves.decisions import DEFAULT_METRICS, Decided, Decision, decided, not_rows
from service.curves.drawing import DrawingOptions, DrawnTable
from service.curves.envelope import Frontier, envelope
from service.curves.errors import DomainError, NeedsExactGroups, TotalsDiffer, enumerated, plain
from service.curves.evaluation import CurvesWarning, below_chance, one_vs_rest, trapezoid_omitted
from service.curves.histogram import Histogram
from service.curves.hull import drop_collinear, roc_convex_hull
from service.curves.indices import INDICES
from service.curves.roc import fpr, tpr

Names = tuple[str, ...]

MOST_EVALUATIONS = 50
"""The most evaluations in one comparison; a set of them is the bits of one 64-bit integer, so fewer than 63."""


@dataclass(frozen=True, slots=True, eq=False)
class Dominance:
    """Every ordered pair of curves, as columns (n,): `dominates` says whether `curve` never has more fp than `over`."""

    curve: Names
    over: Names
    dominates: BoolArray


@dataclass(frozen=True, slots=True, eq=False)
class Best:
    """Adjacent intervals of a rate or of λ, (n,), each with the names of all curves that are best throughout it."""

    start: FloatArray
    end: FloatArray
    best: tuple[Names, ...]


@dataclass(frozen=True, slots=True, eq=False)
class JointHull:
    """The vertices of the joint ROC hull of all curves, as columns (n,), each with all the curves that have this row.

    The threshold is that of the first such curve.
    """

    fpr: FloatArray
    tpr: FloatArray
    tp: FloatArray
    fp: FloatArray
    suppliers: tuple[Names, ...]
    threshold: FloatArray


@dataclass(frozen=True, slots=True, eq=False)
class Comparison:
    """The answer; what exists only if all evaluations are sweeps is None otherwise.

    drawings   what a picture draws of each evaluation and of the joint hull, if one was requested.
    decisions  of each evaluation, if there are any.
    target     the prevalence where the models are used, if it was given.
    """

    positives: float
    negatives: float
    names: Names
    auc: tuple[Areas, ...]
    dominance: Dominance | None
    best_roc: Best | None
    best_pr: Best | None
    joint_hull: JointHull
    best_tradeoff: dict[str, Best]
    warnings: tuple[CurvesWarning, ...]
    drawings: tuple[DrawnTable, ...] | None = None
    decisions: tuple[Decided, ...] = ()
    target: float | None = None


def evaluate_comparison(
    evaluations: Mapping[str, Evaluation],
    indices: frozenset[str] = frozenset(INDICES),
    drawn: DrawingOptions | None = None,
    decisions: Sequence[Decision] = (),
    metrics: Iterable[str] | None = None,
) -> Comparison:
    """Compare 2 to MOST_EVALUATIONS evaluations. Raises TotalsDiffer, and RisingThresholds for counts.

    Each evaluation makes the decisions for itself.

    With 4 positives and 4 negatives, let one curve have a row with 3 tp and 1 fp, and another one with 4 tp and 2 fp.
    The first is best up to fpr 0.4 and recall 0.8, where they cross, the second beyond; neither dominates.
    """
    names, tables = tuple(evaluations), _tables(evaluations.values())
    hulls = [table.select(roc_convex_hull(table)) for table in in_time(tables)]
    joint, suppliers = _joint_hull(names, hulls)
    curves = [table.select(drop_collinear(table)) for table in in_time(tables) if table.rises]
    curves = curves if len(curves) == len(tables) else []
    best_roc = _best_of_curves(names, compare_curves(curves, "fp")) if curves else None
    over_tp = compare_curves(curves, "tp") if curves else None
    auc = tuple(areas(table, hull) for table, hull in in_time(zip(tables, hulls, strict=True)))
    given, all_tables = evaluations.values(), in_time([*tables, joint])
    rocs = [None if isinstance(of, Counts) else each.roc for each, of in zip(auc, given, strict=True)]
    warnings = one_vs_rest(*given) + _warnings(names, tables)
    chosen = _decisions(evaluations, tables, decisions, DEFAULT_METRICS if metrics is None else tuple(metrics))
    told = ((name, not_rows(decisions, each)) for name, each in zip(names, chosen, strict=bool(decisions)))
    warnings += tuple(CurvesWarning("threshold_not_a_row", f"{name}: {why}") for name, why in told if why)
    return Comparison(
        positives=joint.positives,
        negatives=joint.negatives,
        names=names,
        auc=auc,
        dominance=_dominance(names, over_tp) if over_tp else None,
        best_roc=best_roc,
        best_pr=_best_of_curves(names, over_tp) if over_tp else None,
        joint_hull=JointHull(fpr(joint), tpr(joint), joint.tp, joint.fp, suppliers, joint.thresholds),
        best_tradeoff=_best_tradeoff(joint, suppliers, indices),
        warnings=warnings + below_chance(rocs, names),
        decisions=chosen,
        target=None if joint.target is None else joint.target.share,
        drawings=None if drawn is None else tuple(DrawnTable.of(each, drawn) for each in all_tables),
    )


def _decisions(
    evaluations: Mapping[str, Evaluation],
    tables: Sequence[ConfusionTable],
    decisions: Sequence[Decision],
    metrics: Iterable[str],
) -> tuple[Decided, ...]:
    """The decisions of each evaluation; none if there are none."""
    given = zip(evaluations.values(), tables, strict=True) if decisions else ()
    return tuple(decided(decisions, metrics, evaluation, table) for evaluation, table in in_time(given))


def _tables(evaluations: Iterable[Evaluation]) -> list[ConfusionTable]:
    """Build the tables, which must have equal totals. An error about one of them gets its number."""
    tables: list[ConfusionTable] = []
    for number, evaluation in enumerate(in_time(evaluations)):
        try:
            if isinstance(evaluation, Histogram) and not evaluation.is_exact:
                raise NeedsExactGroups("Curves are compared row by row: groups need one score each.", "groups")
            table = ConfusionTable.of(evaluation)
            first = tables[0] if tables else table
            if (table.positives, table.negatives) != (first.positives, first.negatives):
                here, one = (f"{plain(of.positives)} and {plain(of.negatives)}" for of in (table, first))
                raise TotalsDiffer(
                    f"Positives and negatives are {here} here but {one} in the first: all must come from the same data."
                )
        except DomainError as error:
            error.evaluation = number
            raise
        tables.append(table)
    return tables


def _joint_hull(names: Names, hulls: list[ConfusionTable]) -> tuple[ConfusionTable, tuple[Names, ...]]:
    """The hull of all rows (equal to that of the single hulls' vertices), and the curves that have each of its rows."""
    owners = np.repeat(np.arange(len(hulls)), [hull.tp.size for hull in hulls])
    thresholds, tp, fp = (
        np.concatenate(columns)
        for columns in zip(*((hull.thresholds, hull.tp, hull.fp) for hull in hulls), strict=True)
    )
    order = np.lexsort((owners, tp, fp))
    totals = hulls[0].positives, hulls[0].negatives
    joined = ConfusionTable(thresholds[order], tp[order], fp[order], *totals, target=hulls[0].target)
    vertices = roc_convex_hull(joined)
    changes = np.flatnonzero((np.diff(joined.fp) != 0) | (np.diff(joined.tp) != 0)) + 1
    stops = np.append(changes, order.size)[np.searchsorted(changes, vertices, side="right")]
    runs = zip(vertices.tolist(), stops.tolist(), strict=True)
    return joined.select(vertices), tuple(tuple(names[owner] for owner in owners[order[a:b]]) for a, b in in_time(runs))


def _best_tradeoff(joint: ConfusionTable, suppliers: tuple[Names, ...], indices: frozenset[str]) -> dict[str, Best]:
    """For each index and interval of λ, the curves that have the best of all rows."""
    frontier = Frontier.of(joint)
    of_frontier = suppliers[1:]  # without the origin; rows after the frontier are not used
    best = {}
    for name, index in in_time(INDICES.items()):
        if name in indices:
            rows, start, end = envelope(frontier, index).intervals(0.0, 1.0)
            best[name] = _merged(start, end, [of_frontier[row] for row in rows])
    return best


def _merged(start: FloatArray, end: FloatArray, best: list[Names]) -> Best:
    """Join neighbouring intervals that have the same names."""
    first = [k for k in range(len(best)) if k == 0 or best[k] != best[k - 1]]
    return Best(start[first], end[[*(k - 1 for k in first[1:]), -1]], tuple(best[k] for k in first))


def _dominance(names: Names, pairs: CurveComparison) -> Dominance:
    """A curve dominates another if the other is never ahead of it."""
    dominates = np.ones((len(names), len(names)), dtype=np.bool_)
    dominates[pairs.second, pairs.first] = ~pairs.first_ever
    dominates[pairs.first, pairs.second] = ~pairs.second_ever
    ordered = list(itertools.permutations(range(len(names)), 2))
    return Dominance(
        tuple(names[a] for a, _ in ordered),
        tuple(names[b] for _, b in ordered),
        dominates[~np.eye(len(names), dtype=np.bool_)],
    )


def _best_of_curves(names: Names, pairs: CurveComparison) -> Best:
    """A curve is best where no other is ahead of it; a set of best curves is the bits of an integer."""
    ahead = np.flatnonzero(pairs.leader)
    pair = pairs.pair[ahead]
    behind = np.where(pairs.leader[ahead] > 0, pairs.first[pair], pairs.second[pair])
    at, place = np.unique(np.concatenate(([0.0, 1.0], pairs.start[ahead], pairs.end[ahead])), return_inverse=True)
    starts, ends = np.split(place[2:], 2)
    sets = np.zeros(at.size, dtype=np.int64)
    for number in range(len(names)):
        still_time()
        of = behind == number
        started, ended = (np.bincount(places[of], minlength=at.size) for places in (starts, ends))
        sets |= (np.cumsum(started - ended) == 0).astype(np.int64) << number
    members = {
        key: tuple(name for number, name in enumerate(names) if key >> number & 1)
        for key in in_time(set(sets.tolist()))
    }
    return _merged(at[:-1], at[1:], [members[key] for key in sets[:-1].tolist()])


def _warnings(names: Names, tables: list[ConfusionTable]) -> tuple[CurvesWarning, ...]:
    warnings = []
    unswept = [name for name, table in zip(names, tables, strict=True) if not table.rises]
    if unswept:
        warnings.append(
            CurvesWarning(
                "not_a_sweep",
                f"Between some rows of {enumerated(unswept)}, fp rises while tp falls, so no "
                "single sweep gives these rows and they form no curve. Their roc, pr, pr_trapezoid and "
                "average_precision are null, and so are dominance, best_roc and best_pr; hull areas, joint_hull and "
                "best_tradeoff are not.",
            )
        )
    omitted = (trapezoid_omitted(table) for table in tables if table.rises)
    return (*warnings, *dict.fromkeys(each for each in omitted if each is not None))
