"""`POST /v1/comparisons`: several evaluations of one data set side by side."""

from collections.abc import Sequence
from dataclasses import asdict, fields, replace
from typing import Any

import numpy as np

from service.curves.comparison import Best, Comparison, evaluate_comparison
from service.curves.evaluation import NOT_A_SWEEP, CurvesWarning
from service.inference.differences import (
    AreaDifference,
    AreaInterval,
    ComparisonWithDifferences,
    evaluate_differences,
)
from service.inference.estimates import far_prevalence
from service.inference.models import EvaluatedModel
from service.operations.operation import Operation, Selection
from service.operations.row_cells import DECISIONS, METRIC_CELLS_WITH_ENDS, decision_columns
from service.operations.shared_cells import (
    AREA_CELLS,
    CLUSTERS_OBJECT,
    DESIGN_EFFECT,
    INDEX_KEY,
    INDEX_NAMES,
    PREVALENCE_VALUE,
)
from service.wire.answers.parts import ABSENT, AnswerTable, AnswerValue, Cells, Part, StackedTable, tables_of
from service.wire.answers.repeated_names import refuse_many_best
from service.wire.formats.inputs import SAMPLE
from service.wire.formats.tables import COMPARED, TableForm, as_evaluations
from service.wire.limits import Limits
from service.wire.requests.comparisons_schemas import ComparisonsRequest, ComparisonsRequestSchema
from service.wire.requests.query_fields import query_fields


def _areas(found: Comparison) -> dict[str, Any]:
    rows = [asdict(areas) for areas in found.auc]
    return {"name": found.names} | {area.name: [row[area.name] for row in rows] for area in AREA_CELLS}


def _best(rate: str, best: Best | None) -> dict[str, Any] | None:
    return None if best is None else {f"{rate}_from": best.start, f"{rate}_to": best.end, "best": best.best}


def _of_intervals(rate: str, called: str, of_best: str) -> tuple[Cells, ...]:
    return (
        Cells.number(f"{rate}_from", f"The lowest {called} of the interval."),
        Cells.number(f"{rate}_to", f"The highest {called} of the interval."),
        Cells.names("best", f"The names of all classifiers {of_best}."),
    )


def _evaluate(checked: ComparisonsRequest, selection: Selection, limits: Limits) -> Comparison:
    wanted = selection.picture is None and selection.has("decisions")
    decisions = checked.decisions if wanted else ()
    comparison = evaluate_comparison(
        checked.evaluations, checked.indices, selection.drawing, decisions, checked.metrics
    )
    refuse_many_best(comparison, limits)
    first = next(iter(checked.evaluations.values()))
    if first.target is not None:
        model = EvaluatedModel.of(first)
        told = tuple(far_prevalence(model.strata)) if model.table.rises else ()
        comparison = replace(comparison, warnings=comparison.warnings + told)
    if checked.differences is None:
        return comparison
    found = evaluate_differences(checked.evaluations, checked.differences, decisions, comparison.decisions)
    parts = {each.name: getattr(comparison, each.name) for each in fields(Comparison)} | {"decisions": found.decisions}
    of_areas = (_also_of_intervals(each) if each.code == NOT_A_SWEEP.code else each for each in comparison.warnings)
    of_differences = (each for each in found.warnings if each != NOT_A_SWEEP)  # which names no evaluation
    warnings = tuple(dict.fromkeys((*of_areas, *of_differences)))
    return ComparisonWithDifferences(**parts | {"warnings": warnings}, differences=found)


def _also_of_intervals(warning: CurvesWarning) -> CurvesWarning:
    return replace(warning, detail=f"{warning.detail} Intervals and differences of these areas are null, too.")


def _clusters(found: Comparison) -> Any:  # noqa: ANN401  # an object, or ABSENT
    of = found.differences if isinstance(found, ComparisonWithDifferences) else None
    return ABSENT if of is None or of.clusters is None else of.clusters


def _intervals(found: Comparison) -> Any:  # noqa: ANN401  # columns by name, or ABSENT
    if not isinstance(found, ComparisonWithDifferences) or found.differences is None:
        return ABSENT
    rows = found.differences.intervals
    named = {"name": [each.name for each in rows], "area": [each.area for each in rows]}
    return named | _ends(rows, clustered=found.differences.clusters is not None)


