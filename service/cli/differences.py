"""How certain the differences between classifiers are: a gate compares each with the first, area by area.

Knows what a gate answers, and how a table of differences is laid out; nothing of files.
"""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import orjson

from service.answer import answer_decoded
from service.cli.asking import is_problem, problem_lines
from service.cli.command_error import fail
from service.cli.layout import table_lines
from service.inference.rules import AREAS_WITH_INTERVALS, percent
from service.request import Request
from service.wire.columns import labels
from service.wire.formats.inputs import MISSING
from service.wire.formats.missing_cells import without_missing
from service.wire.formats.query_options import Decoded
from service.wire.limits import Limits
from service.wire.media_types import JSON

_LEVEL = 0.95
_RULES = [{"metric": area, "max_drop": 0, "confidence": _LEVEL} for area in AREAS_WITH_INTERVALS]
_OF_EVERY_COMPARISON = {"one_vs_rest", "not_a_sweep", "bounded", "below_chance", "rows_left_out"}
"""Warnings that the comparison itself has."""

Evaluations = Sequence[Mapping[str, Any]]
"""The evaluations of a comparison, each with its name."""


@dataclass(frozen=True, slots=True)
class Differences:
    """The differences of the others from the first, as {name: checks of a gate}, and the warnings about them."""

    checks: dict[str, list[dict[str, Any]]]
    paired: bool
    warnings: list[dict[str, str]]

    def lines(self) -> Iterable[str]:
        """Format them, a row for each area below each classifier's name."""
        how = "paired" if self.paired else "not paired"
        yield f"Differences from the first, with {percent(_LEVEL)} % intervals, {how}"
        every = [check for checks in self.checks.values() for check in checks]
        head, *lines = table_lines([["", "difference", "interval", "p", "verdict"], *map(_cells, every)], "<>>><")
        yield f"  {head}"
        for place, name in enumerate(self.checks):
            yield f"  {name}"
            yield from (f"  {line}" for line in lines[place * len(_RULES) : (place + 1) * len(_RULES)])
        if any(check["interval"] is None for check in every):
            yield "  -  a warning says why."
        if any(warning["code"] == "maybe_paired" for warning in self.warnings):
            yield "  The labels agree row by row: if the rows are the same examples, add --paired."

    def told(self) -> list[dict[str, str]]:
        """The warnings that `lines` does not already mention."""
        return [warning for warning in self.warnings if warning["code"] != "maybe_paired"]


def _cells(check: Mapping[str, Any]) -> list[str]:
    difference, interval, p = check["difference"], check["interval"], check["p_value"]
    return [
        check["rule"]["metric"],
        "-" if difference is None else f"{difference:+.6f}",
        "-" if interval is None else f"{interval['lower']:+.6f} to {interval['upper']:+.6f}",
        "-" if p is None else f"{p:.3g}",
        _verdict(interval),
    ]


def _verdict(interval: Mapping[str, float] | None) -> str:
    """What the interval of a difference shows."""
    if interval is None or interval["lower"] <= 0 <= interval["upper"]:
        return "undecided"
    return "higher" if interval["lower"] > 0 else "lower"


def _beside(other: Mapping[str, Any], first: dict[str, Any]) -> dict[str, Any]:
    """The first as the baseline of another, from which it must not inherit what labels and scores mean."""
    first = {"lower_is_positive": False} | first
    if "labels" in first and "positive_label" in other and "positive_label" not in first:
        found: Any = without_missing(Decoded(first)).document
        first = found | {"labels": labels(found["labels"], None).positive.tolist(), "positive_label": True}
    return {key: value for key, value in first.items() if key != MISSING}  # it is an option of the request


def differences(evaluations: Evaluations, most: Limits, *, paired: bool) -> Differences:
    """Compare each evaluation with the first; a problem is printed and ends the command."""
    first, *others = ({key: value for key, value in each.items() if key != "name"} for each in evaluations)
    names = [each["name"] for each in evaluations]
    checks, warnings = {}, []
    for name, other in zip(names[1:], others, strict=True):
        document = other | {"baseline": _beside(other, first), "paired": paired, "rules": _RULES}
        result = answer_decoded(Request("gates", "/v1/gates", JSON, JSON, (), b""), Decoded(document), most)
        answer = orjson.loads(result.body)
        if is_problem(result):
            errors = [error | {"pointer": ""} for error in answer.get("errors", [])]
            fail(problem_lines(answer | {"errors": errors}, f"{names[0]}, {name}"))
        checks[name] = answer["checks"]
        warnings += [each for each in answer["warnings"] if each["code"] not in _OF_EVERY_COMPARISON | {"loose_rule"}]
    unique = [each for place, each in enumerate(warnings) if each not in warnings[:place]]
    return Differences(checks, paired, unique)
