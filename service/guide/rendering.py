"""The guide's pages as HTML, each rendered when it is first wanted, then kept.

Knows Markdown, HTML and the paths at which a server has the pages; nothing of HTTP.
"""

import re
from collections.abc import Callable, Mapping
from functools import cache
from html import escape
from itertools import pairwise
from typing import TYPE_CHECKING

from service.guide import INDEX, markdown_of, pages

if TYPE_CHECKING:
    from markdown_it import MarkdownIt
    from markdown_it.token import Token

GUIDE = "/guide"

HERE = "http://127.0.0.1:8000"
"""Where the guide's commands expect the service; a link with this prefix is one to this service."""

SERVED = {"../../openapi.yaml": "/openapi.yaml"}
"""{file of the repository: path at which the service has it}. Links to other files become plain text."""

_CURRENT = ' aria-current="page"'
_TEMPLATE = """<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<title>{title} - rocpr</title>
<link rel="icon" href="{guide}/icon.svg">
<link rel="stylesheet" href="{guide}/style.css">
</head>
<body>
<nav aria-label="Guide">
{links}
</nav>
<main>
{content}</main>
</body>
</html>
"""


@cache
def html_of(name: str) -> str:
    """Render a page of the guide."""
    titles = {INDEX: "Guide"} | {page.name: page.title for page in pages().values()}
    links = {path_of(other): title for other, title in titles.items()}
    return page_of(titles[name], content_of(markdown_of(name)), links, path_of(name))


def page_of(title: str, content: str, links: Mapping[str, str], current: str) -> str:
    """A whole page, with links to others, {path: title}."""
    shown = [
        f'<a href="{path}"{_CURRENT if path == current else ""}>{escape(text)}</a>' for path, text in links.items()
    ]
    return _TEMPLATE.format(title=escape(title), guide=GUIDE, links="\n".join(shown), content=content)


def content_of(text: str, path_to: Callable[[str], str | None] | None = None) -> str:
    """Render Markdown, without HTML of its own; `path_to` finds where what a link names is served, if it is.

    A link to what is not served becomes plain text.
    """
    path_to = path_to or _path_to
    markdown = _markdown()
    tokens = markdown.parse(text)
    _name_headings(tokens)
    _let_pictures_scroll(tokens)
    for token in tokens:
        _drop_style(token)
        _redirect_links(token.children or [], path_to)
    content: str = markdown.renderer.render(tokens, markdown.options, {})
    return content


@cache
def _markdown() -> "MarkdownIt":
    """Make the Markdown renderer: CommonMark with tables, without inline HTML."""
    from markdown_it import MarkdownIt  # noqa: PLC0415  # takes a tenth of a second, only for readers of the guide

    markdown = MarkdownIt("commonmark", {"html": False, "xhtmlOut": False}).enable("table")
    # Content wider than the screen scrolls on its own, with the keyboard too.
    rules: dict[str, Callable[..., str]] = {
        "table_open": lambda *_: '<div class="wide" tabindex="0">\n<table>\n',
        "table_close": lambda *_: "</table>\n</div>\n",
        "fence": lambda _, tokens, place, *__: (
            f'<pre tabindex="0"><code>{escape(tokens[place].content)}</code></pre>\n'
        ),
    }
    for name, rule in rules.items():
        markdown.add_render_rule(name, rule)
    return markdown


def _name_headings(tokens: "list[Token]") -> None:
    """Give each heading the id that links in the repository use."""
    for token, text in pairwise(tokens):
        if token.type == "heading_open":
            token.attrSet("id", anchor(text.content))


def _let_pictures_scroll(tokens: "list[Token]") -> None:
    """Let the keyboard reach a paragraph with a picture, which scrolls on a narrow screen."""
    for token, text in pairwise(tokens):
        if token.type == "paragraph_open" and any(child.type == "image" for child in text.children or []):
            token.attrSet("tabindex", "0")


def anchor(heading: str) -> str:
    """Return the fragment of a heading, as code hosts derive it from its Markdown."""
    return re.sub(r"[^\w\- ]", "", heading.lower()).replace(" ", "-")


def _drop_style(token: "Token") -> None:
    """Align table cells by a class, as the policy allows no inline style."""
    style = token.attrs.pop("style", None)
    if style:
        token.attrSet("class", str(style).rpartition(":")[2])


def _redirect_links(tokens: "list[Token]", path_to: Callable[[str], str | None]) -> None:
    """Turn links between files into paths of this service, or into plain text if it does not serve the file."""
    file = ""
    for token in tokens:
        if token.type == "image":
            token.attrSet("src", path_to(str(token.attrs["src"])) or "")
        elif token.type == "link_open":
            link = str(token.attrs["href"])
            path = path_to(link)
            file = "" if path else link.partition("#")[0].removeprefix("../../")
            token.attrSet("href", path or "")
            token.hidden = bool(file)
        elif token.type == "link_close" and file:
            token.type, token.tag, token.nesting, token.content = "text", "", 0, f" ({file})"
            file = ""


def _path_to(link: str) -> str | None:
    """Return the served target of a page's link, or None."""
    target, mark, fragment = link.partition("#")
    if not target:
        return link
    if target.startswith(HERE):
        return link.removeprefix(HERE)
    if "/" not in target:
        return f"{path_of(target.removesuffix('.md'))}{mark}{fragment}"
    return SERVED.get(target)


def path_of(name: str) -> str:
    """The path of a page of the guide."""
    return GUIDE if name == INDEX else f"{GUIDE}/{name}"
