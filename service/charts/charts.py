"""The pictures of all operations, standing alone or within an answer."""

from collections.abc import Callable
from typing import Any

from service.charts.classes import classes_picture
from service.charts.comparisons import comparisons_picture
from service.charts.curves import curves_picture
from service.charts.gates import gates_picture
from service.charts.picture import Picture, Pictures
from service.charts.slices import slices_picture
from service.charts.svg import STYLE_ELEMENT
from service.charts.tradeoffs import tradeoffs_picture

PICTURES: dict[str, Callable[[Any, Picture], str]] = {
    "curves": curves_picture,
    "tradeoffs": tradeoffs_picture,
    "comparisons": comparisons_picture,
    "gates": gates_picture,
    "slices": slices_picture,
    "classes": classes_picture,
}
"""{operation: function from its result and the picture's options to SVG text}"""


def pictures_within(operation: str, result: Any, pictures: Pictures) -> dict[str, str]:  # noqa: ANN401  # of any operation
    """Draw pictures to embed in a page, by the names of their charts; without the style, which the page has."""
    return {each.chart: PICTURES[operation](result, each).replace(STYLE_ELEMENT, "", 1) for each in pictures}
