"""The pictures of all operations."""

from collections.abc import Callable
from typing import Any

from service.charts.comparisons import comparisons_picture
from service.charts.curves import curves_picture
from service.charts.gates import gates_picture
from service.charts.picture import Picture
from service.charts.slices import slices_picture
from service.charts.tradeoffs import tradeoffs_picture

PICTURES: dict[str, Callable[[Any, Picture], str]] = {
    "curves": curves_picture,
    "tradeoffs": tradeoffs_picture,
    "comparisons": comparisons_picture,
    "gates": gates_picture,
    "slices": slices_picture,
}
"""{operation: from its result, and how it is to be drawn, to SVG text}"""
