"""Compares all results of an evaluation with the reference, each number within its own bound.

Integer counts: every rational number is the correctly rounded double, sums of quotients are within 4 ulp.
Weights and fractional counts: the sums are within 1 ulp, and everything else is within 4 ulp of exact arithmetic on the
doubles reported. Logarithms: within 1e-12 of 60-digit arithmetic, relative.
"""

from __future__ import annotations

import dataclasses
import math
from collections.abc import Sequence
from fractions import Fraction

import numpy as np
from hypothesis import currently_in_test_context, note

from service.curves.counts import Counts
from service.curves.evaluation import Curves, CurvesOptions, evaluate_curves
from service.curves.points import Points
from service.curves.pr import AtRecall, Every, PrCurve
from service.curves.sample import Sample
from service.curves.sweep.sweep import COMPILED
from tests import reference, reference_pr
from tests.reference import Row, Table, correctly_rounded, ulp_distance
from tests.reference_pr import AREAS, HULL_AREAS

ULPS = 4
ULPS_OF_THE_TWIN = 5
"""Of an area that is a fraction, without compiled loops."""
RELATIVE = 1e-12
ROUNDED_ONCE = ("roc", "roc_hull", "average_precision")
"""The areas that are the nearest doubles for whole counts."""


POINT_COLUMNS = ("threshold", "tp", "fp", "fn", "tn", "fpr", "tpr", "recall", "precision", "on_hull")


def columns(view: Points | PrCurve | None) -> dict[str, np.ndarray]:
    """The columns of an answer by their names."""
    assert view is not None
    if isinstance(view, Points):
        return {name: getattr(view, name) for name in POINT_COLUMNS} | dict(view.metrics)
    return {field.name: getattr(view, field.name) for field in dataclasses.fields(view)}


def agree(evaluation: Sample | Counts, table: Table, options: CurvesOptions | None = None) -> Curves:
    """Evaluate, compare every output with the reference's, and return the answer."""
    options = options or CurvesOptions()
    if currently_in_test_context():
        note(f"{table}")
    curves = evaluate_curves(evaluation, options)
    assert curves.points is not None
    whole = table.whole
    thinned = options.keep != "all"
    if not thinned:
        table = same_table(curves, table)
    elif not whole:
        full = evaluate_curves(evaluation, CurvesOptions(include=frozenset({"points"})))
        table = same_table(full, table)
    same_points(curves, table, options.keep, whole=whole)
    same_areas(curves, table, whole=whole)
    same_interpolations(curves, table, options.interpolation, whole=whole)
    return curves


def close(value: float | None, exact: Fraction | None, *, whole: bool, ulps: int = ULPS) -> bool:
    """Whether the double is the exact value rounded (whole counts), or within this many ulp of it."""
    if exact is None or value is None or math.isnan(value):
        return exact is None and (value is None or math.isnan(value))
    # The nearest double is within half an ulp, and checking that is cheaper than computing the distance.
    return value == correctly_rounded(exact) or (not whole and ulp_distance(value, exact) <= ulps)


def same_table(curves: Curves, table: Table) -> Table:
    """Check the rows against exact sums, and return the table of the reported doubles."""
    points = curves.points
    assert points is not None
    assert len(points.tp) == len(table.rows)
    limit = 0 if table.whole else 1
    rows = []
    for index, row in enumerate(table.rows):
        tp, fp, cut = float(points.tp[index]), float(points.fp[index]), float(points.threshold[index])
        assert ulp_distance(tp, row.tp) <= limit
        assert ulp_distance(fp, row.fp) <= limit
        if row.threshold is None:
            assert math.isnan(cut)
        else:
            assert (cut, math.copysign(1, cut)) == (row.threshold, math.copysign(1, row.threshold))
        rows.append(Row(Fraction(tp), Fraction(fp), row.threshold))
    assert ulp_distance(curves.positives, table.positives) <= limit
    assert ulp_distance(curves.negatives, table.negatives) <= limit
    reported = Table(tuple(rows), Fraction(curves.positives), Fraction(curves.negatives))
    assert (reported.rows[0].tp, reported.rows[0].fp) == (0, 0)
    assert (reported.rows[-1].tp, reported.rows[-1].fp) == (reported.positives, reported.negatives)
    assert reported.sweep == table.sweep
    return reported