def _differences(found: Comparison) -> Any:  # noqa: ANN401  # columns by name, or ABSENT
    if not isinstance(found, ComparisonWithDifferences) or found.differences is None:
        return ABSENT
    rows = found.differences.differences
    named = {name: [getattr(each, name) for each in rows] for name in ("name", "against", "area", "difference")}
    tested = {name: [getattr(each, name) for each in rows] for name in ("p_value", "p_value_adjusted")}
    return named | _ends(rows, clustered=found.differences.clusters is not None) | tested


def _decisions(found: Comparison) -> Any:  # noqa: ANN401  # columns by name, or ABSENT
    if not found.decisions:
        return ABSENT
    tables = [decision_columns(each) for each in found.decisions]
    names = [name for name, table in zip(found.names, tables, strict=True) for _ in table["decision"]]
    words = [word for table in tables for word in table["decision"]]
    numbers = {name: np.concatenate([table[name] for table in tables]) for name in tables[0] if name != "decision"}
    return {"name": names, "decision": words} | numbers


def _ends(rows: Sequence[AreaInterval | AreaDifference], *, clustered: bool) -> dict[str, Any]:
    """The columns of the intervals of some rows."""
    names = (*_INTERVAL_COLUMNS, *([DESIGN_EFFECT.name] * clustered))
    return {name: [getattr(each.interval, name, None) for each in rows] for name in names}


_INTERVAL_COLUMNS = ("lower", "upper", "level", "method", "standard_error")


def _end_cells(of: str) -> tuple[Cells, ...]:
    return (
        Cells.number("lower", f"The lower end of the interval of {of}; `null` if it has none.", null=True),
        Cells.number("upper", "The upper end.", null=True),
        Cells.exact("level", "The two-sided confidence level.", null=True),
        Cells.text("method", "How it was computed, as in the intervals of curves.", null=True),
        Cells.number("standard_error", "The standard error; `null` if the method has none.", null=True),
        DESIGN_EFFECT,
    )


