"""The contract for generated clients keeps the parts of openapi.yaml that they need, and nothing that breaks them."""

import json
import re
from collections.abc import Iterator
from typing import Any

import pytest
from flask.testing import FlaskClient
from referencing import Registry
from referencing.jsonschema import DRAFT4

from service.contract import __main__ as program
from service.contract.clients import clients_contract
from service.wire.media_types import JSON
from service.wire.problems import PROBLEM_TYPES
from tests.contract.document import PROBLEM_JSON, Tree, document, evaluations, examples, operations, schema

CLIENTS: Tree = clients_contract(document())
SCHEMAS: Tree = CLIENTS["components"]["schemas"]


def _walk(node: Any) -> Iterator[Tree]:
    if isinstance(node, list):
        for each in node:
            yield from _walk(each)
    elif isinstance(node, dict):
        yield node
        for each in node.values():
            yield from _walk(each)


def _violations(reference: Tree, instance: Any) -> list[str]:
    """The errors of an instance under a schema of the contract; in OpenAPI 3.0, `nullable` allows null."""
    from jsonschema import Draft4Validator  # takes long, in each process that collects tests

    document_of_3_1 = json.loads(json.dumps(CLIENTS))
    for node in _walk(document_of_3_1):
        if node.pop("nullable", False) is True:
            node["type"] = [node["type"], "null"]
    registry: Registry[Any] = Registry().with_resource("urn:clients", DRAFT4.create_resource(document_of_3_1))
    validator = Draft4Validator({"$ref": f"urn:clients{reference['$ref']}"}, registry=registry)
    return [f"{error.json_path}: {error.message}" for error in validator.iter_errors(instance)]


def _filled(reference: Tree, value: Any) -> Any:
    """A request in which each list or map that was left out is empty."""
    node = SCHEMAS[reference["$ref"].rpartition("/")[2]] if "$ref" in reference else reference
    if isinstance(value, list):
        return [_filled(node.get("items", {}), each) for each in value]
    if not isinstance(value, dict) or "properties" not in node:
        return value
    filled = {name: _filled(node["properties"][name], each) for name, each in value.items()}
    for name, found in node["properties"].items():
        type_ = SCHEMAS[found["$ref"].rpartition("/")[2]] if "$ref" in found else found
        if type_.get("type") == "array":
            filled.setdefault(name, [])
        elif type_.get("type") == "object" and "properties" not in type_:
            filled.setdefault(name, {})
    return filled


def test_it_is_valid_openapi_3_0() -> None:
    from openapi_spec_validator import OpenAPIV30SpecValidator

    assert [str(error) for error in OpenAPIV30SpecValidator(CLIENTS).iter_errors()] == []


def test_the_file_is_current() -> None:
    assert program.CLIENTS_FILE.read_text("utf-8") == program.documents()[1], "run python -m service.contract"


def test_it_is_served_as_yaml_and_as_json(client: FlaskClient) -> None:
    in_yaml, in_json = client.get("/openapi-clients.yaml"), client.get("/openapi-clients.json")
    assert in_yaml.data == program.CLIENTS_FILE.read_bytes()
    assert in_json.get_json() == CLIENTS
    assert "&id" not in in_yaml.text
    assert list(in_json.get_json()["paths"]) == list(CLIENTS["paths"])


def test_it_keeps_the_operations_that_answer_json_but_for_those_about_the_contract() -> None:
    kept = {found.name for found in operations() if JSON in found.response(200)["content"]}
    kept -= {found.name for found in operations() if "contract" in found.tree["tags"]}
    assert {each["operationId"] for item in CLIENTS["paths"].values() for each in item.values()} == kept
    assert kept >= {found.name for found in evaluations()}


def test_bodies_and_answers_are_json_alone() -> None:
    contents = [node["content"] for node in _walk(CLIENTS) if isinstance(node.get("content"), dict)]
    assert {kind for content in contents for kind in content} == {JSON, PROBLEM_JSON}


def test_an_operation_with_a_body_has_no_parameters() -> None:
    """Java would make an argument of each."""
    each = [tree for item in CLIENTS["paths"].values() for tree in item.values()]
    assert [tree["operationId"] for tree in each if "parameters" in tree and "requestBody" in tree] == []
    assert "parameters" not in CLIENTS["components"]


def test_every_component_is_referred_to_and_every_reference_leads_to_one() -> None:
    references = {node["$ref"] for node in _walk(CLIENTS) if "$ref" in node}
    components = {f"#/components/{kind}/{name}" for kind, named in CLIENTS["components"].items() for name in named}
    assert references == {each for each in components if "securitySchemes" not in each}


