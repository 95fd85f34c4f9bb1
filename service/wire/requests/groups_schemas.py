"""The schema of groups, from a client or from an engine, and how they become an evaluation."""

from collections.abc import Mapping
from dataclasses import replace
from typing import Any

from marshmallow import ValidationError, fields, post_load

from service.curves.errors import DomainError
from service.curves.histogram import CLOSED_SIDES, MASSES, SQUARED_MASSES, Histogram
from service.wire.requests.faults import DOMAIN_ERROR_CODES
from service.wire.requests.fields import Choice, NumberColumn, invalid
from service.wire.requests.object_schemas import ObjectSchema
from service.wire.wrong import Wrong


class FoundGroups(dict[str, Any]):
    """Columns of groups that an engine found; `rest` is a sentence if the negatives have several labels.

    No client may send such a sentence, so it is no field of the schema.
    """

    def __init__(self, columns: Mapping[str, Any], rest: str | None) -> None:
        super().__init__(columns)
        self.rest = rest


class GroupsSchema(ObjectSchema):
    """Columns of groups: the score, or the ends, of each, with its positives and negatives."""

    score = NumberColumn(infinite=True)
    score_from = NumberColumn(infinite=True)
    score_to = NumberColumn(infinite=True)
    positives = NumberColumn(minimum=0)
    negatives = NumberColumn(minimum=0)
    positives_squared = NumberColumn(minimum=0)
    negatives_squared = NumberColumn(minimum=0)
    closed = Choice(CLOSED_SIDES)

    @post_load
    def build(self, data: dict[str, Any], **_: object) -> Histogram:
        """Build the columns; the request merges them, as it knows the direction of the scores."""
        for name in MASSES:
            if name not in data:
                raise invalid("missing", "Groups need positives and negatives; null and [] count as absent.", name)
        ends = {name: data[name] for name in ("score_from", "score_to") if name in data}
        if "score" in data and ends:
            raise invalid("exclusive", "Give score, or score_from and score_to, not both.", "score")
        if "score" in data:
            ends = dict.fromkeys(("score_from", "score_to"), data.pop("score"))
        for name in ("score_from", "score_to"):
            if name not in ends:
                raise invalid("missing", "Groups need score, or score_from and score_to.", name if ends else "score")
        missing = [name for name in SQUARED_MASSES if name not in data]
        if len(missing) == 1:
            raise invalid("missing", "Give the sums of squared weights of both classes or of neither.", missing[0])
        masses = data["positives"], data["negatives"]
        squares = None if missing else (data["positives_squared"], data["negatives_squared"])
        return Histogram(ends["score_from"], ends["score_to"], masses, squares, data.get("closed", "both"))


class GroupsField(fields.Nested):
    """Groups of a request, or those that an engine found in their place."""

    def __init__(self) -> None:
        super().__init__(GroupsSchema)

    def _deserialize(self, value: object, *arguments: Any, **options: Any) -> Histogram:  # noqa: ANN401  # passed on
        columns: Histogram = super()._deserialize(value, *arguments, **options)
        return replace(columns, rest=value.rest) if isinstance(value, FoundGroups) else columns


def merged(columns: Histogram) -> Histogram:
    """Merge the groups of a request; what is wrong with them is wrong with its field `groups`."""
    try:
        return columns.merged()
    except DomainError as error:
        fault = Wrong(DOMAIN_ERROR_CODES[type(error)], error.detail, error.row)
        raise ValidationError({"groups": {error.column or "_schema": [fault]}}) from None
