"""A verdict as one HTML file to hand on: the report, the pictures, and how to repeat it. Loads nothing, runs nothing.

Knows the answer of POST /v1/gates, and files by their names; the guide's renderer and stylesheet make the page.
"""

import shlex
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from hashlib import file_digest
from html import escape
from importlib.metadata import version
from pathlib import Path
from typing import Any

from service.extras import PACKAGE
from service.guide import FOLDER
from service.guide.rendering import content_of
from service.wire.answers.gate_reports import markdown_report

_PAGE = """<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<meta http-equiv="Content-Security-Policy" content="default-src 'none'; style-src 'unsafe-inline'">
<title>Gate {status} - rocpr</title>
<style>
{style}</style>
</head>
<body>
<main>
{content}</main>
</body>
</html>
"""
_PLAIN_SIGNS = str.maketrans({"✅": "✓", "❌": "✗", "❔": "?", "⚠": "!", "\N{VARIATION SELECTOR-16}": None})
"""Signs that every font has, for those of Markdown."""


@dataclass(frozen=True, slots=True)
class Repeat:
    """How a verdict is repeated: the words of the command, and the files that it read."""

    words: Sequence[str]
    files: Sequence[str]


def html_report(
    document: dict[str, Any], names: tuple[str, str | None], pictures: Sequence[bytes], repeat: Repeat
) -> str:
    """Write a report; `names` are those of the files of scores, and of the baseline's."""
    report = content_of(markdown_report(document, *names)).translate(_PLAIN_SIGNS)
    report = report.replace("<h3", "<h1").replace("</h3", "</h1")  # it is the page's heading
    drawn = "".join(f'<p tabindex="0">{picture.decode()}</p>\n' for picture in pictures)
    how = content_of("\n".join(_repeating(repeat)))
    style = (FOLDER / "style.css").read_text(encoding="utf-8")
    return _PAGE.format(status=escape(document["status"]), style=style, content=report + drawn + how)


def _repeating(repeat: Repeat) -> Iterator[str]:
    """The command, the version, and the files by their digests, in Markdown."""
    yield from ("## How to repeat this", "", f"With rocpr {version(PACKAGE)}:", "")
    yield from (f"    {line}" for line in shlex.join(["rocpr", "gate", *repeat.words]).splitlines())
    found = [path for path in map(Path, repeat.files) if path.is_file()]
    if found:
        yield from ("", "The files, by their SHA-256:", "")
        width = max(len(path.name) for path in found)
        for path in found:
            with path.open("rb") as stream:
                yield f"    {path.name.ljust(width)}  {file_digest(stream, 'sha256').hexdigest()}"
