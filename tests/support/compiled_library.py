"""The loops in C, compiled apart from the checkout, and their twin in Python."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest

from deploy import build_hook
from service.curves.sweep.sweep import COMPILED

ROOT = Path(__file__).resolve().parents[2]


def library_in(directory: Path, *options: str) -> Path:
    """Compile it, if there is a compiler."""
    library = directory / "sweep.library"
    build_hook.compile_library([*compiler(), *options], ROOT / build_hook.SOURCES, library)
    return library


@pytest.fixture(scope="session")
def library(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The library that the tests use; with `--plain`, one that is compiled for those that need it all the same."""
    return COMPILED.path or library_in(tmp_path_factory.mktemp("library"))


@pytest.fixture(scope="module", params=["C", "plain"])
def loops(request: pytest.FixtureRequest) -> Iterator[str]:
    """Run a test with the loops in C, and again with their twin."""
    with used(request.getfixturevalue("library") if request.param == "C" else None):
        yield request.param


def compiler() -> list[str]:
    """The command of the compiler; without one the test is skipped."""
    try:
        return build_hook.compiler_command()
    except build_hook.NotCompiled as reason:
        pytest.skip(str(reason))


@contextmanager
def used(library: Path | None) -> Iterator[None]:
    """Use a library, or none, and afterwards the previous one."""
    before = COMPILED.path
    COMPILED.use(library)
    try:
        yield
    finally:
        COMPILED.use(before)
