"""The schemas of what a request asks of its statistics: intervals, and the points to read a curve at.

A loaded schema is the domain's object. Knows the options of the statistics; nothing of bytes.
"""

from typing import Any

from marshmallow import post_load

from service.curves.operating_points import METRICS, OperatingPoint
from service.inference.intervals import METHODS, IntervalOptions
from service.wire.evaluation_schemas import ObjectSchema
from service.wire.fields import Choice, Number, Whole, invalid

FEWEST_RESAMPLES, MOST_RESAMPLES = 100, 10_000
"""With fewer the ends of a 95 % interval are the least and the greatest resample, or nearly: noise, not an interval."""

LARGEST_SEED = 2**32 - 1

MOST_OPERATING_POINTS = 1_000
"""How many operating points one request reads."""


class Level(Number):
    """A two-sided confidence level."""

    def __init__(self) -> None:
        super().__init__(exclusive_minimum=0, exclusive_maximum=1)


class IntervalsSchema(ObjectSchema):
    """How sure intervals are to be, and how they are made."""

    level = Level()
    method = Choice(METHODS)
    resamples = Whole(minimum=FEWEST_RESAMPLES, maximum=MOST_RESAMPLES)
    seed = Whole(minimum=0, maximum=LARGEST_SEED)

    @post_load
    def build(self, data: dict[str, Any], **_: object) -> IntervalOptions:
        """Build the options; {} asks for the default."""
        return IntervalOptions(**data)


class OperatingPointSchema(ObjectSchema):
    """A metric, and where to read it."""

    metric = Choice(METRICS)
    at = Number(minimum=0, maximum=1)

    @post_load
    def build(self, data: dict[str, Any], **_: object) -> OperatingPoint:
        """Build the point, which needs both."""
        for name in ("metric", "at"):
            if name not in data:
                raise invalid("missing", "An operating point needs metric and at.", name)
        return OperatingPoint(**data)
