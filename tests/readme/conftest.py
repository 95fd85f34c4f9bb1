"""The running server, as the end-to-end tests start it, and the programs that commands call."""

from pathlib import Path

import pytest

from tests.e2e.conftest import server
from tests.readme.commands import beside

__all__ = ["server"]


@pytest.fixture(scope="session")
def programs(program: Path) -> Path:
    return beside(program)
