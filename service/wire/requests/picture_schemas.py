"""The schemas of how a picture is asked for: query parameters, with any body.

Knows the options of pictures; nothing of results.
"""

from typing import Any

from marshmallow import ValidationError, post_load

from service.charts.picture import (
    CHARTS,
    LARGEST_SCALE,
    MOST_MARKS,
    NARROWEST,
    THEMES,
    USUAL_SCALE,
    USUAL_SIDE,
    WIDEST,
    Picture,
)
from service.wire.media_types import PNG, SVG, TEXT
from service.wire.problems import invalid_request
from service.wire.requests.evaluation_schemas import ObjectSchema
from service.wire.requests.faults import field_errors
from service.wire.requests.fields import Choice, NumberColumn, Text, Whole, invalid

LONGEST_TITLE = 120
"""How many characters the title of a picture has."""

WIDEST_DRAWN = 2_000
"""How many pixels of a PNG a plane may be wide: 4 million in all."""


class _PictureSchema(ObjectSchema):
    title = Text(minimum=0, maximum=LONGEST_TITLE)


class _DrawnSchema(_PictureSchema):
    side = Whole(minimum=NARROWEST, maximum=WIDEST)
    theme = Choice(THEMES)


class CurvesPictureSchema(_DrawnSchema):
    """How an evaluation is drawn."""

    chart = Choice(CHARTS["curves"])
    mark = NumberColumn()

    @post_load
    def build(self, data: dict[str, Any], **_: object) -> dict[str, Any]:
        """Count the marks."""
        marks = tuple(data.pop("mark", ()))
        if len(marks) > MOST_MARKS:
            raise invalid("wrong_length", f"At most {MOST_MARKS} thresholds belong here, not {len(marks)}.", "mark")
        return data | {"marks": tuple(map(float, marks))}


class CurvesTextSchema(_PictureSchema):
    """How an evaluation is drawn in characters."""

    chart = Choice(CHARTS["curves"])


class TradeoffsPictureSchema(_DrawnSchema):
    """How trade-offs are drawn."""

    chart = Choice(CHARTS["tradeoffs"])


class ComparisonsPictureSchema(_DrawnSchema):
    """How a comparison is drawn."""

    chart = Choice(CHARTS["comparisons"])


class GatesPictureSchema(_DrawnSchema):
    """How a verdict is drawn."""

    chart = Choice(CHARTS["gates"])


class SlicesPictureSchema(_DrawnSchema):
    """How slices are drawn."""

    chart = Choice(CHARTS["slices"])


class _PngSchema(_DrawnSchema):
    """How any picture is drawn in pixels."""

    scale = Whole(minimum=1, maximum=LARGEST_SCALE)

    @post_load
    def scaled(self, data: dict[str, Any], **_: object) -> dict[str, Any]:
        """Refuse what is too large before anything is evaluated."""
        side = data.get("side", USUAL_SIDE)
        scale = data.setdefault("scale", min(USUAL_SCALE, WIDEST_DRAWN // side))
        if side * scale > WIDEST_DRAWN:
            message = f"{scale} times {side} is {side * scale} pixels; a plane has at most {WIDEST_DRAWN}."
            raise invalid("out_of_range", message, "scale")
        return data


class CurvesPngSchema(CurvesPictureSchema, _PngSchema):
    """How an evaluation is drawn in pixels."""


class TradeoffsPngSchema(TradeoffsPictureSchema, _PngSchema):
    """How trade-offs are drawn in pixels."""


class ComparisonsPngSchema(ComparisonsPictureSchema, _PngSchema):
    """How a comparison is drawn in pixels."""


class GatesPngSchema(GatesPictureSchema, _PngSchema):
    """How a verdict is drawn in pixels."""


class SlicesPngSchema(SlicesPictureSchema, _PngSchema):
    """How slices are drawn in pixels."""


PICTURE_SCHEMAS: dict[tuple[str, str], ObjectSchema] = {
    ("curves", SVG): CurvesPictureSchema(),
    ("curves", TEXT): CurvesTextSchema(),
    ("tradeoffs", SVG): TradeoffsPictureSchema(),
    ("comparisons", SVG): ComparisonsPictureSchema(),
    ("gates", SVG): GatesPictureSchema(),
    ("slices", SVG): SlicesPictureSchema(),
    ("curves", PNG): CurvesPngSchema(),
    ("tradeoffs", PNG): TradeoffsPngSchema(),
    ("comparisons", PNG): ComparisonsPngSchema(),
    ("gates", PNG): GatesPngSchema(),
    ("slices", PNG): SlicesPngSchema(),
}
"""{(operation, media type): how its picture is asked for}"""


def checked_picture(operation: str, media_type: str, document: dict[str, object]) -> Picture:
    """Check how a picture is asked for. Raises Problem."""
    try:
        options = PICTURE_SCHEMAS[operation, media_type].load(document)
    except ValidationError as error:
        raise invalid_request(field_errors(error, str)) from None
    return Picture(**{"chart": CHARTS[operation][0]} | options)
