"""A plugin for pytest: few examples of each property, and the time of each test that passed."""

import json
import os
from collections import defaultdict
from pathlib import Path

import pytest
from hypothesis import Phase, settings

from tests import strategies

FEW = 10

_EXAMPLES = strategies.examples
_PHASES = (Phase.explicit, Phase.generate)
"""Any failure is enough: looking for the simplest one takes longer than all other tests of a mutant."""

_SECONDS: dict[str, float] = defaultdict(float)
_FAILED: set[str] = set()


def pytest_sessionstart() -> None:
    """Set the number of examples before the tests are imported, because their decorators read it."""
    strategies.examples = lambda number: settings(_EXAMPLES(min(number, FEW)), phases=_PHASES)


def pytest_runtest_logreport(report: pytest.TestReport) -> None:
    """Add up the times by function, over its parameters."""
    function = report.nodeid.partition("[")[0]
    _SECONDS[function] += report.duration
    if report.failed:
        _FAILED.add(function)


def pytest_sessionfinish() -> None:
    """Write them to the file that the environment names."""
    if "SECONDS_FILE" in os.environ:
        passed = {function: seconds for function, seconds in _SECONDS.items() if function not in _FAILED}
        Path(os.environ["SECONDS_FILE"]).write_text(json.dumps(passed))
