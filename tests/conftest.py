"""What all tests share."""

import gc
import os
import signal
from collections.abc import Generator, Iterator
from functools import cache
from pathlib import Path
from tempfile import TemporaryDirectory

import pytest
from hypothesis import settings

from deploy import build_hook
from service import app
from service.curves.sweep import sweep
from tests.support import strategies
from tests.support.ready_rocpr import ready_rocpr

# Laws that do not set their own deadline (strategies.examples) get none: a busy machine breaks no law.
settings.register_profile("suite", deadline=None, derandomize=True, database=None)
settings.load_profile("suite")

ROOT = Path(__file__).resolve().parent.parent
NOT_COMPILED = pytest.StashKey[str]()


class Clock:
    """A clock that stands still, or goes on by a tick each time that it is read."""

    now = 0.0
    tick = 0.0

    def __call__(self) -> float:
        """Tell the time."""
        self.now += self.tick
        return self.now


@pytest.fixture
def clock(monkeypatch: pytest.MonkeyPatch) -> Clock:
    """The clock that the mathematics reads, in the hands of a test."""
    clock = Clock()
    monkeypatch.setattr("service.curves.clock.thread_time", clock)
    return clock


@pytest.fixture(scope="session")
def root() -> Path:
    """The checkout."""
    return ROOT


def pytest_addoption(parser: pytest.Parser) -> None:
    """`--plain`: use the twin of the loops in C. `--all`: all tests, and all examples of laws."""
    parser.addoption("--plain", action="store_true", help="use plain.py instead of sweep.c")
    parser.addoption("--all", action="store_true", help="all tests, not only the first ones; all examples of laws")


def pytest_configure(config: pytest.Config) -> None:
    """Let tests use the loops in C, if there is a compiler, except with `--plain`.

    Before tests are collected: some modules make an application when they are imported.
    """
    # Commands that a shell starts in the background ignore Ctrl-C, and so do their children.
    signal.signal(signal.SIGINT, signal.default_int_handler)
    # Applications share what they derive from openapi.yaml, which takes a tenth of a second; tests make hundreds.
    app.contract_blueprint = cache(app.contract_blueprint)
    strategies.examples_are_all = config.getoption("--all")
    if not strategies.examples_are_all:
        settings.register_profile("first", settings.get_profile("suite"), max_examples=12)
        settings.load_profile("first")
    if config.getoption("--plain"):
        sweep.LIBRARY = ROOT / "none"
        os.environ["ROCPR_COMPILED"] = "off"  # for servers
    else:
        _use_loops_in_c(config)


def _use_loops_in_c(config: pytest.Config) -> None:
    """Use the library of the checkout, or one of today's sources if it is older than they are."""
    library, source = ROOT / build_hook.LIBRARY, ROOT / build_hook.SOURCES / "sweep.c"
    try:
        if not library.exists() or library.stat().st_mtime < source.stat().st_mtime:
            directory = TemporaryDirectory()
            config.add_cleanup(directory.cleanup)
            library = Path(directory.name) / library.name
            build_hook.compile_library(build_hook.compiler_command(), ROOT / build_hook.SOURCES, library)
        sweep.LIBRARY = library  # which an application uses
        sweep.COMPILED.use(library)
    except build_hook.NotCompiled as reason:
        config.stash[NOT_COMPILED] = str(reason)


@pytest.hookimpl(wrapper=True)
def pytest_collection() -> Generator[None]:
    """Search no garbage among modules and tests, which all stay: neither while they are collected nor later."""
    gc.disable()
    try:
        return (yield)
    finally:
        gc.freeze()
        gc.enable()


def pytest_ignore_collect(collection_path: Path, config: pytest.Config) -> bool | None:
    """Do not even import a file whose tests are all marked `all`, except with `--all` or if it is named."""
    if collection_path.suffix != ".py" or _is_asked(config):
        return None
    return "\npytestmark = pytest.mark.all\n" in collection_path.read_text("utf-8") or None


def _is_asked(config: pytest.Config) -> bool:
    """Whether tests marked `all` run: with `--all`, or when files or tests are named."""
    return bool(config.getoption("--all")) or any(".py" in name for name in config.args)


def pytest_collection_modifyitems(config: pytest.Config, items: list[pytest.Item]) -> None:
    """Deselect tests marked `all`, except with `--all` or if they are named."""
    if _is_asked(config):
        return
    later = [item for item in items if item.get_closest_marker("all")]
    config.hook.pytest_deselected(items=later)
    items[:] = [item for item in items if not item.get_closest_marker("all")]


def pytest_report_header(config: pytest.Config) -> str:
    """Say in the header which loops the tests use."""
    loops = "plain" if sweep.COMPILED.path is None else "in C"
    return f"loops: {loops}{f', because {reason}' if (reason := config.stash.get(NOT_COMPILED, '')) else ''}"


@pytest.fixture(scope="session")
def runs_all(pytestconfig: pytest.Config) -> bool:
    """Whether a test may take its time."""
    return bool(pytestconfig.getoption("--all"))


@pytest.fixture(scope="session")
def program(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Path]:
    """A `rocpr` for shells, alone in its folder."""
    with ready_rocpr(tmp_path_factory.mktemp("program")) as program:
        yield program


@pytest.fixture(scope="session", autouse=True)
def measured() -> Iterator[dict[str, str]]:
    """The variables of a process in which coverage counts lines.

    All other processes that tests start are not counted: counting takes up to half of their time, and this process runs
    nearly all of the same lines.
    """
    variables = {name: os.environ.pop(name) for name in ("COVERAGE_PROCESS_CONFIG",) if name in os.environ}
    yield variables
    assert not variables.keys() & os.environ.keys(), "all processes were counted"


@pytest.fixture(autouse=True)
def _no_other_loops_are_left_in_use() -> Iterator[None]:
    before = sweep.COMPILED.path
    yield
    assert sweep.COMPILED.path == before
