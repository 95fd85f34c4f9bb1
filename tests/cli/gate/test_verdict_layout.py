"""A verdict for a reader: as a whole, in its width, and in colours."""

import re
from types import SimpleNamespace
from typing import Any

import click
import pytest

from service.cli.gate.verdict_layout import verdict_lines
from tests.support.verdicts import check, document

LOGIT = {"lower": 0.9812345, "upper": 0.9987, "level": 0.95, "method": "logit", "standard_error": 0.003}


def laid_out(*checks: dict[str, Any], baseline: str | None = None, **fields: Any) -> list[str]:
    return [click.unstyle(line) for line in verdict_lines(document(*checks, **fields), "new.csv", baseline)]


def test_a_verdict_as_a_whole() -> None:
    lines = laid_out(
        check(value=0.9948205697, rule={"metric": "roc", "min": 0.9, "confidence": 0.95}, interval=LOGIT),
        check(
            "failed",
            rule={"metric": "roc_hull", "min": 0.99},
            value=0.9764150943,
            reason="roc_hull is 0.9764, below min 0.99.",
        ),
        check("undecided", rule={"metric": "pr", "max": 1}, reason="pr has no value."),
        warnings=({"code": "interval_omitted", "detail": "There is none."},),
    )
    assert lines == [
        "new.csv",
        "",
        "  check        value          bound              interval  method  status",
        "  roc       0.994821  >= 0.9 (95 %)  0.981235 to 0.998700  logit   passed",
        "  roc_hull  0.976415        >= 0.99                     -  -       failed",
        "  pr               -           <= 1                     -  -       undecided",
        "  -  value: the metric has none, as the reasons say; interval, method: not asked",
        "    for, or a warning says why",
        "",
        "Reasons",
        "  roc_hull is 0.9764, below min 0.99.",
        "  pr has no value.",
        "",
        "Warnings",
        "  interval_omitted: There is none.",
        "",
        "Gate failed: 1 passed, 1 failed, 1 undecided.",
    ]


def test_digits_never_cross_the_bound() -> None:
    """A value just below its minimum does not look like one that meets it, nor one below 1 like 1."""
    interval = {**LOGIT, "lower": 0.9799999, "upper": 0.9999999}
    lines = laid_out(
        check("failed", rule={"metric": "roc", "min": 0.98}, value=0.9799999),
        check("failed", rule={"metric": "pr", "min": 0.98, "confidence": 0.95}, value=0.99, interval=interval),
        check(rule={"metric": "roc_hull", "max": 0.98}, value=0.98),
    )
    assert lines[3:6] == [
        "  roc       0.9799999         >= 0.98                       -  -       failed",
        "  pr         0.990000  >= 0.98 (95 %)  0.9799999 to 0.9999999  logit   failed",
        "  roc_hull   0.980000         <= 0.98                       -  -       passed",
    ]


def test_a_line_that_is_too_long_has_the_name_above() -> None:
    drop = {"metric": "recall_at_precision", "at": 0.95, "max_drop": 0.0125, "confidence": 0.999, "prove": "drop"}
    numbers = {"value": 0.9, "baseline": 0.92, "difference": -0.02, "p_value": 1.25e-7, "interval": LOGIT}
    lines = laid_out(check(rule=drop, **numbers), baseline="old.csv", paired=True)
    assert lines[:2] == ["new.csv", "against old.csv, paired"]
    names, table = lines[4::2][:1], lines[3:6:2]
    assert names == ["  recall_at_precision at precision 0.95"]
    head, row = (re.split(r"  +", line.strip()) for line in table)
    assert head == ["value", "bound", "interval", "method", "baseline", "difference", "p", "status"]
    assert row == [
        "0.900000",
        "drop <= 0.0125 (unless disproven, 99.9 %)",
        "difference 0.981235 to 0.998700",
        "logit",
        "0.920000",
        "-0.020000",
        "1.25e-07",
        "passed",
    ]
    assert len(table[0]) - len("status") == len(table[1]) - len("passed")


def test_a_terminal_that_would_break_lines_gets_shorter_ones(monkeypatch: pytest.MonkeyPatch) -> None:
    """Nothing is broken within a row; a file keeps its table."""
    drop = {"metric": "recall_at_precision", "at": 0.95, "max_drop": 0.01, "confidence": 0.95}
    numbers = {"value": 0.9, "baseline": 0.92, "difference": -0.02, "p_value": 1.25e-7, "interval": LOGIT}
    in_a_file = laid_out(check(rule=drop, **numbers), check(value=1.0))[:6]
    longest = max(map(len, in_a_file))
    assert longest > 80
    monkeypatch.setattr("sys.stdout", SimpleNamespace(isatty=lambda: True))
    monkeypatch.setenv("COLUMNS", str(longest))
    assert laid_out(check(rule=drop, **numbers), check(value=1.0))[:6] == in_a_file
    monkeypatch.setenv("COLUMNS", str(longest - 1))
    lines = laid_out(check(rule=drop, **numbers), check(value=1.0))
    assert lines[3:12] == [
        "  recall_at_precision at precision 0.95",
        "    value       0.900000",
        "    bound       drop <= 0.01 (95 %)",
        "    interval    difference 0.981235 to 0.998700",
        "    method      logit",
        "    baseline    0.920000",
        "    difference  -0.020000",
        "    p           1.25e-07",
        "    status      passed",
    ]
    assert lines[12] == "  roc"
    assert max(map(len, lines[: lines.index("", 3)])) <= longest - 1


@pytest.mark.parametrize("columns", [40, 60, 200])
def test_sentences_are_as_wide_as_the_terminal(monkeypatch: pytest.MonkeyPatch, columns: int) -> None:
    monkeypatch.setenv("COLUMNS", str(columns))
    reason = "word " * 40
    lines = laid_out(check("failed", reason=reason), warnings=({"code": "x", "detail": reason},))
    assert columns - 5 < max(map(len, lines)) <= columns
    assert " ".join(lines).split().count("word") == 80


def test_columns_that_are_empty_are_left_out() -> None:
    lines = laid_out(check(value=1.0), check(value=0.95))
    assert lines[2:5] == [
        "  check     value   bound  status",
        "  roc    1.000000  >= 0.9  passed",
        "  roc    0.950000  >= 0.9  passed",
    ]
    assert lines[-1] == "Gate passed: 2 passed."
    assert not any(re.search(r"[ \t]$", line) for line in lines)


def test_bounds_keep_their_digits() -> None:
    bound = 0.12345678901234567
    (row,) = (line for line in laid_out(check(value=1, rule={"metric": "roc", "min": bound})) if "roc" in line)
    assert f">= {bound!r}" in row


@pytest.mark.parametrize(
    ("statuses", "verdict"),
    [
        (["passed"], "passed"),
        (["passed", "failed", "undecided"], "failed"),
        (["passed", "undecided"], "undecided"),
    ],
)
def test_the_last_line_is_the_verdict(statuses: list[str], verdict: str) -> None:
    *_, last = laid_out(*(check(status) for status in statuses))
    assert last.startswith(f"Gate {verdict}: ")


def test_colours_change_no_column() -> None:
    checks = [check("failed", value=0.5, reason="No.")]
    document = {"passed": False, "status": "failed", "paired": False, "checks": checks, "warnings": []}
    lines = list(verdict_lines(document, "new.csv", None))
    assert [click.unstyle(line) for line in lines] == laid_out(check("failed", value=0.5, reason="No."))
    assert click.style("failed", fg="red") in lines[3]
    assert lines[-1] == click.style("Gate failed: 1 failed.", fg="red", bold=True)
