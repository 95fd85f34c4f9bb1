"""Score intervals of metrics of rows, of decisions and of points, and of net benefit: functions of recall and fpr.

A row is taken as given, as one chosen by a threshold or a budget. The best row was chosen on the same data, so an
interval there would be too high; with a tuning sample it was not. Knows decisions, points and models.
"""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import replace

import numpy as np

from service.curves.arrays import FloatArray, blocks
from service.curves.clock import in_time
from service.curves.confusion import ConfusionTable
from service.curves.decisions import Decided, Decision
from service.curves.errors import TooManyPoints, enumerated
from service.curves.evaluation import CurvesWarning
from service.curves.net_benefit import NetBenefit, NetBenefitOptions, rows_of_probabilities
from service.curves.points import Points
from service.curves.row_metrics import ROW_METRICS, Matrices
from service.curves.target_prevalence import TargetPrevalence
from service.inference.intervals import normal_quantile
from service.inference.models import SHARES_OF_A_ROW, EvaluatedModel
from service.inference.proportions import range_including, split, widened, wilson

MOST_POINTS = 2_000
"""The most points whose metrics get intervals."""

_AT_ONCE = 90
"""For this many rows, the values in all directions of the error stay in the processor's cache."""


def with_intervals(
    decided: Decided,
    decisions: Sequence[Decision],
    model: EvaluatedModel,
    level: float,
    *,
    tuned: bool = False,
    tunable: bool = False,
) -> tuple[Decided, tuple[CurvesWarning, ...]]:
    """Add the ends of intervals, NaN where there are none: without a value or enough examples, or at a best row.

    `model` has the table in whose rows the decisions are. `tuned` says that they were chosen on another sample, and
    `tunable` that they may be.
    """
    best = [] if tuned else [str(each) for each in decisions if each.best is not None]
    rows = [None if name in best else row for name, row in zip(decided.decision, decided.rows, strict=True)]
    ends = _ends_at(rows, decided.metrics, model, level)
    return replace(decided, ends=ends), ((_omitted_at(best, tunable=tunable),) if best else ())


def point_ends(points: Points, metrics: Iterable[str], model: EvaluatedModel, level: float) -> dict[str, FloatArray]:
    """The ends of the intervals of metrics at points of the model's table, {name: (2, n)}; NaN where there are none.

    Raises TooManyPoints.
    """
    if points.fpr.size > MOST_POINTS:
        detail = f"At most {MOST_POINTS:,} points get intervals of metrics, and there are {points.fpr.size:,}"
        raise TooManyPoints(f"{detail}: keep fewer, or name rows in decisions.", "metrics")
    rows = range(points.fpr.size) if points.rows is None else points.rows.tolist()
    values = {name: points.metrics[name] if name in points.metrics else getattr(points, name) for name in metrics}
    return _ends_at(rows, values, model, level)


def _ends_at(
    rows: Sequence[int | None], metrics: Mapping[str, FloatArray], model: EvaluatedModel, level: float
) -> dict[str, FloatArray]:
    """The ends of the intervals of metrics at rows of the model's table, as `score_ends`."""
    totals = (np.full(len(rows), total) for total in (model.table.positives, model.table.negatives))
    return score_ends(metrics, shares_at(model, rows), *totals, level=level, target=model.table.target)


def rows_applied(table: ConfusionTable, chosen: Decided, decisions: Sequence[Decision]) -> list[int | None]:
    """The rows of a table to which thresholds chosen on more rows lead; None where none was, and for the best."""
    nothing = np.isnan(chosen.threshold)
    rows = np.where(nothing, 0, table.rows_at(np.where(nothing, 0.0, chosen.threshold))).tolist()
    left_out = np.isnan(chosen.tp) | np.array([each.best is not None for each in decisions])
    return [None if out else row for out, row in zip(left_out.tolist(), rows, strict=True)]


def shares_at(model: EvaluatedModel, rows: Sequence[int | None]) -> FloatArray:
    """`EvaluatedModel.shares_of_rows` at rows of a model's table, (7, n).

    NaN for None, and all of them if there are too few examples for intervals.
    """
    found = np.full((SHARES_OF_A_ROW, len(rows)), np.nan)
    there = [place for place, row in enumerate(rows) if row is not None]
    if there and model.table.rises and model.strata.enough:
        found[:, there] = model.shares_of_rows(np.array([row for row in rows if row is not None]))
    return found


