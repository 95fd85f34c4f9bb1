"""How many requests an API key may have at once, over all processes, and when a request ends."""

import errno
import io
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import ExitStack, suppress
from pathlib import Path
from typing import Any

import pytest
from flask import Flask, Response
from werkzeug.test import EnvironBuilder
from werkzeug.wsgi import FileWrapper

from service.web.lanes import slots
from service.web.lanes.slots import Slots
from service.web.passes import MOVED, PASS, UNTIL_SENT, Pass, move_to
from tests.e2e.wire import SECONDS
from tests.web.guarding import ANN, BEN, HEALTH, bare_app


@pytest.fixture
def bare(tmp_path: Path) -> Flask:
    """The guard alone, with two requests at once for each key."""
    return bare_app(tmp_path, ROCPR_KEY_CONCURRENCY="2", ROCPR_RETRY_AFTER_SECONDS="7")


def in_use(directory: Path) -> int:
    """How many requests are in progress, judged by the files that the processes share."""
    return sum(Slots(directory, path.name.removesuffix(".0"), 2).in_use() for path in directory.glob("key-*.0"))


def long_answer() -> Response:
    return Response(bytes(1 << 17))


class TestUnderAnotherServer:
    def test_one_request_too_many_gets_429_with_retry_after(self, bare: Flask) -> None:
        bare.view_functions["view"] = long_answer
        client = bare.test_client()
        held = [client.get("/view", headers=ANN) for _ in range(2)]
        response = client.get("/view", headers=ANN)
        assert response.status_code == 429
        assert response.headers["Retry-After"] == "7"
        assert response.headers["Cache-Control"] == "no-store"
        assert response.get_json(force=True)["type"] == "/problems/too_many_requests"
        assert client.get("/view", headers=BEN).status_code == 200
        held.pop().close()
        assert client.get("/view", headers=ANN).status_code == 200

    def test_health_takes_nothing(self, bare: Flask, tmp_path: Path) -> None:
        for path in HEALTH:
            assert bare.test_client().get(path, headers=ANN).status_code == 200
        assert list(tmp_path.glob("key-*")) == []

    def test_other_processes_count(self, bare: Flask, tmp_path: Path) -> None:
        bare.test_client().get("/view", headers=ANN).close()
        (name,) = (path.name.removesuffix(".0") for path in tmp_path.glob("key-*.0"))
        elsewhere = Slots(tmp_path, name, 2)
        with elsewhere.take(), elsewhere.take():
            assert bare.test_client().get("/view", headers=ANN).status_code == 429
        assert bare.test_client().get("/view", headers=ANN).status_code == 200

    def test_without_another_descriptor_it_is_overloaded(
        self, bare: Flask, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        def refuse(*_: object) -> int:
            raise OSError(errno.EMFILE, "no descriptor is left")

        with monkeypatch.context() as changed:
            changed.setattr(slots.os, "open", refuse)
            response = bare.test_client().get("/view", headers=ANN)
        assert response.status_code == 503
        assert response.headers["Retry-After"] == "7"
        assert response.get_json(force=True)["type"] == "/problems/overloaded"
        assert bare.test_client().get("/view", headers=ANN).status_code == 200
        assert in_use(tmp_path) == 0

    def test_names_of_any_kind_are_names_of_files(self, tmp_path: Path) -> None:
        app = bare_app(tmp_path)
        lines = (tmp_path / "keys").read_text().replace("ann ", ".. ").replace("ben ", f"{'X' * 64} ")
        (tmp_path / "keys").write_text(lines)
        for headers in (ANN, BEN):
            app.test_client().get("/view", headers=headers).close()
        files = {path.name for path in tmp_path.iterdir()} - {"keys"}
        assert len(files) == 2
        assert all(name.startswith("key-") and len(name) < 50 for name in files)
        assert not any("XXX" in name or "the-key" in name for name in files)

    def test_a_long_answer_that_was_sent_gives_it_back(self, bare: Flask, tmp_path: Path) -> None:
        bare.view_functions["view"] = long_answer
        response = bare.test_client().get("/view", headers=ANN)
        assert in_use(tmp_path) == 1
        response.close()
        assert in_use(tmp_path) == 0

    @pytest.mark.parametrize("method", ["GET", "HEAD", "PUT", "OPTIONS"])
    @pytest.mark.parametrize("path", ["/view", "/nothing"])
    def test_a_short_answer_gives_it_back_before_it_is_sent(
        self, bare: Flask, tmp_path: Path, path: str, method: str
    ) -> None:
        with bare.test_client().open(path, method=method, headers=ANN):
            assert list(tmp_path.glob("key-*")) != []
            assert in_use(tmp_path) == 0

    @pytest.mark.parametrize(("error", "status"), [(ValueError(), 500), (MemoryError(), 503)])
    def test_a_failure_gives_it_back(self, bare: Flask, tmp_path: Path, error: BaseException, status: int) -> None:
        def fail() -> None:
            raise error

        bare.view_functions["view"] = fail
        assert bare.test_client().get("/view", headers=ANN, buffered=True).status_code == status
        assert in_use(tmp_path) == 0

    @pytest.mark.parametrize("read", [0, 1])
    def test_a_client_that_goes_gives_it_back(self, bare: Flask, tmp_path: Path, read: int) -> None:
        """Under another server, which then closes the answer."""
        closed = []

        def parts() -> Iterator[bytes]:
            try:
                yield b"one"
                yield b"two"
            finally:
                closed.append(True)

        bare.view_functions["view"] = lambda: Response(parts())
        body = bare(environ(), lambda *_: None)
        assert [next(body) for _ in range(read)] == [b"one"] * read
        assert in_use(tmp_path) == 1
        body.close()
        body.close()
        assert in_use(tmp_path) == 0
        assert len(closed) == read

    def test_threads_never_have_more_and_all_is_given_back(self, bare: Flask, tmp_path: Path) -> None:
        lock, inside, most, statuses = threading.Lock(), [0], [0], []
        refused = threading.Event()

        def view() -> Response:
            with lock:
                inside[0] += 1
                most[0] = max(most[0], inside[0])
            assert refused.wait(SECONDS)  # for the first time
            time.sleep(0.001)
            with lock:
                inside[0] -= 1
            return Response("seen")

        bare.view_functions["view"] = view

        def ask() -> None:
            for _ in range(25):
                with bare.test_client().get("/view", headers=ANN) as response:
                    statuses.append(response.status_code)
                    if response.status_code == 429:
                        refused.set()

        threads = [threading.Thread(target=ask) for _ in range(8)]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
        assert len(statuses) == 200
        assert set(statuses) == {200, 429}
        assert most[0] <= 2
        assert in_use(tmp_path) == 0


class TestUnderOurServer:
    """Our server closes the stack in the environ when the answer was sent or is no longer wanted."""

    @pytest.mark.parametrize(
        "view",
        [
            long_answer,
            lambda: Response(FileWrapper(io.BytesIO(b"a file")), direct_passthrough=True),
            lambda: Response(iter([b"one", b"two"])),
        ],
        ids=["long", "file", "stream"],
    )
    def test_an_answer_that_takes_time_to_send_holds_its_place(
        self, bare: Flask, tmp_path: Path, view: Callable[[], Response]
    ) -> None:
        bare.view_functions["view"] = view
        held = ExitStack()
        body = bare(environ(held), lambda *_: None)
        assert in_use(tmp_path) == 1
        body.close()
        assert in_use(tmp_path) == 1
        held.close()
        assert in_use(tmp_path) == 0

    def test_a_short_answer_gives_it_back_at_once(self, bare: Flask, tmp_path: Path) -> None:
        bare(environ(ExitStack()), lambda *_: None)
        assert list(tmp_path.glob("key-*")) != []
        assert in_use(tmp_path) == 0

    @pytest.mark.parametrize("error", [ValueError(), SystemExit(1), KeyboardInterrupt()])
    def test_a_failure_gives_it_back(self, bare: Flask, tmp_path: Path, error: BaseException) -> None:
        def fail(*_: object) -> None:
            raise error

        bare.view_functions["view"] = fail
        bare.after_request(fail)
        held = ExitStack()
        with suppress(ValueError, SystemExit, KeyboardInterrupt):
            bare(environ(held), lambda *_: None)
        held.close()
        assert in_use(tmp_path) == 0

    def test_headers_that_the_server_refuses_give_it_back(self, bare: Flask, tmp_path: Path) -> None:
        def refuse(*_: object) -> None:
            raise ValueError("a header")

        held = ExitStack()
        with pytest.raises(ValueError, match="a header"):
            bare(environ(held), refuse)
        held.close()
        assert in_use(tmp_path) == 0

    def test_before_the_body_is_read_a_key_takes_no_place(self, bare: Flask, tmp_path: Path) -> None:
        asked = environ(ExitStack(), Pass.HEAD)
        statuses: list[str] = []
        bare(asked, lambda status, _: statuses.append(status))
        assert statuses == ["200 OK"]
        assert list(tmp_path.glob("key-*")) == []
        asked["HTTP_AUTHORIZATION"] = "Bearer nobody's"
        bare(asked, lambda status, _: statuses.append(status))
        assert statuses[1:] == ["401 UNAUTHORIZED"]

    def test_a_request_that_moves_keeps_its_place_and_takes_no_other(self, bare: Flask, tmp_path: Path) -> None:
        held, asked = ExitStack(), environ(None)
        asked |= {UNTIL_SENT: held, PASS: Pass.SMALL}
        bare.view_functions["view"] = lambda: move_to(asked, Pass.BIG)
        for _ in range(3):
            bare(asked, lambda *_: None)
            assert asked.pop(MOVED) is Pass.BIG
            assert in_use(tmp_path) == 1
        bare.view_functions["view"] = long_answer
        bare(asked | {PASS: Pass.BIG}, lambda *_: None)
        assert in_use(tmp_path) == 1
        held.close()
        assert in_use(tmp_path) == 0


def environ(until_sent: ExitStack | None = None, for_pass: Pass = Pass.SMALL) -> dict[str, Any]:
    """Ann's request for /, under another server, or under ours."""
    ours = {} if until_sent is None else {UNTIL_SENT: until_sent, PASS: for_pass}
    return EnvironBuilder("/view", headers=ANN).get_environ() | ours
