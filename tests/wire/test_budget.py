"""A budget belongs to one caller, and is spent before the work is done."""

import threading

import pytest

from service.curves.clock import TooMuchWork, still_time
from service.wire.budget import ROW_SECONDS, at_most_rows, is_bounded, spend


def test_nothing_is_counted_without_a_budget():
    assert not is_bounded()
    spend(1e300)
    with at_most_rows(None):
        assert not is_bounded()
        spend(1e300)


def test_a_budget_may_be_spent_to_its_end():
    with at_most_rows(3):
        assert is_bounded()
        spend(1)
        spend(2)
        with pytest.raises(TooMuchWork):
            spend(0.1)
    assert not is_bounded()


def test_a_budget_ends_with_an_error():
    with pytest.raises(TooMuchWork), at_most_rows(3):
        spend(4)
    spend(4)


def test_a_budget_is_of_its_thread():
    seen = []
    with at_most_rows(1):
        thread = threading.Thread(target=lambda: seen.append(is_bounded()))
        thread.start()
        thread.join()
    assert seen == [False]


def test_a_budget_is_time_for_the_mathematics(clock):
    with at_most_rows(10):
        clock.now += 10 * ROW_SECONDS
        still_time()
        clock.now += 20 * ROW_SECONDS
        with pytest.raises(TooMuchWork):
            still_time()
