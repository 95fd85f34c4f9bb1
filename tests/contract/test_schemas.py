"""The schemas that check requests agree with the document: names, types, bounds, enum values, required fields."""

import ast
import json
import re
from collections.abc import Iterator
from itertools import product
from typing import Any

import pytest
from marshmallow import RAISE, Schema, fields

from service.answer import REQUEST_MEDIA_TYPES, response_media_types
from service.curves.indices import INDICES
from service.inference.rules import METRIC_NAMES
from service.operations import OPERATIONS
from service.wire.media_types import PNG
from service.wire.requests.comparisons_schemas import ComparisonsRequestSchema
from service.wire.requests.faults import DOMAIN_ERROR_CODES
from service.wire.requests.object_schemas import ObjectField, ObjectSchema
from service.wire.requests.picture_schemas import PICTURE_SCHEMAS
from tests.contract.document import EVALUATION_PREFIX, PATH, Tree, evaluations, resolved, schema
from tests.contract.violations import violations


def _objects(found: Schema) -> Iterator[Schema]:
    """A schema, and those of the objects in it."""
    yield found
    for field in found.fields.values():
        if isinstance(field, ObjectField):
            yield from _objects(field.schema)


KINDS = {
    type(schema)
    for found in OPERATIONS.values()
    for schema in _objects(found.schema)
    if isinstance(schema, ObjectSchema) and schema.component
}
NAMES = {kind: kind.component for kind in sorted(KINDS, key=lambda kind: kind.component)}
"""{schema at run time: schema of the document}"""

EVALUATIONS = {found.path.removeprefix(EVALUATION_PREFIX): found for found in evaluations()}
"""{operation at run time: operation of the document}"""
TEXT = {"scores", "labels", "soft_labels", "slices", "weights", "baseline_scores", "positive_label"}
"""Parameters that are text: the names of columns, and a label."""
NUMBER_LISTS = {"thresholds", "lambda_range", "at_lambda", "mark"}
"""Parameters whose text is numbers separated by commas, or JSON."""

JSON_TEXT = {
    *NUMBER_LISTS,
    "interpolation",
    "intervals",
    "operating_points",
    "partial",
    "costs",
    "decisions",
    "lambda_density",
    "rules",
}
"""Parameters whose text is JSON, or almost; objects and lists of objects have no other form in a query."""

CODE_AT = {"Wrong": 0, "invalid": 0, "invalid_value": 1, "FieldError": 1}
"""{what makes a fault: which of its arguments is the code}"""

PICTURES = {operation: found for (operation, media_type), found in PICTURE_SCHEMAS.items() if media_type == PNG}
"""{operation: the schema of how its picture is drawn}"""


def _parameters(operation: str) -> dict[str, Tree]:
    return {parameter["name"]: parameter for parameter in EVALUATIONS[operation].parameters}


def _fields(operation: str) -> dict[str, fields.Field[Any]]:
    return type(OPERATIONS[operation].schema)().fields


def _of_fields(names: set[str] | None = None) -> pytest.MarkDecorator:
    """Every parameter with the name of a field of its operation's request, or only the named ones."""
    found = [
        (operation, name)
        for operation in EVALUATIONS
        for name in _parameters(operation)
        if name in _fields(operation) and (names is None or name in names)
    ]
    return pytest.mark.parametrize(("operation", "name"), found)


def _in_the_documents_words(field: Any) -> dict[str, Any]:
    """What the document must say about a field, except its description. null counts as absent, so it is allowed."""
    shape: dict[str, Any] = _without_words(field.shape())
    shape |= {"type": [shape["type"], "null"]} if "type" in shape else {}
    return shape | ({"enum": [*shape["enum"], None]} if "enum" in shape else {})


def _in_a_query(field: fields.Field[Any]) -> dict[str, Any]:
    """What the document must say about a parameter: what it says about the field, except that there is no null."""
    words = _in_the_documents_words(field)
    found = words | {"type": words["type"][0]}
    return found | {"enum": [word for word in words["enum"] if word is not None]} if "enum" in words else found


def _without_words(node: dict[str, Any]) -> dict[str, Any]:
    name = node.get("$ref", "").rpartition("/")[2]
    if name in NAMES.values():
        return {"object": name}
    bare = {key: value for key, value in resolved(node).items() if key != "description"}
    return bare | {"items": _without_words(bare["items"])} if "items" in bare else bare


def _shape_of_parameter(operation: str, name: str) -> dict[str, Any]:
    shape = _without_words(_parameters(operation)[name]["schema"])
    return {key: value for key, value in shape.items() if key != "examples"}


@pytest.mark.parametrize("kind", NAMES)
class TestObjects:
    def test_have_the_same_fields(self, kind: type[Schema]) -> None:
        assert set(kind().fields) == set(schema(NAMES[kind])["properties"])
        assert all(field.data_key in {None, name} for name, field in kind().fields.items())

    def test_require_the_same(self, kind: type[Schema]) -> None:
        assert {name for name, field in kind().fields.items() if field.required} == set(
            schema(NAMES[kind]).get("required", [])
        )

    def test_are_as_closed(self, kind: type[Schema]) -> None:
        assert (kind().unknown == RAISE) == (schema(NAMES[kind])["additionalProperties"] is False)

    def test_hold_the_same_values(self, kind: type[Schema]) -> None:
        documented = {name: _without_words(node) for name, node in schema(NAMES[kind])["properties"].items()}
        assert documented == {name: _in_the_documents_words(field) for name, field in kind().fields.items()}