_ANSWER: tuple[Part, ...] = (
    AnswerValue(
        "positives",
        "The number of positives, the same for every classifier; with weights, their total weight.",
        lambda found: found.positives,
        kind="count",
    ),
    AnswerValue(
        "negatives",
        "The number of negatives, the same for every classifier; with weights, their total weight.",
        lambda found: found.negatives,
        kind="count",
    ),
    PREVALENCE_VALUE,
    replace(
        CLUSTERS_OBJECT,
        of=_clusters,
        about="With `intervals`, how many clusters there are in the first evaluation that has some.",
        component="ComparedClusters",
    ),
    AnswerTable(
        "auc",
        "The areas of each classifier, one row each, in the order of the evaluations. The schema `Areas` describes "
        "them.",
        _areas,
        component="ComparedAreas",
        columns=(
            Cells.text("name", "The name of the classifier."),
            Cells.number("roc", "The area under its ROC curve; `null` if its counts are not a sweep.", null=True),
            Cells.number("roc_hull", "The area under its ROC convex hull."),
            Cells.number(
                "pr", "The area under its precision-recall curve; `null` if its counts are not a sweep.", null=True
            ),
            Cells.number(
                "pr_trapezoid",
                "The same by trapezoids; `null` if its counts are not a sweep, not whole, or there are more than 1e7 "
                "positives.",
                null=True,
            ),
            Cells.number("pr_achievable", "The area under its achievable precision-recall curve."),
            Cells.number(
                "average_precision",
                "The sum of (gain in recall) times (precision); `null` if its counts are not a sweep.",
                null=True,
            ),
        ),
    ),
    AnswerTable(
        "dominance",
        "For every ordered pair of classifiers, whether the first one's curve is nowhere below the second one's, in "
        "ROC space and equivalently in precision-recall space. Decided exactly. `null` if some counts are not a sweep.",
        lambda found: found.dominance,
        null=True,
        columns=(
            Cells.text("curve", "The name of the classifier whose curve may dominate."),
            Cells.text("over", "The name of the other classifier."),
            Cells.flag(
                "dominates",
                "Whether at every number of true positives the first has no more false positives than the other.",
            ),
        ),
    ),
    AnswerTable(
        "best_roc",
        "Which ROC curves are highest where: intervals of the false positive rate in rising order, from 0 to 1 without "
        "gaps. At a vertical step a curve is as high as its top. `null` if some counts are not a sweep.",
        lambda found: _best("fpr", found.best_roc),
        null=True,
        columns=_of_intervals(
            "fpr",
            "false positive rate",
            "whose true positive rate is greatest throughout the interval, except perhaps at its ends",
        ),
    ),
    AnswerTable(
        "best_pr",
        "Which precision-recall curves are highest where: intervals of recall in rising order, from 0 to 1 without "
        "gaps. Precision is greatest where false positives are fewest. `null` if some counts are not a sweep.",
        lambda found: _best("recall", found.best_pr),
        null=True,
        columns=_of_intervals(
            "recall", "recall", "whose precision is greatest throughout the interval, except perhaps at its ends"
        ),
    ),
    AnswerTable(
        "joint_hull",
        "The vertices of the ROC convex hull of the rows of all classifiers together, from (0, 0) to (positives, "
        "negatives). Rows on an edge between two vertices are not listed.",
        lambda found: found.joint_hull,
        columns=(
            Cells.number("fpr", "False positive rate, fp / negatives."),
            Cells.number("tpr", "True positive rate, tp / positives."),
            Cells.count("tp", "True positives."),
            Cells.count("fp", "False positives."),
            Cells.names("suppliers", "The names of all classifiers that have this row."),
            Cells.score(
                "threshold",
                "The threshold of the first supplier's first such row; `null` where it has none.",
                null=True,
            ),
        ),
    ),
    StackedTable(
        "best_tradeoff",
        "Which optimal trade-off curves are highest where, by each index: intervals of λ in rising order, from 0 to 1 "
        "without gaps. An index that `indices` leaves out is absent.",
        lambda found: {name: _best("lambda", best) for name, best in found.best_tradeoff.items()},
        columns=_of_intervals("lambda", "λ", "that have the best row there"),
        key=INDEX_KEY,
        keys=INDEX_NAMES,
        component="BestTradeoffs",
        inner="BestTradeoff",
        every=False,
    ),
    AnswerTable(
        "intervals",
        "The intervals of the areas of each classifier, a row for each classifier and area; of `roc`, `pr` and "
        "`average_precision`.",
        _intervals,
        sometimes=True,
        component="ComparedIntervals",
        needs="the option intervals",
        columns=(
            Cells.text("name", "The name of the classifier."),
            Cells.text("area", "The area."),
            *_end_cells("the area"),
        ),
    ),
    AnswerTable(
        "differences",
        "How the areas of each classifier differ from those of another one, a row for each pair and area.",
        _differences,
        sometimes=True,
        component="ComparedDifferences",
        needs="the option intervals",
        columns=(
            Cells.text("name", "The name of the classifier."),
            Cells.text("against", "The name of the one that it is compared with."),
            Cells.text("area", "The area."),
            Cells.number("difference", "The area less that of the other one.", null=True),
            *_end_cells("the difference"),
            Cells.number("p_value", "The two-sided p-value of no difference; `null` if it has none.", null=True),
            Cells.number(
                "p_value_adjusted", "The same, adjusted for the number of pairs; `null` without `adjust`.", null=True
            ),
        ),
    ),
    AnswerTable(
        "decisions",
        "The decisions of each classifier, one classifier after another; each has its own thresholds. "
        "The rest is as from `/v1/curves`.",
        _decisions,
        sometimes=True,
        component="ComparedDecisions",
        needs="the option decisions",
        columns=(Cells.text("name", "The name of the classifier."), *DECISIONS, *METRIC_CELLS_WITH_ENDS),
    ),
)


def _asked(checked: ComparisonsRequest) -> set[str]:
    needed = {"intervals": checked.differences, "differences": checked.differences, "decisions": checked.decisions}
    return {table.name for table in tables_of(_ANSWER) if needed.get(table.name, True)}


OPERATION = Operation(
    name="comparisons",
    schema=ComparisonsRequestSchema(),
    form=TableForm(query_fields("comparisons", ComparisonsRequestSchema()), (SAMPLE,), COMPARED, as_evaluations),
    evaluate=_evaluate,
    answer=_ANSWER,
    tables=tables_of(_ANSWER),
    asked=_asked,
)
