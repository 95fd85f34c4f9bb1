"""One Spark Connect server for all tests of this folder, in however many processes they run."""

import os
from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.engines.spark.server import Server, missing, shared_server


@pytest.fixture(scope="session")
def server(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Server]:
    if reason := missing():
        pytest.skip(reason)
    base: Path = tmp_path_factory.getbasetemp()
    folder = base.parent if "PYTEST_XDIST_WORKER" in os.environ else base
    with shared_server(folder / "spark") as running:
        yield running


@pytest.fixture
def remote(server: Server, monkeypatch: pytest.MonkeyPatch) -> str:
    """The server's address; the token is in the environment, where the client looks for it."""
    monkeypatch.setenv("SPARK_CONNECT_AUTHENTICATE_TOKEN", server.token)
    return server.remote