def score_ends(
    metrics: Mapping[str, FloatArray],
    shares: FloatArray,
    positives: FloatArray,
    negatives: FloatArray,
    *,
    level: float,
    target: TargetPrevalence | None = None,
) -> dict[str, FloatArray]:
    """The ends of the score intervals of metrics with these values, (2, n) each; NaN where shares or values are.

    `shares` are those of `shares_at`, the totals (n,). Precision, with 4 of 5 positives and 3 of 7 negatives called
    positive, has 0.3324 to 0.7924 at 95 %.
    """
    ends = {name: np.full((2, positives.size), np.nan) for name in metrics}
    z, clustered = normal_quantile(level), bool(np.isfinite(shares[[2, 5]]).any())
    ways, (of_recall, of_fpr) = split(1.0), split(z)
    known = np.flatnonzero(~np.isnan(shares[0]))
    for block in in_time(blocks(known.size, _AT_ONCE)):
        rows = known[block]
        recall, its_trials, freedom, fpr, trials_of_fpr, freedom_of_fpr, rho = shares[:, rows, None]
        if clustered:
            depth = widened(z, np.minimum(freedom, freedom_of_fpr))
            of_recall, of_fpr = depth * ways[0], depth * (rho * ways[0] + np.sqrt(1 - rho * rho) * ways[1])
        recalls, fprs = wilson(recall, its_trials, of_recall), wilson(fpr, trials_of_fpr, of_fpr)
        totals = positives[rows, None], negatives[rows, None]
        matrices = Matrices(recalls * totals[0], fprs * totals[1], *totals, target=target)
        alone = {"recall": recalls, "fpr": fprs}
        if clustered:
            of_one, of_other = widened(z, freedom) * ways[0], widened(z, freedom_of_fpr) * ways[1]
            alone = {"recall": wilson(recall, its_trials, of_one), "fpr": wilson(fpr, trials_of_fpr, of_other)}
        for name, values in metrics.items():
            around = alone[name] if name in alone else ROW_METRICS[name].value(matrices)
            ends[name][0, rows] = np.fmin(np.fmin.reduce(around, axis=1), values[rows])
            ends[name][1, rows] = np.fmax(np.fmax.reduce(around, axis=1), values[rows])
    for name, values in metrics.items():
        ends[name][:, np.isnan(values)] = np.nan
    return ends


def net_benefit_ends(
    found: NetBenefit, options: NetBenefitOptions, model: EvaluatedModel, level: float
) -> tuple[FloatArray, FloatArray]:
    """The ends of the score intervals of net benefits, (n,) each; NaN where there are none.

    π recall - (1 - π) fpr t/(1 - t), for all recalls and fprs that the data leave possible. At 0.5, with 4 of 5
    positives and 3 of 7 negatives called positive: -0.1891 to 0.2773 at 95 %.
    """
    z, ends = normal_quantile(level), np.full((2, found.threshold.size), np.nan)
    table = model.table
    share = options.prevalence or table.in_use.positives / (table.in_use.positives + table.in_use.negatives)
    if table.rises and model.strata.enough:
        for place, row in in_time(enumerate(rows_of_probabilities(table, found.threshold).tolist())):
            if row >= 0:
                both = model.shares_at(row)
                ways = split(widened(z, min(each.freedom for each in both.shares)), both.correlation)
                recall, fpr = (each.ends(way) for each, way in zip(both.shares, ways, strict=True))
                odds = found.threshold[place] / (1 - found.threshold[place])
                benefits = share * recall - (1 - share) * fpr * odds
                ends[:, place] = range_including(float(found.net_benefit[place]), benefits)
    return ends[0].copy(), ends[1].copy()


def _omitted_at(best: Sequence[str], *, tunable: bool) -> CurvesWarning:
    are = "interval is" if len(best) == 1 else "intervals are"
    detail = (
        f"The {are} null for {enumerated(best)}: chosen on the same data; {'send tuning, or ' * tunable}fix the "
        "threshold with at_threshold."
    )
    return CurvesWarning("interval_omitted", detail)
