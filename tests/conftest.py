"""What all tests share."""

import os
from collections.abc import Iterator
from pathlib import Path

import pytest

from service.curves import compiled

ROOT = Path(__file__).resolve().parent.parent


@pytest.fixture(scope="session")
def root() -> Path:
    """The checkout."""
    return ROOT


def pytest_configure() -> None:
    """Let tests use NumPy; those of the compiled loops compare them with that (curves/test_compiled.py).

    Before tests are collected: some modules make an application when they are imported.
    """
    compiled.LIBRARY = ROOT / "none"
    os.environ["ROCPR_COMPILED"] = "off"  # for servers


@pytest.fixture(autouse=True)
def _nothing_compiled_is_left_in_use() -> Iterator[None]:
    yield
    assert compiled.KERNEL.path is None
