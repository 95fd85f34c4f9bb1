"""`rocpr serve` where it cannot listen: one line, without a server's log. tests/e2e starts real servers."""

import contextlib
import os
import socket

import pytest

from tests.cli.running import run


@pytest.fixture(autouse=True)
def never_becomes_a_server(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(os, "execv", lambda *words: pytest.fail(f"it became {words}"))


@pytest.mark.parametrize("host", ["127.0.0.1", "::1", "0.0.0.0"])
def test_a_port_that_is_taken_is_named_with_the_next(host: str) -> None:
    family = socket.AF_INET6 if ":" in host else socket.AF_INET
    with socket.create_server((host, 0), family=family) as taken:
        port = taken.getsockname()[1]
        done = run("serve", "--host", host, "--port", port)
    assert (done.exit_code, done.stdout) == (1, "")
    assert done.stderr == f"Error: Port {port} of {host} is taken; try --port {port + 1}.\n"


def test_after_the_last_port_a_free_one_is_advised() -> None:
    with contextlib.ExitStack() as taken:
        with contextlib.suppress(OSError):  # another process may have taken it
            taken.enter_context(socket.create_server(("127.0.0.1", 65535)))
        done = run("serve", "--port", 65535)
    assert done.stderr == "Error: Port 65535 of 127.0.0.1 is taken; try --port 0, which takes a free one.\n"


def test_an_address_that_is_not_this_machines_is_refused() -> None:
    done = run("serve", "--host", "192.0.2.1")
    assert (done.exit_code, done.stdout) == (1, "")
    assert done.stderr.startswith("Error: The server cannot listen on port 8000 of 192.0.2.1: ")
    assert done.stderr.count("\n") == 1