def test_only_what_may_be_null_lists_null_among_its_values() -> None:
    assert [node for node in _walk(CLIENTS) if None in node.get("enum", []) and not node.get("nullable")] == []


def test_schemas_have_the_same_properties() -> None:
    for name, node in SCHEMAS.items():
        assert list(node.get("properties", {})) == list(schema(name).get("properties", {})), name
        assert node.get("required") == schema(name).get("required"), name


def test_nothing_that_a_request_may_leave_out_is_null() -> None:
    """Java would need another library for it, and Rust an Option of an Option."""
    for name in ("CurvesRequest", "Counts", "Interpolation", "Rule", "Keep", "GatesRequest"):
        assert not any(node.get("nullable") or None in node.get("enum", []) for node in _walk(SCHEMAS[name])), name
    assert SCHEMAS["Interval"]["nullable"]
    assert SCHEMAS["Areas"]["properties"]["roc"] == {
        **schema("Areas")["properties"]["roc"],
        "type": "number",
        "nullable": True,
    }


def test_bounds_are_those_of_openapi_3_0() -> None:
    every = SCHEMAS["Interpolation"]["properties"]["every"]
    assert (every["minimum"], every["exclusiveMinimum"]) == (0, True)
    level = SCHEMAS["IntervalOptions"]["properties"]["level"]
    assert (level["maximum"], level["exclusiveMaximum"]) == (1, True)


def test_each_status_of_a_problem_has_a_response_and_no_range_has() -> None:
    """Of 4XX, NSwag, oazapfts and older versions of orval make code that does not compile."""
    statuses = {str(problem.status) for problem in PROBLEM_TYPES.values()}
    for item in CLIENTS["paths"].values():
        for tree in item.values():
            assert statuses <= set(tree["responses"]), tree["operationId"]
            assert all(re.fullmatch(r"\d{3}", status) for status in tree["responses"]), tree["operationId"]
    refusal = CLIENTS["components"]["responses"]["Refusal"]
    assert refusal["content"][PROBLEM_JSON]["schema"] == {"$ref": "#/components/schemas/Problem"}


def test_a_response_is_described_in_a_paragraph() -> None:
    """Generators repeat it at each status."""
    described = [each["description"] for each in CLIENTS["components"]["responses"].values()]
    assert described
    assert not any("\n\n" in description or "* 4" in description for description in described)


def test_further_properties_next_to_known_ones_have_no_type() -> None:
    """In TypeScript it would have to fit the optional ones, which may be undefined."""
    both = [node for node in SCHEMAS.values() if "properties" in node and node.get("additionalProperties")]
    assert SCHEMAS["Slices"] in both
    assert all(node["additionalProperties"] is True for node in both)


@pytest.mark.parametrize("found", evaluations(), ids=lambda found: found.name)
class TestEvaluations:
    def test_requests_and_answers_of_the_whole_contract_follow_it(self, found: Any) -> None:
        operation = CLIENTS["paths"][found.path]["post"]
        request = operation["requestBody"]["content"][JSON]["schema"]
        for name, value in examples(found.request_content[JSON]).items():
            assert _violations(request, value) == [], name
        for name, value in examples(found.response(200)["content"][JSON]).items():
            assert _violations(operation["responses"]["200"]["content"][JSON]["schema"], value) == [], name

    def test_the_example_is_the_default_and_is_answered(self, client: FlaskClient, found: Any) -> None:
        """Postman fills in a new request with the default of its schema."""
        content = CLIENTS["paths"][found.path]["post"]["requestBody"]["content"][JSON]
        assert SCHEMAS[content["schema"]["$ref"].rpartition("/")[2]]["default"] == content["example"]
        assert client.post(found.path, json=content["example"]).status_code == 200

    def test_lists_and_maps_that_are_left_out_may_be_empty(self, client: FlaskClient, found: Any) -> None:
        """Java's classes start with empty ones, and send them."""
        reference = CLIENTS["paths"][found.path]["post"]["requestBody"]["content"][JSON]["schema"]
        for name, value in examples(found.request_content[JSON]).items():
            filled = _filled(reference, value)
            assert filled != value or found.name == "listColumns", name
            answers = [client.post(found.path, json=body) for body in (value, filled)]
            assert answers[0].status_code == answers[1].status_code, answers[1].text
            assert answers[0].get_json() == answers[1].get_json(), name

    def test_a_wrong_value_is_read_through_types(self, client: FlaskClient, found: Any) -> None:
        problem = client.post(found.path, json={"score": 1}).get_json(force=True)
        assert problem["errors"][0]["pointer"] == "/score"
        assert _violations({"$ref": "#/components/schemas/Problem"}, problem) == []
