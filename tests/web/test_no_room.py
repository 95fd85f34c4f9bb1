"""What the application still does without room: for big requests, for any file, in memory."""

import errno
import json
import multiprocessing
import tempfile
from functools import partial
from multiprocessing import forkserver
from pathlib import Path
from types import ModuleType, SimpleNamespace
from typing import Any

import pytest
from flask import Flask
from flask.testing import FlaskClient

from service import answer
from service.app import create_app
from service.settings import read_settings
from service.web import operation_routes, spool
from service.web.server.incoming_body import IncomingBody
from service.web.server.parser import new_parser
from service.web.server.reading import RequestReader
from service.wire.answers import output
from service.wire.media_types import ARROW_STREAM
from service.wire.problems import Problem
from tests.web.guarding import ANN, BEN, guarded_settings

CURVES = "/v1/curves"
JSON = {"Content-Type": "application/json"}
BIG_BODY_BYTES = 500
SAMPLE = json.dumps({"scores": [0.9, 0.1], "labels": [1, 0], "include": ["auc"]}).encode()


def small(client: FlaskClient) -> Any:
    return client.post(CURVES, data=SAMPLE, headers=JSON)


def big(client: FlaskClient) -> Any:
    return client.post(CURVES, data=SAMPLE + b" " * BIG_BODY_BYTES, headers=JSON)


@pytest.fixture
def client(tmp_path: Path) -> FlaskClient:
    variables = {"ROCPR_BIG_BODY_BYTES": str(BIG_BODY_BYTES), "ROCPR_RUNTIME_DIR": str(tmp_path)}
    return create_app(read_settings(variables)).test_client()


def room(client: FlaskClient) -> str:
    """What /health/ready says about the room for big requests."""
    ready = client.get("/health/ready")
    assert ready.status_code == 200
    document = ready.get_json()
    assert document.keys() == {"status", "big"}
    assert document["status"] == "ok"
    return document["big"]


def code(refused: Any) -> tuple[int, str, str | None]:
    return refused.status_code, refused.get_json()["type"], refused.headers.get("Retry-After")


OVERLOADED = (503, "/problems/overloaded", "2")


def test_health(client: FlaskClient) -> None:
    assert client.get("/health/live").get_json() == {"status": "ok"}
    for path in ("/health/live", "/health/ready"):
        assert client.head(path).status_code == 200
    assert room(client) == "ok"


