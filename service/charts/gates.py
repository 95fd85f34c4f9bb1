"""The picture of a gate: a line for each check, with its value, its interval, its bound and its verdict.

Knows the result of `gates`, not how it was evaluated.
"""

from collections.abc import Iterator

from service.charts.legend import Entry, finished, put_legend, put_title
from service.charts.picture import Picture
from service.charts.plane import LEFT, RIGHT
from service.charts.svg import Sheet, wrapped
from service.curves.errors import plain
from service.inference.gate import Check, Gate

_SIGNS = {"passed": "✓", "failed": "✗", "undecided": "?"}
_SCALE_HIGH = 46
"""Pixels: the height of a check's scale with its numbers."""

_EDGE, _VERDICT = 16, 92


def gates_picture(result: Gate, picture: Picture) -> str:
    """Draw a verdict."""
    sheet = Sheet(picture.theme, LEFT + picture.side + RIGHT)
    top = put_title(sheet, picture.title)
    sheet.text(result.status, (_EDGE, top + 18), f"{_SIGNS[result.status]} Gate {result.status}", size=15, bold=True)
    top += 34
    for check in result.checks:
        top = _draw_check(sheet, check, top) + 10
    intervals = [Entry("its interval", "soft", wide=6)] if any(check.interval for check in result.checks) else []
    entries = [
        Entry("value, or for a drop the difference from the baseline", "ink", sign="dot"),
        *intervals,
        Entry("where the rule is met, up to its bound", "good", sign="band"),
    ]
    sheet.line("grid", [_EDGE, sheet.width - _EDGE], [top, top])
    end = put_legend(sheet, _EDGE, top + 8, sheet.width - 2 * _EDGE, entries)
    return finished(sheet, end, picture.title or f"Gate {result.status}", _description(result), result.warnings)


def _draw_check(sheet: Sheet, check: Check, top: float) -> float:
    """Draw one check, and return the height below it."""
    verdict = f"{_SIGNS[check.status]} {check.status}"
    sheet.text(check.status, (_EDGE, top + 12), verdict, bold=True)
    for line in wrapped(check.rule.phrase.replace(" %", "\xa0%"), sheet.width - 2 * _EDGE - _VERDICT, most=4):
        sheet.text("ink", (_EDGE + _VERDICT, top + 12), line)
        top += 16
    value = check.difference if check.rule.kind == "max_drop" else check.value
    if value is None:
        for line in wrapped(check.reason, sheet.width - 2 * _EDGE, most=4, size=11):
            sheet.text("soft", (_EDGE, top + 14), line, size=11)
            top += 15
        return top + 6
    return _draw_scale(sheet, check, value, top + 6)


def _draw_scale(sheet: Sheet, check: Check, value: float, top: float) -> float:
    """Draw the scale of a check, with a range just wide enough for its marks, so that a small difference shows."""
    is_drop = check.rule.kind == "max_drop"
    bound = -check.rule.bound if is_drop else check.rule.bound
    interval = check.interval
    shown = [value, bound, *(() if interval is None else (interval.lower, interval.upper))]
    least, most = min(shown), max(shown)
    pad = (most - least) * 0.12 or 0.01
    least, most = least - pad, most + pad
    left, wide = _EDGE, sheet.width - 2 * _EDGE

    def x(number: float) -> float:
        place: float = left + (number - least) / (most - least) * wide
        return place

    middle = top + 9
    good = (left, x(bound)) if check.rule.kind == "max" else (x(bound), left + wide)
    sheet.box("good", (good[0], top), (good[1] - good[0], 18))
    sheet.line("soft", [left, left + wide], [middle, middle])
    if interval is not None:
        sheet.line("soft", [x(interval.lower), x(interval.upper)], [middle, middle], wide=6)
    sheet.line("ink", [x(bound), x(bound)], [top - 2, top + 20], wide=2)
    sheet.ring("ink", (x(value), middle), 5)
    for line in wrapped(_numbers(check, value), wide, size=11):
        sheet.text("ink", (left, top + 34), line, size=11)
        top += 15
    return top + _SCALE_HIGH - 21


def _numbers(check: Check, value: float) -> str:
    """Write a check's numbers: the values of its dot, bar and tick."""
    is_drop = check.rule.kind == "max_drop"

    def written(number: float, sign: str = "") -> str:
        return check.rule.written(number, difference=is_drop, sign=sign)

    text = f"difference {written(value, '+')}" if is_drop else f"value {written(value)}"
    if check.interval is not None:
        text += f", interval {written(check.interval.lower)} to {written(check.interval.upper)}"
    return f"{text}, bound {plain(-check.rule.bound if is_drop else check.rule.bound)}"


def _description(result: Gate) -> Iterator[str]:
    """Describe the picture in words."""
    yield f"The gate {'is' if result.status == 'undecided' else 'has'} {result.status}."
    for check in result.checks:
        value = check.difference if check.rule.kind == "max_drop" else check.value
        numbers = "" if value is None else f" {_numbers(check, value)}."
        yield f"{check.status.capitalize()}: {check.rule.phrase}.{numbers} {check.reason}".strip()
