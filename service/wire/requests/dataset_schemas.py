"""The fields that name a dataset, and filter it."""

from typing import Any

from marshmallow import ValidationError

from service.wire.columns import is_unicode, items
from service.wire.requests.fields import Field, JsonSchema, Number, Text, invalid
from service.wire.requests.object_schemas import ObjectSchema
from service.wire.wrong import Wrong

MOST_WANTED = 1_000
"""The most values of one filter."""

_LARGEST_VALUE = 2**63


class Where(Field):
    """Filters by name, each a value or a list of values: all texts, all numbers or all booleans."""

    def read(self, value: object) -> dict[str, list[Any]]:
        """Check all filters."""
        if not isinstance(value, dict):
            message = 'Must be an object of filters, such as {"country": ["DE", "FR"]}.'
            raise Wrong("not_an_object", message)
        read = {name: [given] if (listed := items(given)) is None else list(listed) for name, given in value.items()}
        errors = {name: [fault] for name, values in read.items() if (fault := _wrong_values(values)) is not None}
        if errors:
            raise ValidationError(errors)
        return read

    def shape(self) -> JsonSchema:
        """An object of anything."""
        return {"type": "object", "additionalProperties": {}}


def _wrong_values(values: list[Any]) -> Wrong | None:
    if not 1 <= len(values) <= MOST_WANTED:
        return Wrong("wrong_length", f"Must have 1 to {MOST_WANTED} values, not {len(values)}.")
    kinds = {float if type(value) is int else type(value) for value in values}
    if len(kinds) > 1 or not kinds <= {bool, float, str}:
        return Wrong("not_a_label", "Must be all strings, all numbers or all booleans.")
    if float in kinds and not all(abs(value) < _LARGEST_VALUE for value in values):
        return Wrong("out_of_range", "Numbers must be below 2^63 in absolute value.")
    if str in kinds and not is_unicode("".join(values)):
        return Wrong("not_text", "This contains half of a surrogate pair.")
    return None


class DatasetSchema(ObjectSchema):
    """What names a dataset in place of an evaluation; it becomes groups before the request is checked."""

    dataset = Text(
        "The name of a dataset of the server, in place of an evaluation; `GET /v1/datasets` lists those of the API "
        "key.",
        minimum=1,
        maximum=100,
    )
    where = Where(
        "For a dataset: which rows to evaluate. An object of filters, named as the dataset lists them, each with a "
        "value or a list of at most 1,000 values: strings, numbers or booleans. Strings are compared with the text of "
        "any column, such as `2026-11-01` with a date. `{}` filters nothing, and may be sent without a dataset.",
        component="Where",
    )
    tolerance = Number(
        "For a dataset: how far apart the bounds of the areas may be. Without it, the rows are grouped by score, and "
        "the answer is exact. With it, requests that need groups of one score each, such as `costs` or a comparison, "
        "are refused; slices are exact in any case.",
        exclusive_minimum=0,
        maximum=1,
    )

    @staticmethod
    def refuse_without_dataset(data: dict[str, Any]) -> None:
        """Refuse what is for a dataset where none was named; an empty `where` is what generated Java clients send."""
        for name in ("where", "tolerance"):
            if data.get(name):
                raise invalid("exclusive", "This is for a dataset, but none is named.", name)
