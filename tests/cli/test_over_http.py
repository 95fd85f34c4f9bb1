"""The HTTP client of commands: what it sends, when it retries and when it gives up, and what it never shows."""

import io
import json
import shutil
import socket
import ssl
import subprocess
import sys
import threading
from pathlib import Path
from types import SimpleNamespace

import pytest
from click import ClickException

from service.cli import over_http
from service.cli.gate.verdict_layout import is_verdict
from service.cli.over_http import ServerReply, advice_on, post
from service.cli.server_address import ServerAddress, fits_a_query
from service.wire.formats.codings import decompress
from tests.cli.scripted_server import VERDICT, Scripted, ScriptedServer, problem, scripted
from tests.support.raising import raised

KEY = "rocpr_secret-key"
CHECK = json.loads(VERDICT)["checks"][0]


def ask(
    server: ScriptedServer | str, body: bytes = b"{}", media_type: str = "application/json", **query: str
) -> ServerReply:
    url = server if isinstance(server, str) else server.url
    return post(ServerAddress.of(url, None), "gates", media_type, query, body, is_answer=is_verdict)


def complaint(server: ScriptedServer | str) -> str:
    error = raised(ClickException, ask, server)
    assert error.exit_code == 2
    return error.message


def test_a_request_and_its_verdict() -> None:
    with scripted(Scripted()) as server:
        reply = ask(server, b"scores,labels\n", "text/csv", rules='[{"metric": "roc"}]', scores="p q")
        assert reply == ServerReply(VERDICT, json.loads(VERDICT), is_problem=False)
    (asked,) = server.asked
    assert asked.path == "/v1/gates?rules=%5B%7B%22metric%22%3A+%22roc%22%7D%5D&scores=p+q"
    assert asked.body == b"scores,labels\n"
    assert asked.headers["content-type"] == "text/csv"
    assert asked.headers["accept"] == "application/json"
    assert not {"authorization", "content-encoding"} & asked.headers.keys()


@pytest.mark.parametrize("status", [409, 412, 424])
def test_a_failed_verdict_is_not_a_problem(status: int) -> None:
    with scripted(Scripted(status)) as server:
        assert not ask(server).is_problem


