"""The fields that read the texts of a query: those of the request, and those that a JSON body has inside an object."""

from typing import Any

from service.wire.requests.evaluation_schemas import CountsSchema, SampleFields
from service.wire.requests.fields import missing_field
from service.wire.requests.groups_schemas import GroupsSchema
from service.wire.requests.object_schemas import ObjectSchema
from service.wire.requests.picture_schemas import picture_fields

_NOT_COLUMNS = ("positive_label", "lower_is_positive")
_INNER_FIELDS = {"positives": CountsSchema(), "negatives": CountsSchema(), "closed": GroupsSchema()}

READING_FIELDS: dict[str, Any] = {
    **{name: SampleFields().fields[name] for name in _NOT_COLUMNS},
    **{name: schema.fields[name] for name, schema in _INNER_FIELDS.items()},
    "missing": missing_field(),
}
"""What says how a table that is one evaluation is read."""


def query_fields(operation: str, schema: ObjectSchema) -> dict[str, Any]:
    """{parameter: the field that reads it} of an operation."""
    own = {name: field for name, field in schema.fields.items() if name not in schema.json_only}
    return {**picture_fields(operation), **READING_FIELDS, **own}
