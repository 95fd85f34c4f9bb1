"""The longest answers to short requests stay within the limits."""

import pytest

from tests.support.costs.written import is_bounded, requests, written

pytestmark = pytest.mark.all

WORST = {
    name: request
    for name, request in requests()
    if not name.startswith(("slices, 300", "slices, 3,000", "slices, 20,000", "curves, 20,000", "trade-offs"))
}
"""Those that take little time; `python -m tests.tools.costs --written` tries all of them."""


@pytest.mark.parametrize("name", WORST)
def test_the_longest_answers_stay_within_the_limits(name: str) -> None:
    found = written(name, WORST[name])
    assert is_bounded(found)
    assert found.status in {200, 422}
