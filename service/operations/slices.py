"""`POST /v1/slices`: a sample as a whole and in slices, such as countries."""

from collections.abc import Mapping
from dataclasses import replace
from typing import Any

from service.curves.area_columns import SHARED_AREAS
from service.inference.metric import AREAS_WITH_INTERVALS
from service.inference.sliced import Sliced, evaluate_slices
from service.operations.curves import ANSWER as OF_ALL_ROWS
from service.operations.operation import Operation, Selection
from service.operations.row_cells import DECISIONS, METRIC_CELLS_WITH_ENDS, decision_columns
from service.operations.shared_cells import AREA_CELLS, OPERATING_POINTS, SHARED_AREA_COLUMNS, area_ends, reason_of
from service.wire.answers.parts import ABSENT, AnswerRow, AnswerTable, Cells, KeyedRows, Nested
from service.wire.answers.repeated_names import refuse_many_metrics, refuse_many_slices
from service.wire.formats.inputs import GROUPS, SAMPLE
from service.wire.formats.tables import IN_SLICES, TableForm
from service.wire.limits import Limits
from service.wire.requests.query_fields import query_fields
from service.wire.requests.slices_schemas import SlicesRequest, SlicesRequestSchema


def _columns(found: Sliced) -> dict[str, Any]:
    columns: dict[str, Any] = {"rows": found.rows, "reason": found.areas.reason}
    columns |= {name: getattr(found.areas, name) for name in ("positives", "negatives", *SHARED_AREAS)}
    for name, ends in (found.intervals or {}).items():
        columns |= dict(zip((f"{name}_lower", f"{name}_upper"), ends, strict=True))
    return columns


def _repeated_keys(found: Sliced, of_each: int) -> Mapping[str, Any]:
    """What defines slices, for a table of several rows of each."""
    return {name: [value for value in values for _ in range(of_each)] for name, values in found.keys.items()}


def _keys_of_points(found: Sliced) -> Mapping[str, Any]:
    points = found.operating_points
    return {} if points is None else _repeated_keys(found, points.at.size // found.rows.size)


def _keys_of_decisions(found: Sliced) -> Mapping[str, Any]:
    decided = found.decisions
    return {} if decided is None else _repeated_keys(found, len(decided.decision) // found.rows.size)


_SLICES = AnswerTable(
    "slices",
    "The slices, as columns of equal length. The columns that define slices come first, under their names; `null` "
    "stands for rows without a value.",
    _columns,
    columns=(
        Cells.whole(
            "rows",
            "How many rows the slice has; with groups, how many examples, or how many groups if these are sums of "
            "weights.",
        ),
        Cells.count("positives", "The positives of the slice; with weights, their weight."),
        Cells.count("negatives", "The negatives of the slice; with weights, their weight."),
        *SHARED_AREA_COLUMNS,
        *area_ends("slice"),
        reason_of("slice"),
    ),
    leading=lambda found: found.keys,
)

_POINTS = AnswerTable(
    "operating_points",
    "The operating points of every slice, slice after slice, as columns of equal length; the columns that define "
    "slices come first. The rest is as from `/v1/curves`.",
    lambda found: found.operating_points or ABSENT,
    columns=tuple(each for each in OPERATING_POINTS if not each.sometimes),  # open groups have no slices
    needs="the option operating_points",
    sometimes=True,
    component="SlicedOperatingPoints",
    leading=_keys_of_points,
)

_DECISIONS = AnswerTable(
    "decisions",
    "The decisions in every slice, slice after slice, as columns of equal length; the columns that define slices come "
    "first. Each threshold was chosen on all rows, and is applied in every slice. A slice of one class has each metric "
    "that is defined. The rest is as from `/v1/curves`.",
    lambda found: ABSENT if found.decisions is None else decision_columns(found.decisions),
    columns=(*DECISIONS, *METRIC_CELLS_WITH_ENDS),
    needs="the option decisions",
    sometimes=True,
    component="SlicedDecisions",
    leading=_keys_of_decisions,
)

_OF_OVERALL = frozenset(
    ("positives", "negatives", "prevalence", "clusters", "auc", "intervals", "operating_points", "decisions")
)
_OF_ALL_ROWS = tuple(
    replace(part, sometimes=part.sometimes and part.name != "auc") for part in OF_ALL_ROWS if part.name in _OF_OVERALL
)

_INTERVALS_OF_AREAS = next(part for part in OF_ALL_ROWS if isinstance(part, KeyedRows) and part.name == "intervals")
_WORST = replace(
    _INTERVALS_OF_AREAS,
    name="worst",
    about="If you asked for `intervals`, those of the least true area of all slices that have one, whichever it is: "
    "the lower end is the least of all lower ends, and the upper end the least of all upper ends, at a level adjusted "
    "for their number (Bonferroni). So it holds although the slice is chosen by looking. An area of which no "
    "slice has an interval is absent, and so is all of it if that is so of every area.",
    of=lambda found: found.worst or ABSENT,
    columns=tuple(each for each in _INTERVALS_OF_AREAS.columns if each.name not in {"standard_error", "design_effect"}),
    keys=AREAS_WITH_INTERVALS[:1],
    others=AREAS_WITH_INTERVALS[1:],
    inner="WorstInterval",
    component="WorstOfSlices",
)

_OVERALL = AnswerRow(
    "overall",
    "All rows together.",
    lambda found: (
        {"positives": found.overall.positives, "negatives": found.overall.negatives}
        | {area.name: getattr(found.overall.curves.auc, area.name) for area in AREA_CELLS}
    ),
    columns=(Cells.count("positives", "All positives."), Cells.count("negatives", "All negatives."), *AREA_CELLS),
)


def _evaluate(checked: SlicesRequest, selection: Selection, limits: Limits) -> Sliced:
    options = checked.options
    if selection.picture is not None or not selection.has("decisions"):
        options = replace(options, decisions=())
    points, decisions = len(options.points), len(options.decisions)
    of_each = {"overall": 0, "worst": 0, "slices": 1, "operating_points": points, "decisions": decisions}
    tables = of_each.get(str(selection.table), 1 + points + decisions)
    refuse_many_slices(checked.slicing, tables, limits, map(str, options.decisions))
    refuse_many_metrics(checked.slicing, options)
    return evaluate_slices(checked.sample, checked.slicing, options)


def _asked(checked: SlicesRequest) -> set[str]:
    options = checked.options
    more = {"operating_points": options.points, "decisions": options.decisions, "worst": options.intervals is not None}
    return {"slices", "overall"} | {name for name, given in more.items() if given}


OPERATION = Operation(
    name="slices",
    schema=SlicesRequestSchema(),
    form=TableForm(query_fields("slices", SlicesRequestSchema()), (SAMPLE, GROUPS), IN_SLICES),
    evaluate=_evaluate,
    answer=(
        Nested(
            "overall",
            "The results of all rows together, as from `/v1/curves`.",
            lambda found: found.overall,
            component="OverallOfSlices",
            parts=_OF_ALL_ROWS,
        ),
        _SLICES,
        _WORST,
        _POINTS,
        _DECISIONS,
    ),
    tables=(_SLICES, _OVERALL, _WORST, _POINTS, _DECISIONS),
    asked=_asked,
)
