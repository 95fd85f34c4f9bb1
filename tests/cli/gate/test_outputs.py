"""`rocpr gate` without a server: its reports, and what it shows on a terminal."""

import json
import os
import pty
import subprocess
from pathlib import Path

import click
import pytest
from junitparser import JUnitXml

from tests.cli.comparing import sample
from tests.cli.gate.gating import (
    ALL,
    COMMAND,
    DROP,
    FAILING,
    PASSING,
    ROOT,
    RULES,
    STATUSES,
    TEN,
    answered,
    rocpr,
    written,
)
from tests.cli.running import refusal


def results(path: Path) -> list[list[tuple[str, str]]]:
    """The kinds and messages in a JUnit report, for each case; none if it passed."""
    return [
        [(result._tag, result.message) for result in case.result]
        for suite in JUnitXml.fromfile(str(path))
        for case in suite
    ]


@pytest.mark.parametrize("text", STATUSES, ids=["passing", "failing", "undecided"])
def test_reports_have_the_result_of_every_rule(tmp_path: Path, text: str) -> None:
    junit, markdown, summary = (tmp_path / name for name in ("gate.xml", "gate.md", "summary"))
    summary.write_text("# Before\n")
    words = [written(tmp_path, text), ALL, "--junit", junit, "--markdown", markdown]
    assert rocpr(*words, GITHUB_STEP_SUMMARY=str(summary)).exit_code == STATUSES[text]
    document = json.loads(answered(sample(ALL) | {"rules": RULES[text]}))
    assert f"\n\n`{ALL}`.\n\n" in markdown.read_text()
    rows = [line for line in markdown.read_text().splitlines() if line.startswith("| ")]
    assert len(rows) == 2 + len(document["checks"])
    assert summary.read_text() == f"# Before\n{markdown.read_text()}\n"
    assert results(junit) == [
        {"passed": [], "failed": [("failure", check["reason"])], "undecided": [("error", check["reason"])]}[
            check["status"]
        ]
        for check in document["checks"]
    ]


@pytest.mark.parametrize("paired", [True, False])
def test_reports_say_what_was_compared(tmp_path: Path, *, paired: bool) -> None:
    junit, markdown = tmp_path / "gate.xml", tmp_path / "gate.md"
    rules = written(tmp_path, f"paired = {str(paired).lower()}\n{DROP}")
    run = rocpr(rules, TEN, "--baseline", ALL, "--junit", junit, "--markdown", markdown)
    assert run.exit_code == (0 if paired else 1), run.stderr
    assert f"\n`{TEN}` against `{ALL}`, {'paired' if paired else 'not paired'}.\n" in markdown.read_text()
    (suite,) = JUnitXml.fromfile(str(junit))
    properties = [(each.name, each.value) for each in suite.properties()]
    assert properties[:3] == [("scores", str(TEN)), ("baseline", str(ALL)), ("paired", str(paired).lower())]


def test_no_summary_outside_of_github(tmp_path: Path) -> None:
    assert rocpr(written(tmp_path, PASSING), ALL, GITHUB_STEP_SUMMARY="").exit_code == 0


@pytest.mark.parametrize("message", ["directory", "rules"])
def test_what_keeps_it_from_a_verdict_is_reported_too(tmp_path: Path, message: str) -> None:
    """The report of an earlier run is replaced, and is valid XML whatever the message contains."""
    junit, markdown, summary = (tmp_path / name for name in ("gate.xml", "gate.md", "summary"))
    junit.write_text("<old/>")
    rules = written(tmp_path, PASSING if message == "rules" else 'x = "')
    table = written(tmp_path, "scores,labels,\x01<b>\n1,1,1\n0,x,1\n", "bad.csv")
    said = refusal(rocpr(rules, table, "--junit", junit, "--markdown", markdown, GITHUB_STEP_SUMMARY=str(summary)))
    (((kind, told),),) = results(junit)
    first = said.splitlines()[0]
    assert kind == "error"
    assert told.startswith(first)
    assert f"\n    {first}\n" in markdown.read_text()
    assert "not decided" in summary.read_text()


def test_a_gate_does_not_pass_if_its_report_cannot_be_written(tmp_path: Path) -> None:
    run = rocpr(written(tmp_path, PASSING), ALL, "--junit", "/dev/full")
    assert run.exit_code == 3
    assert "Gate passed" in run.stdout
    assert "Error: /dev/full: The report cannot be written: No space left on device." in run.stderr


def test_a_gate_that_ends_with_an_error_replaces_an_old_report(tmp_path: Path) -> None:
    report = written(tmp_path, "of another run", "report.xml")
    assert rocpr(written(tmp_path, "rules = 1"), ALL, "--junit", report).exit_code == 3
    assert "of another run" not in report.read_text()


@pytest.mark.parametrize("second", ["report.x", "./report.x", "folder/../report.x"])
@pytest.mark.parametrize("exists", [True, False])
def test_two_reports_need_two_files(tmp_path: Path, second: str, *, exists: bool) -> None:
    (tmp_path / "folder").mkdir()
    report = tmp_path / "report.x"
    if exists:
        report.write_text("of another run")
    said = refusal(rocpr(written(tmp_path, PASSING), ALL, "--junit", report, "--markdown", tmp_path / second))
    assert "need a file each" in said
    assert report.exists() is exists
    assert rocpr(written(tmp_path, PASSING), ALL, "--junit", "/dev/null", "--markdown", "/dev/null").exit_code == 0


@pytest.mark.parametrize(("name", "told"), [("", "Give the name of a file."), ("-", "/dev/stdout")])
def test_what_names_no_file_is_refused_at_once(tmp_path: Path, name: str, told: str) -> None:
    assert told in refusal(rocpr(written(tmp_path, PASSING), ALL, "--junit", name))


# On a terminal.


def on_a_terminal(*words: object, **variables: str) -> str:
    """Run the command with a terminal as its standard output, and return what that shows."""
    clean = {name: text for name, text in os.environ.items() if name not in {"NO_COLOR", "GITHUB_STEP_SUMMARY"}}
    ours, theirs = pty.openpty()
    with subprocess.Popen(
        [*COMMAND, *map(str, words)], cwd=ROOT, stdout=theirs, stderr=theirs, env=clean | {"TERM": "xterm"} | variables
    ) as process:
        os.close(theirs)
        shown = b""
        try:
            while piece := os.read(ours, 1 << 16):
                shown += piece
        except OSError:  # the other side was closed
            pass
        os.close(ours)
        assert process.wait(timeout=120) == 1
    return shown.decode().replace("\r\n", "\n")


def test_colours_on_a_terminal_alone(tmp_path: Path) -> None:
    rules = written(tmp_path, FAILING)
    plain = rocpr(rules, ALL).stdout
    assert "\x1b" not in plain
    shown = on_a_terminal(rules, ALL)
    assert "\x1b[31mfailed\x1b[0m" in shown
    assert "\x1b[32mpassed\x1b[0m" in shown
    assert click.unstyle(shown) == plain


@pytest.mark.all
@pytest.mark.parametrize("variable", ["NO_COLOR=1", "TERM=dumb"])
def test_a_terminal_without_colours_gets_none(tmp_path: Path, variable: str) -> None:
    rules = written(tmp_path, FAILING)
    name, text = variable.split("=")
    assert on_a_terminal(rules, ALL, **{name: text}) == rocpr(rules, ALL).stdout
