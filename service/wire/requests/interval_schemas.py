"""The schemas of a request's statistics: intervals, and the points at which to read a curve.

A loaded schema is the domain's object. Knows the options of the statistics; nothing of bytes.
"""

from typing import Any

from marshmallow import post_load

from service.curves.operating_points import METRICS, OperatingPoint
from service.inference.intervals import IntervalOptions, resamples_show
from service.inference.methods import INTERVAL_METHODS, RESAMPLED_METHODS
from service.wire.requests.fields import Choice, Number, Whole, invalid
from service.wire.requests.object_schemas import ObjectSchema

FEWEST_RESAMPLES, MOST_RESAMPLES = 100, 10_000
"""With fewer, the ends of a 95 % interval are nearly the least and the greatest resample: noise, not an interval."""

LARGEST_SEED = 2**32 - 1

MOST_OPERATING_POINTS = 1_000
"""The most operating points in one request."""


class Level(Number):
    """A two-sided confidence level."""

    def __init__(self) -> None:
        super().__init__(exclusive_minimum=0, exclusive_maximum=1)


class IntervalsSchema(ObjectSchema):
    """The level and the method of intervals."""

    example = '{"level": 0.95}'

    level = Level()
    method = Choice(INTERVAL_METHODS)
    resamples = Whole(minimum=FEWEST_RESAMPLES, maximum=MOST_RESAMPLES)
    seed = Whole(minimum=0, maximum=LARGEST_SEED)

    @post_load
    def build(self, data: dict[str, Any], **_: object) -> IntervalOptions:
        """Build the options, if that many resamples support the level; {} requests the defaults."""
        options = IntervalOptions(**data)
        if options.method in RESAMPLED_METHODS and not resamples_show(options.level, options.resamples):
            raise invalid("out_of_range", level_too_high(options.resamples), "level")
        return options


def level_too_high(resamples: int) -> str:
    """Say that a level is higher than that many resamples support."""
    most = 1 - 2 / (resamples + 1)
    return f"{resamples} resamples allow a level of at most {most:.6g}; lower level or raise resamples."


class OperatingPointSchema(ObjectSchema):
    """A metric, and where to read it."""

    example = '{"metric": "precision_at_recall", "at": 0.9}'

    metric = Choice(METRICS)
    at = Number(minimum=0, maximum=1)

    @post_load
    def build(self, data: dict[str, Any], **_: object) -> OperatingPoint:
        """Build the point, which needs both."""
        for name in ("metric", "at"):
            if name not in data:
                raise invalid("missing", "An operating point needs metric and at.", name)
        return OperatingPoint(**data)
