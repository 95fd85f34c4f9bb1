"""One Spark Connect server for all tests of this folder, in however many processes they run."""

import os
from collections.abc import Iterator
from pathlib import Path

import pytest

from service.engines.spark_engine import Spark
from tests.engines.spark.server import Server, missing, shared_server


@pytest.fixture(scope="session")
def server(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Server]:
    if reason := missing():
        pytest.skip(reason)
    base: Path = tmp_path_factory.getbasetemp()
    folder = base.parent if "PYTEST_XDIST_WORKER" in os.environ else base
    with shared_server(folder / "spark") as running:
        yield running


@pytest.fixture(scope="session")
def session(server: Server) -> Iterator[Spark]:
    """One session for all tests that leave it as it was: in each, Java compiles the same queries anew."""
    with Spark(server.with_token, "nothing") as engine:
        yield engine


@pytest.fixture
def spark(session: Spark) -> Iterator[Spark]:
    """An engine whose table a test names."""
    yield session
    session.table = "nothing"


@pytest.fixture
def remote(server: Server, monkeypatch: pytest.MonkeyPatch) -> str:
    """The server's address; the token is in the environment, where the client looks for it."""
    monkeypatch.setenv("SPARK_CONNECT_AUTHENTICATE_TOKEN", server.token)
    return server.remote
