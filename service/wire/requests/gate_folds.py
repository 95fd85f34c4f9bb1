"""Rules on the mean over folds: their field, what goes with what, and the folds of each rule.

Knows rules and columns; nothing of verdicts.
"""

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
from marshmallow import ValidationError

from service.curves.confusion import Evaluation
from service.curves.sample import Sample
from service.inference.intervals import IntervalOptions
from service.inference.methods import RESAMPLED_METHODS
from service.inference.rules import CHANGES, Rule
from service.inference.sliced import RowsInSlices, Slicing
from service.wire.columns import Categories
from service.wire.requests.fields import invalid
from service.wire.requests.gate_slices import slicing_of
from service.wire.requests.object_schemas import ObjectSchema
from service.wire.requests.slice_columns import ColumnNames
from service.wire.wrong import Wrong

_NOT_BESIDE = ("slices", "min_examples", "max_gap", "expected", "max_relative_drop", "classes", "average")


class FoldsOfRule(ObjectSchema):
    """The field of a rule on the mean over folds."""

    folds = ColumnNames(
        "The names of columns that say which fold of a cross-validation each row was tested in, such as `fold`: the "
        "rule is on the mean of the areas of all folds. For `roc` only; columns are given as those of `slices`. Every "
        "fold needs both classes. Several columns, such as those of repeats, need `clusters` that name each example.",
        example=["fold"],
    )


def refuse_wrong_folds(data: Mapping[str, Any]) -> None:
    """Refuse a rule whose folds do not go with the others of its fields."""
    if "folds" not in data:
        return
    if data["metric"] != "roc":
        told = f"Only roc is averaged over folds: of a fold's few rows, {data['metric']} is biased, or has no interval."
        raise invalid("exclusive", told, "folds")
    for name in _NOT_BESIDE:
        if name in data:
            raise invalid("exclusive", f"A rule over folds does not take {name}.", name)


def folds_of(
    rules: Sequence[Rule],
    intervals: IntervalOptions | None,
    paired: bool,  # noqa: FBT001  # of the request
    evaluation: Evaluation,
    columns: Mapping[str, Categories] | None,
) -> dict[tuple[str, ...], RowsInSlices]:
    """The rows of each fold: {names: rows}. Raises ValidationError."""
    found: dict[tuple[str, ...], RowsInSlices] = {}
    for row, rule in enumerate(rules):
        if rule.folds is None:
            continue
        if intervals is not None and intervals.method in RESAMPLED_METHODS:
            fault = Wrong("exclusive", "Rules over folds have intervals in closed form only: auto, logit or delong.")
            raise ValidationError({"intervals": {"method": [fault]}})
        slicing = slicing_of(rule.folds, (evaluation, columns), rule, ("rules", row, "folds"))
        try:
            _check(rule, slicing, evaluation, paired=paired)
        except Wrong as wrong:
            raise ValidationError({"rules": {row: {"folds": [wrong]}}}) from None
        found[rule.folds] = RowsInSlices(slicing)
    return found


def _check(rule: Rule, slicing: Slicing, sample: Evaluation, *, paired: bool) -> None:
    """Refuse folds that do not have both classes, that may repeat examples, or that two models do not share."""
    assert isinstance(sample, Sample)  # noqa: S101  # others have no columns
    if rule.kind in CHANGES and not paired:
        raise Wrong("exclusive", f"{rule.kind} over folds needs paired rows: both models tested on the same folds.")
    if rule.folds is not None and len(rule.folds) > 1 and sample.clusters is None:
        told = "Folds of several columns may repeat rows, as repeats do: name each example with clusters."
        raise Wrong("missing", told)
    if slicing.count == 1:
        raise Wrong("wrong_length", "There is only one fold; leave out folds.")
    there = np.ones(sample.rows, np.bool_) if sample.weights is None else sample.weights > 0
    for name, of_class in (("positives", sample.labels), ("negatives", ~sample.labels)):
        counts = np.bincount(slicing.numbers[of_class & there], minlength=slicing.count)
        without = np.flatnonzero(counts == 0)
        if without.size:
            values = [str(column[int(without[0])])[:40] for column in slicing.keys.values()]
            told = f"Fold {' '.join(values)} has no {name}; every fold needs both classes."
            raise Wrong("one_class", told)
