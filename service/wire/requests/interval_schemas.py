"""The schemas of a request's statistics: intervals, and the points at which to read a curve.

A loaded schema is the domain's object. Knows the options of the statistics; nothing of bytes.
"""

from collections.abc import Iterable
from typing import Any, ClassVar

from marshmallow import ValidationError, post_load

from service.curves.operating_points import METRICS, OperatingPoint
from service.inference.intervals import IntervalOptions, resamples_show
from service.inference.methods import INTERVAL_METHODS, RESAMPLED_METHODS
from service.wire.requests.fields import Choice, Number, Whole, invalid
from service.wire.requests.object_schemas import ObjectSchema
from service.wire.wrong import Wrong

FEWEST_RESAMPLES, MOST_RESAMPLES = 100, 10_000
"""With fewer, the ends of a 95 % interval are nearly the least and the greatest resample: noise, not an interval."""

LARGEST_SEED = 2**32 - 1

MOST_OPERATING_POINTS = 1_000
"""The most operating points in one request."""


class Level(Number):
    """A two-sided confidence level."""

    def __init__(self, about: str = "The two-sided confidence level; 0.95 by default.") -> None:
        super().__init__(about, exclusive_minimum=0, exclusive_maximum=1, example=0.95)


class IntervalsSchema(ObjectSchema):
    """The level and the method of intervals."""

    component = "IntervalOptions"
    about = (
        "Asks for confidence intervals and says how to compute them; `{}` takes all defaults. With `thresholds` or "
        "`tuning`, the intervals are those of the rebuilt table and take the thresholds as fixed."
    )
    example: ClassVar = {"level": 0.95}

    level = Level()
    method = Choice(INTERVAL_METHODS, "How an interval is computed; `auto` by default.", component="IntervalMethod")
    resamples = Whole(
        "How many resamples a bootstrap takes; 2000 by default. With fewer than 100, the ends of an interval would be "
        "close to the lowest and the highest resample. B resamples allow a level of at most 1 - 2/(B + 1).",
        minimum=FEWEST_RESAMPLES,
        maximum=MOST_RESAMPLES,
    )
    seed = Whole(
        "The seed of the resamples; 0 by default. The same seed gives the same interval in every order of rows and "
        "every format.",
        minimum=0,
        maximum=LARGEST_SEED,
    )

    @post_load
    def build(self, data: dict[str, Any], **_: object) -> IntervalOptions:
        """Build the options, if that many resamples support the level; {} requests the defaults."""
        options = IntervalOptions(**data)
        if options.method in RESAMPLED_METHODS and not resamples_show(options.level, options.resamples):
            raise invalid("out_of_range", level_too_high(options.resamples), "level")
        return options


def refuse_bca(intervals: IntervalOptions | None, evaluations: Iterable[object]) -> None:
    """Refuse the method bca for samples with clusters."""
    clustered = any(getattr(each, "clusters", None) is not None for each in evaluations)
    if clustered and intervals is not None and intervals.method == "bca":
        fault = Wrong("exclusive", "bca leaves out single rows, and these have clusters; take bootstrap or logit.")
        raise ValidationError({"intervals": {"method": [fault]}})


def level_too_high(resamples: int) -> str:
    """Say that a level is higher than that many resamples support."""
    most = 1 - 2 / (resamples + 1)
    return f"{resamples} resamples allow a level of at most {most:.6g}; lower level or raise resamples."


CLOSED_METHODS = tuple(method for method in INTERVAL_METHODS if method not in RESAMPLED_METHODS)
"""The methods that do not resample."""


class ClosedIntervalsSchema(ObjectSchema):
    """The level and the method of many intervals at once; none is resampled."""

    example: ClassVar = {"level": 0.95}

    level = Level()
    method = Choice(
        CLOSED_METHODS, "The method: `logit`, the same as `auto`, or `delong`, for `roc` only. `auto` by default."
    )

    @post_load
    def build(self, data: dict[str, Any], **_: object) -> IntervalOptions:
        """Build the options; {} requests the defaults."""
        return IntervalOptions(**data)


class OperatingPointSchema(ObjectSchema):
    """A metric, and where to read it."""

    component = "OperatingPoint"
    about = (
        "A metric and where to read it. The value is that of the curve. The answer also names the best row of the "
        "table that meets the condition; its threshold can be deployed."
    )
    example: ClassVar = {"metric": "recall_at_precision", "at": 0.9}

    metric = Choice(METRICS, "What to read.")
    at = Number(
        "Where to read it: a recall, a precision, a false positive rate or a λ, depending on the metric.",
        minimum=0,
        maximum=1,
    )

    @post_load
    def build(self, data: dict[str, Any], **_: object) -> OperatingPoint:
        """Build the point, which needs both."""
        for name in ("metric", "at"):
            if name not in data:
                raise invalid("missing", "An operating point needs metric and at.", name)
        return OperatingPoint(**data)
