"""The picture of a gate: a line for each check, with its value, its interval, its bound and its verdict.

Knows the result of `gates`, not how it was evaluated.
"""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from typing import Any

from service.charts.figure import Block, Figure
from service.charts.legend import EDGE, LARGE, SMALL, Layer, Legend, points
from service.charts.picture import Picture
from service.charts.plane import Plane
from service.curves.errors import plain
from service.inference.gate import Gate
from service.inference.sliced_models import places_listed, shortened_text, slice_text
from service.inference.verdicts import Check

_SIGNS = {"passed": "✓", "failed": "✗", "undecided": "?"}
_SCALE_HIGH = 18
"""Pixels: the height of a check's scale."""

_DOT = Layer("value, or the difference from the baseline", "ink", sign="ring")
_BAR = Layer("its interval", wide=6)
_BAND = Layer("where the rule is met, up to its bound", "good", sign="band")


def gates_figure(result: Gate, _picture: Picture) -> Figure:
    """State a verdict."""
    title = Layer.note(f"{_SIGNS[result.status]} Gate {result.status}", result.status, LARGE)
    signs = [_DOT, *[_BAR] * any(check.interval for check in result.checks), _BAND]
    rule = Plane("", [Layer(series="grid", wide=1, shapes=[points([0, 1], [0, 0])])], high=1, margins=(EDGE, EDGE))
    checks = (block for check in result.checks for block in _checked(check))
    opening = f"The gate {'is' if result.status == 'undecided' else 'has'} {result.status}."
    column = [Legend([title], silent=True), *checks, rule, Legend(signs, silent=True)]
    return Figure(f"Gate {result.status}", opening, [column], result.warnings)


def _checked(check: Check) -> Iterator[Block]:
    """The verdict on a rule, and a scale with its numbers; or the reason why there are none."""
    rule = check.rule
    value = check.difference if rule.is_change else check.value
    verdict = f"{_SIGNS[check.status]} {check.status}{', warns' * (rule.warns and check.status != 'passed')}"
    yield Legend([Layer(rule.phrase.replace(" %", "\xa0%"), check.status, sign="word", letter=verdict)])
    if value is None:
        yield Legend([Layer.note(check.reason, "soft", SMALL)])
        return
    ends = [] if check.interval is None else [check.interval.lower, check.interval.upper]
    yield _scale(value, rule.limit, ends, up_to=rule.is_ceiling)

    def written(number: float, sign: str = "") -> str:
        return rule.written(number, difference=rule.is_change, sign=sign)

    text = f"difference {written(value, '+')}" if rule.is_change else f"value {written(value)}"
    between = f", interval {written(ends[0])} to {written(ends[1])}" if ends else ""
    numbers = Layer.note(f"{text}{between}, bound {plain(rule.limit)}", size=SMALL)
    yield Legend([replace(numbers, more=check.reason)])
    if check.slices is not None:
        yield from _slices_of(check, check.slices)


def _slices_of(check: Check, slices: Mapping[str, Sequence[Any]]) -> Iterator[Block]:
    """A scale for each of the first slices that are not met, all of one range, and how many others there are."""
    rule = check.rule
    numbers = slices["difference"] if rule.is_change else slices["value"]
    places = [place for place in places_listed(slices) if numbers[place] is not None]
    bound = None if rule.kind == "max_gap" else rule.limit
    around = [each for place in places for each in (numbers[place], *_ends(slices, place))]
    for place in places:
        names = [shortened_text(slice_text(slices[name][place])) for name in rule.keys]
        told = f"{' and '.join(map(' '.join, zip(rule.keys, names, strict=True)))}: {slices['status'][place]}"
        yield Legend([Layer.note(told, "soft", SMALL)])
        yield _scale(numbers[place], bound, _ends(slices, place), up_to=rule.is_ceiling, around=around)
    rest = len(numbers) - len(places)
    if places and rest:
        yield Legend([Layer.note(f"and {rest} other{'s' * (rest > 1)}", "soft", SMALL)])


def _ends(slices: Mapping[str, Sequence[Any]], place: int) -> list[float]:
    ends = slices["lower"][place], slices["upper"][place]
    return [] if None in ends else [*ends]


def _scale(value: float, bound: float | None, ends: list[float], *, up_to: bool, around: Sequence[float] = ()) -> Plane:
    """A scale with a range just wide enough for its marks and those `around`, so that a small difference shows."""
    shown = [value, *([] if bound is None else [bound]), *ends, *around]
    pad = (max(shown) - min(shown)) * 0.12 or 0.01
    least, most = min(shown) - pad, max(shown) + pad

    def placed(*numbers: float) -> list[float]:
        return [(number - least) / (most - least) for number in numbers]

    ticks = [] if bound is None else placed(bound)
    layers = [
        replace(_DOT, shapes=[points(placed(value), [0.5])]),
        *[Layer(series="ink", shapes=[points([tick, tick], [-0.1, 1.1])]) for tick in ticks],
        *[replace(_BAR, shapes=[points(placed(*ends), [0.5, 0.5])])] * bool(ends),
        Layer(wide=1, shapes=[points([0, 1], [0.5, 0.5])]),
        *[replace(_BAND, shapes=[points([0, tick] if up_to else [tick, 1], [0, 1])]) for tick in ticks],
    ]
    return Plane("", layers, high=_SCALE_HIGH, margins=(EDGE, EDGE))
