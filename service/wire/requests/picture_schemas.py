"""The schemas of how a picture is asked for: query parameters, with any body.

Knows the options of pictures; nothing of results.
"""

from typing import Any

from marshmallow import ValidationError, post_load

from service.charts.picture import CHARTS, MOST_MARKS, NARROWEST, THEMES, WIDEST, Picture
from service.wire.media_types import SVG, TEXT
from service.wire.problems import invalid_request
from service.wire.requests.evaluation_schemas import ObjectSchema
from service.wire.requests.faults import field_errors
from service.wire.requests.fields import Choice, NumberColumn, Text, Whole, invalid

LONGEST_TITLE = 120
"""How many characters the title of a picture has."""


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


PICTURE_SCHEMAS: dict[tuple[str, str], ObjectSchema] = {
    ("curves", SVG): CurvesPictureSchema(),
    ("curves", TEXT): CurvesTextSchema(),
    ("tradeoffs", SVG): TradeoffsPictureSchema(),
    ("comparisons", SVG): ComparisonsPictureSchema(),
    ("gates", SVG): GatesPictureSchema(),
}
"""{(operation, media type): how its picture is asked for}"""


def checked_picture(operation: str, media_type: str, document: dict[str, object]) -> Picture:
    """Check how a picture is asked for. Raises Problem."""
    try:
        options = PICTURE_SCHEMAS[operation, media_type].load(document)
    except ValidationError as error:
        raise invalid_request(field_errors(error, str)) from None
    return Picture(**{"chart": CHARTS[operation][0]} | options)
