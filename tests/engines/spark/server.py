"""A Spark Connect server on this machine, for tests and measurements: `deploy/spark.sh` installs it, Java runs it.

    python -m tests.engines.spark.server

starts one, prints its address, and stops it at the end of its input or at Ctrl-C.
"""

import contextlib
import os
import secrets
import shutil
import socket
import subprocess
import sys
import time
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from tempfile import TemporaryDirectory

HOME = Path(__file__).resolve().parents[3] / ".spark/pyspark"
CONNECT = "org.apache.spark.sql.connect.service.SparkConnectServer"
SECONDS_TO_START = 90
QUICKLY_COMPILED = "-XX:TieredStopAtLevel=1 -XX:+UseSerialGC"
"""Options for queries that take a second: Java then starts in half the time."""


@dataclass(frozen=True)
class Server:
    """Its address, sc://localhost:PORT, without the token, which goes into a client's environment or address."""

    remote: str
    token: str
    pid: int

    @property
    def with_token(self) -> str:
        return f"{self.remote}/;token={self.token}"


def missing() -> str | None:
    """Why no server can run here; empty if it can."""
    if not (HOME / "bin/spark-submit").is_file():
        return "there is no Spark: sh deploy/spark.sh"
    if shutil.which("java") is None:
        return "there is no Java on this machine"
    return None


@contextlib.contextmanager
def spark_server(
    folder: Path, *, cores: int = 2, memory: str = "1g", java: str = QUICKLY_COMPILED, settings: Mapping[str, str] = {}
) -> Iterator[Server]:
    """Run a server until the end of the block; it ends with this process, too.

    folder     where it writes its files: log, shuffles, tables.
    memory     Java's heap; in total it takes about 500 MB more.
    settings   settings of Spark, in addition to those here.
    """
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        port = free.getsockname()[1]
    token = secrets.token_hex(16)
    places = {
        "spark.connect.grpc.binding.address": "127.0.0.1",
        "spark.connect.grpc.binding.port": str(port),
        "spark.driver.bindAddress": "127.0.0.1",
        "spark.driver.host": "127.0.0.1",
        "spark.local.dir": str(folder),
        "spark.sql.shuffle.partitions": str(cores),
        "spark.sql.warehouse.dir": str(folder / "warehouse"),
        "spark.ui.enabled": "false",
    }
    words = [f"--conf={name}={value}" for name, value in (places | dict(settings)).items()]
    command = [
        "setpriv", "--pdeathsig", "TERM", str(HOME / "bin/spark-submit"),
        "--class", CONNECT,
        f"--master=local[{cores}]", f"--driver-memory={memory}", f"--driver-java-options={java}", *words,
        "spark-internal",
    ]  # fmt: skip
    environment = {name: value for name, value in os.environ.items() if not name.startswith(("SPARK", "PYSPARK"))}
    environment |= {"SPARK_HOME": str(HOME), "SPARK_LOCAL_IP": "127.0.0.1", "SPARK_CONNECT_AUTHENTICATE_TOKEN": token}
    with (folder / "log").open("wb") as log:
        process = subprocess.Popen(
            command, cwd=folder, env=environment, stdin=subprocess.DEVNULL, stdout=log, stderr=subprocess.STDOUT
        )
    try:
        _wait(process, port, folder / "log")
        yield Server(f"sc://localhost:{port}", token, process.pid)
    finally:
        process.terminate()
        try:
            process.wait(20)
        except subprocess.TimeoutExpired:
            process.kill()
            process.wait()


def _wait(process: subprocess.Popen[bytes], port: int, log: Path) -> None:
    end = time.monotonic() + SECONDS_TO_START
    while True:
        with contextlib.suppress(OSError), socket.create_connection(("127.0.0.1", port), 1):
            return
        if process.poll() is not None or time.monotonic() > end:
            raise RuntimeError(f"the Spark server did not start:\n{log.read_text()[-3000:]}")
        time.sleep(0.1)


def main() -> None:
    if reason := missing():
        sys.exit(reason)
    with TemporaryDirectory() as folder, spark_server(Path(folder)) as server, contextlib.suppress(KeyboardInterrupt):
        print(server.with_token, flush=True)
        sys.stdin.read()


if __name__ == "__main__":
    main()
