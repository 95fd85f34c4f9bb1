"""How long requests hold a server's own process, ordinary ones and the most expensive of their size.

Counted in runs of a reference loop, never in seconds. Thousands of others: `python -m tests.tools.costs`.
"""

from dataclasses import replace
from functools import cache

import pytest

from service.answer import answer
from service.curves.clock import TooMuchWork
from tests.support.asking import LIMITS
from tests.support.costs.families import BIG_BODY_BYTES, Family
from tests.support.costs.measure import SMALL, measured, small_answer
from tests.support.costs.ordinary import DRAWN, ORDINARY
from tests.tools.costs import search as tool

TOLERANCE = 2
"""How many times the cost may be what it should be: a busy machine is less even."""

EXPENSIVE = [
    # Below a kilobyte: a few rows whose totals, places or options make them expensive.
    ("curves: few rows, 1900 of 1e15", 1),
    ("curves: few rows, 1e15, in steps", 1000),
    ("curves: few rows, 1e15, in steps", 7999),
    ("curves: few rows, 1e150, in steps", 8000),
    ("curves: half steps", 2000),
    ("curves: P by ones", 9000),
    ("curves: counts, short steps of few, everything", 8),
    ("curves: sample, 100 rows, bootstrap", 9901),
    ("curves: counts, 100 rows, bca", 9901),
    ("gates: 4 rows, precision at_threshold sure drop paired", 1),
    ("gates: 4 rows, f_measure at min", 20),
    ("gates: 100 rows, bootstrap of tpr_at_fpr", 9901),
    # Groups, which take longer than rows.
    ("gates: groups, open of weights", 2000),
    ("curves: groups, open, areas", 3900),
    ("curves: groups, open, operating points", 60),
    ("curves: groups, fractions in ties", 12_000),
    ("slices: groups, exact of weights, 2 each, intervals", 10),
    ("slices: groups, exact, 2 each, alone", 14),
    ("comparisons: groups, exact of fractions", 3700),
    # A request line or a few kilobytes.
    ("curves: few rows, plain, tpr_at_fpr at 0.3", 1000),
    ("curves: query, interpolation 0.1", 1990),
    ("gates: 4 rows, jaccard at drop", 100),
    ("gates: 6 rows, many levels of one bootstrap", 100),
    ("comparisons: samples of 2 rows, short names", 49),
    ("comparisons: equal samples of 2 rows, of four bytes names", 49),
    ("comparisons: one that crosses equal ones of 300 rows, long names", 9),
    ("curves: JSON, operating_points {}", 1000),
    ("gates: JSON, rules {}", 700),
    ("comparisons: CSV, 50 scores", 1),
    ("comparisons: crossings of 3 rows, short names, all charts", 40),
    ("gates: undecided rules, all charts", 100),
    ("columns: CSV, 1 rows of 1", 500),
    ("slices: rows, 2 each, 20 points", 20),
    ("slices: wide weights, 10 each, intervals", 20),
    ("columns: CSV, 30 rows of a", 80),
    # Longer ones.
    ("columns: JSON, a list of strings", 60_000),
    ("curves: counts, a line, points", 4000),
    ("curves: thresholds", 9000),
    ("curves: tuning, sample", 9000),
    ("tradeoffs: counts, a circle", 3000),
    ("gates: 300 counts, kulczynski at drop", 20),
    ("gates: 7,000 rows, tpr_at_fpr at sure", 60),
    ("comparisons: 10 lines", 300),
    ("comparisons: 50 samples", 100),
    ("curves: JSON, empty objects as scores", 87_000),
    ("curves: JSON, empty lists as scores", 87_000),
    ("curves: JSON, members", 20_000),
    ("curves: JSON, digits after a string", 100_000),
    ("curves: JSON, halfway numbers, not lifted, in gzip", 1200),
    ("curves: members of gzip", 9000),
    ("curves: lists in gzip", 1000),
    ("curves: CSV, quotes", 15_000),
    ("tradeoffs: density 1000 1000, next to 0", 1),
    ("tradeoffs: density 0.01 0.01, not quite all", 1),
    ("gates: 4 rows, precision at_threshold sure drop", 12),
    ("tradeoffs: groups, open of fractions", 1250),
    ("gates: 200 weights, jaccard at, at_threshold sure drop", 20),
    ("comparisons: crossings of 300 rows, of four bytes names", 4),
    ("curves: counts, no sweep, all charts", 4000),
    ("comparisons: 5 tiny crossings", 500),
    ("curves: JSON, numbers of 20 digits as scores", 8000),
    ("curves: JSON, halfway numbers as scores in gzip", 1200),
    ("curves: blocks of gzip", 7000),
    ("curves: JSON, nested", 500),
    ("curves: JSON, members", 9000),
    ('curves: JSON, operating_points {"metric":"aaaaaaaaaaaaaaaaaaa', 500),
    ('curves: JSON, operating_points {"0":1,"1":1,"2":1,"3":1,"4":1', 250),
    ("curves: JSON, infinities as scores", 20_000),
    ("curves: JSON, long integers as scores", 800),
    ("curves: JSON, escapes as scores", 20_000),
    ("comparisons: CSV, names and columns", 9000),
    ("curves: CSV, columns, none", 20_000),
    ("curves: query, parameters", 1900),
    ("curves: query, brackets", 4000),
    ("curves: query, operating_points {}", 2600),
    ("gates: query, rules {}", 100),
    ("columns: JSON, no columns", 100),
]
"""Sizes of families of requests that cost most for their length, or did once."""


