"""What the programs that read JUnit reports require.

The sources are the schema junit-10.xsd of Jenkins' xUnit plugin (the nesting of elements, their allowed and required
attributes, the form of a time) and GitLab's page on unit test reports (names of cases are unique, or only the first is
shown; the text of a failure is the content of its element or its message).
"""

import re
from pathlib import Path
from xml.etree import ElementTree as ET

_CHILDREN = {
    "testsuites": {"testsuite"},
    "testsuite": {"testsuite", "properties", "testcase", "system-out", "system-err"},
    "testcase": {"skipped", "error", "failure", "system-out", "system-err"},
    "properties": {"property"},
}
_MUST = {"testsuite": {"name", "tests", "failures", "errors"}, "testcase": {"name"}, "property": {"name", "value"}}
_MAY = {
    # junit-10.xsd has no `skipped` here; Surefire and junitparser write it, and readers ignore it.
    "testsuites": {"name", "time", "tests", "failures", "errors", "skipped"},
    "testsuite": {"time", "skipped", "timestamp", "hostname", "id", "package", "file"},
    "testcase": {"time", "classname", "group"},
    "failure": {"type", "message"},
    "error": {"type", "message"},
    "skipped": {"type", "message"},
}
_TIME = re.compile(r"(([0-9]{0,3},)*[0-9]{3}|[0-9]{0,3})*(\.[0-9]*)?")
_COUNTED = {"tests": "testcase", "failures": "failure", "errors": "error", "skipped": "skipped"}


def check_junit(path: Path) -> list[str]:
    """Check a report, and return how its cases ended: passed, failure or error."""
    root = ET.fromstring(path.read_bytes())
    assert root.tag == "testsuites"
    for element in root.iter():
        must = _MUST.get(element.tag, set())
        assert must <= set(element.keys()) <= must | _MAY.get(element.tag, set()), ET.tostring(element)
        assert {child.tag for child in element} <= _CHILDREN.get(element.tag, set()), ET.tostring(element)
        assert _TIME.fullmatch(element.get("time", ""))
        for name, tag in _COUNTED.items():
            if (count := element.get(name)) is not None:
                assert int(count) == sum(1 for _ in element.iter(tag))
        if element.tag in {"failure", "error"}:
            assert element.get("message") or element.text
    cases = list(root.iter("testcase"))
    assert len({(case.get("classname"), case.get("name")) for case in cases}) == len(cases)
    return [next((child.tag for child in case if child.tag in {"failure", "error"}), "passed") for case in cases]
