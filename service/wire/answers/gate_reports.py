"""A verdict for people and CI servers: Markdown for a job's summary, JUnit XML for its test report.

Both are made from the JSON document, so that a client with the document needs no further request. `scores` and
`baseline` are names of the evaluations, if the client knows them.
"""

import re
from collections import Counter
from collections.abc import Iterable
from io import BytesIO
from typing import Any
from xml.etree import ElementTree as ET

from junitparser import Error, Failure, JUnitXml, TestCase, TestSuite

from service.inference.rules import Rule

SUITE = "rocpr gate"
"""The name of the JUnit suite, and the class of its cases."""

_MARKDOWN = re.compile(r"[\\`*<>\[\]&@#~]|://|www\.", re.IGNORECASE)
"""What may begin markup in Markdown, or what sites that show Markdown turn into a link."""

_NO_XML = re.compile(r"[^\t\n\r\x20-\ud7ff\ue000-\ufffd\U00010000-\U0010ffff]")
"""Characters that XML forbids (XML 1.0, production 2)."""

_MARKS = {"passed": "✅", "failed": "❌", "undecided": "❔"}


def rule_text(rule: dict[str, Any]) -> str:
    """Write a rule as a phrase: `roc at least 0.8, with 95 % confidence`."""
    return Rule.read(rule).phrase


def has_baseline(document: dict[str, Any]) -> bool:
    """Whether there was a baseline, as far as the verdict shows."""
    return bool(document["paired"]) or any(check["baseline"] is not None for check in document["checks"])


def xml_text(text: str) -> str:
    """Replace characters that XML or UTF-8 forbid."""
    return _NO_XML.sub("\N{REPLACEMENT CHARACTER}", text)


def markdown_report(document: dict[str, Any], scores: str | None = None, baseline: str | None = None) -> str:
    """Format a verdict: a heading, what was compared, a table and the reasons."""
    checks = document["checks"]
    lines = [f"### Gate {document['status']} {_MARKS[document['status']]}", ""]
    about = [] if scores is None else [_code(scores)]
    if baseline is not None or has_baseline(document):
        name = "a baseline" if baseline is None else _code(baseline)
        paired = "paired" if document["paired"] else "not paired"
        about.append(f"{'against' if about else 'Against'} {name}, {paired}")
    lines += [f"{' '.join(about)}.", ""] if about else []
    header = ["", "rule", "value", "interval", "baseline", "difference", "p"]
    lines += _row(header), _row(["---", "---", *["---:"] * 5])
    for check in checks:
        lines.append(
            _row([f"{_MARKS[check['status']]} {check['status']}", rule_text(check["rule"]), *numbers_of(check)])
        )
    reasons = [f"- {_sentence(check['reason'])}" for check in checks if check["reason"]]
    warnings = [f"- {warning['code']}: {_sentence(warning['detail'])}" for warning in document["warnings"]]
    for title, items in (("", reasons), ("Warnings", warnings)):
        if items:
            lines += ["", *([f"{title}:", ""] if title else []), *items]
    return "\n".join(lines) + "\n"


def numbers_of(check: dict[str, Any]) -> list[str]:
    """Format a check's value, interval, baseline, difference and p; a dash for each that is missing."""
    interval = check["interval"]
    of_what = "difference " if "max_drop" in check["rule"] else ""
    ends = f"{of_what}{interval['lower']:.4f} to {interval['upper']:.4f} ({interval['method']})" if interval else "–"
    p_value = "–" if check["p_value"] is None else f"{check['p_value']:.3g}"
    signed = "–" if check["difference"] is None else f"{check['difference']:+.4f}"
    return [_number(check["value"]), ends, _number(check["baseline"]), signed, p_value]


def junit_report(document: dict[str, Any], scores: str | None = None, baseline: str | None = None) -> bytes:
    """Format a verdict as a suite with a case for each rule; an undecided rule is an error.

    JUnit readers show only the first of several cases with the same name, so equal names are numbered.
    """
    suite = TestSuite(SUITE)
    paired = str(bool(document["paired"])).lower() if baseline is not None or has_baseline(document) else None
    for key, text in (("scores", scores), ("baseline", baseline), ("paired", paired)):
        if text is not None:
            suite.add_property(key, xml_text(text))
    for warning in document["warnings"]:
        suite.add_property(warning["code"], warning["detail"])
    alike = Counter[str]()
    cases = []
    for check in document["checks"]:
        name = rule_text(check["rule"])
        alike[name] += 1
        case = TestCase(name if alike[name] == 1 else f"{name} ({alike[name]})", SUITE)
        if check["status"] == "failed":
            case.result = [Failure(check["reason"], "failed")]
        elif check["status"] == "undecided":
            case.result = [Error(check["reason"], "undecided")]
        value, ends, baseline, difference, p_value = numbers_of(check)
        case.system_out = f"value {value}, interval {ends}, baseline {baseline}, difference {difference}, p {p_value}"
        cases.append(case)
    suite.add_testcases(cases)  # all at once: each call recounts
    report = JUnitXml(SUITE)
    report.add_testsuite(suite)
    report.update_statistics()  # type: ignore[no-untyped-call]  # junitparser's types are incomplete
    written, out = BytesIO(), BytesIO()
    report.write(written)
    written.seek(0)
    # With lxml installed, junitparser would space and quote differently.
    ET.parse(written).write(out, encoding="utf-8", xml_declaration=True)  # noqa: S314  # our document
    return out.getvalue()


def _code(name: str) -> str:
    """Quote a name in more backticks than it has in a row, so that none of it becomes markup."""
    text = re.sub(r"\s", " ", xml_text(name))
    fence = "`" * (1 + max(map(len, re.findall("`+", text)), default=0))
    space = " " if "`" in text else ""
    return f"{fence}{space}{text}{space}{fence}"


def _number(value: float | None) -> str:
    return "–" if value is None else f"{value:.4f}"


def _row(cells: Iterable[str]) -> str:
    return f"| {' | '.join(cells)} |"


def _sentence(text: str) -> str:
    """Write a sentence that may hold a label: as code if the label could become markup, a link or a mention."""
    return _code(text) if _MARKDOWN.search(text) else text
