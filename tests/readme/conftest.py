"""The running server, as the end-to-end tests start it, and the programs that commands call."""

from pathlib import Path

import pytest

from tests.e2e.conftest import server
from tests.readme.commands import install

__all__ = ["server"]


@pytest.fixture(scope="session")
def programs(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return install(tmp_path_factory.mktemp("programs"))
