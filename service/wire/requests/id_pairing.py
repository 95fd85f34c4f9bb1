"""Pairing by id: samples of the same examples are put into one order, and must agree in all but their scores.

Knows samples and ids; nothing of what is evaluated with pairs.
"""

from collections.abc import Mapping
from dataclasses import dataclass, replace

import numpy as np

from service.curves.arrays import IntArray
from service.curves.clusters import numbered_together
from service.curves.confusion import Evaluation
from service.curves.sample import Sample
from service.wire.columns import Categories, Ids, partners
from service.wire.wrong import Wrong

_NOT_BOTH = Wrong("missing", "Give ids for all evaluations, or for none.")


@dataclass(frozen=True, slots=True, eq=False)
class Identified:
    """An evaluation, with the ids of its rows and the columns of their slices, if it has any."""

    evaluation: Evaluation
    ids: Ids | None = None
    slices: Mapping[str, Categories] | None = None


class Unpaired(Exception):
    """Two samples cannot be paired by id: the field that is wrong, and why."""

    def __init__(self, field: str, wrong: Wrong) -> None:
        super().__init__(field)
        self.field = field
        self.wrong = wrong


def in_order_of(first: Identified, other: Identified, there: str) -> Evaluation:
    """The other evaluation with its rows in the order of the first's; without ids, it stays as it is. Raises Unpaired.

    `there` is what problems call the first.
    """
    if first.ids is None and other.ids is None:
        return other.evaluation
    if first.ids is None or other.ids is None:
        raise Unpaired("ids", _NOT_BOTH)
    assert isinstance(first.evaluation, Sample)  # noqa: S101  # only samples have ids
    assert isinstance(other.evaluation, Sample)  # noqa: S101  # as above
    try:
        rows = partners(other.ids, first.ids, there)
    except Wrong as wrong:
        raise Unpaired("ids", wrong) from None
    order = np.empty_like(rows)
    order[rows] = np.arange(rows.size)
    one, sample = first.evaluation, other.evaluation
    sample = replace(
        sample,
        scores=sample.scores[order],
        labels=sample.labels[order],
        weights=None if sample.weights is None else sample.weights[order],
        clusters=None if sample.clusters is None else sample.clusters.take(order),
    )
    differ = np.flatnonzero(one.labels != sample.labels)
    ours, theirs = ("positive", "negative") if one.labels[differ[:1]].any() else ("negative", "positive")
    _refuse(first.ids, "labels", differ, f": {theirs} here, {ours} in {there}")
    weights = (np.ones(1) if each.weights is None else each.weights for each in (one, sample))
    _refuse(first.ids, "weights", np.flatnonzero(np.broadcast_to(np.not_equal(*weights), one.labels.shape)), "")
    if one.clusters is not None and sample.clusters is not None:
        one_side, other_side = numbered_together([one.clusters, sample.clusters])
        _refuse(first.ids, "clusters", np.flatnonzero(one_side.numbers != other_side.numbers), "")
    return sample


def _refuse(ids: Ids, field: str, differ: IntArray, how: str) -> None:
    """Raise Unpaired if there are rows whose label, weight or cluster differs; `how` says it of the first."""
    if differ.size:
        told = ids.counted(differ, f"paired with other {field}")
        raise Unpaired(field, Wrong("not_paired", f"{told}{how}."))
