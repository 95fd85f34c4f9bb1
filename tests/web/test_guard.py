"""API keys: who may, what one that may not gets, and how many requests a key may have at once."""

import errno
import io
import logging
import threading
from collections.abc import Iterator
from contextlib import suppress
from pathlib import Path

import pytest
from flask import Flask, Response
from flask.testing import FlaskClient
from werkzeug.test import EnvironBuilder, TestResponse
from werkzeug.wsgi import FileWrapper

from service.web import guard, slots
from service.web.slots import Slots
from service.wire.problems import PROBLEM_JSON
from tests.web.guarding import ANN, BEN, KEY, bare_app, guarded_app

SAMPLE = {"scores": [0.9, 0.1], "labels": [1, 0], "include": ["auc"]}
HEALTH = ["/health/live", "/health/ready"]


@pytest.fixture(scope="module")
def guarded(tmp_path_factory: pytest.TempPathFactory) -> Flask:
    return guarded_app(tmp_path_factory.mktemp("guard"))


@pytest.fixture
def bare(tmp_path: Path) -> Flask:
    """The guard alone, with two requests at once for each key."""
    return bare_app(tmp_path, ROCPR_KEY_CONCURRENCY="2", ROCPR_RETRY_AFTER_SECONDS="7")


def in_use(directory: Path) -> int:
    """How many requests are under way, by the files that the processes share."""
    return sum(Slots(directory, path.name.removesuffix(".0"), 2).in_use() for path in directory.glob("key-*.0"))


def check_unauthorized(response: TestResponse) -> None:
    assert response.status_code == 401
    assert response.content_type == PROBLEM_JSON
    assert response.get_json(force=True)["type"] == "/problems/unauthorized"
    assert response.headers["WWW-Authenticate"] == 'Bearer realm="rocpr"'
    assert response.headers["Cache-Control"] == "no-store"
    assert response.headers["Vary"] == "Accept, Accept-Encoding"


