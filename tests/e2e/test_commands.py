"""The commands that run the service, `rocpr serve` and deploy/run.sh, really started and stopped."""

import json
import os
import re
import shlex
import shutil
import signal
import socket
import subprocess
import sys
import time
from collections.abc import Callable
from itertools import takewhile
from pathlib import Path

import pytest

from tests.support.servers import ROCPR, Server, free_port, wait_for_port

RUN = ["sh", "deploy/run.sh"]


@pytest.fixture
def made_here(root: Path) -> None:
    """Skip if deploy/run.sh would recreate .venv, in which the tests run."""
    if subprocess.run(["sh", "deploy/setup.sh", "run", "check"], cwd=root, check=False, capture_output=True).returncode:
        pytest.skip(".venv was not made by deploy/test.sh from the present lock")


def left_of(group: int, within: float) -> list[str]:
    """Name the processes of a group that still run at the end of the time.

    The last one closes its output a moment before it ends. A process that ended with nobody to wait for it (a worker
    whose parent went first) stays in the table until process 1 collects it, so those are not counted.
    """
    end = time.monotonic() + within
    while running := [
        text
        for text in (read_or_nothing(path) for path in Path("/proc").glob("[0-9]*/stat"))
        if text and text.rpartition(")")[2].split()[2] == str(group) and text.rpartition(")")[2].split()[0] not in "ZX"
    ]:
        if time.monotonic() > end:
            break
        time.sleep(0.05)
    return running


def read_or_nothing(path: Path) -> str:
    try:
        return path.read_text("utf-8", "replace")
    except OSError:  # it ended just now
        return ""


@pytest.mark.parametrize(
    ("end", "number"),
    [
        (os.killpg, signal.SIGINT),
        pytest.param(os.kill, signal.SIGTERM, marks=pytest.mark.all),
        pytest.param(os.kill, signal.SIGINT, marks=pytest.mark.all),
    ],
)
@pytest.mark.usefixtures("made_here")
def test_run_shows_the_areas_and_stops_without_a_trace(
    root: Path, end: Callable[[int, int], None], number: signal.Signals
) -> None:
    port = free_port()
    process = subprocess.Popen(
        RUN,
        cwd=root,
        env={**os.environ, "PORT": str(port), "ROCPR_WORKERS": "1", "http_proxy": "http://127.0.0.1:9"},
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
        start_new_session=True,
    )
    try:
        lines = list(takewhile(lambda line: not line.startswith("Serving on"), process.stdout))
        check_what_run_prints(lines, root, port)
    finally:
        end(process.pid, number)
        _, log = process.communicate(timeout=60)
    assert process.returncode == 0
    assert "Traceback" not in log
    assert left_of(process.pid, within=60) == []
    with pytest.raises(ConnectionRefusedError):
        socket.create_connection(("127.0.0.1", port), timeout=1)


def check_what_run_prints(lines: list[str], root: Path, port: int) -> None:
    areas = dict(re.findall(r"^  (\w+) +([\d.]+|null)  ", "".join(lines), re.MULTILINE))
    assert list(areas) == ["roc", "roc_hull", "pr", "pr_trapezoid", "pr_achievable", "average_precision"]
    curl = next(line for line in lines if line.startswith("  curl "))
    assert f"http://127.0.0.1:{port}/" in curl
    if shutil.which("curl") is None:
        pytest.skip("there is no curl here to try the printed line with")
    answer = subprocess.run(shlex.split(curl), cwd=root, capture_output=True, check=True, text=True, timeout=60).stdout
    assert {name: format(value, ".6f") for name, value in json.loads(answer)["auc"].items()} == areas


@pytest.mark.all
@pytest.mark.usefixtures("made_here")
def test_run_says_that_the_port_is_taken(root: Path) -> None:
    with socket.socket() as holder:
        holder.bind(("127.0.0.1", 0))
        holder.listen()
        port = holder.getsockname()[1]
        run = subprocess.run(
            RUN,
            cwd=root,
            env={**os.environ, "PORT": str(port)},
            capture_output=True,
            text=True,
            timeout=60,
            check=False,
        )
    assert run.returncode == 1
    assert f"port {port} of 127.0.0.1 is in use" in run.stderr
    assert run.stdout == ""


