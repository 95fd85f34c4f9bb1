"""The application in process, and a pair of sockets."""

import json
import socket
from collections.abc import Iterator

import pytest
from flask import Flask
from flask.testing import FlaskClient

from service.app import create_app
from service.settings import read_settings
from tests.e2e.wire import SECONDS
from tests.web.observing import Lines

MAX_BODY_BYTES = 1000

Pair = tuple[socket.socket, socket.socket]


@pytest.fixture(scope="session")
def app() -> Flask:
    return create_app(read_settings({"ROCPR_MAX_BODY_BYTES": str(MAX_BODY_BYTES)}))


@pytest.fixture
def client(app: Flask) -> FlaskClient:
    return app.test_client()


@pytest.fixture
def lines(capfd: pytest.CaptureFixture[str]) -> Lines:
    """Read the lines logged since the last call."""
    return lambda: [json.loads(line) for line in capfd.readouterr().err.splitlines()]


@pytest.fixture
def pair() -> Iterator[Pair]:
    """The server's end and the client's."""
    ours, theirs = socket.socketpair()
    with ours, theirs:
        theirs.settimeout(SECONDS)
        yield ours, theirs