class TestParameters:
    @pytest.mark.parametrize("operation", EVALUATIONS)
    def test_are_those_that_a_table_takes_and_the_choice_of_the_answers(self, operation: str) -> None:
        found = OPERATIONS[operation]
        others = ["table"] if found.tables else []
        drawn = PICTURES[operation].fields if operation in PICTURES else ()
        assert set(_parameters(operation)) == {*found.parameters, *found.form.drawn, *others, *drawn}
        assert found.form.answers_tables == bool(found.tables)

    @pytest.mark.parametrize("operation", EVALUATIONS)
    def test_all_come_in_the_query_and_none_is_required(self, operation: str) -> None:
        parameters = _parameters(operation).values()
        assert all(parameter["in"] == "query" and not parameter.get("required") for parameter in parameters)

    @pytest.mark.parametrize(
        ("operation", "name"), [(each, name) for each, schema in PICTURES.items() for name in schema.fields]
    )
    def test_of_pictures_hold_what_the_field_of_their_name_holds(self, operation: str, name: str) -> None:
        found = _shape_of_parameter(operation, name)
        assert found == ({"type": "string"} if name == "mark" else _in_a_query(PICTURES[operation].fields[name]))

    @_of_fields()
    def test_hold_what_the_field_of_their_name_holds(self, operation: str, name: str) -> None:
        is_text = name in TEXT | JSON_TEXT
        expected = {"type": "string"} if is_text else _in_a_query(_fields(operation)[name])
        assert _shape_of_parameter(operation, name) == expected

    @_of_fields(JSON_TEXT)
    def test_that_are_json_text_show_what_the_field_of_their_name_holds(self, operation: str, name: str) -> None:
        body = resolved(EVALUATIONS[operation].request_content["application/json"]["schema"])
        parameter = _parameters(operation)[name]
        shown = parameter["schema"]["examples"]
        assert shown
        for text in shown:
            value = json.loads(f"[{text}]" if name in NUMBER_LISTS else text)
            assert violations(body["properties"][name], value) == []
            assert f"`{text}`" in parameter["description"]

    @pytest.mark.parametrize(
        ("operation", "name"),
        [
            *product(("curves", "tradeoffs", "gates"), ("positives", "negatives")),
            ("gates", "baseline_scores"),
        ],
    )
    def test_that_are_totals_or_name_columns_are_text(self, operation: str, name: str) -> None:
        assert _shape_of_parameter(operation, name) == {"type": "string"}

    def test_that_name_columns_of_evaluations_take_as_many_as_there_may_be(self) -> None:
        field = _in_the_documents_words(ComparisonsRequestSchema().fields["evaluations"])
        expected = field | {"type": "array", "items": {"type": "string"}}
        assert _shape_of_parameter("comparisons", "scores") == expected

    @pytest.mark.parametrize("operation", [name for name, found in OPERATIONS.items() if found.tables])
    def test_name_the_tables_of_the_answer(self, operation: str) -> None:
        shape = _shape_of_parameter(operation, "table")
        tables = [each.name for each in OPERATIONS[operation].tables]
        assert (shape["type"], set(shape["enum"])) == ("string", set(tables))
        assert f"`{tables[0]}` by default" in _parameters(operation)["table"]["description"]


@pytest.mark.parametrize("operation", EVALUATIONS)
def test_media_types_are_those_that_can_be_read_and_written(operation: str) -> None:
    assert tuple(EVALUATIONS[operation].request_content) == REQUEST_MEDIA_TYPES
    assert tuple(EVALUATIONS[operation].responses["200"]["content"]) == response_media_types(operation)


def test_metrics_of_rules_are_listed_where_gates_are_described() -> None:
    described = re.findall(r"`(\w+)`", EVALUATIONS["gates"].tree["description"])
    assert set(METRIC_NAMES) - set(INDICES) <= set(described)  # an index is only called one


def test_every_operation_that_evaluates_is_documented() -> None:
    assert list(EVALUATIONS) == list(OPERATIONS)


def test_codes_of_wrong_values_are_documented() -> None:
    """The document lists exactly the codes that the sources give to faults."""
    documented = re.findall(r"`(\w+)`", schema("FieldError")["description"])
    assert documented == sorted(documented)
    assert set(documented) == {*DOMAIN_ERROR_CODES.values(), *_codes_in_the_sources()}


def _codes_in_the_sources() -> Iterator[str]:
    """The literal codes, wherever a fault is made."""
    service = PATH.parent / "service"
    for source in (service / "answer.py", *(service / "wire").rglob("*.py")):
        for node in ast.walk(ast.parse(source.read_text(encoding="utf-8"))):
            if isinstance(node, ast.Call) and isinstance(node.func, ast.Name) and node.func.id in CODE_AT:
                code = node.args[CODE_AT[node.func.id]]
                choices = [code.body, code.orelse] if isinstance(code, ast.IfExp) else [code]
                yield from (str(choice.value) for choice in choices if isinstance(choice, ast.Constant))
