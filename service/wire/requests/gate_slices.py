"""Rules over slices: their fields, what goes with what, and the slices of each rule.

Knows rules and columns; nothing of verdicts.
"""

from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Any

from marshmallow import ValidationError, pre_load

from service.curves.confusion import Evaluation
from service.curves.errors import counted_rows
from service.curves.sample import Sample
from service.inference.intervals import IntervalOptions
from service.inference.methods import RESAMPLED_METHODS
from service.inference.metric import Metric
from service.inference.rules import CHANGES, Rule
from service.inference.sliced import RowsInSlices, Slicing
from service.wire.columns import Categories
from service.wire.requests.evaluation_schemas import EvaluationSchema
from service.wire.requests.fields import Number, Whole, invalid
from service.wire.requests.id_pairing import Identified
from service.wire.requests.object_schemas import ObjectSchema
from service.wire.requests.slice_columns import CategoryColumns, ColumnNames, combined
from service.wire.usual_names import suggested
from service.wire.wrong import Wrong

MOST_JUDGED, MOST_IN_A_GAP = 1_000, 500
"""The most slices of a rule; the work on a gap grows with their square."""

OWN_OF_CHECKS = (
    *("rows", "positives", "negatives", "value", "baseline", "difference"),
    *("lower", "upper", "status", "reason"),
)
"""NamedCategories of a check's slices besides those that define them."""

_FEWEST_GREATEST = 10**9

NamedCategories = Mapping[str, Categories]


class SlicesOfRule(ObjectSchema):
    """The fields of a rule over slices."""

    slices = ColumnNames(
        "The names of 1 to 10 columns: the rule must hold in every combination of their values, such as every country; "
        "at most 1,000 slices, of a `max_gap` 500. With `confidence` it passes by mistake as rarely as a rule over all "
        "rows, however many slices there are. A decision is made on all rows, and its threshold used in every slice.",
        example=["country"],
    )
    min_examples = Whole(
        "Slices whose smaller class has fewer examples, counted by weight, are not judged; 1 by default, and 2 with "
        "`confidence`. The warning `skipped_slices` counts them.",
        minimum=1,
        maximum=_FEWEST_GREATEST,
        example=30,
    )
    max_gap = Number(
        "How far apart the greatest and the least value of all `slices` may be.",
        minimum=0,
    )


class SlicedEvaluationSchema(EvaluationSchema):
    """An evaluation whose rows are in slices."""

    slices = CategoryColumns(
        OWN_OF_CHECKS,
        "The columns that define the slices of rules: an object of one column or several, at most 10, each with a cell "
        "for every score, as for `/v1/slices`. Rules name them; no column may have the name of one in a check's "
        "`slices`, such as `rows` or `value`. `{}` counts as absent.",
        component="SliceColumnsOfRules",
    )

    def identified(self, data: dict[str, Any]) -> Identified:
        """Build the evaluation, with its ids and slices."""
        return replace(super().identified(data), slices=data.get("slices"))

    @pre_load
    def drop_absent(self, data: Any, **kwargs: object) -> Any:  # noqa: ANN401  # anything that JSON can hold
        """Drop an empty object of slices, too, which clients made from the contract may send."""
        if isinstance(data, dict) and data.get("slices") == {}:
            data = {name: value for name, value in data.items() if name != "slices"}
        data = super().drop_absent(data, **kwargs)
        for kind in ("counts", "groups") if isinstance(data, dict) and "slices" in data else ():
            if kind in data:
                raise invalid("exclusive", f"This is for a sample, but {kind} are given too.", "slices")
        return data


def refuse_wrong_slices(data: Mapping[str, Any], metric: Metric) -> None:
    """Refuse a rule whose fields about slices do not go with the others."""
    if "slices" not in data and "classes" not in data:
        if "average" in data:  # which takes neither of these
            return
        if "max_gap" in data:
            raise invalid("missing", "max_gap needs slices, or classes.", "slices")
        if "min_examples" in data:
            raise invalid("exclusive", "min_examples needs slices, or classes.", "min_examples")
        return
    if "expected" in data and ("max_gap" in data or "slices" not in data):
        of = "on gaps" if "max_gap" in data else "of classes"
        raise invalid("exclusive", f"Rules {of} have no plan, so nothing is expected.", "expected")
    compares = "max_gap" in data or any(kind in data for kind in CHANGES)
    if "confidence" in data and compares and metric.family in ("point", "fit"):
        of = "slices" if "slices" in data else "classes"
        what = f"needs resamples, which {of} have none of" if metric.family == "point" else "is not known"
        told = f"The interval of a difference of {metric.name} {what}, so the rule takes no confidence."
        raise invalid("exclusive", told, "confidence")


