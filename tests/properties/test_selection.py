"""Laws of tables rebuilt from cuts: thresholds given, or taken from the hull of a tuning set."""

from __future__ import annotations

import math

import numpy as np
from hypothesis import given
from hypothesis import strategies as st

from service.curves.confusion import ConfusionTable
from service.curves.evaluation import CurvesOptions, evaluate_curves
from tests import reference
from tests.properties.agreement import agree
from tests.support.strategies import Data, examples, samples, scores, tied_scores, weighted_samples

cuts = st.lists(st.one_of(scores, tied_scores), min_size=1, max_size=6, unique_by=lambda cut: cut + 0.0)


@examples(60)
@given(samples(), cuts)
def test_thresholds(data: Data, column: list[float]) -> None:
    """'The table is rebuilt from these cuts alone (and (0,0), (P,N))', with the warning reduced_table."""
    curves = agree(data.sample(), data.table_at(column), CurvesOptions(thresholds=np.array(column)))
    assert "reduced_table" in {warning.code for warning in curves.warnings}
    assert curves.selected_thresholds is None


@examples(60)
@given(samples(score=tied_scores), st.lists(tied_scores, min_size=1, max_size=6, unique_by=lambda cut: cut + 0.0))
def test_thresholds_on_tied_scores(data: Data, column: list[float]) -> None:
    """A cut equal to a score includes all scores that tie with it; -0.0 equals 0.0."""
    agree(data.sample(), data.table_at(column), CurvesOptions(thresholds=np.array(column)))


@examples(40)
@given(weighted_samples(), cuts)
def test_thresholds_on_weights(data: Data, column: list[float]) -> None:
    """The same, weighted."""
    agree(data.sample(), data.table_at(column), CurvesOptions(thresholds=np.array(column)))


@examples(40)
@given(samples())
def test_all_own_thresholds_change_nothing(data: Data) -> None:
    """A sample cut at all its own scores is unchanged."""
    table = ConfusionTable.from_sample(data.sample())
    again = table.at_thresholds(table.thresholds[1:])
    assert again.tp.tolist() == table.tp.tolist()
    assert again.fp.tolist() == table.fp.tolist()
    assert again.thresholds[1:].tolist() == table.thresholds[1:].tolist()


@examples(60)
@given(samples(score=tied_scores), samples(score=tied_scores))
def test_tuning(data: Data, tuning: Data) -> None:
    """'Hull thresholds must come from a tuning set and be applied to the test set' (end of D&G section 3)."""
    data = Data(data.scores, data.labels, data.weights, tuning.lower_is_positive)
    chosen = reference.tuning_thresholds(tuning.table())
    curves = agree(data.sample(), data.table_at(chosen), CurvesOptions(tuning=tuning.sample()))
    assert curves.selected_thresholds is not None
    assert curves.selected_thresholds.tolist() == chosen
    assert "reduced_table" in {warning.code for warning in curves.warnings}


@examples(40)
@given(samples())
def test_tuning_on_itself_is_the_hull(data: Data) -> None:
    """A sample tuned on itself keeps its hull rows, and their areas are the hull's."""
    whole, tuned = evaluate_curves(data.sample()), evaluate_curves(data.sample(), CurvesOptions(tuning=data.sample()))
    assert whole.auc is not None
    assert tuned.auc is not None
    assert tuned.auc.roc == tuned.auc.roc_hull == whole.auc.roc_hull
    assert math.isclose(tuned.auc.pr, whole.auc.pr_achievable, rel_tol=2e-12)
