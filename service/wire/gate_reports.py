"""A verdict for people and for CI servers: Markdown for a job's summary, JUnit's XML for its report of tests.

Both are laid out from the JSON answer's document, so that a client that has the document needs no other request.
"""

from collections import Counter
from collections.abc import Iterable
from io import BytesIO
from typing import Any

from junitparser import Error, Failure, JUnitXml, TestCase, TestSuite

from service.inference.rules import Rule, percent, plain

SUITE = "rocpr gate"
"""The name of the JUnit suite, and the class of its cases."""

_MARKS = {"passed": "✅ passed", "failed": "❌ failed", "undecided": "❔ undecided"}
_BOUNDS = {"min": "at least", "max": "at most", "max_drop": "drop at most"}


def rule_text(rule: dict[str, Any]) -> str:
    """Write a rule as a phrase: `roc at least 0.8, with 95 % confidence`."""
    parsed = Rule(**rule)
    sure = "" if parsed.confidence is None else f", with {percent(parsed.confidence)} % confidence"
    proven = "" if parsed.prove is None else ", unless proven"
    return f"{parsed.of} {_BOUNDS[parsed.kind]} {plain(parsed.bound)}{sure}{proven}"


def markdown_report(document: dict[str, Any]) -> str:
    """Lay out a verdict as a heading, a table and the reasons."""
    checks = document["checks"]
    lines = [f"### Gate {'passed ✅' if document['passed'] else 'not passed ❌'}", ""]
    header = ["", "rule", "value", "interval", "baseline", "difference", "p"]
    lines += _row(header), _row(["---", "---", *["---:"] * 5])
    lines += [_row([_MARKS[check["status"]], rule_text(check["rule"]), *numbers_of(check)]) for check in checks]
    reasons = [f"- {_cell(check['reason'])}" for check in checks if check["reason"]]
    warnings = [f"- {warning['code']}: {_cell(warning['detail'])}" for warning in document["warnings"]]
    for title, items in (("", reasons), ("Warnings", warnings)):
        if items:
            lines += ["", *([f"{title}:", ""] if title else []), *items]
    return "\n".join(lines) + "\n"


def numbers_of(check: dict[str, Any]) -> list[str]:
    """Write a check's value, interval, baseline, difference and p; a dash where there is none."""
    interval = check["interval"]
    ends = f"{interval['lower']:.4f} to {interval['upper']:.4f} ({interval['method']})" if interval else "–"
    p_value = "–" if check["p_value"] is None else f"{check['p_value']:.3g}"
    signed = "–" if check["difference"] is None else f"{check['difference']:+.4f}"
    return [_number(check["value"]), ends, _number(check["baseline"]), signed, p_value]


def junit_report(document: dict[str, Any]) -> bytes:
    """Lay out a verdict as a suite with a case for each rule; an undecided one is an error.

    Of cases of one name readers show the first only, so rules that read alike are numbered.
    """
    suite = TestSuite(SUITE)
    for warning in document["warnings"]:
        suite.add_property(warning["code"], warning["detail"])
    alike = Counter[str]()
    for check in document["checks"]:
        name = rule_text(check["rule"])
        alike[name] += 1
        case = TestCase(name if alike[name] == 1 else f"{name} ({alike[name]})", SUITE)
        if check["status"] == "failed":
            case.result = [Failure(check["reason"], "failed")]
        elif check["status"] == "undecided":
            case.result = [Error(check["reason"], "undecided")]
        value, ends, baseline, difference, p_value = numbers_of(check)
        of_what = " of the difference" if "max_drop" in check["rule"] else ""
        case.system_out = (
            f"value {value}, interval{of_what} {ends}, baseline {baseline}, difference {difference}, p {p_value}"
        )
        suite.add_testcase(case)
    report = JUnitXml(SUITE)
    report.add_testsuite(suite)
    report.update_statistics()  # type: ignore[no-untyped-call]  # junitparser's types are not complete
    out = BytesIO()
    report.write(out)
    return out.getvalue()


def _number(value: float | None) -> str:
    return "–" if value is None else f"{value:.4f}"


def _row(cells: Iterable[str]) -> str:
    return f"| {' | '.join(cells)} |"


def _cell(text: str) -> str:
    """Escape what would end a cell of a Markdown table."""
    return text.replace("|", "\\|")