class TestWithoutKey:
    def test_everything_but_health_is_closed(self, guarded: Flask) -> None:
        client = guarded.test_client()
        paths = {
            rule.rule.replace("<code>", "not_found").replace("<path:path>", "x.js")
            for rule in guarded.url_map.iter_rules()
        }
        assert len(paths) >= 11
        for path in paths - set(HEALTH):
            for method in ("GET", "HEAD", "POST", "PUT", "DELETE", "OPTIONS", "TRACE", "FROB"):
                response = client.open(path, method=method)
                assert response.status_code == 401, (method, path)
                assert response.headers["WWW-Authenticate"] == 'Bearer realm="rocpr"'
            check_unauthorized(client.get(path))

    @pytest.mark.parametrize(
        "path", ["/", "/nothing", "/metrics/", "/health", "/health/", "/health/live/", "//health/live"]
    )
    def test_so_is_what_there_is_not(self, guarded: Flask, path: str) -> None:
        check_unauthorized(guarded.test_client().get(path, base_url="http://localhost"))

    @pytest.mark.parametrize("path", HEALTH)
    def test_health_is_open(self, guarded: Flask, path: str) -> None:
        client = guarded.test_client()
        assert client.get(path).status_code == 200
        assert client.head(path).status_code == 200
        assert client.post(path).status_code == 405
        assert client.get(path, headers={"Authorization": "Bearer wrong"}).status_code == 200

    @pytest.mark.parametrize(
        "header",
        [
            "",
            "Bearer",
            "Bearer ",
            f"Bearer{KEY}",
            f"Bearer {KEY}x",
            f"Bearer {KEY[:-1]}",
            f"Bearer {KEY.upper()}",
            f"Bearer {KEY} {KEY}",
            f"Bearer {KEY},Bearer {KEY}",
            f"Bearer wrong,Bearer {KEY}",
            f"Bearer token={KEY}",
            f'Bearer "{KEY}"',
            f"Basic {KEY}",
            "Basic YW5uOnJvY3ByX3RoZS1rZXktb2YtYW5u",
            f"Digest {KEY}",
            f"Token {KEY}",
            KEY,
            "Bearer \xfc\xff",
            "\xfc\xff \xfc",
            "Basic \xff",
            "Basic !!!",
            "Bearer a*=utf-16''%ff",
            "Bearer =,=;*=",
            "Bearer " + "x" * 8000,
        ],
    )
    def test_anything_but_a_key_as_bearer_is_refused(self, guarded: Flask, header: str) -> None:
        response = guarded.test_client().get("/openapi.json", environ_overrides={"HTTP_AUTHORIZATION": header})
        check_unauthorized(response)

    def test_a_key_elsewhere_is_not_looked_at(self, guarded: Flask) -> None:
        client = guarded.test_client()
        query = {"access_token": KEY, "key": KEY, "api_key": KEY}
        check_unauthorized(client.get("/openapi.json", query_string=query))
        check_unauthorized(client.get("/openapi.json", headers={"X-API-Key": KEY, "Cookie": f"key={KEY}"}))
        check_unauthorized(client.get("/openapi.json", headers={"Proxy-Authorization": f"Bearer {KEY}"}))

    def test_the_body_is_not_read(self, guarded: Flask) -> None:
        class Unread(io.BytesIO):
            def read(self, *_: object) -> bytes:
                pytest.fail("the body was read")

            read1 = read

        overrides = {"wsgi.input": Unread(b"{}"), "CONTENT_LENGTH": "2", "CONTENT_TYPE": "application/json"}
        check_unauthorized(guarded.test_client().post("/v1/curves", environ_overrides=overrides))

    def test_without_a_file_of_keys_everything_is_open(self, client: FlaskClient) -> None:
        assert client.get("/openapi.json").status_code == 200
        assert client.get("/openapi.json", headers={"Authorization": "Bearer anything"}).status_code == 200

    def test_a_file_that_cannot_be_used_lets_nobody_in(self, tmp_path: Path) -> None:
        client = guarded_app(tmp_path, ROCPR_API_KEYS_FILE=str(tmp_path / "none")).test_client()
        check_unauthorized(client.get("/openapi.json", headers=ANN))
        assert client.get("/health/ready").status_code == 200


class TestWithKey:
    @pytest.mark.parametrize("scheme", ["Bearer", "bearer", "BEARER", "Bearer ", "Bearer  "])
    def test_the_service_is_as_it_was(self, guarded: Flask, scheme: str) -> None:
        headers = {"Authorization": f"{scheme.strip()}{' ' * (1 + scheme.count(' '))}{KEY}"}
        client = guarded.test_client()
        response = client.post("/v1/curves", json=SAMPLE, headers=headers)
        assert response.status_code == 200
        assert response.get_json()["auc"]["roc"] == 1
        assert client.get("/nothing", headers=headers).status_code == 404
        assert client.put("/v1/curves", headers=headers).status_code == 405
        assert client.options("/v1/curves", headers=headers).status_code == 200

    def test_the_name_is_noted_and_the_key_is_nowhere(
        self,
        guarded: Flask,
        monkeypatch: pytest.MonkeyPatch,
        caplog: pytest.LogCaptureFixture,
        capfd: pytest.CaptureFixture[str],
    ) -> None:
        caplog.set_level(logging.DEBUG)
        noted: list[dict[str, object]] = []
        monkeypatch.setattr(guard, "note", lambda **facts: noted.append(facts))
        client = guarded.test_client()
        answers = [client.get("/openapi.json", headers=ANN), client.get("/nothing", headers=BEN), client.get("/docs")]
        assert noted == [{"key": "ann"}, {"key": "ben"}]
        assert "the-key-of" not in caplog.text + "".join(capfd.readouterr())
        assert not any("the-key-of" in answer.text + str(answer.headers) for answer in answers)

    def test_the_file_is_read_again(self, tmp_path: Path) -> None:
        app = bare_app(tmp_path)
        client = app.test_client()
        assert client.get("/", headers=ANN).status_code == 200
        kept = (tmp_path / "keys").read_text().splitlines()[1]
        (tmp_path / "keys").write_text(kept)
        check_unauthorized(client.get("/", headers=ANN))
        assert client.get("/", headers=BEN).status_code == 200


