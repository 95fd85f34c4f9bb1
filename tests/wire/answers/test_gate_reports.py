"""Reports of a verdict: a Markdown table and a JUnit file that their readers accept."""

from __future__ import annotations

import re
from pathlib import Path
from typing import Any
from xml.etree import ElementTree as ET

import pytest
from hypothesis import given
from junitparser import Error, Failure, JUnitXml

from service.inference.intervals import IntervalOptions
from service.inference.rules import BOUNDS, Rule
from service.wire.answers.gate_reports import SUITE, junit_report, markdown_report, numbers_of
from tests.support.gate_requests import BASELINES, FEW, ONE, Request, every_rule, requests
from tests.support.junit_facts import check_junit
from tests.support.strategies import Rows, examples
from tests.support.verdicts import check, document, document_of, word

COLUMNS = ["", "rule", "value", "interval", "baseline", "difference", "p"]
STATUSES = {"passed": "✅ passed", "failed": "❌ failed", "undecided": "❔ undecided"}


def cells(line: str) -> list[str]:
    """The cells of a row in GitHub's Markdown: a bar ends a cell unless a backslash precedes it."""
    assert line.startswith("| ")
    assert line.endswith(" |")
    return [cell.strip() for cell in re.split(r"(?<!\\)\|", line[1:-1])]


def table_of(report: str) -> list[list[str]]:
    """The rows of a report's table, without the delimiter row."""
    lines = report.split("\n")
    first = next(number for number, line in enumerate(lines) if line.startswith("|"))
    rows = [cells(line) for line in lines[first:] if line.startswith("|")]
    assert lines[first - 1] == ""
    assert all(re.fullmatch(r":?-{3,}:?", cell) for cell in rows[1])
    assert {len(row) for row in rows} == {len(COLUMNS)}
    return [rows[0], *rows[2:]]


@pytest.mark.parametrize(
    ("rule", "text"),
    [
        ({"metric": "roc", "min": 0.8}, "roc at least 0.8"),
        ({"metric": "fpr", "at_threshold": 0.5, "max": 1.0}, "fpr at threshold 0.5 at most 1"),
        ({"metric": "pr", "max_drop": 0.0123456789}, "pr drop at most 0.0123456789"),
        ({"metric": "pr", "max_relative_drop": 0.05}, "pr relative drop at most 0.05"),
        ({"metric": "roc", "min": 0.8, "confidence": 0.95}, "roc at least 0.8, with 95 % confidence"),
        (
            {"metric": "tpr_at_fpr", "at": 0.1, "max_drop": 0, "confidence": 0.999, "prove": "drop"},
            "tpr_at_fpr at fpr 0.1 drop at most 0, unless disproven with 99.9 % confidence",
        ),
    ],
)
def test_a_rule_is_a_phrase(rule: dict[str, Any], text: str) -> None:
    assert Rule.read(rule).phrase == text


def test_numbers_of_a_check() -> None:
    assert numbers_of(check()) == ["–"] * 5
    interval = {"lower": 0.98123, "upper": 1.0, "level": 0.9, "method": "logit", "standard_error": 0.003}
    numbers = {"value": 0.99, "interval": interval, "baseline": 1, "difference": -0.01, "p_value": 0.00012345}
    expected = ["0.9900", "0.9812 to 1.0000 (logit)", "1.0000", "-0.0100", "0.000123"]
    assert numbers_of(check(**numbers)) == expected
    assert numbers_of(check(difference=0.25))[3] == "+0.2500"
    assert numbers_of(check("failed", value=0.89999))[0] == "0.89999"
    drop = {"metric": "roc", "max_drop": 0.01}
    rounded = {"value": 0.84, "baseline": 0.85, "difference": 0.84 - 0.85}
    assert numbers_of(check(rule=drop, **rounded))[3] == "-0.0100"
    assert numbers_of(check("failed", rule=drop, **{**rounded, "difference": -0.010004}))[3] == "-0.010004"


