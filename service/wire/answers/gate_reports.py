"""A verdict for people and CI servers: Markdown for a job's summary, JUnit XML for its test report.

Both are made from the JSON document, so that a client with the document needs no further request. `scores` and
`baseline` are names of the evaluations, if the client knows them.
"""

import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import chain, count
from typing import Any
from xml.etree import ElementTree as ET

from service.inference.plans import sentence_of
from service.inference.rules import REPORTED_DECIMALS, Rule
from service.wire.answers.slice_reports import listed_slices

SUITE = "rocpr gate"
"""The name of the JUnit suite, and the class of its cases."""

_MARKDOWN = re.compile(r"[\\`*<>\[\]&@#~$]|\b_|_\b|:\w+:|://|www\.", re.IGNORECASE)
"""What may begin markup in Markdown, or what sites that show Markdown turn into a link."""

_NO_XML = re.compile(r"[^\t\n\r\x20-\ud7ff\ue000-\ufffd\U00010000-\U0010ffff]")
"""Characters that XML forbids (XML 1.0, production 2)."""

_JUNIT_ELEMENTS = {"failed": "failure", "undecided": "error"}
"""{status of a rule: the element within its case}; one that passed has none."""

_WARNS = "⚠️"
_MARKS = {"passed": "✅", "failed": "❌", "undecided": "❔"}


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
    if "prevalence" in document:
        lines += [f"Prevalence in use: {document['prevalence']:.6g}.", ""]
    header = ["", "rule", "value", "interval", "baseline", "difference", "p"]
    lines += _row(header), _row(["---", "---", *["---:"] * 5])
    for check in checks:
        rule = Rule.read(check["rule"])
        warns = rule.warns and check["status"] != "passed"
        mark = f"{_WARNS if warns else _MARKS[check['status']]} {check['status']}{', warns' * warns}"
        lines.append(_row([mark, _sentence(rule.phrase).replace("|", "\\|"), *numbers_of(check)]))
    for check in checks:
        lines += _slices_in_markdown(check)
    told = [*(check["reason"] for check in checks if check["reason"]), *rows_needed(checks)]
    reasons = [f"- {_sentence(each)}" for each in told]
    warnings = [f"- {warning['code']}: {_sentence(warning['detail'])}" for warning in document["warnings"]]
    for title, items in (("", reasons), ("Warnings", warnings)):
        if items:
            lines += ["", *([f"{title}:", ""] if title else []), *items]
    return "\n".join(lines) + "\n"


def _slices_in_markdown(check: dict[str, Any]) -> Iterable[str]:
    """A table of the slices of a check that are not met."""
    listed = listed_slices(check)
    if listed is None:
        return
    rule = Rule.read(check["rule"])
    parts = "Classes" if rule.classes else "Slices"
    yield from ("", f"{parts} of {_sentence(rule.title)}:", "", _row(map(_cell, listed.header)))
    yield _row(["---"] * listed.keys + ["---:"] * (len(listed.header) - listed.keys - 1) + ["---"])
    yield from (_row(map(_cell, row)) for row in listed.rows)
    if listed.ending:
        yield from ("", f"{listed.ending}.")


def _cell(text: str) -> str:
    return _sentence(text).replace("|", "\\|")


def numbers_of(check: dict[str, Any]) -> list[str]:
    """Format a check's value, interval, baseline, difference and p; a dash for each that is missing."""
    rule, interval = Rule.read(check["rule"]), check["interval"]
    of_change = rule.is_change

    def written(number: float | None, *, difference: bool = False, sign: str = "") -> str:
        return "–" if number is None else rule.written(number, difference=difference, sign=sign)

    ends = "–"
    if interval is not None:
        ends = " to ".join(written(interval[end], difference=of_change) for end in ("lower", "upper"))
        ends = f"{'difference ' if of_change else ''}{ends} ({interval['method']})"
    p_value = "–" if check["p_value"] is None else f"{check['p_value']:.3g}"
    baseline = "–" if check["baseline"] is None else f"{check['baseline']:.{REPORTED_DECIMALS}f}"
    return [written(check["value"]), ends, baseline, written(check["difference"], difference=True, sign="+"), p_value]


