"""In which pass a request is answered; a pass that moves it on leaves no trace."""

import io
import json
from collections.abc import Callable
from contextlib import ExitStack
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pytest
from flask import Flask
from werkzeug.test import EnvironBuilder, run_wsgi_app

from service.app import create_app
from service.settings import read_settings
from service.web.observation import observation
from service.web.passes import (
    CLIENT,
    MOVED,
    PASS,
    UNTIL_SENT,
    WAITED,
    Client,
    Pass,
    client_of,
    has_moved,
    pass_of,
    until_sent,
)
from service.wire.formats import decoders
from service.wire.formats.codings import compress
from service.wire.media_types import ARROW_STREAM, CSV, JSON, PARQUET
from service.wire.problems import PROBLEM_TYPES
from tests.properties.bodies import arrow_body, parquet_body
from tests.web.observing import CURVES, observed_app

BIG_BODY_BYTES = 2000
MAX_BODY_BYTES = 10_000
SAMPLE = b'{"scores": [0.9, 0.6, 0.4, 0.1], "labels": [1, 0, 1, 0], "include": ["auc"]}'


@pytest.fixture(scope="module")
def app(tmp_path_factory: pytest.TempPathFactory) -> Flask:
    return create_app(
        read_settings(
            {
                "ROCPR_BIG_BODY_BYTES": str(BIG_BODY_BYTES),
                "ROCPR_MAX_BODY_BYTES": str(MAX_BODY_BYTES),
                "ROCPR_RUNTIME_DIR": str(tmp_path_factory.mktemp("passes")),
            }
        )
    )


class Asked:
    """A request as our server passes it to the application, pass after pass."""

    def __init__(
        self, app: Flask, body: bytes = b"", *, path: str = CURVES, method: str = "POST", **headers: str
    ) -> None:
        fields = {"Content-Type": JSON} | {name.replace("_", "-"): value for name, value in headers.items()}
        self.environ = EnvironBuilder(path, method=method, headers=fields).get_environ()
        self.environ |= {UNTIL_SENT: ExitStack(), CLIENT: Client()}
        self.app = app
        self.body = body

    def before_the_body(self, length: int | None) -> Pass | str:
        """Call the application without the body; chunked if the length is None."""
        if length is None:
            self.environ["HTTP_TRANSFER_ENCODING"] = "chunked"
        else:
            self.environ["CONTENT_LENGTH"] = str(length)
        return self.asked(Pass.HEAD, b"")

    def in_pass(self, which: Pass) -> Pass | str:
        """Call the application with the body; return the pass it moves to, or the status of its answer."""
        self.environ["CONTENT_LENGTH"] = str(len(self.body))
        return self.asked(which, self.body)

    def asked(self, which: Pass, body: bytes) -> Pass | str:
        self.environ |= {PASS: which, "wsgi.input": io.BytesIO(body)}
        told: list[str] = []
        content = self.app.wsgi_app(self.environ, lambda status, _: told.append(status))
        self.content = b"".join(content)
        content.close()
        (status,) = told
        return self.environ.pop(MOVED, status[:3])


def arrow(rows: int, distinct: int = 1 << 20, **others: list[str]) -> bytes:
    return arrow_body(pa.table({"scores": np.arange(rows) % distinct / rows, "labels": np.arange(rows) % 2} | others))


def parquet_of(rows: int) -> bytes:
    return parquet_body(pa.table({"scores": np.arange(rows) / rows, "labels": np.arange(rows) % 2}))


class TestBeforeTheBody:
    @pytest.mark.parametrize("length", [10, BIG_BODY_BYTES + 1, None])
    @pytest.mark.parametrize("media_type", [JSON, CSV, ARROW_STREAM, PARQUET])
    @pytest.mark.parametrize("coding", ["identity", "gzip"])
    def test_the_body_is_wanted_for_a_small_pass_in_which_the_key_gets_its_place(
        self, app: Flask, media_type: str, length: int | None, coding: str
    ) -> None:
        asked = Asked(app, Content_Type=media_type, Content_Encoding=coding)
        assert asked.before_the_body(length) is Pass.SMALL
        assert asked.content == b""

    @pytest.mark.parametrize(
        ("request_", "length", "code"),
        [
            ({"path": "/nothing"}, 10, "not_found"),
            ({"method": "PUT"}, 10, "method_not_allowed"),
            ({"Accept": "image/gif"}, 10, "not_acceptable"),
            ({"Content_Type": "image/png"}, 10, "unsupported_media_type"),
            ({"Content_Encoding": "br"}, 10, "unsupported_content_encoding"),
            ({}, MAX_BODY_BYTES + 1, "body_too_large"),
            ({"path": f"{CURVES}?a=%FF"}, 10, "malformed_request"),
        ],
    )
    def test_what_the_head_forbids_is_refused(
        self, app: Flask, request_: dict[str, Any], length: int, code: str
    ) -> None:
        asked = Asked(app, **request_)
        assert asked.before_the_body(length) == str(PROBLEM_TYPES[code].status)
        assert json.loads(asked.content)["type"] == f"/problems/{code}"


