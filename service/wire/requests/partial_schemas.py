"""The schema of a range of a rate over which a curve is integrated, in requests for curves and in rules.

Knows ranges, not what they are used for.
"""

from typing import Any, ClassVar

from marshmallow import post_load

from service.curves.partial_areas import OVER, PartialRange
from service.wire.requests.fields import Choice, Number, invalid
from service.wire.requests.object_schemas import ObjectSchema


class RangeSchema(ObjectSchema):
    """The fields of a range of a rate."""

    over = Choice(OVER, "The rate.")
    to = Number("Where it ends, above where it begins; 1 by default.", minimum=0, maximum=1)
    min_tpr = Number("The lowest true positive rate that counts; for `fpr` only.", minimum=0, exclusive_maximum=1)

    class Meta(ObjectSchema.Meta):
        """The field whose name is a Python keyword."""

        include: ClassVar = {"from": Number("Where the range begins; 0 by default.", minimum=0, maximum=1)}


class PartialSchema(RangeSchema):
    """A range of a rate, from 0 to 1 unless `from` and `to` are given."""

    component = "PartialRange"
    about = "A range of a rate, and what is integrated over it."
    example: ClassVar = {"over": "fpr", "to": 0.1}

    @post_load
    def build(self, data: dict[str, Any], **_: object) -> PartialRange:
        """Build the range."""
        return range_of(data)


def range_of(data: dict[str, Any]) -> PartialRange:
    """Build a range, if it has `over` and is not empty."""
    if "over" not in data:
        raise invalid("missing", "A partial area needs over: fpr, tpr or recall.", "over")
    start, end, over, least = data.get("from", 0.0), data.get("to", 1.0), data["over"], data.get("min_tpr")
    if start >= end:
        raise invalid("not_rising", "The range is empty: from must be below to.", "to" if "to" in data else "from")
    if least is not None and over != "fpr":
        raise invalid("exclusive", "min_tpr needs a range over fpr.", "min_tpr")
    return PartialRange(over, start, end, least)
