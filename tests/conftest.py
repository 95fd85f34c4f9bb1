"""What all tests share."""

import os
from pathlib import Path

import pytest

from service.curves import compiled

ROOT = Path(__file__).resolve().parent.parent


@pytest.fixture(scope="session")
def root() -> Path:
    """The checkout."""
    return ROOT


@pytest.fixture(scope="session", autouse=True)
def _nothing_compiled(tmp_path_factory: pytest.TempPathFactory) -> None:
    """Let no test use, or change, what somebody compiled in the checkout; those of it compile their own."""
    copy = tmp_path_factory.mktemp("source") / compiled.SOURCE.name
    copy.write_bytes(compiled.SOURCE.read_bytes())
    compiled.SOURCE = copy
    os.environ["ROCPR_COMPILED"] = "off"  # for servers
