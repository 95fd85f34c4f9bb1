"""The user's guide: one page of Markdown for each task, and index.md, which lists them.

Knows the files next to it and nothing else of ours: `rocpr guide` prints them as they are, rendering.py makes HTML of
them.
"""

import re
from functools import cache
from pathlib import Path
from typing import NamedTuple

FOLDER = Path(__file__).resolve().parent
INDEX = "index"

_ENTRY = re.compile(r"^\* \[(?P<title>[^]]+)\]\((?P<name>\w+)\.md\): (?P<about>.+)$", re.MULTILINE)


class Page(NamedTuple):
    """A page as index.md lists it: its file's name, its title, and what it is about."""

    name: str
    title: str
    about: str


@cache
def pages() -> dict[str, Page]:
    """Return the pages by name, in the order in which index.md lists them."""
    entries = _ENTRY.finditer(markdown_of(INDEX))
    return {entry["name"]: Page(entry["name"], entry["title"], entry["about"]) for entry in entries}


def markdown_of(name: str) -> str:
    """Return a page's text; `name` is INDEX or one of pages()."""
    return (FOLDER / f"{name}.md").read_text(encoding="utf-8")
