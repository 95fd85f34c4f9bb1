"""The running server, as the end-to-end tests start it, and the programs that commands call."""

from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.e2e.conftest import server
from tests.readme.commands import installed

__all__ = ["server"]


@pytest.fixture(scope="session")
def programs(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Path]:
    with installed(tmp_path_factory.mktemp("programs")) as programs:
        yield programs
