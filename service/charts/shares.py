"""Pictures of what is found share by share, and what it is worth: gains, lift, and net benefit.

Knows the result of `curves`, not how it was evaluated.
"""

from collections.abc import Iterable, Sequence
from dataclasses import replace

import numpy as np

from service.charts.curve_planes import DASHED, DOTTED, straight
from service.charts.figure import Figure
from service.charts.legend import Layer, points
from service.charts.plane import Plane, room_for, round_ticks
from service.charts.wording import decimals, read, totals
from service.curves.drawing import CurvesDrawing
from service.curves.simplification import Line
from service.inference.curves_with_intervals import EvaluatedCurves

_SHARES = (0.01, 0.05, 0.1, 0.2, 0.5)
_PROBABILITIES = (0.05, 0.1, 0.2, 0.5)
"""The places at which the descriptions read a line."""

_SHARE = "Share called positive"
_NO_CURVE = "Rows, which form no curve"


def gains_plane(layers: Sequence[Layer], prevalence: float) -> Plane:
    """Make a plane of gains above the lines of chance and of a perfect model."""
    perfect = straight("Perfect model: all positives come first", [0, prevalence, 1], [0, 1, 1])
    chance = straight("Chance", [0, 1], [0, 1])
    return Plane("Gains", [*layers, perfect, chance], _SHARE, "Recall", "{:g}".format)


def gains_figure(result: EvaluatedCurves, drawing: CurvesDrawing) -> Figure:
    """State recall over the share called positive."""
    line = drawing.curve.gains(result.prevalence)
    layer = Layer(_NO_CURVE, "s0", wide=5, sign="dots", shapes=[line])
    roc = None if result.curves.auc is None else result.curves.auc.roc
    if drawing.curve.rises and roc is not None:
        more = read(line, _SHARES, "shares", "recall")
        layer = Layer(f"Gains, Gini coefficient {decimals(2 * roc - 1)}", "s0", wide=2.25, more=more, shapes=[line])
    return _figure(result, "Gains", gains_plane([layer], result.prevalence))


def lift_figure(result: EvaluatedCurves, drawing: CurvesDrawing) -> Figure:
    """State lift over the share called positive."""
    line = drawing.lift
    assert line is not None, "this chart was wanted"  # noqa: S101  # its drawing was made for it
    top = float(line.y.max())
    at_height = Line(line.x, line.y / top)
    layer = Layer(_NO_CURVE, "s0", wide=5, sign="dots", shapes=[at_height])
    if drawing.curve.rises:
        text = "Lift: recall divided by share"
        layer = Layer(text, "s0", wide=2.25, more=read(line, _SHARES, "shares", "lift"), shapes=[at_height])
    heights = round_ticks(0, top)
    chance = straight("Chance, lift 1", [0, 1], [1 / top] * 2)
    plane = Plane("Lift", [layer, chance], _SHARE, "Lift", "{:g}".format, heights, margins=room_for(heights))
    return _figure(result, "Lift", plane)


def benefit_figure(result: EvaluatedCurves, drawing: CurvesDrawing) -> Figure:
    """State net benefit over the probability from which to act."""
    benefit = drawing.benefit
    assert benefit is not None, "this chart was wanted"  # noqa: S101  # its drawing was made for it
    low, high = benefit.low, benefit.prevalence
    shapes = [*_at_heights(benefit.lines, low, high)]
    if not shapes:
        layer = Layer.note("No threshold is a probability, from 0 to below 1")
    elif benefit.are_dots:
        layer = Layer("Net benefit of the rows", "s0", wide=5, sign="dots", shapes=shapes)
    else:
        text = "Net benefit of the scores, as probabilities"
        layer = Layer(text, "s0", wide=2.25, more=_read_benefit(benefit.lines, low), shapes=shapes)
    everybody = [*_at_heights(benefit.treat_all, low, high)]
    level = -low / (high - low)
    layers = [
        layer,
        Layer("Acting on all", "s1", wide=1.5, dash=DASHED, shapes=everybody),
        Layer("Acting on none", wide=1, dash=DOTTED, shapes=[points([0, 1], [level, level])]),
    ]
    heights = round_ticks(low, high)
    named = "Threshold probability", "Net benefit", "{:g}".format, heights
    plane = Plane("Net benefit", layers, *named, margins=room_for(heights))
    figure = _figure(result, "Net benefit", plane)
    return replace(figure, opening=f"{figure.opening} Prevalence {benefit.prevalence:.4g}.")


def _at_heights(lines: Iterable[Line], low: float, high: float) -> Iterable[Line]:
    """Lines on a plane from one height to another."""
    return (Line(line.x, (line.y - low) / (high - low)) for line in lines)


def _read_benefit(pieces: Sequence[Line], low: float) -> str:
    """Read a line in pieces where it is drawn; below it is not told."""
    there = {
        at: float(np.interp(at, piece.x, piece.y))
        for at in _PROBABILITIES
        for piece in pieces
        if piece.x[0] <= at <= piece.x[-1]
    }
    told = [f"{found:.4f} at {at:g}" for at, found in there.items()]
    return f"It is {', '.join(told)}; where it is below {low:.4g}, it is not drawn" if told else ""


def _figure(result: EvaluatedCurves, name: str, plane: Plane) -> Figure:
    return Figure(
        name,
        f"{totals(result.positives, result.negatives, result.target)}.",
        [[plane, plane.legend()]],
        result.warnings,
    )
