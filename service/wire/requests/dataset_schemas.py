"""The fields that name a dataset, and filter it."""

from typing import Any

from marshmallow import ValidationError, fields

from service.wire.columns import is_unicode, items
from service.wire.requests.fields import Number, Text, invalid
from service.wire.requests.object_schemas import ObjectSchema
from service.wire.wrong import Wrong

MOST_WANTED = 1_000
"""The most values of one filter."""

_LARGEST_VALUE = 2**63


class Where(fields.Field[dict[str, list[Any]]]):
    """Filters by name, each a value or a list of values: all texts, all numbers or all booleans."""

    def _deserialize(self, value: object, *_: object, **__: object) -> dict[str, list[Any]]:
        if not isinstance(value, dict):
            message = 'Must be an object of filters, such as {"country": ["DE", "FR"]}.'
            raise ValidationError([Wrong("not_an_object", message)])
        read = {name: [given] if (listed := items(given)) is None else list(listed) for name, given in value.items()}
        errors = {name: [fault] for name, values in read.items() if (fault := _wrong_values(values)) is not None}
        if errors:
            raise ValidationError(errors)
        return read


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

    dataset = Text(minimum=1, maximum=100)
    where = Where()
    tolerance = Number(exclusive_minimum=0, maximum=1)

    @staticmethod
    def refuse_without_dataset(data: dict[str, Any]) -> None:
        """Refuse what is for a dataset where none was named; an empty `where` is what generated Java clients send."""
        for name in ("where", "tolerance"):
            if data.get(name):
                raise invalid("exclusive", "This is for a dataset, but none is named.", name)
