"""API keys on the real server: several workers, raw headers, bodies that nobody reads, clients that leave."""

import time
from collections.abc import Iterator
from contextlib import contextmanager
from hashlib import sha256
from pathlib import Path

import pytest

from tests.e2e.wire import SECONDS, Answer, Connection, check_problem, request
from tests.support.servers import Server, Service, alone, rocpr_serve, run_folder, shared

pytestmark = pytest.mark.all

KEY = "rocpr_canary-key"
BEARER = f"Bearer {KEY}"
SAMPLE = b'{"scores": [0.9, 0.1], "labels": [1, 0], "include": ["auc"]}'
JSON = {"Content_Type": "application/json", "Authorization": BEARER}
ORIGIN = "https://app.example.org"


@pytest.fixture(scope="session")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The folder of the server and of its file of keys."""
    return run_folder(tmp_path_factory, "keys")


@contextmanager
def serving(root: Path, folder: Path) -> Iterator[Service]:
    """A server of two processes that needs keys, each of which may have one request at once."""
    (folder / "keys").write_text(f"canary {sha256(KEY.encode()).hexdigest()}\n")
    variables = {
        "ROCPR_API_KEYS_FILE": str(folder / "keys"),
        "ROCPR_KEY_CONCURRENCY": "1",
        "ROCPR_CORS_ORIGINS": ORIGIN,
        "ROCPR_WORKERS": "2",
        "ROCPR_LOG_LEVEL": "debug",
    }
    with rocpr_serve(root, folder / "log", **variables) as server:
        # So that the log has a name to look for, whichever of the tests run.
        asked = request("GET", "/openapi.json", Authorization=BEARER, Connection="close")
        assert ask_until_free(server, asked).status == 200
        yield server
    text = server.log.read_text()
    assert '"key":"canary"' in text
    assert KEY not in text
    assert sha256(KEY.encode()).hexdigest() not in text


@pytest.fixture(scope="session")
def one(root: Path, folder: Path) -> Iterator[Server]:
    with shared(folder, serving(root, folder)) as server:
        yield server


@pytest.fixture
def guarded(one: Server, folder: Path) -> Iterator[Server]:
    """That server for one test at a time: its key has only one place."""
    with alone(folder):
        yield one


def ask(server: Server, data: bytes) -> Answer:
    with Connection(server.port) as connection:
        return connection.send(data).read()


def ask_until_free(server: Server, data: bytes) -> Answer:
    """Retry while the previous request is still being closed, which happens after its client has read the answer."""
    end = time.monotonic() + SECONDS
    while (answer := ask(server, data)).status == 429 and time.monotonic() < end:
        time.sleep(0.01)
    return answer


def under_way(server: Server) -> Connection:
    """Begin to read a long answer, and leave the rest unread."""
    end = time.monotonic() + SECONDS
    while time.monotonic() < end:
        connection = Connection(server.port).send(request("GET", "/docs/swagger-ui-bundle.js", Authorization=BEARER))
        if connection.socket.recv(12) == b"HTTP/1.1 200":
            return connection
        connection.__exit__()  # refused: the previous request was still being closed
    pytest.fail("the key is never free")


def raw_until_free(server: Server, data: bytes) -> bool:
    """Do the same with an answer that may have no body; return whether it was 200 in the end."""
    end = time.monotonic() + SECONDS
    answer = b"HTTP/1.1 429 "
    while answer.startswith(b"HTTP/1.1 429 ") and time.monotonic() < end:
        with Connection(server.port) as connection:
            answer = connection.send(data).socket.makefile("rb").read()
    return answer.startswith(b"HTTP/1.1 200 ")


@pytest.mark.parametrize(
    "head",
    [
        b"",
        b"Authorization:\r\n",
        b"Authorization: Bearer\r\n",
        b"Authorization: Bearer \xfc\xff\x80\r\n",
        b"Authorization: \xfc\xff\r\n",
        b"Authorization: Basic \xff\r\n",
        b"Authorization: Basic !!!\r\n",
        b"Authorization: Digest =,=;*=\xff\r\n",
        f"Authorization: Bearer wrong\r\nAuthorization: {BEARER}\r\n".encode(),
        f"Authorization: {BEARER}\r\nAuthorization: {BEARER}\r\n".encode(),
        f"Authorization_: {BEARER}\r\nX-Authorization: {BEARER}\r\n".encode(),
        b"Authorization: Bearer " + b"x" * 8000 + b"\r\n",
    ],
)
def test_only_the_right_header_is_admitted(guarded: Server, head: bytes) -> None:
    data = b"GET /openapi.json HTTP/1.1\r\nHost: localhost\r\n" + head + b"\r\n"
    answer = ask(guarded, data)
    check_problem(answer, "unauthorized", closes=False)
    assert answer.headers["www-authenticate"] == 'Bearer realm="rocpr"'


@pytest.mark.parametrize("target", ["/nothing", "/metrics", "/docs", "/v1/curves", f"/openapi.json?key={KEY}", "/%ff"])
def test_everything_is_closed(guarded: Server, target: str) -> None:
    check_problem(ask(guarded, request("GET", target)), "unauthorized")
    assert ask(guarded, request("GET", "/health/ready")).status == 200


def test_a_body_that_is_not_read_costs_the_connection(guarded: Server) -> None:
    """The client gets its answer after sending only the head; what it sends after that is dropped."""
    head = request("POST", "/v1/curves", Content_Type="application/json", Content_Length="50000000")
    with Connection(guarded.port) as connection:
        check_problem(connection.send(head).read(), "unauthorized", closes=True)
        assert connection.is_closed()


def test_a_key_has_one_limit_for_all_processes(guarded: Server) -> None:
    with under_way(guarded) as first:
        for _ in range(10):  # in whichever process
            refused = ask(guarded, request("POST", "/v1/curves", SAMPLE, **JSON))
            check_problem(refused, "too_many_requests")
            assert refused.headers["retry-after"] == "2"
        first.half_close()
        while first.socket.recv(1 << 16):
            pass
    assert ask_until_free(guarded, request("POST", "/v1/curves", SAMPLE, **JSON)).status == 200


@pytest.mark.parametrize("length", [len(SAMPLE), 100_000])
def test_an_upload_holds_no_place(guarded: Server, length: int) -> None:
    """Whether or not the application first sees the head alone."""
    head = request("POST", "/v1/curves", **JSON, Content_Length=str(length))
    whole = request("POST", "/v1/curves", SAMPLE, **JSON)
    with Connection(guarded.port) as first, Connection(guarded.port) as second:
        for uploading in (first, second):
            uploading.send(head + SAMPLE[:-1])
        assert ask_until_free(guarded, whole).status == 200
        for uploading in (first, second):
            answer = uploading.send(SAMPLE[-1:].ljust(1 + length - len(SAMPLE))).read()
            assert answer.status == 200, answer


@pytest.mark.parametrize("sent", [SAMPLE, SAMPLE[:-1]])
def test_a_client_that_goes_gives_its_place_back(guarded: Server, sent: bytes) -> None:
    head = request("POST", "/v1/curves", **JSON, Content_Length=str(len(SAMPLE)))
    for _ in range(3):
        with Connection(guarded.port) as connection:
            connection.send(head + sent)
        under_way(guarded).__exit__()
    assert ask_until_free(guarded, request("POST", "/v1/curves", SAMPLE, **JSON)).status == 200


@pytest.mark.parametrize("method", ["GET", "HEAD"])
def test_files_give_their_place_back(guarded: Server, method: str) -> None:
    """The server sends them itself, werkzeug calls nothing afterwards."""
    for _ in range(5):
        assert raw_until_free(
            guarded, request(method, "/docs/swagger-ui.css", Authorization=BEARER, Connection="close")
        )
        assert ask_until_free(guarded, request("POST", "/v1/curves", SAMPLE, **JSON)).status == 200


def test_a_preflight_needs_no_key(guarded: Server) -> None:
    asked = {"Origin": ORIGIN, "Access_Control_Request_Method": "POST"}
    with Connection(guarded.port) as connection:
        connection.send(request("OPTIONS", "/v1/curves", **asked, Connection="close"))
        head = connection.socket.makefile("rb").read()
    assert head.startswith(b"HTTP/1.1 204 ")
    assert f"Access-Control-Allow-Origin: {ORIGIN}".encode() in head


def test_every_process_reads_the_file_again(guarded: Server, folder: Path) -> None:
    keys_file = folder / "keys"
    before = keys_file.read_text()
    mine = request("GET", "/problems/not_found", Authorization=BEARER)
    try:
        keys_file.write_text(before + "not a key\n")
        assert {ask_until_free(guarded, mine).status for _ in range(10)} == {200}
        last = len(before.splitlines()) + 1
        assert f"ROCPR_API_KEYS_FILE: line {last} is not a name" in guarded.log.read_text()
        assert "not a key" not in guarded.log.read_text()
        keys_file.write_text(f"other {sha256(b'other').hexdigest()}\n")
        assert {ask(guarded, mine).status for _ in range(10)} == {401}
    finally:
        keys_file.write_text(before)
    assert {ask_until_free(guarded, mine).status for _ in range(10)} == {200}
