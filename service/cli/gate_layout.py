"""How a verdict is laid out for a reader: a table of the checks, the reasons, the warnings, and the verdict last.

Knows the answer of POST /v1/gates. Text is coloured; whoever prints it takes the colours out where they do not belong.
"""

import textwrap
from collections.abc import Iterable, Iterator
from typing import Any

import click

from service.cli.layout import WIDTH, fraction, in_full, table_lines, warning_lines
from service.inference.rules import Rule

STATUSES = {"passed": "green", "failed": "red", "undecided": "yellow"}
"""What a check may come to, and the colour of each."""

_SIGNS = {"min": ">=", "max": "<=", "max_drop": "drop <="}


def verdict_of(document: dict[str, Any]) -> str:
    """Name what the whole comes to: failed where a check is, else undecided where one is."""
    if document["passed"] is True:
        return "passed"
    return "failed" if any(check["status"] == "failed" for check in document["checks"]) else "undecided"


def verdict_lines(document: dict[str, Any], scores: str, baseline: str | None) -> Iterator[str]:
    """Lay out an answer; `scores` and `baseline` are the names of the files."""
    yield scores
    if baseline is not None:
        yield f"against {baseline}{', paired' if document['paired'] else ', not paired'}"
    yield ""
    yield from _check_lines(document["checks"])
    reasons = [check["reason"] for check in document["checks"] if check["reason"]]
    if reasons:
        yield ""
        yield "Reasons"
        for reason in reasons:
            yield from textwrap.wrap(reason, WIDTH, initial_indent="  ", subsequent_indent="    ")
    yield from warning_lines(document)
    yield ""
    yield _verdict_line(document)


def _check_lines(checks: list[dict[str, Any]]) -> Iterable[str]:
    """Lay out the checks without the columns that are empty; where lines get long, with each name on one of its own."""
    names = [str(Rule(**check["rule"]).of) for check in checks]
    columns = {
        "value": [fraction(check["value"]) for check in checks],
        "bound": [_bound(Rule(**check["rule"])) for check in checks],
        "interval": [_interval(check["interval"]) for check in checks],
        "baseline": [fraction(check["baseline"]) for check in checks],
        "difference": ["-" if check["difference"] is None else f"{check['difference']:+.6f}" for check in checks],
        "p": ["-" if check["p_value"] is None else f"{check['p_value']:.3g}" for check in checks],
    }
    columns = {head: cells for head, cells in columns.items() if set(cells) != {"-"} or head == "value"}
    status = [click.style(check["status"], fg=STATUSES.get(check["status"])) for check in checks]
    rows = [
        list(row)
        for row in zip(*([head, *cells] for head, cells in (columns | {"status": status}).items()), strict=True)
    ]
    sides = ">" * len(columns) + "<"
    table = list(table_lines([[name, *row] for name, row in zip(["check", *names], rows, strict=True)], "<" + sides))
    if max(len(click.unstyle(line)) for line in table) <= WIDTH:
        yield from table
        return
    head, *lines = table_lines(rows, sides)
    yield f"  {head}"
    for name, line in zip(names, lines, strict=True):
        yield f"  {name}"
        yield f"  {line}"


def _bound(rule: Rule) -> str:
    """Write what is asked of the metric."""
    sure = [] if rule.confidence is None else [f"{in_full(round(100 * rule.confidence, 9)).removesuffix('.0')} %"]
    proven = [] if rule.prove is None else ["proven"]
    how = f" ({', '.join(sure + proven)})" if sure else ""
    return f"{_SIGNS[rule.kind]} {in_full(rule.bound)}{how}"


def _interval(interval: dict[str, Any] | None) -> str:
    return "-" if interval is None else f"{fraction(interval['lower'])} to {fraction(interval['upper'])}"


def _verdict_line(document: dict[str, Any]) -> str:
    verdict = verdict_of(document)
    statuses = [check["status"] for check in document["checks"]]
    counted = ", ".join(f"{statuses.count(status)} {status}" for status in STATUSES if status in statuses)
    return click.style(f"Gate {verdict}: {counted}.", fg=STATUSES[verdict], bold=True)
