"""The width of the terminal, a table whose columns have other names, and a server in this process."""

import threading
from collections.abc import Iterator
from hashlib import sha256
from pathlib import Path

import pytest
from werkzeug.serving import make_server

from service.app import create_app
from service.settings import read_settings
from tests.cli.gate.gate_server import KEY
from tests.cli.running import NAMED


@pytest.fixture(autouse=True)
def _width(monkeypatch: pytest.MonkeyPatch) -> None:
    """Lay out for 80 columns, however wide the terminal of the tests is."""
    monkeypatch.setenv("COLUMNS", "80")


@pytest.fixture
def named(tmp_path: Path) -> Path:
    path = tmp_path / "named.csv"
    path.write_text(NAMED)
    return path


@pytest.fixture(scope="package")
def guarded(tmp_path_factory: pytest.TempPathFactory) -> Iterator[str]:
    """The address of a server that needs a key. That a real one answers alike is shown where CI's scripts ask it."""
    keys: Path = tmp_path_factory.mktemp("guarded") / "keys"
    keys.write_text(f"tests {sha256(KEY.encode()).hexdigest()}\n")
    variables = {"ROCPR_API_KEYS_FILE": str(keys), "ROCPR_MAX_BODY_BYTES": "1000000"}
    server = make_server("127.0.0.1", 0, create_app(read_settings(variables)), threaded=True)
    thread = threading.Thread(target=server.serve_forever, kwargs={"poll_interval": 0.01})
    thread.start()
    yield f"http://127.0.0.1:{server.server_port}"
    server.shutdown()
    thread.join()
    server.server_close()
