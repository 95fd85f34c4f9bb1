"""A plugin for pytest: few examples of each property, and how long each test took that passed."""

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
"""A failure is enough: to look for the simplest one takes longer than all other tests of a mutant."""

_SECONDS: dict[str, float] = defaultdict(float)
_FAILED: set[str] = set()


def pytest_sessionstart() -> None:
    """Before the tests are imported, whose decorators ask for examples."""
    strategies.examples = lambda number: settings(_EXAMPLES(min(number, FEW)), phases=_PHASES)


def pytest_runtest_logreport(report: pytest.TestReport) -> None:
    """Add up by function: its parameters are not told apart."""
    function = report.nodeid.partition("[")[0]
    _SECONDS[function] += report.duration
    if report.failed:
        _FAILED.add(function)


def pytest_sessionfinish() -> None:
    """Write them to the file that the environment names."""
    if "SECONDS_FILE" in os.environ:
        passed = {function: seconds for function, seconds in _SECONDS.items() if function not in _FAILED}
        Path(os.environ["SECONDS_FILE"]).write_text(json.dumps(passed))
