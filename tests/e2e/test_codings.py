"""Compressed bodies and answers on the wire of the real server."""

import gzip
import json
import random
import shutil
import subprocess
from pathlib import Path

import pytest
import requests

from service.wire.formats.codings import CODINGS, compress, decompress
from tests.e2e.conftest import MAX_BODY_BYTES, MAX_DECOMPRESSED_BYTES
from tests.e2e.wire import Connection, check_problem, chunked, request
from tests.support.servers import Server

JSON = {"Content_Type": "application/json"}
NUMBERS = random.Random(4)
SAMPLE = json.dumps({"scores": [NUMBERS.random() for _ in range(2000)], "labels": [0, 1] * 1000}).encode()
BOMB_BYTES = 10 * MAX_DECOMPRESSED_BYTES


@pytest.fixture(scope="module")
def plain(server: Server) -> bytes:
    """The uncompressed answer to the sample."""
    with Connection(server.port) as connection:
        answer = connection.send(request("POST", "/v1/curves", SAMPLE, **JSON)).read()
    assert "content-encoding" not in answer.headers
    return answer.body


@pytest.mark.parametrize("coding", CODINGS)
def test_in_and_out(server: Server, plain: bytes, coding: str) -> None:
    body = compress(coding, SAMPLE)
    headers = {**JSON, "Content_Encoding": coding, "Accept_Encoding": coding}
    pieces = [body[start : start + 1000] for start in range(0, len(body), 1000)]
    with Connection(server.port) as connection:
        connection.send(request("POST", "/v1/curves", body, **headers))
        connection.send(request("POST", "/v1/curves", **headers, Transfer_Encoding="chunked") + chunked(*pieces))
        for answer in (connection.read(), connection.read()):
            assert (answer.status, answer.headers["content-encoding"]) == (200, coding)
            assert answer.headers["vary"] == "Accept, Accept-Encoding"
            assert decompress(coding, answer.body, len(plain)) == plain


def test_requests_reads_the_answer(server: Server, plain: bytes) -> None:
    """It asks for gzip by default."""
    answer = requests.post(
        f"http://127.0.0.1:{server.port}/v1/curves",
        data=gzip.compress(SAMPLE),
        headers={"Content-Type": "application/json", "Content-Encoding": "gzip", "Accept-Encoding": "gzip, deflate"},
        timeout=60,
    )
    assert answer.headers["Content-Encoding"] == "gzip"
    assert answer.content == plain


def test_curl_reads_the_answer(server: Server, plain: bytes, tmp_path: Path) -> None:
    if (curl := shutil.which("curl")) is None:
        pytest.skip("there is no curl here")
    zipped = tmp_path / "sample.json.gz"
    zipped.write_bytes(gzip.compress(SAMPLE))
    headers = ["-H", "Content-Type: application/json", "-H", "Content-Encoding: gzip"]
    command = [curl, "-sS", "--compressed", *headers, "--data-binary", f"@{zipped}"]
    url = f"http://127.0.0.1:{server.port}/v1/curves"
    assert subprocess.run([*command, url], check=True, capture_output=True, timeout=60).stdout == plain


@pytest.mark.parametrize("coding", CODINGS)
def test_what_is_not_one_whole_is_never_evaluated(server: Server, coding: str) -> None:
    whole = compress(coding, SAMPLE)
    headers = {**JSON, "Content_Encoding": coding}
    with Connection(server.port) as connection:
        for body in (whole[:-1], whole[: len(whole) // 2], whole + b"\0", whole + whole, SAMPLE):
            answer = connection.send(request("POST", "/v1/curves", body, **headers)).read()
            check_problem(answer, "malformed_body", closes=False)
        answer = connection.send(request("POST", "/v1/curves", **headers)).read()
        check_problem(answer, "malformed_body", closes=False)


def test_other_codings_are_refused(server: Server) -> None:
    with Connection(server.port) as connection:
        for coding in ("br", "gzip, gzip"):
            answer = connection.send(request("POST", "/v1/curves", b"x", **JSON, Content_Encoding=coding)).read()
            check_problem(answer, "unsupported_content_encoding", closes=False)
            assert answer.headers["accept-encoding"] == "zstd, gzip"


@pytest.mark.parametrize("coding", CODINGS)
def test_a_bomb_is_not_let_off(server: Server, coding: str) -> None:
    bomb = compress(coding, bytes(BOMB_BYTES))
    assert len(bomb) < MAX_BODY_BYTES
    before = peak_memory(server)
    with Connection(server.port) as connection:
        for _ in range(5):
            connection.send(request("POST", "/v1/curves", bomb, **JSON, Content_Encoding=coding))
            check_problem(connection.read(), "body_too_large", closes=False)
    assert peak_memory(server) - before < 3 * MAX_DECOMPRESSED_BYTES


def peak_memory(server: Server) -> int:
    """Return the most memory, in bytes, that a process of the server ever had; workers and evaluators undo bombs."""
    lines = [line for pid in server.tree() for line in status(pid)]
    return max(int(line.split()[1]) * 1024 for line in lines if line.startswith("VmHWM:"))


def status(pid: int) -> list[str]:
    try:
        return Path(f"/proc/{pid}/status").read_text().splitlines()
    except OSError:
        return []
