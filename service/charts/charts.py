"""The pictures of all operations, standing alone or within an answer.

Knows which chart states which result.
"""

from collections.abc import Callable
from functools import partial
from types import MappingProxyType
from typing import Any

from service.charts.classes import classes_figure
from service.charts.comparisons import comparisons_figure
from service.charts.curves import curves_figure
from service.charts.figure import Figure
from service.charts.gates import gates_figure
from service.charts.picture import Picture, Pictures
from service.charts.slices import slices_figure
from service.charts.svg import STYLE_ELEMENT
from service.charts.tradeoffs import tradeoffs_figure

_FIGURES: dict[str, Callable[[Any, Picture], Figure]] = {
    "curves": curves_figure,
    "tradeoffs": tradeoffs_figure,
    "comparisons": comparisons_figure,
    "gates": gates_figure,
    "slices": slices_figure,
    "classes": classes_figure,
}


def _svg(operation: str, result: Any, picture: Picture) -> str:  # noqa: ANN401  # of any operation
    return _FIGURES[operation](result, picture).svg(picture)


PICTURES = MappingProxyType({operation: partial(_svg, operation) for operation in _FIGURES})
"""{operation: function from its result and the picture's options to SVG text}"""


def pictures_within(operation: str, result: Any, pictures: Pictures) -> dict[str, str]:  # noqa: ANN401  # of any operation
    """Draw pictures to embed in a page, by the names of their charts; without the style, which the page has."""
    return {each.chart: PICTURES[operation](result, each).replace(STYLE_ELEMENT, "", 1) for each in pictures}
