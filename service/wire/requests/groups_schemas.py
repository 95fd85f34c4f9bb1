"""The schema of groups, from a client or from an engine, and how they become an evaluation."""

from collections.abc import Mapping
from dataclasses import replace
from typing import Any

from marshmallow import ValidationError, post_load

from service.curves.errors import DomainError
from service.curves.histogram import CLOSED_SIDES, MASSES, SQUARED_MASSES, Histogram
from service.wire.requests.column_fields import NumberColumn
from service.wire.requests.faults import DOMAIN_ERROR_CODES
from service.wire.requests.fields import Choice, invalid
from service.wire.requests.object_schemas import ObjectField, ObjectSchema
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

    component = "Groups"
    about = (
        "Examples in groups, each of one score, as `GROUP BY score` counts them, or between two scores, like the bins "
        "of a histogram: columns of equal length, in any order. The counts of groups with the same ends are added, so "
        "partial results can be concatenated; other groups may not share a score. If `score_from` equals `score_to` "
        "throughout, the answer is exactly that for the individual examples. Otherwise the groups are open: areas, "
        "operating points and verdicts then come with `bounds`, which hold whatever the order within each group, and "
        "the answer has the warning `bounded`; `calibration`, `statistics`, `costs`, `tuning`, comparisons and slices "
        "need groups of one score each."
    )

    score = NumberColumn("The score of each group.", infinite=True)
    score_from = NumberColumn(
        "Instead of `score`, the lowest score that an example of the group may have; in a table it may be -inf.",
        infinite=True,
    )
    score_to = NumberColumn(
        "The highest score that it may have; at least `score_from`, and in a table perhaps inf.", infinite=True
    )
    positives = NumberColumn(
        "How many positives each group has, or the sum of their weights. Whole numbers are numbers of examples, "
        "unless squares are given; without squares, fractional sums have no intervals.",
        minimum=0,
    )
    negatives = NumberColumn("How many negatives it has, or the sum of their weights.", minimum=0)
    positives_squared = NumberColumn(
        "With weights: the sum of the squared weights of the positives, from which intervals are computed.", minimum=0
    )
    negatives_squared = NumberColumn("The same sum for the negatives; give both or neither.", minimum=0)
    closed = Choice(
        CLOSED_SIDES,
        "Which ends belong to an open group: `both`, the default; or only the `left` or the `right` one, as in a "
        "histogram whose bins touch.",
    )

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


class GroupsField(ObjectField):
    """Groups of a request, or those that an engine found in their place."""

    def __init__(self) -> None:
        super().__init__(GroupsSchema())

    def read(self, value: object) -> Histogram:
        """Load them."""
        columns: Histogram = super().read(value)
        return replace(columns, rest=value.rest) if isinstance(value, FoundGroups) else columns


def merged(columns: Histogram) -> Histogram:
    """Merge the groups of a request; what is wrong with them is wrong with its field `groups`."""
    try:
        return columns.merged()
    except DomainError as error:
        fault = Wrong(DOMAIN_ERROR_CODES[type(error)], error.detail, error.row)
        raise ValidationError({"groups": {error.column or "_schema": [fault]}}) from None