def test_the_key_comes_from_the_environment_and_is_never_shown(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("NIGHTLY", f" {KEY}\n")
    server = ServerAddress.of("http://127.0.0.1:1/", "NIGHTLY")
    assert KEY not in repr(server)
    with scripted(problem(401)) as other:
        reply = post(ServerAddress.of(other.url, "NIGHTLY"), "gates", "application/json", {}, b"{}")
    assert other.asked[0].headers["authorization"] == f"Bearer {KEY}"
    lines = list(advice_on(reply.document, server))
    assert lines == ["  The server does not accept the key in NIGHTLY."]
    assert "--api-key-env NAME" in next(advice_on(reply.document, ServerAddress.of("http://127.0.0.1:1", None)))


def test_a_key_is_found_in_the_usual_variable(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("ROCPR_API_KEY", KEY)
    assert ServerAddress.of("http://127.0.0.1:1", None).key == KEY
    with pytest.raises(ClickException, match="anybody on the way could read the key"):
        ServerAddress.of("http://rocpr.example.org", None)
    monkeypatch.setenv("ROCPR_API_KEY", "")
    assert ServerAddress.of("http://rocpr.example.org", None).key is None


@pytest.mark.parametrize("value", ["", "  ", "two words", "a\x00b", "ключ"])
def test_a_variable_that_holds_no_key(monkeypatch: pytest.MonkeyPatch, value: str) -> None:
    monkeypatch.setattr("os.environ", {"NIGHTLY": value})
    error = raised(ClickException, ServerAddress.of, "http://127.0.0.1:1", "NIGHTLY")
    assert "NIGHTLY" in error.message
    assert not value.strip() or value not in error.message


def test_netrc_is_not_asked_for_a_key(monkeypatch: pytest.MonkeyPatch, tmp_path) -> None:
    (tmp_path / "netrc").write_text("machine 127.0.0.1 login me password mine\n")
    monkeypatch.setenv("NETRC", str(tmp_path / "netrc"))
    with scripted(Scripted()) as server:
        ask(server)
    assert "authorization" not in server.asked[0].headers


@pytest.mark.parametrize(
    "url",
    [
        "127.0.0.1:8000",
        "ftp://host",
        "http://",
        "http://host:port",
        "http://host:0",
        "http://me:pw@host",
        "http://h?a=b",
    ],
)
def test_addresses_that_cannot_be_used(url: str) -> None:
    error = raised(ClickException, ServerAddress.of, url, None)
    assert error.message.startswith("Error: --server takes ")
    assert "pw" not in error.message


@pytest.mark.parametrize("end", ["", "/", "/v1/gates", "/v1/gates/"])
def test_the_address_may_end_in_several_ways(end: str) -> None:
    assert ServerAddress.of(f"https://host/rocpr{end}", None).url == "https://host/rocpr"


@pytest.mark.parametrize(
    "first",
    [
        problem(503, Retry_After="1"),
        problem(429, Retry_After="1"),
        Scripted(None),
        Scripted(502, b"<html>", "text/html"),
        Scripted(504, b"<html>", "text/html"),
    ],
)
def test_a_busy_server_is_asked_again_when_it_says(first: Scripted, monkeypatch: pytest.MonkeyPatch) -> None:
    waits = frozen(monkeypatch)
    body = b"x" * 100
    with scripted(first, Scripted()) as server:
        assert not ask(server, body).is_problem
    assert [asked.body for asked in server.asked] == [body, body]
    assert waits == ([1] if first.headers else [])


def frozen(monkeypatch: pytest.MonkeyPatch) -> list[float]:
    """Let time pass only when the client waits; return how long it has waited."""
    waits: list[float] = []
    monkeypatch.setattr("time.sleep", waits.append)
    monkeypatch.setattr(over_http, "time", SimpleNamespace(monotonic=lambda: sum(waits)))
    return waits


def test_no_wait_goes_beyond_the_end_of_patience(monkeypatch: pytest.MonkeyPatch) -> None:
    """A wait that would go beyond the end does not begin: the last answer is reported at once."""
    waits = frozen(monkeypatch)
    monkeypatch.setattr(over_http, "ASK_AGAIN_SECONDS", 1.5)
    with scripted(problem(503, Retry_After="1")) as server:
        reply = ask(server)
    assert (reply.is_problem, reply.document["status"], len(server.asked), waits) == (True, 503, 2, [1])
    with scripted(problem(503, Retry_After="3600")) as server:
        ask(server)
    assert len(server.asked) == 1


def test_tries_are_counted(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(over_http, "MOST_TRIES", 2)
    monkeypatch.setattr("time.sleep", lambda _: None)
    with scripted(problem(503)) as server:
        assert ask(server).is_problem
    assert len(server.asked) == 3


@pytest.mark.parametrize("status", [400, 401, 404, 413, 422, 500])
def test_other_problems_are_reported_at_once(status: int) -> None:
    with scripted(problem(status)) as server:
        assert ask(server).is_problem
    assert len(server.asked) == 1


def test_an_unreachable_server(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("time.sleep", lambda _: None)
    with socket.socket() as closed:
        closed.bind(("127.0.0.1", 0))
        url = f"http://127.0.0.1:{closed.getsockname()[1]}"
        assert complaint(url) == f"Error: {url} does not answer: Connection refused."
    assert complaint("http://no-such-host.invalid").startswith("Error: http://no-such-host.invalid does not answer: ")
    with scripted(Scripted(None)) as server:
        assert "does not answer: " in complaint(server)
    assert len(server.asked) == 1 + over_http.MOST_LOST_CONNECTIONS


def test_a_server_that_keeps_silent(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(over_http, "ANSWER_SECONDS", 0.2)
    monkeypatch.setattr(over_http, "ASK_AGAIN_SECONDS", 0.1)
    with socket.create_server(("127.0.0.1", 0)) as silent:
        assert "timed out" in complaint(f"http://127.0.0.1:{silent.getsockname()[1]}").lower()


def test_a_plain_connection_to_a_tls_address(monkeypatch: pytest.MonkeyPatch) -> None:
    """Trying again would take two minutes, in silence."""
    waits: list[float] = []
    monkeypatch.setattr("time.sleep", waits.append)
    with scripted(Scripted()) as server:
        message = complaint(server.url.replace("http", "https"))
    assert "SSL" in message or "TLS" in message
    assert message.endswith("\n  If the server has no TLS, its address begins with http://.")
    assert waits == []
    assert ssl.OPENSSL_VERSION


@pytest.mark.skipif(shutil.which("openssl") is None, reason="openssl makes the certificate")
def test_a_certificate_that_nobody_vouches_for(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    key, certificate = tmp_path / "key.pem", tmp_path / "certificate.pem"
    made = ["openssl", "req", "-x509", "-newkey", "ec", "-pkeyopt", "ec_paramgen_curve:prime256v1", "-nodes"]
    names = ["-days", "2", "-subj", "/CN=localhost", "-addext", "subjectAltName=DNS:localhost"]
    files = ["-keyout", key, "-out", certificate]
    subprocess.run([*made, *names, *files], check=True, capture_output=True, timeout=120)
    tls = ssl.create_default_context(ssl.Purpose.CLIENT_AUTH)
    tls.load_cert_chain(certificate, key)
    with scripted(Scripted(), tls=tls) as server:
        told = complaint(server)
        assert told.endswith("authority, name its file in the variable REQUESTS_CA_BUNDLE.")
        monkeypatch.setenv("REQUESTS_CA_BUNDLE", str(certificate))
        assert not ask(server).is_problem


@pytest.mark.parametrize(
    "answer",
    [
        Scripted(200, b"<html>", "text/html"),
        Scripted(200, b"{", "application/json"),
        Scripted(200, b"[1]", "application/json"),
        Scripted(200, b'{"ok": true}', "application/json"),
        Scripted(200, VERDICT.replace(b'"status":"passed","paired"', b'"status":["passed"],"paired"')),
        Scripted(200, VERDICT.replace(b'"status":"passed","paired"', b'"paired"')),
        Scripted(200, b'{"status":"passed","paired":false,"checks":[],"warnings":[]}'),
        Scripted(200, b'{"status":"passed","paired":false,"checks":null,"warnings":[]}'),
        Scripted(200, b'{"status":"passed","paired":false,"checks":[{"status":"failed"}],"warnings":[]}'),
        Scripted(
            200, b'{"status":"passed","paired":false,"checks":[{"status":"passed"},{"status":"?"}],"warnings":[]}'
        ),
        Scripted(422, b'{"title":"t","detail":"d","errors":[{"pointer":"/scores"}]}', "application/problem+json"),
        Scripted(422, b'{"title":"t","detail":"d","errors":[1]}', "application/problem+json"),
        Scripted(422, b'{"title":"t","detail":{}}', "application/problem+json"),
        *(
            Scripted(200, json.dumps(json.loads(VERDICT) | {"checks": [CHECK | wrong]}).encode())
            for wrong in ({"value": "1.0"}, {"interval": "x"}, {"rule": None}, {"rule": {"metric": 1}})
        ),
        Scripted(200, json.dumps(json.loads(VERDICT) | {"warnings": ["x"]}).encode()),
        Scripted(404, b"no", "text/plain"),
        Scripted(500, b"\xff", "application/problem+json"),
        Scripted(200, b"", "", {}),
        Scripted(301, b"", "text/html", {"Location": "https://elsewhere.example.org/v1/gates"}),
    ],
)
def test_something_else_answers(answer: Scripted) -> None:
    with scripted(answer) as server:
        message = complaint(server)
    assert message.startswith(f"Error: {server.url} does not answer as rocpr does: {answer.status}")
    assert "--server takes the address" in message
    assert ("elsewhere" in message) == (answer.status == 301)
    assert len(server.asked) == 1


def test_an_endless_answer(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(over_http, "LONGEST_ANSWER", 1000)
    with scripted(Scripted(200, b" " * 1001)) as server:
        assert "its answer is too long" in complaint(server)


def test_an_answer_that_breaks_off() -> None:
    with socket.create_server(("127.0.0.1", 0)) as listener:

        def serve() -> None:
            connection, _ = listener.accept()
            with connection:
                connection.recv(1 << 16)
                connection.sendall(b"HTTP/1.1 200 OK\r\nContent-Type: application/json\r\nContent-Length: 99\r\n\r\n{")

        thread = threading.Thread(target=serve)
        thread.start()
        assert "does not answer" in complaint(f"http://127.0.0.1:{listener.getsockname()[1]}")
        thread.join()


@pytest.mark.parametrize(("media_type", "coded"), [("text/csv", True), ("application/vnd.apache.parquet", False)])
def test_a_long_body_is_compressed(media_type: str, *, coded: bool) -> None:
    body = b"0.5,1\n" * 100_000
    with scripted(Scripted()) as server:
        ask(server, body, media_type)
    (asked,) = server.asked
    assert (asked.headers.get("content-encoding") == "zstd") is coded
    assert (decompress("zstd", asked.body, 1 << 30) if coded else asked.body) == body


class Terminal(io.StringIO):
    def isatty(self) -> bool:
        return True


def test_progress_is_shown_on_a_terminal_alone(monkeypatch: pytest.MonkeyPatch) -> None:
    body = bytes(range(256)) * 8192
    for stream, shown in ((Terminal(), True), (io.StringIO(), False)):
        monkeypatch.setattr(sys, "stderr", stream)
        with scripted(problem(503, Retry_After="1"), Scripted()) as server:
            ask(server, body, "application/vnd.apache.parquet")
        assert [asked.body for asked in server.asked] == [body, body]
        assert ("Sending" in stream.getvalue()) is shown
        assert "transfer-encoding" not in server.asked[0].headers


def test_a_long_query_is_ignored() -> None:
    assert fits_a_query({"rules": "x" * 3000})
    assert not fits_a_query({"rules": '"' * 3000})


def test_only_those_who_ask_a_server_wait_for_its_client() -> None:
    code = "import sys, service.cli.commands; print(sorted({'requests', 'tqdm', 'urllib3'} & sys.modules.keys()))"
    run = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, timeout=120, check=True)
    assert run.stdout == "[]\n"


@pytest.mark.parametrize("url", ["http://rocpr.example.org", "http://10.0.0.1:8000", "http://127.0.0.1.example.org/"])
def test_a_key_is_not_sent_in_clear(url: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("NIGHTLY", "secret")
    with pytest.raises(ClickException, match="anybody on the way could read the key"):
        ServerAddress.of(url, "NIGHTLY")
    assert ServerAddress.of(url, "NIGHTLY", insecure=True).key == "secret"
    assert ServerAddress.of(url, None).key is None
    assert ServerAddress.of(url.replace("http:", "https:"), "NIGHTLY").key == "secret"


@pytest.mark.parametrize(
    "url", ["http://127.0.0.1:8000", "http://127.9.9.9", "http://localhost:1", "http://[::1]:8000"]
)
def test_a_key_does_not_leave_the_machine_unasked(url: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("NIGHTLY", "secret")
    assert ServerAddress.of(url, "NIGHTLY").key == "secret"


def test_what_a_terminal_would_interpret_is_escaped_in_a_servers_problem() -> None:
    hostile = "\x1b[2J\x07\r\n::error::owned\u202e"
    document = {"type": "/problems/x", "title": hostile, "detail": hostile, "status": 422}
    with scripted(Scripted(422, json.dumps(document).encode(), "application/problem+json")) as server:
        reply = ask(server)
    assert reply.document["title"] == reply.document["detail"] == r"\x1b[2J\x07\r\n::error::owned\u202e"