def long_answer() -> Response:
    return Response(bytes(1 << 17))


class TestConcurrency:
    def test_what_is_too_much_is_429_and_told_when_to_come_again(self, bare: Flask) -> None:
        bare.view_functions["view"] = long_answer
        client = bare.test_client()
        held = [client.get("/", headers=ANN) for _ in range(2)]
        response = client.get("/", headers=ANN)
        assert response.status_code == 429
        assert response.headers["Retry-After"] == "7"
        assert response.headers["Cache-Control"] == "no-store"
        assert response.get_json(force=True)["type"] == "/problems/too_many_requests"
        assert client.get("/", headers=BEN).status_code == 200
        held.pop().close()
        assert client.get("/", headers=ANN).status_code == 200

    def test_health_takes_nothing(self, bare: Flask, tmp_path: Path) -> None:
        for path in HEALTH:
            assert bare.test_client().get(path, headers=ANN).status_code == 200
        assert list(tmp_path.glob("key-*")) == []

    def test_other_processes_count(self, bare: Flask, tmp_path: Path) -> None:
        bare.test_client().get("/", headers=ANN).close()
        (name,) = (path.name.removesuffix(".0") for path in tmp_path.glob("key-*.0"))
        elsewhere = Slots(tmp_path, name, 2)
        with elsewhere.take(), elsewhere.take():
            assert bare.test_client().get("/", headers=ANN).status_code == 429
        assert bare.test_client().get("/", headers=ANN).status_code == 200

    def test_without_another_descriptor_it_is_overloaded(
        self, bare: Flask, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        def refuse(*_: object) -> int:
            raise OSError(errno.EMFILE, "no descriptor is left")

        with monkeypatch.context() as changed:
            changed.setattr(slots.os, "open", refuse)
            response = bare.test_client().get("/", headers=ANN)
        assert response.status_code == 503
        assert response.headers["Retry-After"] == "7"
        assert response.get_json(force=True)["type"] == "/problems/overloaded"
        assert bare.test_client().get("/", headers=ANN).status_code == 200
        assert in_use(tmp_path) == 0

    def test_names_of_any_kind_are_names_of_files(self, tmp_path: Path) -> None:
        app = bare_app(tmp_path)
        lines = (tmp_path / "keys").read_text().replace("ann ", ".. ").replace("ben ", f"{'X' * 64} ")
        (tmp_path / "keys").write_text(lines)
        for headers in (ANN, BEN):
            app.test_client().get("/", headers=headers).close()
        files = {path.name for path in tmp_path.iterdir()} - {"keys"}
        assert len(files) == 2
        assert all(name.startswith("key-") and len(name) < 50 for name in files)
        assert not any("XXX" in name or "the-key" in name for name in files)

    def test_a_long_answer_that_was_sent_gives_it_back(self, bare: Flask, tmp_path: Path) -> None:
        bare.view_functions["view"] = long_answer
        response = bare.test_client().get("/", headers=ANN)
        assert in_use(tmp_path) == 1
        response.close()
        assert in_use(tmp_path) == 0

    @pytest.mark.parametrize("method", ["GET", "HEAD", "PUT", "OPTIONS"])
    @pytest.mark.parametrize("path", ["/", "/nothing"])
    def test_a_short_answer_gives_it_back_before_it_is_sent(
        self, bare: Flask, tmp_path: Path, path: str, method: str
    ) -> None:
        with bare.test_client().open(path, method=method, headers=ANN):
            assert list(tmp_path.glob("key-*")) != []
            assert in_use(tmp_path) == 0

    @pytest.mark.parametrize("error", [ValueError(), MemoryError(), SystemExit(1), KeyboardInterrupt()])
    def test_a_failure_gives_it_back(self, bare: Flask, tmp_path: Path, error: BaseException) -> None:
        def fail() -> None:
            raise error

        bare.view_functions["view"] = fail
        with suppress(SystemExit, KeyboardInterrupt):
            status = 503 if isinstance(error, MemoryError) else 500
            assert bare.test_client().get("/", headers=ANN, buffered=True).status_code == status
        assert in_use(tmp_path) == 0

    def test_a_failure_after_the_view_gives_it_back(self, bare: Flask, tmp_path: Path) -> None:
        def fail(_: Response) -> Response:
            raise ValueError

        bare.after_request(fail)
        bare.test_client().get("/", headers=ANN).close()
        assert in_use(tmp_path) == 0

    def test_headers_that_the_server_refuses_give_it_back(self, bare: Flask, tmp_path: Path) -> None:
        def refuse(*_: object) -> None:
            raise ValueError("a header")

        with pytest.raises(ValueError, match="a header"):
            bare(environ(), refuse)
        assert in_use(tmp_path) == 0

    @pytest.mark.parametrize("read", [0, 1])
    def test_a_client_that_goes_gives_it_back(self, bare: Flask, tmp_path: Path, read: int) -> None:
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

    def test_a_body_that_does_not_close_gives_it_back(self, bare: Flask, tmp_path: Path) -> None:
        def fail() -> None:
            raise OSError("the disk")

        def view() -> Response:
            response = Response("seen")
            response.call_on_close(fail)
            return response

        bare.view_functions["view"] = view
        body = bare(environ(), lambda *_: None)
        with pytest.raises(OSError, match="the disk"):
            body.close()
        assert in_use(tmp_path) == 0

    def test_a_file_that_the_server_sends_gives_it_back(self, bare: Flask, tmp_path: Path) -> None:
        """Of such a response werkzeug calls nothing on close, and the server knows the body by its class."""
        file = io.BytesIO(b"a file")
        bare.view_functions["view"] = lambda: Response(FileWrapper(file), direct_passthrough=True)
        body = bare(environ() | {"wsgi.file_wrapper": FileWrapper}, lambda *_: None)
        assert type(body) is FileWrapper
        assert b"".join(body) == b"a file"
        assert in_use(tmp_path) == 1
        body.close()
        assert file.closed
        assert in_use(tmp_path) == 0

    def test_a_file_that_is_not_sent_so_gives_it_back(self, bare: Flask, tmp_path: Path) -> None:
        file = io.BytesIO(b"a file")
        bare.view_functions["view"] = lambda: Response(FileWrapper(file), direct_passthrough=True)
        body = bare(environ(), lambda *_: None)
        assert b"".join(body) == b"a file"
        body.close()
        assert file.closed
        assert in_use(tmp_path) == 0

    def test_threads_never_have_more_and_all_is_given_back(self, bare: Flask, tmp_path: Path) -> None:
        lock, inside, most, statuses = threading.Lock(), [0], [0], []
        enough = threading.Event()

        def view() -> Response:
            with lock:
                inside[0] += 1
                most[0] = max(most[0], inside[0])
            enough.wait(0.001)
            with lock:
                inside[0] -= 1
            return Response("seen")

        bare.view_functions["view"] = view

        def ask() -> None:
            for _ in range(25):
                with bare.test_client().get("/", headers=ANN) as response:
                    statuses.append(response.status_code)

        threads = [threading.Thread(target=ask) for _ in range(8)]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
        assert len(statuses) == 200
        assert set(statuses) == {200, 429}
        assert most[0] <= 2
        assert in_use(tmp_path) == 0


def environ() -> dict[str, object]:
    return EnvironBuilder("/", headers=ANN).get_environ()
