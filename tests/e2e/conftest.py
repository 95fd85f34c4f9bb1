"""The real server, one for all tests that only ask."""

from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.support.servers import Server, rocpr_serve, run_folder, shared

MAX_BODY_BYTES = 1_000_000
MAX_DECOMPRESSED_BYTES = 20_000_000


@pytest.fixture(scope="session")
def server(root: Path, tmp_path_factory: pytest.TempPathFactory, measured: dict[str, str]) -> Iterator[Server]:
    """A server with a low body limit, and with a variable that is not a setting."""
    limits = {
        "ROCPR_MAX_BODY_BYTES": str(MAX_BODY_BYTES),
        "ROCPR_MAX_DECOMPRESSED_BYTES": str(MAX_DECOMPRESSED_BYTES),
    }
    folder = run_folder(tmp_path_factory, "server")
    serve = rocpr_serve(root, folder / "log", **limits, **measured, ROCPR_SLOTZ="7")
    with shared(folder, serve) as server:
        yield server
    assert '"level":"error"' not in server.log.read_text()