@dataclass(frozen=True, slots=True)
class JUnitCase:
    """A case of a JUnit report: its name, its status, why it is not passed, and its output."""

    name: str
    status: str
    reason: str
    output: str = ""


def junit_report(document: dict[str, Any], scores: str | None = None, baseline: str | None = None) -> bytes:
    """Format a verdict as a suite with a case for each rule.

    JUnit readers show only the first of several cases with the same name, so equal names are numbered.
    """
    paired = str(bool(document["paired"])).lower() if baseline is not None or has_baseline(document) else None
    in_use = f"{document['prevalence']:.6g}" if "prevalence" in document else None
    named = (("scores", scores), ("baseline", baseline), ("paired", paired), ("prevalence", in_use))
    properties = [(key, xml_text(text)) for key, text in named if text is not None]
    properties += [(warning["code"], warning["detail"]) for warning in document["warnings"]]
    names: set[str] = set()
    cases = []
    for check in document["checks"]:
        rule = Rule.read(check["rule"])
        name = xml_text(rule.name or rule.phrase)
        name = next(each for each in chain([name], (f"{name} ({n})" for n in count(2))) if each not in names)
        names.add(name)
        value, ends, old, difference, p_value = numbers_of(check)
        output = f"value {value}, interval {ends}, baseline {old}, difference {difference}, p {p_value}"
        if listed := listed_slices(check):
            output += "".join(f"\n{' | '.join(row)}" for row in (listed.header, *listed.rows))
            output += f"\n{listed.ending}" * bool(listed.ending)
        status, reason = check["status"], check["reason"]
        if rule.warns and status != "passed":
            status, output = "passed", f"{status}, warns: {reason} {output}"
        cases.append(JUnitCase(name, status, reason, output))
    return junit_of(cases, properties)


def junit_of(cases: Sequence[JUnitCase], properties: Iterable[tuple[str, str]] = ()) -> bytes:
    """Write a suite of cases; one that is undecided is an error."""
    failures, errors = (str(sum(case.status == status for case in cases)) for status in _JUNIT_ELEMENTS)
    tests = str(len(cases))
    root = ET.Element("testsuites", name=SUITE, tests=tests, failures=failures, errors=errors, skipped="0", time="0.0")
    suite = ET.SubElement(
        root, "testsuite", name=SUITE, tests=tests, errors=errors, failures=failures, skipped="0", time="0"
    )
    if properties:
        listed = ET.SubElement(suite, "properties")
        for name, value in properties:
            ET.SubElement(listed, "property", name=name, value=value)
    for case in cases:
        element = ET.SubElement(suite, "testcase", name=case.name, classname=SUITE)
        if kind := _JUNIT_ELEMENTS.get(case.status):
            ET.SubElement(element, kind, message=case.reason, type=case.status)
        if case.output:
            ET.SubElement(element, "system-out").text = xml_text(case.output)
    written: bytes = ET.tostring(root, encoding="utf-8", xml_declaration=True)
    return written


def rows_needed(checks: Sequence[Mapping[str, Any]]) -> Iterator[str]:
    """A sentence for each check that more rows would decide."""
    for check in checks:
        if "rows_needed" in check:
            rule = Rule.read(check["rule"])
            yield sentence_of(rule, check["value"], check["baseline"], check["rows_needed"])


def _code(name: str) -> str:
    """Quote a name in more backticks than it has in a row, so that none of it becomes markup."""
    text = re.sub(r"\s", " ", xml_text(name))
    fence = "`" * (1 + max(map(len, re.findall("`+", text)), default=0))
    space = " " if "`" in text else ""
    return f"{fence}{space}{text}{space}{fence}"


def _row(cells: Iterable[str]) -> str:
    return f"| {' | '.join(cells)} |"


def _sentence(text: str) -> str:
    """Write a sentence that may hold a label: as code if the label could become markup, a link or a mention."""
    return _code(text) if _MARKDOWN.search(text) else text
