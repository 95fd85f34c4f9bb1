"""The contract, its pages and the problem types are served."""

import pytest
import yaml
from flask.testing import FlaskClient

from service.wire.problems import PROBLEM_TYPES


def test_the_contract_is_served_in_both_forms(client: FlaskClient) -> None:
    in_yaml = client.get("/openapi.yaml")
    assert in_yaml.content_type == "application/yaml"
    in_json = client.get("/openapi.json")
    assert in_json.content_type == "application/json"
    assert in_yaml.text.startswith(f"openapi: {in_json.get_json()['openapi']}\n")
    assert list(yaml.load(in_yaml.text, Loader=yaml.CSafeLoader)) == list(in_json.get_json())


@pytest.mark.parametrize("path", ["/docs", "/docs/", "/docs/index.html"])
def test_the_docs_need_no_other_server(client: FlaskClient, path: str) -> None:
    page = client.get(path, headers={"Host": "</script>"})
    assert page.status_code == 200
    assert page.mimetype == "text/html"
    assert "://" not in page.text
    assert '"/openapi.json"' in page.text
    assert '"validatorUrl": null' in page.text


def test_only_the_first_versions_that_a_client_has_are_checked(client: FlaskClient) -> None:
    path = "/docs/swagger-ui.css"
    with client.get(path) as response:
        etag = response.headers["ETag"]
    for others, status in ((31, 304), (32, 200)):
        with client.get(path, headers={"If-None-Match": '"a",' * others + etag}) as response:
            assert response.status_code == status


EARLY = "Thu, 01 Jan 1970 00:00:00 GMT"


@pytest.mark.parametrize(
    "name",
    ["swagger-ui-bundle.js", "swagger-ui-standalone-preset.js", "swagger-ui.css", "index.css", "docs.css", "docs.js"],
)
def test_the_docs_have_their_files(client: FlaskClient, name: str) -> None:
    assert f"/docs/{name}" in client.get("/docs").text
    for condition in ({"Range": "bytes=9999999999-"}, {"If-Match": '"other"'}, {"If-Unmodified-Since": EARLY}):
        with client.get(f"/docs/{name}", headers=condition) as response:
            assert response.status_code == 200


@pytest.mark.parametrize("code", PROBLEM_TYPES)
def test_every_problem_type_is_described_where_it_points(client: FlaskClient, code: str) -> None:
    problem = PROBLEM_TYPES[code]
    response = client.get(problem.uri)
    assert response.content_type == "application/json"
    assert response.get_json() == {
        "type": problem.uri,
        "title": problem.title,
        "status": problem.status,
        "description": problem.description,
    }
