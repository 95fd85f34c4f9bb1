"""What all tests share."""

import os
import shutil
import tempfile
from collections.abc import Iterator
from pathlib import Path

import pytest

from service.curves import compiled

ROOT = Path(__file__).resolve().parent.parent


@pytest.fixture(scope="session")
def root() -> Path:
    """The checkout."""
    return ROOT


def pytest_configure(config: pytest.Config) -> None:
    """Let no test use, or change, what somebody compiled in the checkout; those of it compile their own.

    Before tests are collected: some modules make an application when they are imported.
    """
    directory = tempfile.TemporaryDirectory()
    config.add_cleanup(directory.cleanup)
    compiled.SOURCES = shutil.copytree(compiled.SOURCES, Path(directory.name, "kernel"))
    os.environ["ROCPR_COMPILED"] = "off"  # for servers


@pytest.fixture(autouse=True)
def _nothing_compiled_is_left_in_use() -> Iterator[None]:
    yield
    assert compiled.KERNEL.path is None
