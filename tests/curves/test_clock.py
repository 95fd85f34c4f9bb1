"""A block ends once its thread has worked for too long; loops over rows, or over what is listed, ask the clock."""

import math
import threading

import numpy as np
import pytest

from service.curves.clock import TooMuchWork, at_most, in_time, is_bounded, still_time, takes_long
from service.curves.confusion import ConfusionTable
from service.curves.counts import Counts
from service.curves.density import BetaDensity
from service.curves.evaluation import evaluate_curves
from service.curves.sweep import sweep
from service.curves.sweep.sweep import Drawn
from service.curves.tradeoff import TradeoffOptions, evaluate_tradeoffs
from tests.support.compiled_library import used


def test_there_is_time_until_it_is_over(clock):
    with at_most(3):
        still_time()
        clock.now += 3
        still_time()
        clock.now += 0.1
        with pytest.raises(TooMuchWork):
            still_time()
    still_time()


def test_an_inner_block_has_time_of_its_own(clock):
    with at_most(3):
        with at_most(1):
            clock.now += 2
            with pytest.raises(TooMuchWork):
                still_time()
        still_time()


def test_there_is_no_limit_without_one(clock):
    clock.now = 1e300
    still_time()
    with at_most(math.inf):
        clock.now = 1e301
        still_time()


def test_items_pass_while_there_is_time(clock):
    clock.tick = 1
    passed = []
    with pytest.raises(TooMuchWork), at_most(3):
        passed.extend(in_time("abcdef"))
    with at_most(3):
        assert next(in_time("abc")) == "a"
    assert list(in_time("abcdef")) == [*"abcdef"]


def test_what_takes_long_is_for_those_without_a_limit():
    takes_long()
    assert not is_bounded()
    with at_most(math.inf):
        takes_long()
        assert not is_bounded()
    with at_most(1e9):
        assert is_bounded()
        with pytest.raises(TooMuchWork):
            takes_long()
    assert not is_bounded()


def test_the_limit_is_of_its_thread(clock):
    seen = []

    def elsewhere():
        still_time()
        seen.append("still time")

    with at_most(1):
        clock.now += 2
        thread = threading.Thread(target=elsewhere)
        thread.start()
        thread.join()
    assert seen == ["still time"]


def counts(tp, fp, positives, negatives):
    return Counts(np.array(tp, dtype=float), np.array(fp, dtype=float), float(positives), float(negatives))


def concave(rows):
    """Rows on a quarter of a circle, each of which is a vertex of the ROC hull."""
    fpr = np.arange(1, rows) / rows
    return counts(np.sqrt(1 - (1 - fpr) ** 2) * 1000, fpr * 1000, 1000, 1000)


TINY = counts([100, 200], [5e-324, 10], 300, 1000)
DENSITY = TradeoffOptions(lambda_density=BetaDensity(1000, 0.01))


@pytest.mark.parametrize(
    ("evaluate", "least"),
    [
        pytest.param(lambda: evaluate_tradeoffs(concave(30_000)), 6, id="the scan of a hull"),
        pytest.param(lambda: evaluate_tradeoffs(TINY, DENSITY), 40, id="rounds of an integration"),
        pytest.param(
            lambda: ConfusionTable.of(counts([9e15] * 50, [9e15] * 50, 9e15, 9e15)).precision,
            49,
            id="precisions in integers",
        ),
    ],
)
def test_loops_look_at_the_clock(evaluate, least, clock):
    """With a clock that goes on by a second at each look, the time is over after as many looks."""
    clock.tick = 1
    with pytest.raises(TooMuchWork), at_most(least):
        evaluate()


ROWS = np.arange(50)
UP = ROWS / 7.0
DRAWN = Drawn(ROWS, None, np.ones((50, 50)))


@pytest.mark.parametrize(
    "loop",
    [
        pytest.param(lambda: sweep.running_sums(UP), id="sums of fractions"),
        pytest.param(lambda: sweep.turns(UP, UP, ROWS, ROWS, ROWS), id="turns"),
        pytest.param(lambda: sweep.hull(np.sqrt(UP), UP), id="a hull"),
        pytest.param(lambda: sweep.areas(ROWS * 3.0, ROWS * 2.0, trapezoid=True), id="true positives inside steps"),
        pytest.param(lambda: sweep.slices(ROWS, 50, UP, UP > 3, None, descending=True), id="slices"),
        pytest.param(lambda: sweep.resamples(50, DRAWN, DRAWN), id="resamples"),
    ],
)
def test_loops_over_rows_that_are_not_compiled_look_at_the_clock(loop, clock):
    clock.tick = 1
    with used(None), pytest.raises(TooMuchWork), at_most(40):
        loop()


def test_ordinary_rows_hardly_look_at_the_clock(clock, library):
    random = np.random.default_rng(1)
    tp, fp = (np.sort(random.integers(0, 1000, 500)) for _ in range(2))
    clock.tick = 1
    with used(library), at_most(100):
        evaluate_curves(counts(tp, fp, 1000, 1000))