class TestWithTheBody:
    @pytest.mark.parametrize("coding", ["identity", "gzip", "zstd"])
    def test_what_is_small_is_answered_in_the_small_pass(self, app: Flask, coding: str) -> None:
        asked = Asked(app, compress(coding, SAMPLE), Content_Type=JSON, Content_Encoding=coding)
        assert asked.in_pass(Pass.SMALL) == "200"
        assert json.loads(asked.content)["auc"]["roc"] == 0.75

    @pytest.mark.parametrize(
        ("make", "media_type"),
        [(arrow, ARROW_STREAM), (parquet_of, PARQUET)],
        ids=["arrow", "parquet"],
    )
    def test_small_columns_are_answered_in_their_pass(
        self, app: Flask, make: Callable[[int], bytes], media_type: str
    ) -> None:
        asked = Asked(app, make(10), Content_Type=media_type)
        assert len(asked.body) <= BIG_BODY_BYTES
        assert asked.in_pass(Pass.SMALL) is Pass.COLUMNAR  # their heads did not say how long they are
        assert asked.in_pass(Pass.COLUMNAR) == "200"
        assert json.loads(asked.content)["points"]["tp"][-1] == 5

    @pytest.mark.parametrize(
        ("body", "media_type"), [(SAMPLE.ljust(BIG_BODY_BYTES + 1), JSON), (arrow(200), ARROW_STREAM)]
    )
    def test_a_chunked_body_that_is_long_is_answered_in_the_big_pass(
        self, app: Flask, body: bytes, media_type: str
    ) -> None:
        asked = Asked(app, body, Content_Type=media_type)
        assert asked.before_the_body(None) is Pass.SMALL
        del asked.environ["HTTP_TRANSFER_ENCODING"]  # as the server does
        assert asked.in_pass(Pass.SMALL) is Pass.BIG
        assert asked.in_pass(Pass.BIG) == "200"

    @pytest.mark.parametrize(
        ("make", "media_type", "first"),
        [
            (lambda: compress("zstd", SAMPLE.ljust(50_000)), JSON, Pass.SMALL),
            (lambda: compress("zstd", arrow(10_000, distinct=2)), ARROW_STREAM, Pass.COLUMNAR),
        ],
        ids=["json", "arrow"],
    )
    def test_what_becomes_long_is_answered_in_the_big_pass(
        self, app: Flask, make: Callable[[], bytes], media_type: str, first: Pass
    ) -> None:
        asked = Asked(app, make(), Content_Type=media_type, Content_Encoding="zstd")
        assert len(asked.body) <= BIG_BODY_BYTES
        assert asked.in_pass(first) is Pass.BIG
        assert asked.in_pass(Pass.BIG) == "200"

    def test_what_is_much_work_is_answered_in_the_big_pass(self, tmp_path: Path) -> None:
        app = create_app(read_settings({"ROCPR_SMALL_SECONDS": "0", "ROCPR_RUNTIME_DIR": str(tmp_path)}))
        asked = Asked(app, SAMPLE)
        assert asked.in_pass(Pass.SMALL) is Pass.BIG
        assert asked.in_pass(Pass.BIG) == "200"
        assert json.loads(asked.content)["auc"]["roc"] == 0.75

    def test_a_wrong_body_is_refused_where_that_is_seen(self, app: Flask) -> None:
        asked = Asked(app, b"{")
        assert asked.in_pass(Pass.SMALL) == "400"
        assert json.loads(asked.content)["type"] == "/problems/malformed_body"

    def test_a_long_answer_of_the_big_pass_comes_from_its_file(self, app: Flask) -> None:
        rows = {"scores": [row / 7 for row in range(1_500)], "labels": [row % 2 for row in range(1_500)]}
        asked = Asked(app, compress("gzip", json.dumps(rows).encode()), Content_Encoding="gzip")
        assert asked.in_pass(Pass.BIG) == "200"
        assert len(asked.content) > 1 << 16
        assert len(json.loads(asked.content)["points"]["tp"]) == 1_501


