"""The compiled library in a directory of its own, so that tests neither need nor change what a checkout has."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import fields, is_dataclass
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from click import ClickException

from service.cli.compile import compile_library, compiler_command
from service.curves.compiled import KERNEL


def library_in(directory: Path, *options: str) -> Path:
    """Compile it, unless there is no compiler here."""
    try:
        command = compiler_command(None)
    except ClickException as error:
        pytest.skip(error.message)
    library = directory / "kernel.so"
    compile_library([*command, *options], library)
    return library


@contextmanager
def used(library: Path | None) -> Iterator[None]:
    """Use a library, or none, and after that what was used before."""
    before = KERNEL.path
    KERNEL.use(library)
    try:
        yield
    finally:
        KERNEL.use(before)


def bits(answer: Any) -> Any:
    """An answer, so that two are equal only when all bits of theirs are."""
    if isinstance(answer, np.ndarray):
        return answer.dtype.str, answer.tobytes()
    if is_dataclass(answer):
        return {field.name: bits(getattr(answer, field.name)) for field in fields(answer)}
    if isinstance(answer, (list, tuple)):
        return [bits(part) for part in answer]
    return answer.hex() if isinstance(answer, float) else answer
