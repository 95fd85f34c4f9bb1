"""The real server behind the real nginx with deploy/nginx.conf."""

import os
import shutil
import signal
import subprocess
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

import pytest

from tests.support.servers import free_port, serving, wait_for_port

NGINX = shutil.which("nginx", path=f"{os.environ.get('PATH', '')}:/usr/sbin")
MANY_OF_ONE_ADDRESS = 2000
"""Replaces the limit for each address, because all clients of a test have the same one."""


@dataclass(frozen=True)
class Proxy:
    """A running nginx, its port, the port of the service behind it, and its access log."""

    port: int
    behind: int
    log: Path


def configuration(root: Path, directory: Path, port: int, behind: int) -> str:
    """deploy/nginx.conf with another port, service and directory."""
    text = (root / "deploy/nginx.conf").read_text()
    for old, new, times in (
        ("listen 8080 backlog=4096;", f"listen 127.0.0.1:{port} backlog=4096;", 1),
        ("server 127.0.0.1:8000;", f"server 127.0.0.1:{behind};", 1),
        ("/dev/stdout", str(directory / "access.log"), 1),
        ("/var/cache/nginx/", f"{directory}/", 6),
    ):
        assert text.count(old) == times, old
        text = text.replace(old, new)
    return text


@contextmanager
def running_nginx(text: str, directory: Path, port: int) -> Iterator[None]:
    """Run nginx with this configuration; at the end, it must stop when told to."""
    if NGINX is None:
        pytest.skip("there is no nginx on this machine")
    file = directory / "nginx.conf"
    file.write_text(text)
    # As root, it would run its workers as another user, who may not enter pytest's directories.
    user = ["-g", "user root;"] if os.geteuid() == 0 else []
    with (directory / "nginx.log").open("wb") as stream:
        process = subprocess.Popen([NGINX, "-c", str(file), *user], stdout=stream, stderr=stream)
    try:
        wait_for_port(port, process)
        yield
    finally:
        process.send_signal(signal.SIGTERM)
        assert process.wait(timeout=60) == 0


@pytest.fixture(scope="session")
def service() -> Iterator[int]:
    """The port of the service as the deployments start it."""
    with serving() as service:
        yield service.port


@pytest.fixture(scope="session")
def proxy(root: Path, service: int, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Proxy]:
    """nginx as shipped, except for the limit of requests for each address: all clients of a test have one address."""
    directory = tmp_path_factory.mktemp("nginx")
    port = free_port()
    text = configuration(root, directory, port, service)
    text = text.replace("limit_conn addresses 100;", f"limit_conn addresses {MANY_OF_ONE_ADDRESS};")
    with running_nginx(text, directory, port):
        yield Proxy(port, service, directory / "access.log")
