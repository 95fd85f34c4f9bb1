"""The schemas of requests and answers, as OpenAPI has them: read off the fields of requests and the parts of answers.

Knows declarations; nothing of paths.
"""

from typing import Any

from service.charts.picture import CHARTS
from service.operations.operation import Operation
from service.wire.answers.parts import AnswerRow, AnswerTable, AnswerValue, Cells, Keyed, KeyedRows, Nested, Part
from service.wire.requests.fields import ChoiceSet, Field
from service.wire.requests.object_schemas import ObjectField, ObjectList, ObjectSchema

Tree = dict[str, Any]

_OF_DOUBLES = {"type": "number", "format": "double"}
_OF_KINDS: dict[str, Tree] = {
    "number": _OF_DOUBLES,
    "exact": _OF_DOUBLES,
    "score": _OF_DOUBLES,
    "count": _OF_DOUBLES,
    "whole": {"type": "integer", "format": "int64"},
    "text": {"type": "string"},
    "flag": {"type": "boolean"},
    "names": {"type": "array", "items": {"type": "string"}},
    "values": {"type": "array", "items": {}},
}
"""{kind of a cell: its schema}"""


def camel(name: str) -> str:
    """A name as the contract spells those of schemas: interpolated_pr is InterpolatedPr."""
    return "".join(word.capitalize() for word in name.split("_"))


def reference(name: str) -> Tree:
    """A reference to a schema."""
    return {"$ref": f"#/components/schemas/{name}"}


def nullable(schema: Tree) -> Tree:
    """A schema that also takes null; one that takes anything does already."""
    found = schema | ({"type": [schema["type"], "null"]} if "type" in schema else {})
    return found | ({"enum": [*schema["enum"], None]} if "enum" in schema else {})


def request_schemas(operation: Operation) -> Tree:
    """The schemas of a request, by name: its own, and those of the objects and names in it."""
    found: Tree = {}
    if isinstance(operation.schema, ObjectSchema) and operation.schema.component:
        _add_object(operation.schema, found, may_be_null=False)
    return found


def _add_object(schema: ObjectSchema, found: Tree, *, may_be_null: bool) -> None:
    properties: Tree = {}
    kind = "object"
    found[schema.component] = {
        "description": schema.about,
        "type": [kind, "null"] if may_be_null else kind,
        "additionalProperties": False,
        "properties": properties,
    }
    for name, field in schema.fields.items():
        if isinstance(field, ObjectField) and field.schema.component not in found:
            _add_object(field.schema, found, may_be_null=not isinstance(field, ObjectList))
        properties[name] = _property(field, found)  # type: ignore[arg-type]  # one of ours


def _property(field: Field, found: Tree) -> Tree:
    """The schema of a property, in which null counts as absent."""
    shape = named_shape(field, found)
    return shape if "$ref" in shape else {"description": field.about} | nullable(shape)


def named_shape(field: Field, found: Tree) -> Tree:
    """The schema of a field without null; if it has a name, or its items have one, that is added and referred to."""
    shape = field.shape()
    if not field.component or isinstance(field, ObjectField):
        return shape
    if isinstance(field, ChoiceSet):
        found[field.component] = shape["items"]
        return shape | {"items": reference(field.component)}
    found[field.component] = {"description": field.about} | nullable(shape)
    return reference(field.component)


def answer_schemas(operation: Operation) -> Tree:
    """The schemas of a JSON answer, by name: its own, and those of its tables."""
    found: Tree = {}
    name = f"{camel(operation.name)}Answer"
    found[name] = {}
    found[name] = _object(operation.answer, found)
    more = {"charts": reference(f"{camel(operation.name)}Charts")} if operation.name in CHARTS else {}
    if operation.tables or operation.reports:
        more["warnings"] = reference("Warnings")
        found[name]["required"].append("warnings")
    found[name]["properties"] |= more
    return found


def _object(parts: tuple[Part, ...], found: Tree) -> Tree:
    properties = {part.name: _of_part(part, found) for part in parts}
    return {
        "type": "object",
        "required": [part.name for part in parts if not part.sometimes],
        "properties": properties,
    }


def _of_part(part: Part, found: Tree) -> Tree:
    name = part.component or camel(part.name)
    if isinstance(part, AnswerValue):
        if part.kind is None:
            return {"description": part.about, **_list_of(reference(name))} if part.many else reference(name)
        schema = _OF_KINDS[part.kind]
        schema = _list_of(schema) if part.many else nullable(schema) if part.null else schema
        return {"description": part.about} | schema
    if isinstance(part, Nested):
        _add_nested(part, name, found)
    elif isinstance(part, Keyed):
        inner = part.inner or f"{name}Row"
        found[inner] = _row(part.columns) if isinstance(part, KeyedRows) else _columns(part)
        found[name] = {"description": part.about} | _by_key(part.keys, inner, part.others, every=part.every)
    elif isinstance(part, AnswerRow):
        found[name] = {"description": part.about} | _row(part.columns)
    elif isinstance(part, AnswerTable):
        shown = _columns(part)
        found[name] = {"description": part.about} | (nullable(shown) if part.null else shown)
    return reference(name)


def _add_nested(part: Nested, name: str, found: Tree) -> None:
    found[name] = {}  # before those within it
    if part.keys:
        found[name] = {"description": part.about} | _by_key(part.keys, part.inner, every=False)
        found[part.inner] = {}
        found[part.inner] = _object(part.parts, found)
    else:
        found[name] = {"description": part.about} | _object(part.parts, found)


def _by_key(keys: tuple[str, ...], inner: str, others: tuple[str, ...] = (), *, every: bool) -> Tree:
    required = {"required": [*keys]} if every else {}
    return {"type": "object", **required, "properties": {key: reference(inner) for key in (*keys, *others)}}


def _row(columns: tuple[Cells, ...]) -> Tree:
    properties = {each.name: {"description": each.about} | _cell(each) for each in columns}
    needed = [each.name for each in columns if not each.sometimes]
    return {"type": "object", "required": needed, "properties": properties}


def _columns(table: AnswerTable) -> Tree:
    properties = {each.name: {"description": each.about, **_list_of(_cell(each))} for each in table.columns}
    others = {"additionalProperties": _list_of({})} if table.leading else {}
    needed = [each.name for each in table.columns if not each.sometimes]
    return {"type": "object", "required": needed, "properties": properties, **others}


def _cell(cells: Cells) -> Tree:
    schema = _OF_KINDS[cells.kind]
    return nullable(schema) if cells.null else schema


def _list_of(schema: Tree) -> Tree:
    return {"type": "array", "items": schema}