def slicings_of(
    rules: Sequence[Rule],
    intervals: IntervalOptions | None,
    paired: bool,  # noqa: FBT001  # of the request
    ours: tuple[Evaluation, NamedCategories | None],
    theirs: tuple[Evaluation | None, NamedCategories | None],
) -> dict[tuple[str, ...], RowsInSlices]:
    """The rows of each slice of the evaluation and, unless it is paired, the baseline: {names: rows}.

    Raises ValidationError.
    """
    sliced = [(row, rule, rule.slices) for row, rule in enumerate(rules) if rule.slices is not None]
    if sliced and intervals is not None and intervals.method in RESAMPLED_METHODS:
        told = "Rules over slices have intervals in closed form only: auto, logit or delong."
        raise _at(("intervals", "method"), Wrong("exclusive", told))
    found: dict[tuple[str, ...], RowsInSlices] = {}
    for row, rule, names in sliced:
        place = ("rules", row, "slices")
        of_ours = slicing_of(names, ours, rule, place)
        of_theirs = None
        if rule.is_change and not paired:
            of_theirs = _of_baseline(names, theirs, rule)
        if names not in found or of_theirs is not None:
            found[names] = RowsInSlices(of_ours, of_theirs)
    return found


def slicing_of(
    names: tuple[str, ...],
    of: tuple[Evaluation, NamedCategories | None],
    rule: Rule,
    place: Any,  # noqa: ANN401  # keys
) -> Slicing:
    """The slices of the evaluation that a rule names. Raises ValidationError."""
    evaluation, columns = of
    if not isinstance(evaluation, Sample):
        raise _at(place, Wrong("exclusive", "Slices need single rows; counts, groups and datasets have none."))
    known = columns or {}
    for number, name in enumerate(names):
        if name not in known:
            raise _at((*place, number), Wrong("missing", _no_column(name, known)))
    _refuse_other_rows(evaluation, known, ("slices",))
    most = MOST_IN_A_GAP if rule.max_gap is not None else MOST_JUDGED
    try:
        return combined({name: known[name] for name in names}, most)
    except Wrong as wrong:
        raise _at(place, wrong) from None


def _of_baseline(names: tuple[str, ...], of: tuple[Evaluation | None, NamedCategories | None], rule: Rule) -> Slicing:
    """The slices of a baseline with rows of its own."""
    evaluation, columns = of
    known = columns or {}
    place = ("baseline", "slices")
    for name in names:
        if name not in known:
            told = (
                f"{rule.kind} over slices needs the column {name[:40]!r} of the baseline, too, unless rows are paired."
            )
            raise _at(place, Wrong("missing", told))
    assert isinstance(evaluation, Sample)  # noqa: S101  # others have no columns of slices
    _refuse_other_rows(evaluation, known, place)
    try:
        return combined({name: known[name] for name in names})
    except Wrong as wrong:
        raise _at(place, wrong) from None


def _refuse_other_rows(evaluation: Sample, columns: NamedCategories, place: tuple[Any, ...]) -> None:
    rows = next(iter(columns.values())).numbers.size
    if rows != evaluation.rows:
        told = f"The columns of slices have {counted_rows(rows)} but scores has {evaluation.rows}."
        raise _at(place, Wrong("lengths_differ", told))


def _no_column(name: str, known: NamedCategories) -> str:
    if not known:
        return f"The request has no slices, so no column {name[:40]!r}."
    near = suggested(name, [*known])
    advice = f"did you mean {near}?" if near else f"there are {', '.join(map(repr, known))}."
    return f"There is no column {name[:40]!r} in slices; {advice}"


def _at(place: Sequence[Any], wrong: Wrong) -> ValidationError:
    """The error of a place in the request."""
    found: Any = [wrong]
    for key in reversed(place):
        found = {key: found}
    return ValidationError(found)