@cache
def families() -> dict[str, Family]:
    return {each.name: each for each in tool.families()}


def test_families_have_names_of_their_own():
    names = [each.name for each in tool.families()]
    assert len(names) == len(set(names)) > 1000


@pytest.mark.parametrize(("name", "size"), EXPENSIVE)
def test_no_request_holds_the_process_for_long(name, size):
    cost = measured(families()[name].request(size))
    assert cost.sent <= BIG_BODY_BYTES  # or it would be big unread
    assert cost.runs <= cost.most * TOLERANCE


@pytest.mark.parametrize("name", ORDINARY)
def test_ordinary_requests_are_small(name):
    cost = measured(ORDINARY[name], TOLERANCE)
    assert (cost.status, cost.runs <= cost.most) == (200, True)


@pytest.mark.parametrize("name", ["curves: sample, 100 rows, bootstrap", "gates: 100 rows, bca of pr paired"])
def test_resamples_are_drawn_elsewhere(name):
    request = families()[name].request(1)
    assert small_answer(request, replace(SMALL, seconds=60)) is None
    assert answer(request, LIMITS).status == 200


STOPPED = ["compressed", "with operating points", "trade-offs of weights", "five models of 300 rows"]
STOPPED += ["areas of 1,000 open groups", "ten slices of 1,000 rows", "three classes of 500 rows", "its report"]
STOPPED += ["a paired gate", "a picture of curves", "columns of CSV", "as CSV", "as Arrow"]


@pytest.mark.parametrize("name", STOPPED)
def test_the_clock_decides_where_a_request_is_answered_never_what(name, clock):
    """It is stopped at looks at the clock from the first to the last; then the answer elsewhere is the same."""
    request = (ORDINARY | DRAWN)[name]
    whole = answer(request, LIMITS).body
    clock.tick = 1
    within = answer(request, LIMITS, replace(SMALL, seconds=1e9))
    assert within.body == whole
    looks = int(clock.now) - 1  # the first one starts the clock
    assert looks > 3
    for seconds in {*range(0, looks, 1 + looks // 20), looks - 1}:
        with pytest.raises(TooMuchWork):
            answer(request, LIMITS, replace(SMALL, seconds=seconds))
        assert answer(request, LIMITS).body == whole


def test_the_tool_reports(capsys, monkeypatch):
    monkeypatch.setattr("sys.argv", ["tests.tools.costs", "--only", "few rows, fractions, in steps", "--top", "1"])
    assert tool.main() == 0
    out = capsys.readouterr().out
    assert "curves: few rows, fractions, in steps × " in out
    assert "1 requests; 0 hold" in out
