"""A plugin for pytest: few examples of each property, the lines that each test runs, and its time if it passed."""

import json
import os
from collections import defaultdict
from pathlib import Path

import coverage
import pytest
from hypothesis import Phase, settings

from tests.support import strategies

FEW = 10

_EXAMPLES = strategies.examples
_PHASES = (Phase.explicit, Phase.generate)
"""Any failure is enough: looking for the simplest one takes longer than all other tests of a mutant."""

_SECONDS: dict[str, float] = defaultdict(float)
_FAILED: set[str] = set()


def pytest_sessionstart() -> None:
    """Set the number of examples before the tests are imported, because their decorators read it."""
    strategies.examples = lambda number, fewest=FEW: settings(_EXAMPLES(min(number, FEW), fewest), phases=_PHASES)


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """Leave out what only the second command runs, although tests are named here."""
    items[:] = [item for item in items if not item.get_closest_marker("all")]


def pytest_runtest_setup(item: pytest.Item) -> None:
    """Record what follows as lines of this test; coverage's own contexts mistake all properties for one test."""
    if (recorder := coverage.Coverage.current()) is not None:
        recorder.switch_context(_function(item.nodeid))


def pytest_runtest_logreport(report: pytest.TestReport) -> None:
    """Add up the times by function, over its parameters."""
    function = _function(report.nodeid)
    _SECONDS[function] += report.duration
    if report.failed:
        _FAILED.add(function)


def pytest_sessionfinish() -> None:
    """Write them to the file that the environment names."""
    if "SECONDS_FILE" in os.environ:
        passed = {function: seconds for function, seconds in _SECONDS.items() if function not in _FAILED}
        Path(os.environ["SECONDS_FILE"]).write_text(json.dumps(passed))


def _function(test: str) -> str:
    """The test without its parameters."""
    return test.partition("[")[0]
