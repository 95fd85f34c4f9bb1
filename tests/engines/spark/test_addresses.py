"""Addresses of Spark servers, and what the engine says if no server answers there."""

import socket
import subprocess
import sys

import pytest

from service.engines.failures import EngineFailed
from service.engines.spark_engine import TOKEN_VARIABLE, Remote, Spark

SECRET = "geheim-0815"


@pytest.mark.parametrize(
    ("text", "host", "port", "token"),
    [
        ("sc://spark", "spark", 15002, None),
        ("sc://spark:1/", "spark", 1, None),
        ("sc://10.0.0.1:15002/;token=a%20b;use_ssl=true", "10.0.0.1", 15002, "a b"),
        ("sc://[::1]:7;token=x", "::1", 7, "x"),
    ],
)
def test_an_address(text: str, host: str, port: int, token: str | None, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv(TOKEN_VARIABLE, raising=False)
    found = Remote.parse(text)
    assert (found.host, found.port, found.token) == (host, port, token)
    assert str(found) == repr(found) == (f"[{host}]:{port}" if ":" in host else f"{host}:{port}")


@pytest.mark.parametrize(
    "text",
    [
        "", "spark:15002", "http://spark:15002", "sc://", "sc://:15002", "sc://spark:port", "sc://spark:99999",
        "sc://spark/path", "sc://user:word@spark", "sc://spark?x=1", "sc://a b", "sc://spark:1/;token", "sc://spark:1/;=x",
        "sc:///;x=1",
    ],
)  # fmt: skip
def test_no_address(text: str) -> None:
    secret = f"{text};token={SECRET}" if ";" not in text else f"{text};other={SECRET}"
    with pytest.raises(
        EngineFailed, match=r"^A Spark server's address is sc://HOST:PORT; the default port is 15002\.$"
    ):
        Spark(secret, "t")


def test_no_server() -> None:
    with socket.socket() as nobody:
        nobody.bind(("127.0.0.1", 0))
        port = nobody.getsockname()[1]
        with pytest.raises(EngineFailed) as caught:
            Spark(f"sc://localhost:{port}/;token={SECRET}", "t")
    assert str(caught.value) == f"No Spark Connect server answers at localhost:{port}."


@pytest.mark.all
def test_a_port_that_never_answers() -> None:
    with (
        socket.create_server(("127.0.0.1", 0)) as silent,
        pytest.raises(EngineFailed, match=r"^No Spark Connect server answers at 127\.0\.0\.1:"),
    ):
        Spark(f"sc://127.0.0.1:{silent.getsockname()[1]}", "t")


@pytest.mark.all
def test_a_process_whose_main_module_has_no_file() -> None:
    """As in multiprocessing's processes, where pyspark would exit."""
    code = "from service.engines.spark_engine import Spark; Spark('sc://localhost:1', 't')"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, timeout=60, check=False)
    assert "EngineFailed: No Spark Connect server answers at localhost:1." in done.stderr
