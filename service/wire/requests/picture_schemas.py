"""The schemas of picture options: for one picture as the answer, by query parameters, or several within a JSON answer.

Knows the options of pictures; nothing of results.
"""

from collections.abc import Iterable
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
    Pictures,
)
from service.wire.media_types import PNG, SVG, TEXT
from service.wire.problems import invalid_request
from service.wire.requests.column_fields import NumberColumn
from service.wire.requests.faults import field_errors
from service.wire.requests.fields import Choice, ChoiceSet, Field, Text, Whole, invalid
from service.wire.requests.object_schemas import ObjectSchema

LONGEST_TITLE = 120
"""The most characters in the title of a picture."""

WIDEST_DRAWN = 2_000
"""The widest plane in a PNG, in pixels: 4 million in all."""


class _PictureSchema(ObjectSchema):
    title = Text("With `charts`: a title above each picture.", minimum=0, maximum=LONGEST_TITLE, example="Model A")


class DrawnSchema(_PictureSchema):
    """The options of any drawn picture."""

    told_last = frozenset({"title", "side", "theme", "charts", "mark"})
    side = Whole(
        "With `charts`: the width and height of a plane, in CSS pixels; 320 by default. If the answer itself is a "
        "picture, this and the next options are query parameters.",
        minimum=NARROWEST,
        maximum=WIDEST,
        example=USUAL_SIDE,
    )
    theme = Choice(
        THEMES,
        "With `charts`: the colours. `auto`, the default, sets light colours as attributes, which a page can override.",
    )


class MarkedSchema(DrawnSchema):
    """The same, with marks."""

    mark = NumberColumn("With `charts`: thresholds whose rows get a numbered dot, at most 10.", infinite=True)


class _MarkedPictureSchema(MarkedSchema):
    """The options of a picture with marks."""

    @post_load
    def build(self, data: dict[str, Any], **_: object) -> dict[str, Any]:
        """Refuse too many marks."""
        return data | {"marks": _marks(data.pop("mark", ()))}


class _PngSchema(DrawnSchema):
    """The options of any picture in pixels."""

    scale = Whole(
        "If the answer is `image/png`: how many of its pixels make one CSS pixel, in each direction; by default 2, or "
        "1 if `side` is above 1,000. `side` times `scale` is at most 2,000.",
        minimum=1,
        maximum=LARGEST_SCALE,
    )

    @post_load
    def scaled(self, data: dict[str, Any], **_: object) -> dict[str, Any]:
        """Refuse a picture that is too large before anything is evaluated."""
        side = data.get("side", USUAL_SIDE)
        scale = data.setdefault("scale", min(USUAL_SCALE, WIDEST_DRAWN // side))
        if side * scale > WIDEST_DRAWN:
            message = f"{scale} times {side} is {side * scale} pixels; a plane has at most {WIDEST_DRAWN}."
            raise invalid("out_of_range", message, "scale")
        return data


class _MarkedPngSchema(_MarkedPictureSchema, _PngSchema):
    """The same, with marks."""


_DRAWN: dict[str, tuple[type[ObjectSchema], type[ObjectSchema]]] = {
    SVG: (DrawnSchema, _MarkedPictureSchema),
    PNG: (_PngSchema, _MarkedPngSchema),
}
"""{media type: (options of a picture, options of a picture with marks, for curves)}"""


def _picture_schema(charts: tuple[str, ...], base: type[ObjectSchema]) -> ObjectSchema:
    schema: ObjectSchema = base.from_dict({"chart": Choice(charts, "Which picture.")})()  # type: ignore[assignment]  # of base
    return schema


PICTURE_SCHEMAS: dict[tuple[str, str], ObjectSchema] = {
    ("curves", TEXT): _picture_schema(CHARTS["curves"], _PictureSchema),
    **{
        (operation, media_type): _picture_schema(CHARTS[operation], marked if operation == "curves" else plain)
        for media_type, (plain, marked) in _DRAWN.items()
        for operation in CHARTS
    },
}
"""{(operation, media type): schema of its picture's options}"""


def picture_fields(operation: str) -> dict[str, Field]:
    """The options of a picture as the answer, in any of its media types."""
    schemas = [schema for (name, _), schema in PICTURE_SCHEMAS.items() if name == operation]
    return {name: field for schema in schemas for name, field in schema.fields.items()}  # type: ignore[misc]  # ours


def charts_field(operation: str) -> ChoiceSet:
    """The field that names the pictures within an answer; DrawnSchema or MarkedSchema has their options."""
    return ChoiceSet(
        CHARTS[operation],
        "Pictures to return along with the numbers, in the property `charts` of the answer. For JSON answers only.",
    )


_HOW = tuple(MarkedSchema().fields)
"""The options that say how a picture is drawn."""


def charts_of(operation: str, data: dict[str, Any]) -> Pictures:
    """Build the pictures requested within an answer. Raises ValidationError."""
    how = [name for name in _HOW if name in data]
    if "charts" not in data:
        for name in how:
            raise invalid("exclusive", f"{name} needs charts, or a picture as the answer.", name)
        return ()
    options = {name: data[name] for name in how if name != "mark"}
    marks = _marks(data.get("mark", ()))
    return tuple(Picture(name, marks=marks, **options) for name in CHARTS[operation] if name in data["charts"])


def _marks(marks: Iterable[float]) -> tuple[float, ...]:
    found = tuple(map(float, marks))
    if len(found) > MOST_MARKS:
        raise invalid("wrong_length", f"Must have at most {MOST_MARKS} thresholds, not {len(found)}.", "mark")
    return found


def checked_picture(operation: str, media_type: str, document: dict[str, object]) -> Picture:
    """Check the options of a picture. Raises Problem."""
    try:
        options = PICTURE_SCHEMAS[operation, media_type].load(document)
    except ValidationError as error:
        raise invalid_request(field_errors(error, str)) from None
    return Picture(**{"chart": CHARTS[operation][0]} | options)