def test_a_full_spool_only_affects_big_requests(
    client: FlaskClient, monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    def fail(*_: object, **__: object) -> None:
        raise OSError(errno.ENOSPC, "No space left on device")

    now = 1000.0
    monkeypatch.setattr(spool.time, "monotonic", lambda: now)
    monkeypatch.setattr(tempfile, "TemporaryFile", fail)
    for _ in range(3):
        assert code(big(client)) == OVERLOADED
        assert room(client) == "full"
        assert small(client).status_code == 200
    assert caplog.messages == ["The spool directory takes no more files: No space left on device."]
    now += 60
    assert room(client) == "ok"


def test_prometheus_gets_the_room(tmp_path: Path) -> None:
    client = create_app(read_settings({"ROCPR_SPOOL_DIR": str(tmp_path)})).test_client()
    (line,) = (line for line in client.get("/metrics").text.splitlines() if line.startswith("rocpr_spool_"))
    name, bytes_available = line.split()
    assert (name, float(bytes_available) > 0) == ("rocpr_spool_available_bytes", True)
    tmp_path.rmdir()
    assert "\nrocpr_spool_available_bytes 0.0\n" in client.get("/metrics").text
    assert room(client) == "full"


@pytest.fixture
def no_directory(monkeypatch: pytest.MonkeyPatch) -> None:
    """No directory takes a file; no evaluator was started before, because starting one takes a file."""
    monkeypatch.setattr(forkserver, "connect_to_new_process", forkserver.ForkServer().connect_to_new_process)
    monkeypatch.delitem(multiprocessing.current_process()._config, "tempdir", raising=False)

    def fail() -> str:
        raise FileNotFoundError(errno.ENOENT, "No usable temporary directory found")

    monkeypatch.setattr(tempfile, "tempdir", None)
    monkeypatch.setattr(tempfile, "_get_default_tempdir", fail)


@pytest.mark.usefixtures("no_directory")
def test_without_any_directory_small_requests_are_answered(caplog: pytest.LogCaptureFixture) -> None:
    client = create_app(read_settings({"ROCPR_BIG_BODY_BYTES": str(BIG_BODY_BYTES)})).test_client()
    columnar = {"Content-Type": ARROW_STREAM}
    for _ in range(2):
        assert small(client).status_code == 200
        assert code(big(client)) == OVERLOADED
        assert code(client.post(CURVES, data=b"x", headers=columnar)) == OVERLOADED
        assert room(client) == "full"
        page = client.get("/metrics").text
        assert "\nrocpr_slots 1.0\n" in page
        assert "\nrocpr_slots_in_use 0.0\n" in page
    assert caplog.messages == ["The spool directory takes no more files: No such file or directory."]


@pytest.mark.usefixtures("no_directory")
def test_without_any_directory_each_process_has_its_share_of_a_keys_requests(tmp_path: Path) -> None:
    settings = guarded_settings(tmp_path, ROCPR_RUNTIME_DIR="", ROCPR_KEY_CONCURRENCY="4", ROCPR_WORKERS="2")
    app = create_app(settings)
    app.add_url_rule("/long", "long", lambda: app.response_class(iter([b"x" * 100_000])))
    client = app.test_client()
    held = [client.get("/long", headers=ANN) for _ in range(2)]
    assert [answer.status_code for answer in held] == [200, 200]
    assert client.get("/long", headers=ANN).status_code == 429
    other = client.get("/long", headers=BEN)
    assert other.status_code == 200
    for answered in (*held, other):
        answered.close()
    with client.get("/long", headers=ANN) as again:
        assert again.status_code == 200
    assert [path.name for path in tmp_path.iterdir()] == ["keys"]


@pytest.mark.parametrize(
    ("place", "name"),
    [(operation_routes, "require_memory"), (operation_routes, "_response")],
)
def test_a_lack_of_memory_around_an_evaluation_is_overloaded(
    app: Flask, monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture, place: object, name: str
) -> None:
    with monkeypatch.context() as patch:
        patch.setattr(place, name, fail_for_memory)
        assert code(small(app.test_client())) == OVERLOADED
    assert small(app.test_client()).status_code == 200
    assert caplog.messages == [], "it is no defect"


def fail_for_memory(*_: object, **__: object) -> None:
    raise MemoryError


@pytest.mark.parametrize("error", [MemoryError(), OSError(errno.ENOSPC, "full")])
def test_a_body_that_finds_no_room_on_its_way_is_overloaded(error: Exception) -> None:
    def fail() -> IncomingBody:
        raise error

    limits = SimpleNamespace(limit_request_line=100, limit_request_fields=9, limit_request_field_size=100)
    reader = RequestReader(partial(new_parser, limits), fail)
    with pytest.raises(Problem, match="no room") as caught:
        reader.feed(b"POST / HTTP/1.1\r\nHost: a\r\nContent-Length: 5\r\n\r\nhello")
    assert caught.value.type.code == "overloaded"


@pytest.mark.parametrize(("module", "name"), [(answer, "DECODERS"), (answer, "OPERATIONS")])
def test_in_an_evaluation_it_is_a_request_that_is_too_large(
    app: Flask, monkeypatch: pytest.MonkeyPatch, module: ModuleType, name: str
) -> None:
    class Lacking(dict[object, object]):
        def __getitem__(self, key: object) -> object:
            raise MemoryError

    monkeypatch.setattr(module, name, Lacking(getattr(module, name)))
    assert code(small(app.test_client()))[:2] == (413, "/problems/body_too_large")
    monkeypatch.undo()
    assert small(app.test_client()).status_code == 200


def test_so_it_is_before_each_piece_of_an_answer(app: Flask, monkeypatch: pytest.MonkeyPatch) -> None:
    """A library that gets no memory there would end the process."""
    monkeypatch.setattr(output, "require_memory", fail_for_memory)
    assert code(small(app.test_client()))[:2] == (413, "/problems/body_too_large")
