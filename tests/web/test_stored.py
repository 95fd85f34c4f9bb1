"""What is the same until the next version is asked for once: entity tags, 304, gzip."""

import gzip

import pytest
from flask.testing import FlaskClient

from service.web.access.security_headers import STORABLE

PATHS = [
    "/openapi.yaml",
    "/openapi.json",
    "/openapi-clients.yaml",
    "/docs",
    "/docs/docs.css",
    "/guide",
    "/guide/curves",
    "/guide/style.css",
    "/problems/not_found",
]
GZIP = {"Accept-Encoding": "gzip, deflate, br"}


@pytest.mark.parametrize("headers", [{}, GZIP], ids=["as it is", "gzip"])
@pytest.mark.parametrize("path", PATHS)
def test_it_is_sent_once(client: FlaskClient, path: str, headers: dict[str, str]) -> None:
    first = client.get(path, headers=headers)
    assert (first.headers["Cache-Control"], first.headers["Vary"]) == ("no-cache", "Accept-Encoding")
    again = client.get(path, headers={**headers, "If-None-Match": first.headers["ETag"]})
    assert (again.status_code, again.data) == (304, b"")
    assert again.headers["ETag"] == first.headers["ETag"]
    other = client.get(path, headers={**headers, "If-None-Match": '"another"'})
    assert (other.status_code, other.data) == (200, first.data)


@pytest.mark.parametrize("path", PATHS)
def test_gzip_holds_the_same(client: FlaskClient, path: str) -> None:
    plain, packed = client.get(path), client.get(path, headers=GZIP)
    assert packed.headers["Content-Encoding"] == "gzip"
    assert "Content-Encoding" not in plain.headers
    assert gzip.decompress(packed.data) == plain.data
    assert plain.headers["ETag"] != packed.headers["ETag"]
    of_the_other_form = client.get(path, headers={**GZIP, "If-None-Match": plain.headers["ETag"]})
    assert of_the_other_form.status_code == 200


def test_the_contract_gets_small(client: FlaskClient) -> None:
    plain, packed = client.get("/openapi.yaml"), client.get("/openapi.yaml", headers=GZIP)
    assert len(packed.data) < len(plain.data) / 4


def test_head_says_the_same(client: FlaskClient) -> None:
    assert client.head("/guide", headers=GZIP).headers["ETag"] == client.get("/guide", headers=GZIP).headers["ETag"]


@pytest.mark.parametrize("path", ["/", "/version", "/health", "/problems/nothing", "/guide/nothing"])
def test_nothing_else_is_stored(client: FlaskClient, path: str) -> None:
    answer = client.get(path, headers=GZIP)
    assert answer.headers["Cache-Control"] == "no-store"
    assert "ETag" not in answer.headers


def test_each_blueprint_is_here() -> None:
    assert {"contract", "docs", "guide"} == STORABLE