class TestMarkdown:
    def test_a_report_as_a_whole(self) -> None:
        report = markdown_report(
            document(
                check(value=0.95),
                check("failed", value=0.5, reason="roc is 0.5, below min 0.9."),
                check("undecided", reason="roc has no value."),
                warnings=({"code": "not_a_sweep", "detail": "No curve."},),
            )
        )
        assert report == (
            "### Gate failed ❌\n"
            "\n"
            "|  | rule | value | interval | baseline | difference | p |\n"
            "| --- | --- | ---: | ---: | ---: | ---: | ---: |\n"
            "| ✅ passed | roc at least 0.9 | 0.9500 | – | – | – | – |\n"
            "| ❌ failed | roc at least 0.9 | 0.5000 | – | – | – | – |\n"
            "| ❔ undecided | roc at least 0.9 | – | – | – | – | – |\n"
            "\n"
            "- roc is 0.5, below min 0.9.\n"
            "- roc has no value.\n"
            "\n"
            "Warnings:\n"
            "\n"
            "- not_a_sweep: No curve.\n"
        )

    @pytest.mark.parametrize(
        ("names", "baseline", "paired", "line"),
        [
            ((), None, False, None),
            ((), 0.5, False, "Against a baseline, not paired."),
            ((), None, True, "Against a baseline, paired."),
            (("new.csv",), None, False, "`new.csv`."),
            (("new.csv",), 0.5, True, "`new.csv` against a baseline, paired."),
            (("new.csv", "old.csv"), None, False, "`new.csv` against `old.csv`, not paired."),
            (("a`b``.csv", "*x*|\n\x00.csv"), 0.5, False, "``` a`b``.csv ``` against `*x*| \ufffd.csv`, not paired."),
            (("\udcff", "`"), 0.5, False, "`\ufffd` against `` ` ``, not paired."),
        ],
    )
    def test_what_was_compared(
        self, names: tuple[str, ...], baseline: float | None, *, paired: bool, line: str
    ) -> None:
        whole = document(check(value=0.95, baseline=baseline)) | {"paired": paired}
        heading, empty, *lines = markdown_report(whole, *names).split("\n")
        assert (heading, empty) == ("### Gate passed ✅", "")
        assert lines[:2] == ([line, ""] if line else ["|  | " + " | ".join(COLUMNS[1:]) + " |", lines[1]])

    def test_a_passed_gate_needs_no_reasons(self) -> None:
        report = markdown_report(document(check(value=1.0)))
        assert report.startswith("### Gate passed ✅\n\n|")
        assert report.endswith("| 1.0000 | – | – | – | – |\n")

    @given(requests())
    @examples(40)
    def test_every_verdict_is_a_table(self, request_: Request) -> None:
        whole = document_of(request_.gate())
        report = markdown_report(whole)
        status = word(*(each["status"] for each in whole["checks"]))
        assert report.startswith(f"### Gate {status} {STATUSES[status].split()[0]}\n\n")
        header, *rows = table_of(report)
        assert header == COLUMNS
        for row, each in zip(rows, whole["checks"], strict=True):
            assert row == [STATUSES[each["status"]], Rule.read(each["rule"]).phrase, *numbers_of(each)]
        reasons = [line[2:] for line in report.split("\n") if line.startswith("- ")]
        assert reasons[: len(reasons) - len(whole["warnings"])] == [
            each["reason"] for each in whole["checks"] if each["reason"]
        ]

    def test_nothing_that_is_given_has_a_place_in_it(self) -> None:
        """No name or text from the caller is shown, and no cell or sentence has a bar or a control character."""
        intervals = IntervalOptions(resamples=FEW)
        for baseline, paired in (BASELINES["paired"], BASELINES["counts"]):
            for bound in (0.0, 1.0):
                rules = [rule | {kind: bound for kind in BOUNDS if kind in rule} for rule in every_rule()]
                request = Request(ONE, baseline, rules, paired=paired, intervals=intervals)
                report = markdown_report(document_of(request.gate()))
                assert all(line.isprintable() for line in report.split("\n"))
                assert "\\" not in report
                assert len(table_of(report)) == 1 + len(rules)