class TestTraces:
    @pytest.fixture
    def app(self, tmp_path: Path) -> Flask:
        return observed_app(tmp_path)

    def test_a_pass_that_moves_leaves_none(self, app: Flask, lines, monkeypatch: pytest.MonkeyPatch) -> None:
        counted: list[Any] = []
        monkeypatch.setattr(observation, "count_request", lambda *facts: counted.append(facts))
        asked = Asked(app, SAMPLE)
        assert asked.before_the_body(len(SAMPLE)) is Pass.SMALL
        assert (lines(), counted) == ([], [])
        assert asked.in_pass(Pass.SMALL) == "200"
        (line,) = lines()
        assert (line["status"], line["lane"], len(counted)) == (200, "small", 1)

    def test_the_time_in_queues_is_reported(self, app: Flask, lines) -> None:
        asked = Asked(app, SAMPLE)
        asked.environ[WAITED] = 0.0125
        told: list[Any] = []
        asked.environ |= {PASS: Pass.SMALL, "wsgi.input": io.BytesIO(SAMPLE), "CONTENT_LENGTH": str(len(SAMPLE))}
        app.wsgi_app(asked.environ, lambda _, fields: told.append(dict(fields))).close()
        (line,) = lines()
        assert line["wait_ms"] == 12.5
        assert told[0]["Server-Timing"].startswith("wait;dur=12.5, decode;dur=")

    def test_who_has_left_is_only_counted(self, app: Flask, lines, monkeypatch: pytest.MonkeyPatch) -> None:
        abandoned: list[str] = []
        monkeypatch.setattr(observation, "count_abandoned", abandoned.append)
        asked = Asked(app, SAMPLE)
        asked.environ[CLIENT].leave()
        asked.in_pass(Pass.SMALL)
        assert (lines(), abandoned) == ([], ["evaluated"])

    def test_who_leaves_ends_a_big_evaluation(self, tmp_path: Path, lines, monkeypatch: pytest.MonkeyPatch) -> None:
        """Leaving is not a failure, and nobody reads the answer."""
        abandoned: list[str] = []
        monkeypatch.setattr(observation, "count_abandoned", abandoned.append)
        asked = Asked(observed_app(tmp_path), SAMPLE)
        asked.environ[CLIENT].leave()
        assert asked.in_pass(Pass.BIG) == "204"
        assert (lines(), abandoned) == ([], ["evaluated"])


def test_another_server_has_no_passes() -> None:
    environ: dict[str, Any] = {}
    assert pass_of(environ) is None
    assert not has_moved(environ)
    assert not client_of(environ).gone
    assert client_of(environ) is client_of(environ)
    assert until_sent(environ) is until_sent(environ)


def test_another_server_is_answered_in_one_call(app: Flask) -> None:
    """Whichever passes our server would need."""
    client = app.test_client()
    for body, headers in (
        (SAMPLE, {"Content-Type": JSON}),
        (arrow(10), {"Content-Type": ARROW_STREAM}),
        (compress("zstd", SAMPLE.ljust(50_000)), {"Content-Type": JSON, "Content-Encoding": "zstd"}),
        (SAMPLE.ljust(BIG_BODY_BYTES + 1), {"Content-Type": JSON}),
    ):
        with client.post(CURVES, data=body, headers=headers) as answer:
            assert answer.status_code == 200


class TestUnderAnotherServer:
    def test_columns_of_unknown_length_are_not_read_in_its_process(
        self, app: Flask, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        """A library that crashes on a hostile file ends an evaluator, not the server."""
        monkeypatch.setattr(decoders, "ArrowTable", None)
        body = arrow(10, texts=["a"] * 10)
        builder = EnvironBuilder(CURVES, method="POST", headers={"Content-Type": ARROW_STREAM})
        environ = builder.get_environ() | {"wsgi.input": io.BytesIO(body), "HTTP_TRANSFER_ENCODING": "chunked"}
        environ.pop("CONTENT_LENGTH", None)
        answer = run_wsgi_app(app.wsgi_app, environ, buffered=True)
        assert answer[1] == "200 OK"
        assert json.loads(b"".join(answer[0]))["points"]["tp"][-1] == 5
