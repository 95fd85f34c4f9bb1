"""A real server that needs a key, for the gate's command and for the scripts of CI servers."""

from collections.abc import Iterator
from contextlib import contextmanager
from hashlib import sha256
from pathlib import Path

import pytest

from tests.support.servers import Service, rocpr_serve, run_folder, shared

KEY = "rocpr_a-key_of.tests~+/="


@contextmanager
def serving(root: Path, folder: Path) -> Iterator[Service]:
    """That server; its log must show no failure, and not the key."""
    (folder / "keys").write_text(f"tests {sha256(KEY.encode()).hexdigest()}\n")
    variables = {
        "ROCPR_API_KEYS_FILE": str(folder / "keys"),
        "ROCPR_MAX_BODY_BYTES": "1000000",
        "ROCPR_RETRY_AFTER_SECONDS": "1",
    }
    with rocpr_serve(root, folder / "log", **variables) as server:
        yield server
    assert KEY not in server.log.read_text()


@pytest.fixture(scope="session")
def guarded(root: Path, tmp_path_factory: pytest.TempPathFactory) -> Iterator[str]:
    """The address of one for all processes."""
    folder = run_folder(tmp_path_factory, "gates")
    with shared(folder, serving(root, folder)) as server:
        yield f"http://127.0.0.1:{server.port}"
