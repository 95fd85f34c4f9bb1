"""The picture of a comparison: all curves with their joint hull, and strips that show which is best where.

Knows the result of `comparisons`, not how it was evaluated.
"""

from collections.abc import Iterator

import numpy as np

from service.charts.curves import draw_axes, draw_table
from service.charts.legend import Entry, finished, listed, put_legend, put_title
from service.charts.picture import Picture
from service.charts.plane import BOTTOM, LEFT, RIGHT, TOP, Plane
from service.charts.svg import Sheet, fitted, named, text_width
from service.charts.theme import dash, hue
from service.curves.comparison import Best, Comparison

_WINNERS_HIGH = 16
_MOST_SHARED = 3
"""The most curves of equal rank stacked in a strip."""

_MOST_DESCRIBED = 8
"""The most intervals that the description lists."""

_TITLES = {"roc": "ROC curves", "pr": "Precision-recall curves", "best_tradeoff": "Best curve at each trade-off"}
_TICKS = (0.0, 0.25, 0.5, 0.75, 1.0)


def comparisons_picture(result: Comparison, picture: Picture) -> str:
    """Draw a comparison."""
    column = LEFT + picture.side + RIGHT
    sheet = Sheet(picture.theme, column * len(picture.planes))
    top = put_title(sheet, picture.title)
    if picture.chart == "best_tradeoff":
        end = _draw_tradeoffs(sheet, result, picture.side, top)
    else:
        end = max(
            _draw_curves(sheet, result, picture.side, (column * number, top), name)
            for number, name in enumerate(picture.planes)
        )
    end = _put_names(sheet, result, picture, end + 4)
    title = picture.title or listed(_TITLES[name] for name in picture.planes)
    return finished(sheet, end, title, _description(result, picture), result.warnings)


def _draw_curves(sheet: Sheet, result: Comparison, side: int, corner: tuple[float, float], name: str) -> float:
    """Draw one plane with its strip, and return the height below them."""
    if result.drawings is None:
        raise ValueError("This comparison was made without drawings.")
    plane = Plane.square(sheet, *corner, side)
    draw_axes(plane, name, result.positives / (result.positives + result.negatives))
    *curves, joint = result.drawings
    draw_table(plane, joint, name, "soft", dash="6 4", wide=1.25)
    for number, table in enumerate(curves):
        draw_table(plane, table, name, hue(number), dash=dash(number))
    best, rate = (result.best_roc, "false positive rate") if name == "roc" else (result.best_pr, "recall")
    end = plane.bottom + BOTTOM
    if best is None:
        return end
    return _draw_strip(
        sheet, best, names=result.names, corner=(plane.left, end + 4), side=side, heading=f"Best by {rate}"
    )


def _draw_tradeoffs(sheet: Sheet, result: Comparison, side: int, top: float) -> float:
    """Draw a strip for each index, and the axis of λ below them."""
    sheet.text("ink", (LEFT, top + TOP - 11), "Best curve", size=13, bold=True)
    top += TOP - 4
    for name, best in result.best_tradeoff.items():
        top = _draw_strip(sheet, best, names=result.names, corner=(LEFT, top), side=side, heading=f"By {name}") + 6
    for tick in _TICKS:
        x = LEFT + tick * side
        sheet.line("soft", [x, x], [top - 4, top])
        sheet.text("soft", (x, top + 13), f"{tick:g}", anchor="middle", size=11)
    sheet.text("ink", (LEFT + side / 2, top + 31), "λ, the weight of recall", anchor="middle")
    return top + 38


def _draw_strip(
    sheet: Sheet, best: Best, *, names: tuple[str, ...], corner: tuple[float, float], side: int, heading: str
) -> float:
    """Draw the best curves as a strip of their colours, and return the height below it.

    Each pixel shows which curve is best at its centre; equally good ones are stacked. Their numbers in the legend are
    written where there is room.
    """
    left, top = corner
    sheet.text("soft", (left, top + 10), fitted(heading, side + RIGHT, 11), size=11)
    top += 16
    middles = (np.arange(side) + 0.5) / side
    intervals = np.minimum(best.end.searchsorted(middles), best.end.size - 1)
    series = {name: number for number, name in enumerate(names)}
    starts = np.flatnonzero(np.diff(intervals, prepend=-1))
    for start, stop in zip(starts.tolist(), [*starts[1:].tolist(), side], strict=True):
        there = [series[name] for name in best.best[intervals[start]]]
        shown = there[:_MOST_SHARED]
        for row, number in enumerate(shown):
            high = _WINNERS_HIGH / len(shown)
            sheet.box(hue(number), (left + start, top + row * high), (stop - start, high))
        numbers = ", ".join(str(number + 1) for number in there)
        if text_width(numbers, 11) + 4 < stop - start:
            middle = left + (start + stop) / 2
            sheet.text("paper", (middle, top + 12), numbers, anchor="middle", size=11, bold=True)
    sheet.box("soft", (left, top), (side, _WINNERS_HIGH), filled=False)
    return top + _WINNERS_HIGH + 8


def _put_names(sheet: Sheet, result: Comparison, picture: Picture, top: float) -> float:
    """Put the legend, in two columns where there are two planes, and return the height below it."""
    entries = [
        Entry(f"{number + 1}\xa0\xa0{named(name)}{_areas(result, number, picture)}", hue(number), dash=dash(number))
        for number, name in enumerate(result.names)
    ]
    if picture.chart != "best_tradeoff":
        entries.append(Entry("All together: the joint hull", "soft", wide=1.25, dash="6 4"))
    columns = len(picture.planes)
    room = sheet.width / columns
    rows = -(-len(entries) // columns)
    return max(
        put_legend(sheet, 16 + room * column, top, room - 32, entries[column * rows : (column + 1) * rows])
        for column in range(columns)
    )


def _areas(result: Comparison, number: int, picture: Picture) -> str:
    """Write the areas of a curve that the planes show."""
    words = {"roc": "ROC", "pr": "PR"}
    shown = [(words[name], getattr(result.auc[number], name)) for name in picture.planes if name in words]
    return "".join(f", {word}\xa0{'-' if area is None else f'{area:.4f}'}" for word, area in shown)


def _description(result: Comparison, picture: Picture) -> Iterator[str]:
    """Describe the picture in words."""
    yield f"{result.positives:.17g} positives and {result.negatives:.17g} negatives."
    for number, name in enumerate(result.names):
        yield f"{named(name)}{_areas(result, number, picture)}."
    described: dict[str, tuple[Best | None, str]] = {
        "roc": (result.best_roc, "Most true positives at false positive rates"),
        "pr": (result.best_pr, "Highest precision at recalls"),
    }
    if picture.chart == "best_tradeoff":
        described = {index: (best, f"Best {index} at λ") for index, best in result.best_tradeoff.items()}
    for key, (best, words) in described.items():
        if best is not None and (key in picture.planes or picture.chart == "best_tradeoff"):
            yield f"{words} {_in_words(best)}."


def _in_words(best: Best) -> str:
    """Describe which curve is best where; of many intervals, the longest."""
    longest = np.sort(np.argsort(best.start - best.end, kind="stable")[:_MOST_DESCRIBED]).tolist()
    texts = [f"{best.start[row]:.3g} to {best.end[row]:.3g}: {listed(map(named, best.best[row]))}" for row in longest]
    left = best.end.size - len(longest)
    more = f"; and {left} shorter interval{'' if left == 1 else 's'}" if left else ""
    return "; ".join(texts) + more
