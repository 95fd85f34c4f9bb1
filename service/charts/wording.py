"""Numbers, lists and lines in words.

Knows numbers and intervals, nothing of pictures.
"""

from collections.abc import Callable, Iterable
from math import isnan

import numpy as np

from service.curves.arrays import FloatArray, IntArray
from service.curves.simplification import Line
from service.inference.intervals import Interval
from service.inference.rules import percent

NOTHING = "-"
"""What stands for a number that does not exist."""


def totals(positives: float, negatives: float, target: float | None = None) -> str:
    """The words with which most descriptions begin; `target` is the prevalence in use, if it is another one."""
    found = f"{positives:.17g} positives and {negatives:.17g} negatives"
    return found if target is None else f"{found}, for a prevalence of {target:.4g} in use"


def listed(values: Iterable[str]) -> str:
    """Write a list as in a sentence: a, b and c."""
    *first, last = values
    return f"{', '.join(first)} and {last}" if first else last


def decimals(value: float | None, interval: Interval | None = None) -> str:
    """Write a number with four decimals, and its interval with no-break spaces: 0.8720 (95 %: 0.8250 to 0.9078)."""
    if value is None or isnan(value):
        return NOTHING
    if interval is None:
        return f"{value:.4f}"
    around = f"({percent(interval.level)} %: {interval.lower:.4f} to {interval.upper:.4f})".replace(" ", "\xa0")
    return f"{value:.4f} {around}"


def read(
    line: Line,
    places: tuple[float, ...],
    where: str,
    what: str,
    ticks: Callable[[float], str] = "{:g}".format,
    *,
    best: Callable[[FloatArray], float] = np.max,
) -> str:
    """Read the heights of a line: At recalls of 0.5 and 0.8 the precision is 0.60 and 0.71.

    On a vertical step the height is that of its top, or the `best` by another function. `ticks` writes the places.
    """
    tops = [best(np.append(line.y[line.x == at], np.interp(at, line.x, line.y))) for at in places]
    return f"At {where} of {listed(map(ticks, places))} the {what} is {listed(f'{top:.2f}' for top in tops)}"


def worst_first(values: FloatArray) -> IntArray:
    """The rows that have a value, the least first."""
    order = np.argsort(values, kind="stable")  # puts NaN last
    return order[: int(np.count_nonzero(~np.isnan(values)))]
