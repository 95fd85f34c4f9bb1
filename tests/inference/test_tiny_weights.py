"""Examples of almost no weight, and classes of very different weight, leave an area's spread finite and right."""

from __future__ import annotations

import math

import numpy as np
import pytest

from service.curves.confusion import ConfusionTable
from service.curves.partial_areas import PartialRange
from service.curves.sample import Sample
from service.inference.partial_influence import Area
from service.inference.spread import standard_error, unpaired_spread
from service.inference.strata import Strata, strata

AREAS: list[Area] = ["roc", "pr", "average_precision", PartialRange("recall", 0.25, 0.75), PartialRange("fpr", 0, 0.5)]

SCORES = [0.9, 0.8, 0.7, 0.6, 0.6, 0.5, 0.4, 0.3]
LABELS = [True, False, True, True, False, False, True, False]


def strata_of(scores: list[float], labels: list[bool], weights: list[float]) -> Strata:
    sample = Sample(np.array(scores), np.array(labels), np.array(weights))
    return strata(sample, ConfusionTable.of(sample))


@pytest.mark.parametrize("weight", [5e-324, 1e-320, 1e-308, 1e-200])
@pytest.mark.parametrize("label", [True, False])
@pytest.mark.parametrize("area", AREAS, ids=str)
def test_an_example_of_next_to_no_weight_changes_nothing(area: Area, *, label: bool, weight: float) -> None:
    """It scores highest, so the curve begins with it."""
    whole = strata_of([1.0, *SCORES], [label, *LABELS], [weight] + [1.0] * 8)
    assert standard_error(whole, area=area) == pytest.approx(
        standard_error(strata_of(SCORES, LABELS, [1.0] * 8), area=area)
    )


@pytest.mark.parametrize("area", AREAS, ids=str)
@pytest.mark.parametrize("ratio", [1e-298, 1e-150, 1e150, 1e298])
def test_classes_of_very_different_weight(area: Area, ratio: float) -> None:
    weights = [math.sqrt(ratio) if label else 1 / math.sqrt(ratio) for label in LABELS]
    spread = unpaired_spread(strata_of(SCORES, LABELS, weights), strata_of(SCORES, LABELS, [1.0] * 8), area)
    assert all(map(math.isfinite, (spread.error, spread.jump, *spread.errors)))
    assert 0 < spread.errors[1] <= spread.error < 1
