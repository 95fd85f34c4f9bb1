"""A plugin for pytest under coverage: it counts no lines during tests of the whole, or with generated examples.

Counting takes almost as long as these tests themselves. The lines of the service that they run, other tests run, too.
"""

import warnings
from collections.abc import Generator

import pytest
from coverage import Coverage
from hypothesis import is_hypothesis_test

COUNTED = {"charts", "cli", "curves", "engines", "inference", "web", "wire"}
"""The folders that test the modules of one of the service, beside the files at the top."""


def _is_counted(item: pytest.Item) -> bool:
    _, folder, *_ = item.nodeid.partition("::")[0].split("/")
    return (folder in COUNTED or folder.endswith(".py")) and not is_hypothesis_test(getattr(item, "obj", None))


@pytest.hookimpl(wrapper=True)
def pytest_runtest_protocol(item: pytest.Item) -> Generator[None]:
    """Do not count lines while such a test runs."""
    counting = None if _is_counted(item) else Coverage.current()
    if counting is None:
        return (yield)
    counting.stop()
    try:
        return (yield)
    finally:
        with warnings.catch_warnings(action="ignore"):  # it finds the service imported already
            counting.start()
