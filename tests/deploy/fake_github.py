"""The part of GitHub's interface that the action asks: artifacts, which it redirects to a store, and comments."""

import io
import json
import re
import threading
import zipfile
from collections.abc import Iterator
from contextlib import contextmanager
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any, Self

REPOSITORY, TOKEN = "owner/model", "a token"
A_PAGE = 100


def artifact(
    number: int, created: str, *, branch: str = "main", fork: bool = False, **differing: Any
) -> dict[str, Any]:
    run = {"head_branch": branch, "repository_id": 1, "head_repository_id": 2 if fork else 1}
    found = {"id": number, "name": "rocpr-gate-baseline", "expired": False, "created_at": created, "workflow_run": run}
    return found | differing


def packed(**files: bytes) -> bytes:
    stream = io.BytesIO()
    with zipfile.ZipFile(stream, "w") as archive:
        for name, content in files.items():
            archive.writestr(name, content)
    return stream.getvalue()


class FakeGithub(ThreadingHTTPServer):
    """Its artifacts, the content of each by id, its comments, whether the token may write, and what was asked."""

    def __init__(self) -> None:
        super().__init__(("127.0.0.1", 0), Answering)
        self.artifacts: list[dict[str, Any]] = []
        self.content: dict[int, bytes] = {}
        self.comments: list[dict[str, Any]] = []
        self.may_write = True
        self.asked: list[tuple[str, str, str | None]] = []

    @classmethod
    @contextmanager
    def serving(cls) -> Iterator[Self]:
        with cls() as server:
            threading.Thread(target=server.serve_forever, daemon=True).start()
            yield server
            server.shutdown()

    @property
    def address(self) -> str:
        return f"http://127.0.0.1:{self.server_port}"

    def methods(self) -> list[str]:
        return [method for method, *_ in self.asked if method != "GET"]


class Answering(BaseHTTPRequestHandler):
    server: FakeGithub

    def do_GET(self) -> None:
        self._note()
        page = int(match[1]) if (match := re.search(r"[?&]page=(\d+)", self.path)) else 1
        of_page = slice((page - 1) * A_PAGE, page * A_PAGE)
        path = self.path.removeprefix(f"/repos/{REPOSITORY}")
        if path.startswith("/actions/artifacts?"):
            self._send(200, {"artifacts": self.server.artifacts[of_page]})
        elif stored := re.fullmatch(r"/actions/artifacts/(\d+)/zip", path):
            self._send(302, b"", Location=f"{self.server.address}/store/{stored[1]}")
        elif stored := re.fullmatch(r"/store/(\d+)", path):
            self._send(200, self.server.content[int(stored[1])])
        else:
            self._send(200, self.server.comments[of_page])

    def do_POST(self) -> None:
        if (body := self._body()) is not None:
            number = len(self.server.comments) + 1
            self.server.comments.append({"id": number, "body": body, "user": {"type": "Bot"}})
            self._send(201, {"html_url": f"https://example.org/{number}"})

    def do_PATCH(self) -> None:
        if (body := self._body()) is not None:
            number = int(self.path.rpartition("/")[2])
            next(each for each in self.server.comments if each["id"] == number)["body"] = body
            self._send(200, {"html_url": f"https://example.org/{number}"})

    def _body(self) -> str | None:
        self._note()
        body = str(json.loads(self.rfile.read(int(self.headers["Content-Length"])))["body"])
        if not self.server.may_write:
            self._send(403, {})
            return None
        return body

    def _note(self) -> None:
        self.server.asked.append((self.command, self.path, self.headers["Authorization"]))

    def _send(self, status: int, content: object, **headers: str) -> None:
        body = content if isinstance(content, bytes) else json.dumps(content).encode()
        self.send_response(status)
        for name, value in headers.items():
            self.send_header(name, value)
        self.send_header("Content-Length", str(len(body)))
        self.end_headers()
        self.wfile.write(body)

    def log_message(self, *_: object) -> None:
        pass
