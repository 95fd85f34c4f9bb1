"""One Spark Connect server for all tests of this folder, which run in one process: deploy/test.sh."""

from collections.abc import Iterator

import pytest

from service.engines.spark_engine import Spark
from tests.engines.spark.server import Server, missing, spark_server


@pytest.fixture(scope="session")
def server(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Server]:
    if reason := missing():
        pytest.skip(reason)
    with spark_server(tmp_path_factory.mktemp("spark")) as running:
        yield running


@pytest.fixture(scope="session")
def session(server: Server) -> Iterator[Spark]:
    """One session for all tests that leave it unchanged, because Java recompiles the same queries in each session."""
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
