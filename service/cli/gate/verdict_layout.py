"""The layout of a verdict: a table of the checks, the reasons, the warnings, and the verdict last.

Knows the answer of POST /v1/gates. Text is coloured; the printing code removes colours where necessary.
"""

import sys
from collections.abc import Iterable, Iterator
from typing import Any

import click

from service.cli.layout import (
    FRACTION_DECIMALS,
    IN_USE,
    clusters_text,
    dash_lines,
    direction_lines,
    fraction,
    in_full,
    objects,
    table_lines,
    text_lines,
    warning_lines,
    width,
)
from service.inference.rules import Rule, percent
from service.wire.answers.gate_reports import has_baseline, rows_needed
from service.wire.answers.slice_reports import listed_slices

STATUSES = {"passed": "green", "failed": "red", "undecided": "yellow"}
"""{status of a check or of the gate: its colour}"""

_NOT_SHOWN = {
    "value": "the metric has none, as the reasons say",
    **dict.fromkeys(("interval", "method"), "not asked for, or a warning says why"),
    "baseline": "the metric has no value there, or the rule is over slices or classes",
    "difference": "one of the two has no value",
    "p": "given for roc, and with the interval of a difference",
}

_BOUND_SIGNS = {
    "min": ">=",
    "max": "<=",
    "max_drop": "drop <=",
    "max_relative_drop": "relative drop <=",
    "max_rise": "rise <=",
    "max_gap": "gap <=",
}


def verdict_lines(document: dict[str, Any], scores: str, baseline: str | None) -> Iterator[str]:
    """Format an answer; `scores` and `baseline` are the names of the files."""
    yield scores
    if baseline is not None or has_baseline(document):
        yield f"against {baseline or 'a baseline'}, {'paired' if document['paired'] else 'not paired'}"
    if "prevalence" in document:
        yield f"{IN_USE} {in_full(document['prevalence'])}"
    if "clusters" in document:
        yield clusters_text(document["clusters"])
    if document["checks"]:
        yield ""
        yield from _check_lines(document["checks"])
    reasons = [check["reason"] for check in document["checks"] if check["reason"]]
    if reasons:
        yield ""
        yield "Reasons"
        for reason in [*reasons, *rows_needed(document["checks"])]:
            yield from text_lines(reason)
    for check in document["checks"]:
        yield from _slice_lines(Rule.read(check["rule"]), check)
    yield from direction_lines(document)
    yield from warning_lines(document, said="below_chance")
    yield ""
    yield _verdict_line(document)


def _check_lines(checks: list[dict[str, Any]]) -> Iterable[str]:
    """Format the checks, without empty columns."""
    rules = [Rule.read(check["rule"]) for check in checks]
    names = [rule.title for rule in rules]
    pairs = list(zip(rules, checks, strict=True))
    marked = [(check, ", warns" * (rule.warns and check["status"] != "passed")) for rule, check in pairs]
    columns = {
        "value": [_number(rule, check["value"]) for rule, check in pairs],
        "bound": [_bound(rule) for rule in rules],
        "interval": [_interval(rule, check) for rule, check in pairs],
        "method": ["-" if check["interval"] is None else check["interval"]["method"] for check in checks],
        "baseline": [fraction(check["baseline"]) for check in checks],
        "difference": [_number(rule, check["difference"], difference=True, sign="+") for rule, check in pairs],
        "p": ["-" if check["p_value"] is None else f"{check['p_value']:.3g}" for check in checks],
    }
    columns = {head: cells for head, cells in columns.items() if set(cells) != {"-"} or head == "value"}
    status = [click.style(f"{check['status']}{warns}", fg=STATUSES.get(check["status"])) for check, warns in marked]
    rows = [
        list(row)
        for row in zip(*([head, *cells] for head, cells in (columns | {"status": status}).items()), strict=True)
    ]
    sides = "".join("<" if head == "method" else ">" for head in columns) + "<"
    yield from _fitted(names, rows, sides)
    yield from dash_lines(rows, _NOT_SHOWN)


