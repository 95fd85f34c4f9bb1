"""The ROC and the PR plane, which all pictures of curves share: their axes, and the lines to compare a curve with.

Knows the drawings of tables, not whose they are.
"""

from dataclasses import replace

import numpy as np

from service.charts.legend import Layer, points
from service.charts.plane import Caption, Plane
from service.curves.drawing import DrawnTable
from service.curves.simplification import Line

CURVE_NAMES = {"roc": "ROC curve", "pr": "Precision-recall curve", "gains": "Gains curve", "det": "DET curve"}
"""{plane: what it shows}"""

DOTTED, DASHED = "1 4", "6 4"
"""The dashes of what a curve is compared with: chance, and a hull."""

_EQUAL_F1 = (0.2, 0.4, 0.6, 0.8)
"""The values of F1 whose lines are drawn."""


def rates_plane(name: str, layers: list[Layer], prevalence: float | None = None) -> Plane:
    """Make a plane of curves above the line of chance, which for PR needs the prevalence, and lines of equal F1.

    2 p r/(p + r) = F where (2 r/F - 1)(2 p/F - 1) = 1; p is 1 at r = F/(2 - F). The lines are named there, above the
    plane, where no curve crosses them.
    """
    ticks = "{:g}".format
    if name == "roc":
        chance = straight("Chance, area 0.5", [0, 1], [0, 1])
        return Plane("ROC", [*layers, chance], "False positive rate", "True positive rate", ticks)
    if prevalence is not None:
        layers = [*layers, straight(f"Prevalence {prevalence:.4g}", [0, 1], [prevalence] * 2)]
    equal: list[Line] = []
    captions: list[Caption] = []
    for value in _EQUAL_F1:
        power = np.exp(np.linspace(-1, 1, 41) * np.log(value / (2 - value)))
        equal.append(Line(value / 2 * (1 + power), value / 2 * (1 + 1 / power)))
        text = f"{'' if captions else 'F1 '}{value:g}"
        captions.append(Caption(text, (value / (2 - value), 1), (8, -3), "end"))
    layers = [*layers, Layer(series="grid", wide=1.5, shapes=equal)]
    return Plane("Precision-recall", layers, "Recall", "Precision", ticks, captions=captions, aside=-1)


def straight(text: str, x: list[float], y: list[float]) -> Layer:
    """A dotted line to compare a curve with."""
    return Layer(text, wide=1, dash=DOTTED, shapes=[points(x, y)])


def curve(table: DrawnTable, name: str, layer: Layer) -> Layer:
    """A layer with the curve of a table, or the dots of a table without one."""
    look = layer if table.rises else replace(layer, wide=5, sign="dots")
    return replace(look, shapes=[getattr(table, name)])