class TestJUnit:
    @given(requests())
    @examples(40)
    def test_every_verdict_is_a_suite(self, request_: Request) -> None:
        whole = document_of(request_.gate())
        root = ET.fromstring(junit_report(whole))
        cases = list(root.iter("testcase"))
        statuses = [each["status"] for each in whole["checks"]]
        for suite in (root, *root.iter("testsuite")):
            assert suite.get("name") == SUITE
            assert suite.get("tests") == str(len(statuses))
            assert suite.get("failures") == str(statuses.count("failed"))
            assert suite.get("errors") == str(statuses.count("undecided"))
            assert suite.get("skipped") == "0"
        for case, each in zip(cases, whole["checks"], strict=True):
            assert case.get("name").startswith(Rule.read(each["rule"]).phrase)
            ended = [child for child in case if child.tag != "system-out"]
            tags = {"passed": [], "failed": ["failure"], "undecided": ["error"]}
            assert [child.tag for child in ended] == tags[each["status"]]
            assert [child.get("message") for child in ended] == [each["reason"]] * len(ended)
            assert all(number in case.find("system-out").text for number in numbers_of(each))

    def test_its_readers_can_read_it(self, tmp_path: Path) -> None:
        """It fits Jenkins' schema, has distinct names, and Jenkins' own library can read it."""
        undecided = {"metric": "precision", "at_threshold": 9.0, "min": 0.5}
        failing = {"metric": "roc", "min": 1.0}
        rules = [{"metric": "roc", "min": 0.1}, failing, undecided, failing, failing | {"min": 0.9999999}]
        path = tmp_path / "junit.xml"
        path.write_bytes(junit_report(document_of(Request(ONE, None, rules).gate())))
        assert check_junit(path) == ["passed", "failure", "error", "failure", "failure"]
        (suite,) = JUnitXml.fromfile(str(path))
        assert [case.name for case in suite] == [
            "roc at least 0.1",
            "roc at least 1",
            "precision at threshold 9 at least 0.5",
            "roc at least 1 (2)",
            "roc at least 0.9999999",
        ]
        assert [type(result) for case in suite for result in case.result] == [Failure, Error, Failure, Failure]

    def test_warnings_are_there(self, tmp_path: Path) -> None:
        no_sweep = Rows([2, 1], [1, 2], 3, 3)
        path = tmp_path / "junit.xml"
        path.write_bytes(junit_report(document_of(Request(no_sweep, None, [{"metric": "roc", "min": 0.5}]).gate())))
        assert check_junit(path) == ["error"]
        (suite,) = JUnitXml.fromfile(str(path))
        assert [each.name for each in suite.properties()] == ["not_a_sweep"]

    @pytest.mark.parametrize(
        ("names", "baseline", "paired", "properties"),
        [
            ((), None, False, {}),
            ((), 0.5, False, {"paired": "false"}),
            ((), 0.5, True, {"paired": "true"}),
            (("new.csv",), None, False, {"scores": "new.csv"}),
            (("<\x00>", "\udcff"), None, True, {"scores": "<\ufffd>", "baseline": "\ufffd", "paired": "true"}),
        ],
    )
    def test_what_was_compared(
        self,
        tmp_path: Path,
        names: tuple[str, ...],
        baseline: float | None,
        *,
        paired: bool,
        properties: dict[str, str],
    ) -> None:
        path = tmp_path / "junit.xml"
        path.write_bytes(junit_report(document(check(value=0.95, baseline=baseline)) | {"paired": paired}, *names))
        assert check_junit(path) == ["passed"]
        (suite,) = JUnitXml.fromfile(str(path))
        assert {each.name: each.value for each in suite.properties()} == properties

    @pytest.mark.parametrize("text", ["<&>\"'", "]]>", "a|b", "λ ≥ ½", "\N{GRINNING FACE}"])
    def test_any_printable_text_is_escaped(self, text: str) -> None:
        """Our verdicts have no such text, but a document of another server is laid out, too."""
        whole = document(check("failed", reason=text), warnings=({"code": "x", "detail": text},))
        (failure,) = ET.fromstring(junit_report(whole)).iter("failure")
        assert failure.get("message") == text
        assert len(table_of(markdown_report(whole))) == 2


@given(requests())
def test_markdown_links_and_loads_nothing(request: Request) -> None:
    report = markdown_report(document_of(request.gate()), "![a](http://a/b.png)", "<img src=http://a> [b]: http://b")
    prose = re.sub(r"(`+) ?.*? ?\1", "", report)  # text in code is not markup
    assert not re.search(r"\]\(|\]:|<\w|https?:", prose)


@pytest.mark.parametrize(
    "label",
    [
        "![x](http://a.b/c)",
        "<img src=x>",
        "[a]: http://b",
        "www.a.b",
        "@team",
        "#12",
        "`a`",
        "*a*",
        "_a_",
        "$a$",
        ":a:",
    ],
)
def test_a_label_within_a_sentence_is_not_markup(label: str) -> None:
    """A warning names a third label; sites that show the report make more links than Markdown does."""
    warning = {"code": "one_vs_rest", "detail": f"{label!r}, in 2 rows, is positive"}
    report = markdown_report(document(check("failed", reason=f"{label} is wrong"), warnings=(warning,)))
    prose = re.sub(r"(`+) ?.*? ?\1", "", report)
    assert label not in prose
    assert label in report
