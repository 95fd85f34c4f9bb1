"""Prints which random mutants no test notices: python -m tests.tools.mutants [--number 300] [--seed 20].

The tests are those of the first command.

Each is tried in a process forked from this one, which has imported the libraries but nothing of rocpr.
`--folders web/server cli` changes those folders of service alone; `--since COMMIT` takes half of the mutants from lines
that are new since that commit.
`--tests DIRECTORY` records which tests run which lines, for further runs; `--only 7 12` tries some mutants again.
"""

import argparse
import contextlib
import importlib
import importlib.util
import os
import random
import resource
import signal
import subprocess
import sys
import time
import traceback
from collections import Counter
from collections.abc import Iterator
from importlib.machinery import ModuleSpec, SourceFileLoader
from pathlib import Path
from tempfile import mkdtemp
from types import CodeType

import pytest

from tests.tools.mutants.changes import Mutant, mutants
from tests.tools.mutants.new_lines import is_new
from tests.tools.mutants.tests_of import TestsOf, measure

OURS = ("__main__", "deploy", "service", "tests")

ROUNDS = (8.0, 30.0)
"""Limits in seconds of the unchanged tests' time: first a few tests, then others while there is time."""

MEMORY = 6 << 30
"""The most address space of a mutant."""

_UNUSED = ("anyio", "cacheprovider", "schemathesis", "xdist")
OPTIONS = (
    "-q",
    "-x",
    "-p",
    "tests.tools.mutants.few_examples",
    *(each for name in _UNUSED for each in ("-p", f"no:{name}")),
)
QUIET = ("-W", "ignore:Module already imported")


class _Changed(SourceFileLoader):
    """Loads the mutant instead of its file."""

    def __init__(self, name: str, mutant: Mutant) -> None:
        super().__init__(name, str(mutant.file.resolve()))
        self.mutant = mutant

    def get_code(self, fullname: str) -> CodeType:  # noqa: ARG002  # as import asks
        return compile(self.mutant.source, self.path, "exec", dont_inherit=True)


class _Finder:
    """Finds the mutant when its module is imported."""

    def __init__(self, mutant: Mutant) -> None:
        self.mutant = mutant
        self.name = ".".join(mutant.file.with_suffix("").parts).removesuffix(".__init__")

    def find_spec(self, name: str, *_: object) -> ModuleSpec | None:
        """Its specification; None for any other module."""
        if name != self.name:
            return None
        return importlib.util.spec_from_file_location(name, self.mutant.file, loader=_Changed(name, self.mutant))


def main() -> None:
    """Make the mutants and try each."""
    parser = argparse.ArgumentParser(prog="python -m tests.tools.mutants")
    parser.add_argument("--number", type=int, default=300)
    parser.add_argument("--seed", type=lambda text: int(text, 0), default=20)
    parser.add_argument("--folders", nargs="+", default=[""])
    parser.add_argument("--since")
    parser.add_argument("--tests", type=Path)
    parser.add_argument("--only", nargs="+", type=int)
    arguments = parser.parse_args()
    directory = arguments.tests or Path(mkdtemp())
    directory.mkdir(exist_ok=True)
    if not (directory / "seconds").exists():
        measure(directory)
    tests_of = TestsOf(directory)
    files = sorted(file for folder in arguments.folders for file in Path("service", folder).rglob("*.py"))
    everything = [mutant for file in files for mutant in mutants(file)]
    chosen = _sample(everything, arguments.number, random.Random(arguments.seed), arguments.since)
    _import_libraries()
    count: Counter[str] = Counter()
    for number in arguments.only or range(arguments.number):
        outcome = _outcome(chosen[number], tests_of)
        count[outcome] += 1
        print(f"{number} {outcome}: {chosen[number]}", flush=True)
    print(*(f"{times} {outcome}" for outcome, times in count.most_common()), sep=", ")


def _sample(everything: list[Mutant], number: int, generator: random.Random, since: str | None) -> list[Mutant]:
    if since is None:
        return generator.sample(everything, number)
    new = [mutant for mutant in everything if is_new(mutant, since)]
    chosen = generator.sample(new, min(number // 2, len(new)))
    others = [mutant for mutant in everything if mutant not in chosen]
    return chosen + generator.sample(others, number - len(chosen))


def _import_libraries() -> None:
    """Import all foreign modules that the tests import, so that the processes need not."""
    command = "import sys, hypothesis, tests.conftest, tests.support.asking; print(*sys.modules)"
    found = subprocess.run([sys.executable, "-c", command], capture_output=True, text=True, check=True).stdout
    for name in found.split():
        if name.partition(".")[0] not in OURS:
            with contextlib.suppress(ImportError):
                importlib.import_module(name)


def _outcome(mutant: Mutant, tests_of: TestsOf) -> str:
    tests = tests_of(mutant)
    for some in _rounds(tests, tests_of.seconds):
        killed = _killed(mutant, some, 30 + 15 * sum(tests_of.seconds[test] for test in some))
        if killed:
            return killed
    return "survived" if tests else "not run"


def _rounds(tests: list[str], seconds: dict[str, float]) -> Iterator[list[str]]:
    tests = list(tests)
    for longest in ROUNDS:
        taken, spent = [], 0.0
        while tests and (spent + seconds[tests[0]] <= longest or not taken):
            spent += seconds[tests[0]]
            taken.append(tests.pop(0))
        if taken:
            yield taken


def _killed(mutant: Mutant, tests: list[str], longest: float) -> str | None:
    """How a mutant ended in this many seconds; None if all of the tests pass."""
    child = os.fork()
    if not child:
        os._exit(_run(mutant, tests))
    deadline = time.monotonic() + longest
    while time.monotonic() < deadline:
        pid, status = os.waitpid(child, os.WNOHANG)
        if pid:
            return None if status == 0 else "killed"
        time.sleep(0.02)
    with contextlib.suppress(ProcessLookupError):
        os.killpg(child, signal.SIGKILL)
    os.waitpid(child, 0)
    return "timed out"


def _run(mutant: Mutant, tests: list[str]) -> int:
    """Run the tests in this process; their output goes to the file that MUTANT_LOG names, or nowhere."""
    os.setsid()
    resource.setrlimit(resource.RLIMIT_AS, (MEMORY, MEMORY))
    log = os.open(os.environ.get("MUTANT_LOG", os.devnull), os.O_WRONLY | os.O_CREAT | os.O_TRUNC)
    os.dup2(log, 1)
    os.dup2(log, 2)
    sys.meta_path.insert(0, _Finder(mutant))
    sys.dont_write_bytecode = True
    try:
        return int(pytest.main([*OPTIONS, *QUIET, *tests]))
    except BaseException:  # noqa: BLE001  # whatever ends it is the mutant's doing
        traceback.print_exc()
        return 1
    finally:
        sys.stdout.flush()
        sys.stderr.flush()


if __name__ == "__main__":
    main()
