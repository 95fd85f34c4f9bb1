"""The mean height over a range, as resamples compute it: to ten digits what partial_areas computes exactly."""

from __future__ import annotations

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from service.curves.partial_areas import OVER, PartialRange, partial_areas
from service.inference.partial_influence import partial_mean
from tests.support.strategies import Data, confusion_of, examples, samples, weighted_samples


@st.composite
def ranges(draw: st.DrawFn) -> PartialRange:
    start, end = sorted(draw(st.lists(st.integers(0, 20), min_size=2, max_size=2, unique=True)))
    over = draw(st.sampled_from(OVER))
    least = draw(st.one_of(st.none(), st.integers(0, 19))) if over == "fpr" else None
    return PartialRange(over, start / 20, end / 20, None if least is None else least / 20)


BELOW = Data([1, 2, 3], [True, False, False])


@example(BELOW, PartialRange("fpr", 0.0, 0.5, 0.1))
@examples(100)
@given(st.one_of(samples(), weighted_samples()), ranges())
def test_the_mean_of_a_resample_is_the_exact_one(drawn: Data, asked: PartialRange) -> None:
    table = confusion_of(drawn)
    expected = float(partial_areas(table, [asked]).mean[0])
    assert partial_mean(table.tp, table.fp, asked) == pytest.approx(expected, rel=1e-10, abs=1e-10)