@pytest.mark.all
@pytest.mark.usefixtures("made_here")
def test_run_says_when_the_server_does_not_start(root: Path) -> None:
    variables = {**os.environ, "PORT": str(free_port()), "ROCPR_WORKERS": "many"}
    run = subprocess.run(RUN, cwd=root, env=variables, capture_output=True, text=True, timeout=60, check=False)
    assert run.returncode == 1
    assert "ROCPR_WORKERS must be a whole number" in run.stderr
    assert "the server ended with status" in run.stderr
    assert "Traceback" not in run.stderr


@pytest.mark.all
def test_serve_listens_and_stops(root: Path) -> None:
    port = free_port()
    variables = {**os.environ, "PORT": str(port), "ROCPR_WORKERS": "1"}
    with subprocess.Popen([*ROCPR, "serve", "--host", "127.0.0.1"], cwd=root, env=variables) as process:
        wait_for_port(port, process)
        process.send_signal(signal.SIGINT)
        assert process.wait(timeout=60) == 0


def test_serve_runs_beside_a_folder_of_the_same_name_as_our_package(tmp_path: Path) -> None:
    """Neither the server nor an evaluator imports what is in the working directory."""
    (tmp_path / "service").mkdir()
    (tmp_path / "service/__init__.py").write_text("raise RuntimeError\n")
    port = free_port()
    variables = {**os.environ, "ROCPR_WORKERS": "1", "ROCPR_BIG_BODY_BYTES": "100"}
    # -P, as the command `rocpr` is a file in another directory.
    command = [sys.executable, "-P", *ROCPR[1:], "serve", "--port", str(port)]
    with subprocess.Popen(command, cwd=tmp_path, env=variables) as process:
        try:
            wait_for_port(port, process)
            with socket.create_connection(("127.0.0.1", port), timeout=60) as connection:
                body = json.dumps({"scores": list(range(100)), "labels": [0, 1] * 50})
                head = f"Host: a\r\nContent-Type: application/json\r\nContent-Length: {len(body)}\r\n"
                connection.sendall(f"POST /v1/curves HTTP/1.1\r\n{head}\r\n{body}".encode())
                assert connection.recv(100).startswith(b"HTTP/1.1 200")
        finally:
            process.terminate()


@pytest.mark.all
def test_serve_names_a_wrong_setting(root: Path) -> None:
    variables = {**os.environ, "ROCPR_MAX_ROWS": "all"}
    run = subprocess.run([*ROCPR, "serve"], cwd=root, env=variables, capture_output=True, text=True, check=False)
    assert run.returncode == 1
    assert run.stderr.startswith("Error: ROCPR_MAX_ROWS must be a whole number from 1 to ")


def test_the_log_warns_of_a_mistyped_setting(server: Server) -> None:
    lines = [json.loads(line) for line in server.log.read_text().splitlines()]
    (told,) = [line for line in lines if "ROCPR_SLOTZ" in line["event"]]
    assert told["level"] == "warning"
    assert told["event"] == "ROCPR_SLOTZ is not a setting; it is ignored. Did you mean ROCPR_SLOTS?"


@pytest.mark.all
def test_the_wheel_carries_what_it_needs(root: Path, tmp_path: Path) -> None:
    """Installed, the service finds its contract, its configuration and its guide without the checkout."""
    build = [sys.executable, "-m", "hatchling", "build", "-t", "wheel", "-d", str(tmp_path)]
    subprocess.run(build, cwd=root, check=True, capture_output=True)
    (wheel,) = tmp_path.glob("*.whl")
    check = "from service.app import create_app; from service.settings import shipped_file; create_app();"
    check += "from service.guide import markdown_of, pages; assert all(map(markdown_of, pages()));"
    run = subprocess.run(
        [sys.executable, "-c", check + "print(shipped_file('deploy/gunicorn.conf.py'))"],
        cwd=tmp_path,
        env={**os.environ, "PYTHONPATH": str(unpacked(wheel, tmp_path / "site"))},
        check=True,
        capture_output=True,
        text=True,
    )
    assert Path(run.stdout.strip()) == tmp_path / "site" / "service" / "shipped" / "gunicorn.conf.py"


def unpacked(wheel: Path, place: Path) -> Path:
    subprocess.run([sys.executable, "-m", "zipfile", "-e", str(wheel), str(place)], check=True)
    return place
