"""Which tests run a line, from one run of all tests under coverage, and how long each takes."""

import json
import os
import subprocess
import sys
from pathlib import Path

import coverage
import pytest

from tests.tools.mutants.changes import Mutant

OF_CONSTANTS = "tests/contract/test_schemas.py"
"""A test that inspects modules without running their lines."""

_TESTS = (
    "curves",
    "inference",
    "wire",
    "refusals",
    "golden",
    "charts",
    "cli",
    "contract",
    "properties",
    "datasets",
    "web",
    "engines",
    "readme",
    "deploy",
)
_LEFT_OUT = ("tests/contract/test_schemathesis.py", "tests/contract/test_examples.py")
"""The first takes long; one test of the second counts processes, and there is one more here."""

_SETTINGS = "[run]\nbranch = true\nsource = service\n"


def measure(directory: Path) -> None:
    """Run the tests of the first command once, and write which lines each runs into files of a directory."""
    settings = directory / "settings"
    settings.write_text(_SETTINGS)
    tests = [f"tests/{name}" for name in _TESTS] + [str(file) for file in sorted(Path("tests").glob("test_*.py"))]
    left_out = [f"--ignore={name}" for name in _LEFT_OUT]
    options = ["-q", "-p", "tests.tools.mutants.few_examples", "-p", "no:cacheprovider", *left_out]
    ended = subprocess.run(
        [sys.executable, "-m", "coverage", "run", f"--rcfile={settings}", "-m", "pytest", *options, *tests],
        env=os.environ | {"COVERAGE_FILE": str(directory / "lines"), "SECONDS_FILE": str(directory / "seconds")},
        check=False,  # a test that fails with few examples is omitted
    )
    if ended.returncode not in {pytest.ExitCode.OK, pytest.ExitCode.TESTS_FAILED}:
        raise SystemExit(f"the tests did not run: pytest's exit status is {ended.returncode}")


class TestsOf:
    """The tests of a mutant: first those of its module, the fastest first."""

    __test__ = False  # keeps pytest from collecting it

    def __init__(self, directory: Path) -> None:
        self._data = coverage.CoverageData(str(directory / "lines"))
        self._data.read()
        self.seconds: dict[str, float] = json.loads((directory / "seconds").read_text())
        self._by_file: dict[Path, dict[int, list[str]]] = {}

    def __call__(self, mutant: Mutant) -> list[str]:
        """Those that run its statement; of what runs when it is imported, its function, or else all of its module's."""
        found = self._running(mutant.file, mutant.statement)
        if not found and mutant.function is not None:
            found = self._running(mutant.file, mutant.function)
        own = f"/test_{mutant.file.stem}.py::"
        if not found:
            found = self._running(mutant.file, (1, max(self._lines(mutant.file), default=1)))
            found |= {test for test in self.seconds if test.startswith(OF_CONSTANTS) or own in test}
        return sorted(found, key=lambda test: (own not in test, self.seconds[test], test))

    def _running(self, file: Path, lines: tuple[int, int]) -> set[str]:
        contexts = {context for line in range(lines[0], lines[1] + 1) for context in self._lines(file).get(line, ())}
        return contexts & self.seconds.keys()

    def _lines(self, file: Path) -> dict[int, list[str]]:
        if file not in self._by_file:
            self._by_file[file] = self._data.contexts_by_lineno(str(file.resolve()))
        return self._by_file[file]
