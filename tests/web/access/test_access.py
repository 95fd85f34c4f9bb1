"""API keys: who has access, and what others get."""

import io
import logging
from pathlib import Path

import pytest
from flask import Flask
from flask.testing import FlaskClient
from werkzeug.test import TestResponse

from service.web.access import access
from service.web.access.keys import Keys
from service.web.page import PAGE_FILES
from service.wire.problems import PROBLEM_JSON
from tests.web.guarding import ANN, BEN, HEALTH, KEY, bare_app, guarded_app

SAMPLE = {"scores": [0.9, 0.1], "labels": [1, 0], "include": ["auc"]}


@pytest.fixture(scope="module")
def guarded(tmp_path_factory: pytest.TempPathFactory) -> Flask:
    return guarded_app(tmp_path_factory.mktemp("guard"))


def check_unauthorized(response: TestResponse) -> None:
    assert response.status_code == 401
    assert response.content_type == PROBLEM_JSON
    assert response.get_json(force=True)["type"] == "/problems/unauthorized"
    assert response.headers["WWW-Authenticate"] == 'Bearer realm="rocpr"'
    assert response.headers["Cache-Control"] == "no-store"
    assert response.headers["Vary"] == "Accept, Accept-Encoding"


def test_a_key_is_looked_up_once_where_the_server_names_the_owner(
    guarded: Flask, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A later pass looks again: the key may be gone."""
    looked_up = []
    name_of = Keys.name_of
    monkeypatch.setattr(Keys, "name_of", lambda keys, token: (looked_up.append(token), name_of(keys, token))[1])
    environ = {"HTTP_AUTHORIZATION": ANN["Authorization"], "REMOTE_ADDR": "192.0.2.1", "PATH_INFO": "/v1/curves"}
    assert guarded.extensions["owners"].owner_of(environ) == "key ann"
    found = {name: value for name, value in environ.items() if name.startswith("rocpr.")}
    answer = guarded.test_client().post("/v1/curves", json=SAMPLE, headers=ANN, environ_overrides=found)
    assert (answer.status_code, looked_up) == (200, [KEY])
    assert guarded.test_client().post("/v1/curves", json=SAMPLE, headers=ANN).status_code == 200
    assert looked_up == [KEY, KEY]


class TestWithoutKey:
    def test_everything_but_health_and_the_page_is_closed(self, guarded: Flask) -> None:
        client = guarded.test_client()
        paths = {
            rule.rule.replace("<code>", "not_found").replace("<path:path>", "x.js")
            for rule in guarded.url_map.iter_rules()
        }
        assert len(paths) >= 11
        for path in paths - {*HEALTH, *PAGE_FILES}:
            for method in ("GET", "HEAD", "POST", "PUT", "DELETE", "OPTIONS", "TRACE", "FROB"):
                response = client.open(path, method=method)
                assert response.status_code == 401, (method, path)
                assert response.headers["WWW-Authenticate"] == 'Bearer realm="rocpr"'
            check_unauthorized(client.get(path))

    @pytest.mark.parametrize(
        "path", ["/nothing", "/metrics/", "/version/", "/health/", "/health/live/", "//health/live"]
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

    def test_a_key_elsewhere_is_ignored(self, guarded: Flask) -> None:
        client = guarded.test_client()
        query = {"access_token": KEY, "key": KEY, "api_key": KEY}
        check_unauthorized(client.get("/openapi.json", query_string=query))
        check_unauthorized(client.get("/openapi.json", headers={"X-API-Key": KEY, "Cookie": f"key={KEY}"}))
        check_unauthorized(client.get("/openapi.json", headers={"Proxy-Authorization": f"Bearer {KEY}"}))

    def test_the_body_is_not_read(self, guarded: Flask) -> None:
        class Unread(io.BytesIO):
            def read(self, *_: object) -> bytes:
                pytest.fail("the body was read")

        overrides = {"wsgi.input": Unread(b"{}"), "CONTENT_LENGTH": "2", "CONTENT_TYPE": "application/json"}
        check_unauthorized(guarded.test_client().post("/v1/curves", environ_overrides=overrides))

    def test_without_a_file_of_keys_everything_is_open(self, client: FlaskClient) -> None:
        assert client.get("/openapi.json").status_code == 200
        assert client.get("/openapi.json", headers={"Authorization": "Bearer anything"}).status_code == 200

    def test_the_page_knows_whether_there_are_keys(self, guarded: Flask, client: FlaskClient) -> None:
        assert ' data-keys="true"' in guarded.test_client().get("/").text
        assert ' data-keys="false"' in client.get("/").text

    def test_an_unusable_file_admits_no_key(self, tmp_path: Path) -> None:
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
        monkeypatch.setattr(access, "note", lambda **facts: noted.append(facts))
        client = guarded.test_client()
        answers = [client.get("/openapi.json", headers=ANN), client.get("/nothing", headers=BEN), client.get("/docs")]
        assert noted == [{"key": "ann"}, {"key": "ben"}]
        assert "the-key-of" not in caplog.text + "".join(capfd.readouterr())
        assert not any("the-key-of" in answer.text + str(answer.headers) for answer in answers)

    def test_the_file_is_read_again(self, tmp_path: Path) -> None:
        app = bare_app(tmp_path)
        client = app.test_client()
        assert client.get("/view", headers=ANN).status_code == 200
        kept = (tmp_path / "keys").read_text().splitlines()[1]
        (tmp_path / "keys").write_text(kept)
        check_unauthorized(client.get("/view", headers=ANN))
        assert client.get("/view", headers=BEN).status_code == 200
