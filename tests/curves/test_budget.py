"""A budget belongs to one caller, and is spent before the work is done."""

import threading

import numpy as np
import pytest

from service.curves.budget import TooMuchWork, at_most, is_bounded, one_by_one, spend
from service.curves.confusion import ConfusionTable
from service.curves.counts import Counts
from service.curves.density import BetaDensity
from service.curves.evaluation import CurvesOptions, evaluate_curves
from service.curves.exact import class_sums
from service.curves.pr import AtRecall
from service.curves.tradeoff import TradeoffOptions, evaluate_tradeoffs


def test_nothing_is_counted_without_a_budget():
    assert not is_bounded()
    spend(1e300)
    with at_most(None):
        assert not is_bounded()
        spend(1e300)


def test_a_budget_may_be_spent_to_its_end():
    with at_most(3):
        assert is_bounded()
        spend(1)
        spend(2)
        with pytest.raises(TooMuchWork):
            spend(0.1)
    assert not is_bounded()


def test_a_budget_ends_with_an_error():
    with pytest.raises(TooMuchWork), at_most(3):
        spend(4)
    spend(4)


def test_places_are_paid_for_before_they_are_worked():
    places = np.array([3, 5, 8])
    with at_most(30):
        assert one_by_one(places, 10) is places
        with pytest.raises(TooMuchWork):
            one_by_one(places[:1], 1)


def test_a_budget_is_of_its_thread():
    seen = []
    with at_most(1):
        thread = threading.Thread(target=lambda: seen.append(is_bounded()))
        thread.start()
        thread.join()
    assert seen == [False]


def counts(tp, fp, positives, negatives):
    return Counts(np.array(tp, dtype=float), np.array(fp, dtype=float), float(positives), float(negatives))


def line(rows):
    """Rows on a line through a vertex, at distances that no double can hold."""
    fp = np.append(4.1 - 4, 1024 + 8.0 * np.arange(rows))
    return counts(np.append(4.1, fp[1:] + 4), fp, fp[-1] + 4, fp[-1])


def near_ray(rows):
    """Rows whose precisions differ only in the last bits."""
    share = np.arange(1, rows + 1) / rows
    return counts(share * 1000 * (1 + 2.0**-44 * rows * (1 - share)), share * 1000, 1000, 1000)


TINY = counts([100, 200], [5e-324, 10], 300, 1000)
READ = TradeoffOptions(at_lambda=np.full(10, 1e-9))
DENSITY = TradeoffOptions(lambda_density=BetaDensity(1000, 0.01))


@pytest.mark.parametrize(
    ("evaluate", "least", "most"),
    [
        (lambda: evaluate_curves(line(100)), 1100, 2000),
        (lambda: evaluate_tradeoffs(near_ray(200)), 10_000, 50_000),
        (lambda: evaluate_tradeoffs(TINY, READ), 1800, 6000),
        (lambda: evaluate_tradeoffs(TINY, DENSITY), 20_000, 100_000),
        (lambda: ConfusionTable.of(counts([9e15] * 50, [9e15] * 50, 9e15, 9e15)).precision, 49, 60),
        (lambda: evaluate_curves(TINY, CurvesOptions(interpolation=AtRecall(np.full(10, 1e-300)))), 1200, 2000),
        (lambda: evaluate_curves(counts([128 * 90], [5], 128 * 90, 10), CurvesOptions(frozenset({"auc"}))), 2, 300),
        (lambda: class_sums(2.0 ** np.arange(-400.0, 400.0, 2), np.ones(400, np.bool_)), 200, 400),
    ],
)
def test_rows_that_doubles_cannot_decide_are_counted(evaluate, least, most):
    """Rows that are treated one by one, and hulls that take many passes, are counted as the work that was measured."""
    with at_most(most):
        evaluate()
    with pytest.raises(TooMuchWork), at_most(least):
        evaluate()


def test_ordinary_rows_are_hardly_counted():
    random = np.random.default_rng(1)
    tp, fp = (np.sort(random.integers(0, 1000, 500)) for _ in range(2))
    with at_most(1000):
        evaluate_curves(counts(tp, fp, 1000, 1000))
    with at_most(10_000):
        evaluate_tradeoffs(counts(tp, fp, 1000, 1000))
