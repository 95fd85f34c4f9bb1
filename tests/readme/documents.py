"""The documents: README.md, the guide, and those for people who run, change or doubt rocpr; and their parts."""

import re
from pathlib import Path

from service.guide.rendering import anchor

ROOT = Path(__file__).resolve().parents[2]
README = "README.md"
OPERATORS = "deploy/README.md"
DEVELOPERS = "service/README.md"
EVIDENCE = "tests/README.md"
GUIDE = sorted(str(path.relative_to(ROOT)) for path in (ROOT / "service" / "guide").glob("*.md"))
DOCUMENTS = [README, OPERATORS, DEVELOPERS, EVIDENCE, "deploy/ci/README.md", *GUIDE]

HERE = "http://127.0.0.1:8000/"
"""Where the commands expect the service, and links to a running one lead."""

_BLOCK = re.compile(r"^```(\w+)\n(.*?)^```$\n", re.MULTILINE | re.DOTALL)
_HEADING = re.compile(r"^#+ (.+)$", re.MULTILINE)
_LINK = re.compile(r"!?\[[^]]*\]\(([^)]+)\)")


def text_of(document: str) -> str:
    return (ROOT / document).read_text(encoding="utf-8")


def blocks(text: str) -> list[re.Match[str]]:
    """The fenced blocks: [1] is the language, [2] what is in it."""
    return list(_BLOCK.finditer(text))


def prose_of(document: str) -> str:
    """A document without its fenced blocks."""
    return _BLOCK.sub("", text_of(document))


def section(document: str, title: str) -> str:
    _, found, rest = text_of(document).partition(f"\n## {title}\n")
    assert found, f"{document} has no section {title}"
    return rest.partition("\n## ")[0]


def table(document: str, title: str | None = None) -> list[list[str]]:
    """The rows of the first table of a section, or of the document, below its head."""
    text = text_of(document) if title is None else section(document, title)
    found = re.search(r"^(\|.*\n)+", text, re.MULTILINE)
    assert found, f"{document} has no table in {title}"
    return [[cell.strip() for cell in line.strip("|").split("|")] for line in found[0].splitlines()[2:]]


def links(document: str) -> list[str]:
    return _LINK.findall(prose_of(document))


def anchors(document: str) -> list[str]:
    """The fragments that lead to a document's headings."""
    return [anchor(heading) for heading in _HEADING.findall(prose_of(document))]