def _slice_lines(rule: Rule, check: dict[str, Any]) -> Iterator[str]:
    """List the slices of a check that are not met."""
    listed = listed_slices(check)
    if listed is None:
        return
    yield ""
    parts = "Classes" if rule.classes else "Slices"
    yield from (line.removeprefix("  ") for line in text_lines(f"{parts}: {rule.title} {_bound(rule)}"))
    sides = "<" * listed.keys + ">" * (len(listed.header) - listed.keys - 1) + "<"
    yield from table_lines([listed.header, *listed.rows], sides)
    if listed.ending:
        yield f"  {listed.ending}"


def _fitted(names: list[str], rows: list[list[str]], sides: str) -> Iterable[str]:
    """Align the rows of checks, given with their header, so that they fit the terminal.

    If lines are too long, each name gets its own line; if they still do not fit, each cell does.
    """
    table = list(table_lines([[name, *row] for name, row in zip(["check", *names], rows, strict=True)], "<" + sides))
    if _length(table) <= width():
        yield from table
        return
    head, *lines = table_lines(rows, sides)
    if sys.stdout.isatty() and _length([head, *lines]) + 2 > width():
        for name, row in zip(names, rows[1:], strict=True):
            yield f"  {name}"
            yield from (
                f"  {line}" for line in table_lines([list(pair) for pair in zip(rows[0], row, strict=True)], "<<")
            )
        return
    yield f"  {head}"
    for name, line in zip(names, lines, strict=True):
        yield f"  {name}"
        yield f"  {line}"


def _length(lines: list[str]) -> int:
    return max(len(click.unstyle(line)) for line in lines)


def _bound(rule: Rule) -> str:
    """Format the bound of a metric."""
    unless = "unless disproven, " if rule.is_lenient else ""
    sure = "" if rule.confidence is None else f" ({unless}{percent(rule.confidence)} %)"
    return f"{_BOUND_SIGNS[rule.kind]} {in_full(rule.bound)}{sure}"


def _number(rule: Rule, number: float | None, *, difference: bool = False, sign: str = "") -> str:
    """Format a value or a difference so that it is seen to meet the bound or not."""
    return "-" if number is None else rule.written(number, FRACTION_DECIMALS, difference=difference, sign=sign)


def _interval(rule: Rule, check: dict[str, Any]) -> str:
    """Format the interval; one of the difference is marked as such, others are of the value."""
    interval, of_change = check["interval"], rule.is_change
    if interval is None:
        return "-"
    ends = (_number(rule, interval[end], difference=of_change) for end in ("lower", "upper"))
    return f"{'difference ' if of_change else ''}{' to '.join(ends)}"


def _verdict_line(document: dict[str, Any]) -> str:
    verdict = document["status"]
    statuses = [check["status"] for check in document["checks"] if not _only_warns(check)]
    counts = [f"{statuses.count(status)} {status}" for status in STATUSES if status in statuses]
    warned = [f"{document['warned']} warned"] if document.get("warned") else []
    counted = ", ".join([*counts, *warned]) or "no rule was checked"
    return click.style(f"Gate {verdict}: {counted}.", fg=STATUSES[verdict], bold=True)


def _only_warns(check: dict[str, Any]) -> bool:
    """Whether a check that is not passed does not count."""
    rule = check.get("rule")
    return isinstance(rule, dict) and rule.get("severity") == "warn" and check.get("status") != "passed"


def is_verdict(document: dict[str, Any]) -> bool:
    """Whether a verdict has checks, and is the worst of theirs: the status must not be better than what is shown."""
    if not {"status", "paired", "checks", "warnings"} <= document.keys():
        return False
    checks = objects(document["checks"])
    found = [check.get("status") for check in checks if not _only_warns(check)]
    worst = next((status for status in ("failed", "undecided") if status in found), "passed" if checks else None)
    if worst != document["status"] or any(check.get("status") not in tuple(STATUSES) for check in checks):
        return False
    try:
        return bool(list(verdict_lines(document, "", None)))
    except (AttributeError, KeyError, TypeError, ValueError):  # what cannot be shown
        return False
