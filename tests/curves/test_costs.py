"""Costs of errors: against every row, and as the error rate of the best threshold."""

from __future__ import annotations

from fractions import Fraction

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from sklearn.metrics import accuracy_score

from service.curves.confusion import ConfusionTable
from service.curves.costs import CostOptions, costs
from service.curves.hull import RocHull
from tests.reference_costs import cheapest
from tests.support.strategies import (
    Data,
    Rows,
    big_sweeps,
    classifiers,
    confusion_of,
    fractional_sweeps,
    samples,
    sweeps,
)

shares = st.one_of(st.sampled_from([0.0, 1.0, 0.5, 1 / 3, 5e-324]), st.floats(0.0, 1.0))
prices = st.one_of(st.sampled_from([1.0, 5.0, 1e150, 5e-324]), st.floats(1e-3, 1e3))
sources = st.one_of(samples(), sweeps(), classifiers(), big_sweeps(), fractional_sweeps())


@given(sources, st.lists(shares, min_size=1, max_size=3), prices, prices)
def test_the_cheapest_row_is_that_of_all(
    source: Rows | Data, prevalence: list[float], fn_cost: float, fp_cost: float
) -> None:
    table = confusion_of(source)
    found = costs(table, RocHull.of(table), CostOptions(np.array(prevalence), fn_cost, fp_cost))
    assert found.prevalence.tolist() == prevalence
    for place, share in enumerate(prevalence):
        cost, normalized, row = cheapest(source.table(), Fraction(share), Fraction(fn_cost), Fraction(fp_cost))
        assert (found.cost[place], found.normalized_cost[place]) == (float(cost), float(normalized))
        assert (found.tp[place], found.fp[place]) == (float(row.tp), float(row.fp))
        if isinstance(source, Data) and row.threshold is not None:
            assert found.threshold[place] == row.threshold
        else:
            assert np.isnan(found.threshold[place])


@given(samples())
def test_equal_costs_at_the_prevalence_of_the_data_are_the_error_rate(data: Data) -> None:
    table = ConfusionTable.of(data.sample())
    found = costs(table, RocHull.of(table), CostOptions())
    sign = -1 if data.lower_is_positive else 1
    scores = sign * np.array(data.scores)
    best = max(accuracy_score(data.labels, scores >= cut) for cut in [*scores, np.inf])
    assert found.cost[0] == pytest.approx(1 - best, abs=1e-12)
    assert found.prevalence[0] == np.mean(data.labels)
