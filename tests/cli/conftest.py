"""The width of the terminal, a table whose columns have other names, and a server in this process."""

import io
import threading
from collections.abc import Iterator
from hashlib import sha256
from pathlib import Path
from typing import Any

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
    app = create_app(read_settings(variables))

    def with_whole_body(environ: dict[str, Any], start_response: Any) -> Any:
        """The application takes a body that the server has read."""
        body = environ["wsgi.input"].read(int(environ.get("CONTENT_LENGTH") or 0))
        return app(environ | {"wsgi.input": io.BytesIO(body)}, start_response)

    server = make_server("127.0.0.1", 0, with_whole_body, threaded=True)
    thread = threading.Thread(target=server.serve_forever, kwargs={"poll_interval": 0.01})
    thread.start()
    yield f"http://127.0.0.1:{server.server_port}"
    server.shutdown()
    thread.join()
    server.server_close()
