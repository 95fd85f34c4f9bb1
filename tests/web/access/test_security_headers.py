"""The headers that keep browsers from doing more with an answer than they should."""

import re
from base64 import b64encode
from hashlib import sha256
from pathlib import Path

import flask_swagger_ui
import pytest
from flask import Flask
from flask.testing import FlaskClient
from werkzeug.test import TestResponse

from service.web.guide import POLICY
from service.web.page import PAGE_FILES, PAGE_POLICY
from service.wire.answers.encoders import PICTURE_POLICY
from tests.web.guarding import bare_app

STRICT = "default-src 'none'; frame-ancestors 'none'"
PAGES = ["/docs", "/docs/", "/docs/index.html"]
GUIDE = ["/guide", "/guide/curves"]


def check_headers(response: TestResponse, policy: str = STRICT) -> None:
    expected = {
        "X-Content-Type-Options": "nosniff",
        "Referrer-Policy": "no-referrer",
        "X-Frame-Options": "DENY",
        "Cross-Origin-Resource-Policy": "same-origin",
        "Content-Security-Policy": policy,
    }
    assert {name: response.headers.getlist(name) for name in expected} == {
        name: [value] for name, value in expected.items()
    }


def test_every_route_and_every_refusal_has_them(app: Flask, client: FlaskClient) -> None:
    paths = {
        rule.rule.replace("<code>", "not_found").replace("<path:path>", "index.css").replace("<page>", "curves")
        for rule in app.url_map.iter_rules()
    }
    for path in [*paths - {*PAGES, *GUIDE, *PAGE_FILES}, "/nothing", "/docs/nothing.js"]:
        for method in ("GET", "POST", "PUT", "OPTIONS"):
            with client.open(path, method=method) as response:
                picture = response.mimetype == "image/svg+xml" and response.status_code < 400
                check_headers(response, PICTURE_POLICY if picture else STRICT)
                error_or_operation = response.status_code >= 400 or path.startswith("/v1/")
                assert not error_or_operation or response.headers["Cache-Control"] == "no-store"


@pytest.mark.parametrize("path", PAGE_FILES)
def test_the_page_has_a_policy_of_its_own(client: FlaskClient, path: str) -> None:
    response = client.get(path)
    check_headers(response, PAGE_POLICY)
    assert response.headers["Cache-Control"] == "no-store"  # it says whether there are keys


@pytest.mark.parametrize(("body", "status"), [(b'{"scores": [0.9, 0.1], "labels": [1, 0]}', 200), (b"{", 400)])
def test_answers_of_operations_are_not_stored(client: FlaskClient, body: bytes, status: int) -> None:
    response = client.post("/v1/curves", data=body, content_type="application/json")
    assert response.status_code == status
    assert response.headers["Cache-Control"] == "no-store"
    check_headers(response)


def test_pictures_of_operations_have_the_policy_of_pictures(client: FlaskClient) -> None:
    body = {"scores": [0.9, 0.1], "labels": [1, 0]}
    response = client.post("/v1/curves", json=body, headers={"Accept": "image/svg+xml"})
    assert response.headers["Cache-Control"] == "no-store"
    assert response.headers["Rocpr-Warnings"] == "[]"
    check_headers(response, PICTURE_POLICY)


@pytest.mark.parametrize(
    "path", ["/openapi.json", "/openapi.yaml", "/docs", "/docs/index.css", "/problems/not_found", *GUIDE]
)
def test_the_contract_may_be_stored(client: FlaskClient, path: str) -> None:
    with client.get(path) as response:
        assert response.status_code == 200
        assert "no-store" not in response.headers.get("Cache-Control", "")


@pytest.mark.parametrize("path", GUIDE)
def test_the_guide_has_a_policy_of_its_own(client: FlaskClient, path: str) -> None:
    check_headers(client.get(path), POLICY)


def test_a_failure_has_them(tmp_path: Path) -> None:
    app = bare_app(tmp_path, ROCPR_API_KEYS_FILE="")

    def fail() -> None:
        raise ValueError

    app.view_functions["view"] = fail
    response = app.test_client().get("/view")
    assert response.status_code == 500
    assert response.headers["Cache-Control"] == "no-store"
    check_headers(response)


class TestDocs:
    """What Swagger UI needs, as its page, scripts and styles show; tests/browser has it in a browser."""

    DIST = Path(flask_swagger_ui.__file__).parent / "dist"

    @pytest.mark.parametrize("path", PAGES)
    def test_the_policy_lets_the_page_work_and_nothing_else(self, client: FlaskClient, path: str) -> None:
        response = client.get(
            path, headers={"Host": "other.example"}, query_string={"url": "</script><script>alert(1)"}
        )
        (script,) = re.findall(r"<script>(.*?)</script>", response.text, re.DOTALL)
        assert "SwaggerUIBundle(config)" in script
        digest = b64encode(sha256(script.encode()).digest()).decode()
        policy = (
            f"default-src 'none'; script-src 'self' 'sha256-{digest}'; style-src 'self' 'unsafe-inline'; "
            "img-src 'self' data:; connect-src 'self'; base-uri 'none'; form-action 'none'; frame-ancestors 'none'"
        )
        check_headers(response, policy)
        assert response.data == client.get("/docs").data

    def test_the_page_has_nothing_that_the_policy_forbids(self, client: FlaskClient) -> None:
        page = client.get("/docs").text
        sources = re.findall(r'(?:src|href)="([^"]*)"', page)
        assert len(sources) == 8
        assert all(source.startswith("/docs/") for source in sources)
        assert not re.search(r"<style|\sstyle=|\son\w+=|javascript:|<base|<form|<iframe", page)

    @pytest.mark.parametrize("name", ["swagger-ui-bundle.js", "swagger-ui-standalone-preset.js"])
    def test_its_scripts_create_no_scripts(self, name: str) -> None:
        """`Function(` occurs three times, in code for browsers without globalThis or bind."""
        code = (self.DIST / name).read_text(encoding="utf-8")
        assert not re.search(
            r"""[^\w.]eval\(|createElement\(["'](script|iframe)["']|new Worker\(|importScripts""", code
        )
        made = set(re.findall(r"[^\w.]Function\((\"[^\"]*\")", code))
        assert made == {'"return this"', '"binder"'}

    def test_its_styles_load_pictures_that_they_hold(self) -> None:
        styles = (self.DIST / "swagger-ui.css").read_text(encoding="utf-8")
        assert set(re.findall(r"url\(\"?(\w+:)", styles)) == {"data:"}
        assert "@import" not in styles
        assert "@font-face" not in styles
