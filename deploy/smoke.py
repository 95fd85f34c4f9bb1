"""Installs the wheel of a release into a new environment, which then evaluates a file and serves a call.

    python3 deploy/smoke.py DIRECTORY

DIRECTORY is what deploy/package.sh made; what rocpr needs comes from the package registry, as wheels. Fails unless the
wheel has compiled loops that work here. Prints how long it took, and the size of the environment. Needs only Python.
"""

import json
import socket
import subprocess
import sys
import time
import urllib.request
import venv
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

SAMPLE = "scores,labels\n0.9,1\n0.8,0\n0.7,1\n0.7,1\n0.4,0\n0.2,0\n"
AREA = 7 / 9
SECONDS = 60.0
"""How long the server may take to start."""


def install(files: Path, place: Path) -> None:
    """Make an environment with the version of rocpr that is in a directory."""
    (sdist,) = files.glob("rocpr-*.tar.gz")
    version = sdist.name.removeprefix("rocpr-").removesuffix(".tar.gz")
    venv.create(place, with_pip=True)
    words = ["install", "--quiet", "--only-binary", ":all:", "--find-links", files, f"rocpr=={version}"]
    subprocess.run([place / "bin/python", "-m", "pip", *words], check=True)  # noqa: S603


def call(address: str, body: str | None = None) -> dict[str, Any]:
    """Call a server on this machine; returns its answer in JSON."""
    data = None if body is None else body.encode()
    request = urllib.request.Request(address, data, {"Content-Type": "text/csv"})  # noqa: S310
    with urllib.request.build_opener(urllib.request.ProxyHandler({})).open(request, timeout=SECONDS) as answer:
        found: dict[str, Any] = json.load(answer)
        return found


def serve(rocpr: Path) -> None:
    """Start a server, call it once it is ready, and stop it."""
    with socket.create_server(("127.0.0.1", 0)) as free:
        port = free.getsockname()[1]
    address, end = f"http://127.0.0.1:{port}", time.monotonic() + SECONDS
    with subprocess.Popen([rocpr, "serve", "--host", "127.0.0.1", "--port", str(port)]) as server:  # noqa: S603
        try:
            while True:
                try:
                    call(f"{address}/health/ready")
                    break
                except OSError:
                    if server.poll() is not None or time.monotonic() > end:
                        raise
                    time.sleep(0.1)
            assert "compiled" in call(f"{address}/version")["extras"]  # noqa: S101
            assert call(f"{address}/v1/curves", SAMPLE)["auc"]["roc"] == AREA  # noqa: S101
        finally:
            server.terminate()
    assert server.returncode == 0  # noqa: S101


def main(files: Path) -> None:
    """Try it, and print the figures."""
    with TemporaryDirectory() as directory:
        place, start = Path(directory), time.monotonic()
        install(files, place)
        installed = time.monotonic()
        command = [place / "bin/rocpr", "curves", "-", "--format", "csv", "--json"]
        printed = subprocess.run(command, input=SAMPLE.encode(), capture_output=True, check=True).stdout  # noqa: S603
        assert json.loads(printed)["auc"]["roc"] == AREA  # noqa: S101
        serve(place / "bin/rocpr")
        answered = time.monotonic() - installed
        size = sum(path.stat().st_size for path in place.rglob("*") if path.is_file() and not path.is_symlink()) / 1e6
        print(f"installed in {installed - start:.0f} s, {size:.0f} MB; answered {answered:.1f} s later")


if __name__ == "__main__":
    main(Path(sys.argv[1]).resolve())
