"""What GitHub shows at a line of RULES.toml in a pull request: a mark for each rule that is not met, and why.

Each is a line of GitHub's workflow commands; a job's step may have ten marks of each kind. Knows the answer of POST
/v1/gates and GitHub's variables.
"""

import os
from collections import Counter
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from service.cli.gate.rules_file import Rules
from service.inference.rules import Rule

ACTIONS = "GITHUB_ACTIONS"
_WORKSPACE = "GITHUB_WORKSPACE"
_MOST_OF_A_KIND = 10
_IN_TEXT = str.maketrans({"%": "%25", "\r": "%0D", "\n": "%0A"})
_IN_PROPERTIES = _IN_TEXT | str.maketrans({":": "%3A", ",": "%2C"})


def annotations(document: dict[str, Any], rules: Rules) -> Iterator[str]:
    """Mark the rules that are not passed: an error for those that failed, a warning for the others."""
    kinds: Counter[str] = Counter()
    for row, check in enumerate(document["checks"]):
        rule = Rule.read(check["rule"])
        if check["status"] == "passed":
            continue
        kind = "error" if check["status"] == "failed" and not rule.warns else "warning"
        kinds[kind] += 1
        if kinds[kind] <= _MOST_OF_A_KIND:
            line = rules.lines.get(f"/rules/{row}", rules.lines.get("/rules"))
            yield annotation(kind, rule.title, check["reason"], rules.name, line)


def annotation(kind: str, title: str, text: str, name: str = "", line: int | None = None) -> str:
    """One mark, at a line of a file if both are known."""
    place = {} if line is None else {"file": _of_workspace(name), "line": line}
    properties = ",".join(
        f"{key}={str(value).translate(_IN_PROPERTIES)}" for key, value in (place | {"title": title}).items()
    )
    return f"::{kind} {properties}::{text.translate(_IN_TEXT)}"


def _of_workspace(name: str) -> str:
    """The path of a file as GitHub knows it: from the root of the repository."""
    root = Path(os.environ.get(_WORKSPACE, "."))
    path = Path(name).resolve()
    return str(path.relative_to(root.resolve())) if path.is_relative_to(root.resolve()) else name
