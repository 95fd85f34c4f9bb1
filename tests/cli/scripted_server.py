"""A loopback server that gives the answers of a test, and remembers the requests."""

import ssl
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer

VERDICT = (
    b'{"passed":true,"status":"passed","paired":false,"checks":[{"rule":{"metric":"roc","min":0.5},"status":"passed",'
    b'"value":1.0,"interval":null,"baseline":null,"difference":null,"p_value":null,"reason":""}],"warnings":[]}\n'
)
PROBLEM = b'{"type":"/problems/x","title":"No","status":%d,"detail":"Not so.","instance":"/v1/gates"}'


@dataclass(frozen=True)
class Scripted:
    """One answer; without a status the connection is closed instead."""

    status: int | None = 200
    body: bytes = VERDICT
    media_type: str = "application/json"
    headers: dict[str, str] = field(default_factory=dict)
    missing: int = 0
    """How many more bytes are announced than sent; the connection is closed instead of these."""


def problem(status: int, **headers: str) -> Scripted:
    named = {name.replace("_", "-"): text for name, text in headers.items()}
    return Scripted(status, PROBLEM % status, "application/problem+json", named)


@dataclass(frozen=True)
class Asked:
    """One request."""

    path: str
    headers: dict[str, str]
    body: bytes


@dataclass
class ScriptedServer:
    """Its address, the answers to come (the last one stays), and the requests so far."""

    url: str
    script: list[Scripted]
    asked: list[Asked] = field(default_factory=list)

    def next_answer(self) -> Scripted:
        return self.script.pop(0) if len(self.script) > 1 else self.script[0]


@contextmanager
def scripted(*script: Scripted, tls: ssl.SSLContext | None = None) -> Iterator[ScriptedServer]:
    """Serve a script on a free port, with TLS if there is a context for it."""

    class Handler(BaseHTTPRequestHandler):
        def do_POST(self) -> None:
            body = self.rfile.read(int(self.headers["Content-Length"]))
            state.asked.append(Asked(self.path, {name.lower(): text for name, text in self.headers.items()}, body))
            answer = state.next_answer()
            if answer.status is None:
                self.close_connection = True
                return
            self.send_response(answer.status)
            for name, text in {"Content-Type": answer.media_type, **answer.headers}.items():
                self.send_header(name, text)
            self.send_header("Content-Length", str(len(answer.body) + answer.missing))
            self.end_headers()
            self.wfile.write(answer.body)
            self.close_connection |= answer.missing > 0

        def log_message(self, *_: object) -> None:
            """Say nothing."""

    server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
    url = f"http://127.0.0.1:{server.server_port}"
    if tls is not None:
        server.socket = tls.wrap_socket(server.socket, server_side=True)
        url = f"https://localhost:{server.server_port}"
    state = ScriptedServer(url, list(script))
    thread = threading.Thread(target=server.serve_forever, kwargs={"poll_interval": 0.01})
    thread.start()
    try:
        yield state
    finally:
        server.shutdown()
        thread.join()
        server.server_close()
