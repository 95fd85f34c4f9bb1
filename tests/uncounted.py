"""A plugin for pytest under coverage: it counts no lines during tests of the whole, or with generated examples.

Counting takes almost as long as these tests themselves. The lines of the service that they run, other tests run, too.
Collecting imports the same modules in each process of pytest-xdist, so only the first one counts their lines.
"""

import os
import warnings
from collections.abc import Generator, Iterator
from contextlib import contextmanager

import pytest
from coverage import Coverage
from hypothesis import is_hypothesis_test

COUNTED = {"charts", "cli", "curves", "engines", "inference", "web", "wire"}
"""The folders that test the modules of one of the service, beside the files at the top."""


def _is_counted(item: pytest.Item) -> bool:
    _, folder, *_ = item.nodeid.partition("::")[0].split("/")
    return (folder in COUNTED or folder.endswith(".py")) and not is_hypothesis_test(getattr(item, "obj", None))


@contextmanager
def _uncounted() -> Iterator[None]:
    counting = Coverage.current()
    if counting is None:
        yield
        return
    counting.stop()
    counting.set_option("run:patch", [])  # has been done; again, it would count all processes that later tests start
    try:
        yield
    finally:
        with warnings.catch_warnings(action="ignore"):  # it finds the service imported already
            counting.start()


@pytest.hookimpl(wrapper=True)
def pytest_collection() -> Generator[None]:
    """Do not count lines in any process but the first."""
    if os.environ.get("PYTEST_XDIST_WORKER", "gw0") == "gw0":
        return (yield)
    with _uncounted():
        return (yield)


@pytest.hookimpl(wrapper=True)
def pytest_runtest_protocol(item: pytest.Item) -> Generator[None]:
    """Do not count lines while such a test runs."""
    if _is_counted(item):
        return (yield)
    with _uncounted():
        return (yield)
