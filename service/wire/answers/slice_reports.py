"""The slices of a check, as reports list them: those that are not met first of all, as text.

Knows the JSON document of a check.
"""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from service.inference.rules import Rule
from service.inference.sliced_models import UNREMARKABLE, places_listed, slice_text

_CHANGE = ("baseline", "difference")


@dataclass(frozen=True, slots=True)
class ListedSlices:
    """A table of slices: what each column is, its rows as text, and how many slices are not in it.

    keys   how many of the columns define slices.
    rest   how many more there are that are not met, and how many that are.
    """

    header: list[str]
    rows: list[list[str]]
    keys: int
    rest: tuple[int, int]

    @property
    def ending(self) -> str:
        """What the table leaves out."""
        remarkable, others = self.rest
        told = [f"{remarkable} more like these"] * (remarkable > 0) + [f"{others} other{'s' * (others > 1)}"] * (
            others > 0
        )
        return f"and {' and '.join(told)}" if told else ""


def listed_slices(check: Mapping[str, Any]) -> ListedSlices | None:
    """The slices of a check that are not met, skipped, or the ends of a gap; None if there are none."""
    slices = check.get("slices")
    if slices is None:
        return None
    rule, places, statuses = Rule.read(check["rule"]), places_listed(slices), slices["status"]
    names = [*rule.keys]
    of_change = [name for name in _CHANGE if name in slices]
    with_ends = any(end is not None for end in slices["lower"])
    header = [*names, "rows", "value", *of_change, *(["interval"] if with_ends else []), "status"]
    rows = []
    for place in places:
        cells = [slice_text(slices[name][place]) for name in names]
        cells += [str(slices["rows"][place]), _written(rule, slices["value"][place])]
        for name in of_change:
            cells.append(_written(rule, slices[name][place], sign="+" * (name == "difference")))
        if with_ends:
            cells.append(ends_text(rule, slices["lower"][place], slices["upper"][place]))
        reason = slices["reason"][place]
        rows.append([*cells, statuses[place] if reason is None else f"{statuses[place]}: {reason}"])
    remarkable = sum(status not in UNREMARKABLE for status in statuses)
    rest = remarkable - len(places), len(statuses) - remarkable
    return ListedSlices(header, rows, len(names), rest) if places else None


def ends_text(rule: Rule, lower: float | None, upper: float | None) -> str:
    """An interval, in text."""
    return "-" if lower is None or upper is None else f"{_written(rule, lower)} to {_written(rule, upper)}"


def _written(rule: Rule, number: float | None, sign: str = "") -> str:
    if number is None:
        return "-"
    is_gap = rule.kind == "max_gap"
    return f"{number:{sign}.4f}" if is_gap else rule.written(number, difference=bool(sign), sign=sign)
