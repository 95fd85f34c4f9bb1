"""A plugin for pytest under coverage: it counts no lines during tests of made-up examples.

These, and their slow twins, would take almost twice as long. The lines of the service that they run, other tests run,
too.
"""

import warnings
from collections.abc import Generator

import pytest
from coverage import Coverage
from hypothesis import is_hypothesis_test


@pytest.hookimpl(wrapper=True)
def pytest_runtest_call(item: pytest.Item) -> Generator[None]:
    """Stop counting while a test of made-up examples runs."""
    counting = Coverage.current() if is_hypothesis_test(getattr(item, "obj", None)) else None
    if counting is None:
        return (yield)
    counting.stop()
    try:
        return (yield)
    finally:
        with warnings.catch_warnings(action="ignore"):  # it finds the service imported already
            counting.start()
