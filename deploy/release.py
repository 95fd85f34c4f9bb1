"""Checks whether a tag may become a release; prints its section of CHANGELOG.md, which is the text of the release.

    python3 deploy/release.py v1.2.3

The tag must be `v` followed by the version in pyproject.toml, which is three numbers, or those of a candidate, such as
1.2.3rc1; CHANGELOG.md must have a section for that version, such as `## 1.2.3 - 2026-12-31`, and nothing under
`## Unreleased`. Otherwise this prints what is wrong and exits with 1. Needs only Python.
"""

import re
import sys
import tomllib
from pathlib import Path

UNRELEASED = "Unreleased"
_HEADING = re.compile(r"^## (.+)$\n", re.MULTILINE)
_DATED = re.compile(r"(\S+) - (\d{4}-\d{2}-\d{2})")


def sections(changelog: str) -> dict[str, str]:
    """The sections of a changelog, by heading."""
    _, *parts = _HEADING.split(changelog)
    return {heading: text.strip() for heading, text in zip(parts[::2], parts[1::2], strict=True)}


def section_of(version: str, changelog: str) -> str:
    """The text of a version's section; empty if the changelog has no section with the version and a date."""
    for heading, text in sections(changelog).items():
        dated = _DATED.fullmatch(heading)
        if dated and dated[1] == version:
            return text
    return ""


def objections(tag: str, version: str, changelog: str) -> list[str]:
    """The reasons against a release, one sentence each."""
    found = []
    if not re.fullmatch(r"\d+\.\d+\.\d+(rc\d+)?", version):
        found.append(f"The version in pyproject.toml, {version}, is not three numbers, as in 1.2.3 or 1.2.3rc1.")
    if tag != f"v{version}":
        found.append(f"The tag is {tag}, but the version in pyproject.toml is {version}.")
    if not section_of(version, changelog):
        found.append(f"CHANGELOG.md has no text under a heading like '## {version} - YYYY-MM-DD'.")
    if sections(changelog).get(UNRELEASED):
        found.append(f"CHANGELOG.md still has changes under '## {UNRELEASED}'; move them to the version's section.")
    return found


def main(words: list[str], root: Path) -> int:
    """Check the tag that the words name, and print its section; return the exit status."""
    if len(words) != 1:
        print("usage: python3 deploy/release.py TAG", file=sys.stderr)
        return 2
    version = tomllib.loads((root / "pyproject.toml").read_text("utf-8"))["project"]["version"]
    changelog = (root / "CHANGELOG.md").read_text("utf-8")
    found = objections(words[0], version, changelog)
    if found:
        print("\n".join(found), file=sys.stderr)
        return 1
    print(section_of(version, changelog))
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:], Path(__file__).resolve().parent.parent))
