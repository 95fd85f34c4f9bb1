"""The compiled library in a separate directory, so that tests neither need nor change the checkout's."""

from __future__ import annotations

import fcntl
import os
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import fields, is_dataclass
from pathlib import Path
from typing import Any

import numpy as np
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
    """The library for all tests of a run: the first process that needs it compiles it."""
    own = tmp_path_factory.getbasetemp()
    shared = own.parent if "PYTEST_XDIST_WORKER" in os.environ else own
    with (shared / "library.lock").open("w") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        library = shared / "sweep.library"
        return library if library.exists() else library_in(shared)


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


def bits(answer: Any) -> Any:
    """An answer in a form in which two are equal only if all their bits are."""
    if isinstance(answer, np.ndarray):
        return answer.dtype.str, answer.tobytes()
    if is_dataclass(answer):
        return {field.name: bits(getattr(answer, field.name)) for field in fields(answer)}
    if isinstance(answer, (list, tuple)):
        return [bits(part) for part in answer]
    return answer.hex() if isinstance(answer, float) else answer
