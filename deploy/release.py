"""Whether a tag may become a release; prints what CHANGELOG.md says of it, which is the text of the release.

    python3 deploy/release.py v1.2.3

The tag must be `v` and the version in pyproject.toml, which is three numbers; CHANGELOG.md must have a section for it,
such as `## 1.2.3 - 2026-12-31`, and nothing under `## Unreleased`. Otherwise it prints what is wrong and exits with 1.
Needs nothing but Python.
"""

import re
import sys
import tomllib
from pathlib import Path

UNRELEASED = "Unreleased"
_HEADING = re.compile(r"^## (.+)$\n", re.MULTILINE)
_DATED = re.compile(r"(\S+) - (\d{4}-\d{2}-\d{2})")


def sections(changelog: str) -> dict[str, str]:
    """The texts of a changelog by their headings."""
    _, *parts = _HEADING.split(changelog)
    return {heading: text.strip() for heading, text in zip(parts[::2], parts[1::2], strict=True)}


def section_of(version: str, changelog: str) -> str:
    """What a changelog says of a version; empty if it has no section with the version and a date."""
    for heading, text in sections(changelog).items():
        dated = _DATED.fullmatch(heading)
        if dated and dated[1] == version:
            return text
    return ""


def objections(tag: str, version: str, changelog: str) -> list[str]:
    """What stands in the way of a release, a sentence each."""
    found = []
    if not re.fullmatch(r"\d+\.\d+\.\d+", version):
        found.append(f"The version in pyproject.toml, {version}, is not three numbers.")
    if tag != f"v{version}":
        found.append(f"The tag is {tag}, and the version in pyproject.toml {version}.")
    if not section_of(version, changelog):
        found.append(f"CHANGELOG.md says nothing under a heading like '## {version} - YYYY-MM-DD'.")
    if sections(changelog).get(UNRELEASED):
        found.append(f"CHANGELOG.md still has changes under '## {UNRELEASED}'; move them to the version's section.")
    return found


def main(words: list[str], root: Path) -> int:
    """Check the tag that the words name, and print its section; the status to exit with."""
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
