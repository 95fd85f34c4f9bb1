"""Slices the slow way: a loop over evaluations of one slice's rows each; and in rational numbers."""

from __future__ import annotations

from collections.abc import Hashable, Iterator, Sequence
from dataclasses import replace
from fractions import Fraction
from typing import Any

from service.curves.area_columns import SHARED_AREAS
from service.curves.areas import areas
from service.curves.confusion import ConfusionTable
from service.curves.hull import RocHull
from tests.reference_pr import AREAS
from tests.support.strategies import Data


def parts(data: Data, numbers: Sequence[Hashable]) -> Iterator[Data]:
    """The slices of a sample, in order: the rows of equal numbers, except those of weight 0."""
    for number in sorted(set(numbers)):  # type: ignore[type-var]  # they are integers
        yield data.rows([row for row, each in enumerate(numbers) if each == number])


def has_both_classes(data: Data) -> bool:
    """Whether a slice has areas."""
    weights = data.weights or [1.0] * len(data.labels)
    return {label for label, weight in zip(data.labels, weights, strict=True) if weight > 0} == {True, False}


def single(data: Data) -> dict[str, Any]:
    """The areas of one slice, from a call for it alone; None if it has none."""
    if not has_both_classes(data):
        return dict.fromkeys(SHARED_AREAS)
    table = ConfusionTable.from_sample(data.sample())
    found = areas(table, table.select(RocHull.of(table).vertices))
    return {name: getattr(found, name) for name in SHARED_AREAS}


def exact(data: Data) -> dict[str, Fraction]:
    """The rational areas of one slice."""
    table = replace(data).table()
    return {name: AREAS[name](table) for name in ("roc", "roc_hull", "average_precision")}


def called(data: Data, threshold: float | None) -> tuple[Fraction, Fraction, Fraction, Fraction]:
    """tp, fp, P and N of one slice at a threshold that was chosen elsewhere; None calls nothing positive."""
    counts = [Fraction(0)] * 4
    for score, label, weight in zip(data.scores, data.labels, data.weights or [1.0] * len(data.labels), strict=True):
        beyond = threshold is not None and (score <= threshold if data.lower_is_positive else score >= threshold)
        counts[2 if label else 3] += Fraction(weight)
        counts[0 if label else 1] += Fraction(weight) * beyond
    tp, fp, positives, negatives = counts
    return tp, fp, positives, negatives