def same_points(curves: Curves, table: Table, keep: str, *, whole: bool) -> None:
    """Check every column of `points`, for the rows that `keep` keeps."""
    points = curves.points
    assert points is not None
    hull = reference.on_hull(table)
    kept = {"all": [True] * len(hull), "corners": reference.corners(table), "hull": hull}[keep]
    rows = [(row, member) for row, member, stays in zip(table.rows, hull, kept, strict=True) if stays]
    assert len(rows) == len(points.tp)
    assert points.on_hull.tolist() == [member for _, member in rows]
    fn_bound = ULPS * Fraction(math.ulp(float(table.positives)))
    tn_bound = ULPS * Fraction(math.ulp(float(table.negatives)))
    found = columns(points)
    for index, (row, _) in enumerate(rows):
        value = {name: float(column[index]) for name, column in found.items()}
        assert value["tp"] == row.tp
        assert value["fp"] == row.fp
        for name, exact, bound in (
            ("fn", table.positives - row.tp, fn_bound),
            ("tn", table.negatives - row.fp, tn_bound),
        ):
            assert value[name] == correctly_rounded(exact) if whole else abs(Fraction(value[name]) - exact) <= bound
        assert value["tpr"] == value["recall"]
        assert close(value["recall"], row.tp / table.positives, whole=whole)
        assert close(value["fpr"], row.fp / table.negatives, whole=whole)
        assert close(value["precision"], reference_pr.row_precision(row), whole=whole)


def same_areas(curves: Curves, table: Table, *, whole: bool) -> None:
    """Check every area; those that need a sweep are null if the rows are none."""
    assert curves.auc is not None
    codes = {warning.code for warning in curves.warnings}
    assert ("not_a_sweep" in codes) == (not table.sweep)
    for name, area_of in AREAS.items():
        value = getattr(curves.auc, name)
        if not table.sweep and name not in HULL_AREAS:
            assert value is None, name
        elif name == "pr_trapezoid" and not has_trapezoid(table):
            assert value is None
            assert "pr_trapezoid_omitted" in codes
        elif name != "pr_trapezoid" or table.positives <= 10_000:  # the reference visits each positive
            exact = area_of(table)
            if isinstance(exact, Fraction):
                if COMPILED.path is None:
                    assert close(value, exact, whole=False, ulps=ULPS_OF_THE_TWIN), name
                else:
                    assert close(value, exact, whole=whole and name in ROUNDED_ONCE), name
            else:
                assert logarithm_close(value, exact), name


def has_trapezoid(table: Table) -> bool:
    """Whether the counts are whole, with few enough positives to visit each one."""
    return table.positives <= 10_000_000 and all(row.tp.denominator == row.fp.denominator == 1 for row in table.rows)


def logarithm_close(value: float | None, exact: object) -> bool:
    """Within 1e-12 of 60-digit arithmetic, relative."""
    return value is not None and bool(reference_pr.relative_error(value, exact) <= RELATIVE)


def same_interpolations(curves: Curves, table: Table, asked: Every | AtRecall | None, *, whole: bool) -> None:
    """Check both interpolated curves."""
    asked = asked or Every(reference_pr.default_every(table))
    if isinstance(asked, Every):
        assert isinstance(curves.interpolation, Every)
        assert curves.interpolation.every == asked.every
    else:
        assert isinstance(curves.interpolation, AtRecall)
        assert curves.interpolation.at_recall.tolist() == asked.at_recall.tolist()
    hull = reference.hull_table(table)
    same_curve(curves.achievable_pr, expected_curve(hull, asked), whole=whole)
    if table.sweep:
        same_curve(curves.interpolated_pr, expected_curve(table, asked), whole=whole)
    else:
        assert curves.interpolated_pr is None


def expected_curve(table: Table, asked: Every | AtRecall) -> list[reference_pr.Point]:
    """The reference's interpolation of a table."""
    if isinstance(asked, AtRecall):
        return reference_pr.interpolated_at_recall(table, asked.at_recall.tolist())
    return reference_pr.interpolated_every(table, asked.every)


def same_curve(curve: PrCurve | None, expected: Sequence[reference_pr.Point], *, whole: bool) -> None:
    """Check the columns of an interpolated curve."""
    found = columns(curve)
    assert set(found) == {"tp", "fp", "recall", "precision"}
    assert {len(column) for column in found.values()} == {len(expected)}
    for index, point in enumerate(expected):
        for name, column in found.items():
            value, exact = float(column[index]), getattr(point, name)
            assert close(value, exact, whole=whole), (name, index, value, correctly_rounded(exact))
