"""The schemas that check a request at run time say the same as the document: names, types, bounds, words, required."""

import json
from typing import Any

import pytest
from marshmallow import RAISE, Schema, fields

from service.wire import fields as own
from service.wire.decoders import DECODERS, EVALUATION_PARAMETERS
from service.wire.encoders import ENCODERS
from service.wire.faults import FACT_CODES
from service.wire.schemas import (
    CURVES_PARAMETERS,
    CountsSchema,
    CurvesRequestSchema,
    InterpolationSchema,
    SampleSchema,
)
from tests.contract.document import operation, resolved, schema, violations

NAMES: dict[type[Schema], str] = {
    CurvesRequestSchema: "CurvesRequest",
    CountsSchema: "Counts",
    SampleSchema: "TuningSample",
    InterpolationSchema: "Interpolation",
}
"""{schema at run time: schema of the document}"""

CURVES = operation("evaluateCurves")
PARAMETERS = {parameter["name"]: parameter for parameter in CURVES.parameters}
TEXT = {"scores", "labels", "weights", "positive_label"}
"""Parameters that are text: the names of columns, and a label."""
JSON_TEXT = {"interpolation", "thresholds"}
"""Parameters whose text is JSON, because an object or a list of numbers has no other form in a query."""


def _bounds(field: Any) -> dict[str, float]:
    keywords = {"minimum": "minimum", "maximum": "maximum", "exclusive_minimum": "exclusiveMinimum"}
    found = {keyword: getattr(field, name, None) for name, keyword in keywords.items()}
    return {keyword: bound for keyword, bound in found.items() if bound is not None}


def _in_the_documents_words(field: fields.Field[Any]) -> dict[str, Any]:
    """What the document must say about a field, its description apart. null reads as absent, so any may be it."""
    if isinstance(field, fields.Nested):
        return {"object": NAMES[type(field.schema)]}
    kind = ["number", "null"] if getattr(field, "nullable", False) else "number"
    words = list(getattr(field, "choices", ()))
    rules: dict[type[fields.Field[Any]], dict[str, Any]] = {
        own.NumberColumn: {
            "type": ["array", "null"],
            "items": {"type": kind, "format": "double", **_bounds(field)},
        },
        own.LabelColumn: {"type": ["array", "null"], "items": {}},
        own.Scalar: {},
        own.Number: {"type": ["number", "null"], "format": "double", **_bounds(field)},
        own.Flag: {"type": ["boolean", "null"]},
        own.Choice: {"type": ["string", "null"], "enum": [*words, None]},
        own.ChoiceSet: {"type": ["array", "null"], "items": {"type": "string", "enum": words}},
    }
    return rules[type(field)]


def _without_words(node: dict[str, Any]) -> dict[str, Any]:
    name = node.get("$ref", "").rpartition("/")[2]
    if name in NAMES.values():
        return {"object": name}
    bare = {key: value for key, value in resolved(node).items() if key != "description"}
    return bare | {"items": _without_words(bare["items"])} if "items" in bare else bare


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
    def test_are_those_that_a_table_takes_and_the_choice_of_the_answers(self) -> None:
        assert set(PARAMETERS) == {*EVALUATION_PARAMETERS, *CURVES_PARAMETERS, "table"}

    def test_all_come_in_the_query_and_none_is_required(self) -> None:
        assert all(parameter["in"] == "query" and not parameter.get("required") for parameter in PARAMETERS.values())

    @pytest.mark.parametrize("name", sorted({*PARAMETERS} & {*CurvesRequestSchema().fields}))
    def test_hold_what_the_field_of_their_name_holds(self, name: str) -> None:
        """Nothing is null."""
        found = _without_words(PARAMETERS[name]["schema"])
        found.pop("examples", None)
        if name in TEXT | JSON_TEXT:
            assert found == {"type": "string"}
            return
        field = _in_the_documents_words(CurvesRequestSchema().fields[name])
        expected = field | {"type": field["type"][0]}
        if "enum" in field:
            expected["enum"] = [word for word in field["enum"] if word is not None]
        assert found == expected

    @pytest.mark.parametrize("name", sorted(JSON_TEXT))
    def test_that_are_json_text_show_what_the_field_of_their_name_holds(self, name: str) -> None:
        shown = PARAMETERS[name]["schema"]["examples"]
        assert shown
        for text in shown:
            assert violations(schema("CurvesRequest")["properties"][name], json.loads(text)) == []
            assert f"`{text}`" in PARAMETERS[name]["description"]

    @pytest.mark.parametrize("name", ["positives", "negatives"])
    def test_hold_what_the_total_of_their_name_holds(self, name: str) -> None:
        found = _without_words(PARAMETERS[name]["schema"])
        found.pop("examples", None)
        assert found == _in_the_documents_words(CountsSchema().fields[name]) | {"type": "number"}


def test_media_types_are_those_that_can_be_read_and_written() -> None:
    assert list(CURVES.request_content) == list(DECODERS)
    assert list(CURVES.responses[200]["content"]) == [media_type for name, media_type in ENCODERS if name == "curves"]


def test_every_fact_of_the_mathematics_is_documented() -> None:
    text = schema("FieldError")["description"]
    assert [code for code in FACT_CODES.values() if f"`{code}`" not in text] == []
