"""How certain the differences between classifiers are: a gate compares each with the first, area by area.

Knows what a gate answers, and how a table of differences is laid out; nothing of files.
"""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import Any

import orjson

from service.cli.asking import Question
from service.cli.explaining import problem_lines, told_of_options
from service.cli.layout import p_value_lines, table_lines
from service.inference.rules import AREAS_WITH_INTERVALS, percent
from service.wire.answers.parts import Document
from service.wire.columns import labels
from service.wire.formats.missing_cells import without_missing
from service.wire.formats.query_options import MISSING, Decoded
from service.wire.media_types import JSON

_LEVEL = 0.95
_RULES = [{"metric": area, "max_drop": 0, "confidence": _LEVEL} for area in AREAS_WITH_INTERVALS]
_OF_EVERY_COMPARISON = {"one_vs_rest", "not_a_sweep", "bounded", "below_chance", "rows_left_out"}
"""Warnings that the comparison itself has."""


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
        yield from p_value_lines(every)
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


def differences(question: Question, *, paired: bool) -> Differences:
    """Compare each evaluation with the first; a problem is printed and ends the command."""
    decoded = question.decoded
    if not question.parts[0].place:
        decoded = without_missing(decoded)
    found: Any = decoded.document
    common = {key: found[key] for key in (MISSING,) if key in found}
    first, *others = ({key: each[key] for key in each if key != "name"} | common for each in found["evaluations"])
    names = [each["name"] for each in found["evaluations"]]
    checks, warnings = {}, []
    for name, other in zip(names[1:], others, strict=True):

        def explain(problem: Document, files: str = f"{names[0]}, {name}") -> Iterable[str]:
            errors = [error | {"pointer": ""} for error in problem.get("errors", [])]
            return problem_lines(problem, files, told_of_options(errors, {}))

        document = other | {"baseline": _beside(other, first), "paired": paired, "rules": _RULES}
        answer = orjson.loads(question.ask_with("gates", Decoded(document), JSON, explain))
        checks[name] = answer["checks"]
        warnings += [each for each in answer["warnings"] if each["code"] not in _OF_EVERY_COMPARISON | {"loose_rule"}]
    unique = [each for place, each in enumerate(warnings) if each not in warnings[:place]]
    return Differences(checks, paired, unique)
