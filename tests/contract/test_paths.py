"""The application's paths and methods are those of the document, and it serves the document itself."""

import json
import tomllib

import pytest
import yaml
from flask import Flask
from flask.testing import FlaskClient

from service.web.guide import FILES
from service.web.page import PAGE_FILES
from service.wire.problems import PROBLEM_TYPES
from tests.contract.document import PATH, document, examples, operation, operations
from tests.contract.violations import violations

AUTOMATIC = {"HEAD", "OPTIONS"}
"""Methods that HTTP and Flask add to every path by themselves; OpenAPI leaves them out."""


def _is_asset(rule: str) -> bool:
    """Whether a path is a script, a style or a picture of a page: part of the page, not of the contract."""
    parts = {f"/guide/{name}" for name in FILES} | (PAGE_FILES.keys() - {"/"})
    return rule == "/docs/" or rule.startswith("/docs/<") or rule in parts


def test_paths_and_methods_are_those_of_the_document(app: Flask) -> None:
    served = {
        (rule.rule.replace("<", "{").replace(">", "}"), method)
        for rule in app.url_map.iter_rules()
        for method in (rule.methods or set()) - AUTOMATIC
        if not _is_asset(rule.rule)
    }
    assert served == {(found.path, found.method.upper()) for found in operations()}


def test_the_yaml_is_the_document_as_written(client: FlaskClient) -> None:
    assert client.get("/openapi.yaml").data == PATH.read_bytes()


def test_the_json_is_the_same_document(client: FlaskClient) -> None:
    assert client.get("/openapi.json").get_json() == document()


def test_the_version_is_that_of_the_package() -> None:
    project = tomllib.loads((PATH.parent / "pyproject.toml").read_text(encoding="utf-8"))["project"]
    assert document()["info"]["version"] == project["version"]


@pytest.mark.parametrize("code", PROBLEM_TYPES)
def test_every_type_of_problem_is_described_at_its_path(client: FlaskClient, code: str) -> None:
    answer = client.get(f"/problems/{code}")
    assert answer.status_code == 200
    assert violations({"$ref": "#/components/schemas/ProblemType"}, answer.get_json()) == []
    assert answer.get_json()["type"] == f"/problems/{code}"


@pytest.mark.parametrize("name", [found.name for found in operations() if found.method == "get"])
def test_what_can_be_fetched_is_what_the_document_says(client: FlaskClient, name: str) -> None:
    found = operation(name)
    values = {parameter["name"]: next(iter(examples(parameter).values())) for parameter in found.parameters}
    answer = client.get(found.path.format(**values))
    ((media_type, content),) = found.responses["200"]["content"].items()
    example, *_ = examples(content).values()  # the usual name comes first
    assert answer.status_code == 200
    assert answer.mimetype == media_type
    if media_type in {"text/html", "text/plain"}:
        assert example in answer.text
        return
    value = yaml.load(answer.text, Loader=yaml.CSafeLoader)  # JSON is YAML
    assert violations(content["schema"], value) == []
    if content["schema"]["$ref"].endswith("/ContractDocument"):  # shown only in part
        assert value["openapi"] == example["openapi"]
        assert value["info"].items() >= example["info"].items()
    elif found.path == "/version":  # which has this checkout's commit and extras
        assert value | dict.fromkeys(("commit", "extras")) == example | dict.fromkeys(("commit", "extras"))
    else:
        assert value == example


@pytest.mark.parametrize("name", [found.name for found in operations()])
def test_another_method_is_refused_with_those_that_are_allowed(client: FlaskClient, name: str) -> None:
    found = operation(name)
    answer = client.put(found.path.format(code="not_found", page="curves"))
    assert answer.status_code == 405
    assert violations({"$ref": "#/components/schemas/Problem"}, answer.get_json(force=True)) == []
    assert found.method.upper() in answer.headers["Allow"].split(", ")


def test_the_document_is_read_alike_by_other_readers_of_yaml() -> None:
    """It has no key or value that YAML 1.1 and 1.2 read differently (`on`, `no`, 1_0, 0o7)."""
    text = yaml.dump(document(), Dumper=yaml.CSafeDumper)
    assert json.dumps(yaml.load(text, Loader=yaml.CSafeLoader)) == json.dumps(document(), sort_keys=True)
