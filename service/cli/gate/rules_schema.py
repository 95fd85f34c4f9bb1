"""A JSON Schema of RULES.toml, by which an editor checks and completes rules as they are written.

Read off the fields of a request to POST /v1/gates, whose names the keys have.
"""

from typing import Any

from service.cli.gate.rules_file import BASELINE_TABLE, COLUMNS, KEYS
from service.inference.rules import BOUNDS
from service.wire.formats.inputs import OF_ONE_EVALUATION
from service.wire.requests.fields import Field, JsonSchema
from service.wire.requests.gates_schemas import GatesRequestSchema
from service.wire.requests.object_schemas import ObjectField, ObjectList, ObjectSchema
from service.wire.requests.query_fields import query_fields
from service.wire.requests.rule_schemas import RuleSchema


def rules_schema() -> JsonSchema:
    """The schema of a whole file, in the dialect 2020-12."""
    known = query_fields("gates", GatesRequestSchema())
    keys = {key: _of_text(key) if key in COLUMNS or key not in known else _of_field(known[key]) for key in KEYS}
    of_baseline = {key: keys[key] for key in OF_ONE_EVALUATION if key in keys}
    keys[BASELINE_TABLE] = _closed(of_baseline, "How the baseline's file is read, where it differs.")
    return {
        "$schema": "https://json-schema.org/draft/2020-12/schema",
        "title": "RULES.toml of rocpr gate",
        **_closed(keys, "What a model has to meet, and how the files of scores are read."),
        "required": ["rules"],
    }


def _of_text(key: str) -> JsonSchema:
    about = f"The name of the column with {key}." if key in COLUMNS else "As the query parameter of this name."
    return {"type": "string", "description": about}


def _of_field(field: Field) -> JsonSchema:
    if isinstance(field, ObjectList):
        return field.shape() | {"description": field.about, "items": _of_object(field.schema)}
    return _of_object(field.schema) if isinstance(field, ObjectField) else {"description": field.about} | field.shape()


def _of_object(schema: ObjectSchema) -> JsonSchema:
    found = _closed({name: _of_field(field) for name, field in schema.fields.items()}, schema.about)  # type: ignore[arg-type]  # ours
    if isinstance(schema, RuleSchema):
        found |= {"required": ["metric"], "oneOf": [{"required": [bound]} for bound in BOUNDS]}
    return found


def _closed(properties: dict[str, Any], about: str) -> JsonSchema:
    return {"description": about, "type": "object", "additionalProperties": False, "properties": properties}
