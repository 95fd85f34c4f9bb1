"""The guide as served: valid HTML that loads nothing from elsewhere, with links that lead somewhere."""

import re
from html.parser import HTMLParser
from pathlib import Path

import pytest
from flask.testing import FlaskClient

from service.app import create_app
from service.guide import FOLDER, INDEX, markdown_of, pages
from service.settings import read_settings
from service.web.guide import FILES, POLICY
from service.wire.answers.encoders import PICTURE_POLICY
from tests.readme.documents import DOCUMENTS, GUIDE, HERE, links, text_of

PATHS = {INDEX: "/guide"} | {name: f"/guide/{name}" for name in pages()}
EMPTY = {"meta", "link", "img", "hr", "br"}
"""The HTML elements without an end tag."""

KNOWN = EMPTY | {
    *("html", "head", "title", "body", "nav", "main", "h1", "h2", "h3", "p", "a", "ul", "li", "strong", "em", "code"),
    *("pre", "div", "table", "thead", "tbody", "tr", "th", "td"),
}


class Read(HTMLParser):
    """A page as a browser's parser sees it: its elements with their attributes, and the text of its main part."""

    def __init__(self, text: str) -> None:
        super().__init__()
        self.open: list[str] = []
        self.elements: list[tuple[str, dict[str, str | None]]] = []
        self.text = ""
        self.feed(text)
        self.close()
        assert self.open == []

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        assert tag in KNOWN
        assert len(dict(attrs)) == len(attrs)
        self.elements.append((tag, dict(attrs)))
        if tag not in EMPTY:
            self.open.append(tag)

    def handle_endtag(self, tag: str) -> None:
        assert self.open.pop() == tag

    def handle_data(self, data: str) -> None:
        if "main" in self.open:
            self.text += data

    def all(self, attribute: str) -> list[str]:
        return [str(attributes[attribute]) for _, attributes in self.elements if attribute in attributes]


@pytest.fixture(scope="module")
def client() -> FlaskClient:
    return create_app(read_settings({})).test_client()


@pytest.fixture(scope="module")
def read(client: FlaskClient) -> dict[str, Read]:
    return {path: Read(client.get(path).text) for path in PATHS.values()}


def test_the_index_lists_every_page() -> None:
    assert {f"service/guide/{name}.md" for name in PATHS} == set(GUIDE)
    assert [page.title for page in pages().values()] == [
        markdown_of(name).partition("\n")[0].removeprefix("# ") for name in pages()
    ]


@pytest.mark.parametrize("path", PATHS.values())
def test_a_page_is_html_under_a_strict_policy(client: FlaskClient, path: str) -> None:
    answer = client.get(path)
    assert answer.status_code == 200
    assert answer.content_type == "text/html; charset=utf-8"
    assert answer.headers.getlist("Content-Security-Policy") == [POLICY]
    assert "script" not in POLICY
    assert "unsafe" not in POLICY
    assert answer.headers["Cache-Control"] == "no-cache"
    assert answer.data == client.get(path).data


def test_a_page_has_no_script_and_no_style_within(read: dict[str, Read]) -> None:
    for page in read.values():
        names = {name for _, attributes in page.elements for name in attributes}
        assert not {name for name in names if name == "style" or name.startswith("on")}
        assert [page.all("rel"), page.all("lang"), page.all("charset")] == [["icon", "stylesheet"], ["en"], ["utf-8"]]


def test_a_page_says_what_its_file_says(read: dict[str, Read]) -> None:
    """Word by word, except for the targets of links, and the names of files in their place."""
    for name, path in PATHS.items():
        markdown = re.sub(r"!\[.*\]\(.*\)|(?<=\])\([^)]*\)|^```\w+", "", markdown_of(name), flags=re.MULTILINE)
        shown = re.sub(r" \([./\w]+/[.\w]+\)", "", read[path].text)
        assert re.findall(r"\w+", shown) == re.findall(r"\w+", markdown)


def test_every_link_leads_somewhere(client: FlaskClient, read: dict[str, Read]) -> None:
    ids = {path: page.all("id") for path, page in read.items()}
    assert all(len(set(found)) == len(found) for found in ids.values())
    for path, page in read.items():
        for link in page.all("href") + page.all("src"):
            target, _, fragment = link.partition("#")
            assert client.get(target or path).status_code == 200, link
            assert not fragment or fragment in ids[target or path], link


def test_links_to_a_running_service_lead_somewhere(client: FlaskClient) -> None:
    found = {link.removeprefix(HERE) for name in DOCUMENTS for link in links(name) if link.startswith(HERE)}
    assert found
    assert {client.get(f"/{path}").status_code for path in found} == {200}


def test_a_file_that_is_not_served_is_named(read: dict[str, Read]) -> None:
    """When installed, the guide is without the repository around it."""
    assert "(../../deploy/README.md#settings)" in text_of("service/guide/errors.md")
    assert "raise the limits (deploy/README.md)" in " ".join(read["/guide/errors"].text.split())


def test_the_page_that_is_shown_is_marked(read: dict[str, Read]) -> None:
    for path, page in read.items():
        assert [attributes["href"] for _, attributes in page.elements if "aria-current" in attributes] == [path]


def test_what_is_wide_scrolls_by_itself(read: dict[str, Read]) -> None:
    """Also by keyboard; cells of numbers are right-aligned without inline styles."""
    for page in read.values():
        wide = [attributes for tag, attributes in page.elements if tag == "pre" or attributes.get("class") == "wide"]
        assert [attributes["tabindex"] for attributes in wide] == ["0"] * len(wide)
        tables = sum(tag == "table" for tag, _ in page.elements)
        assert tables == page.all("class").count("wide")


@pytest.mark.parametrize(("name", "media_type"), FILES.items())
def test_the_files_of_the_pages_are_served(client: FlaskClient, name: str, media_type: str) -> None:
    answer = client.get(f"/guide/{name}")
    assert answer.status_code == 200
    assert answer.mimetype == media_type
    assert answer.data == (FOLDER / name).read_bytes()
    assert (answer.headers["Content-Security-Policy"] == PICTURE_POLICY) == (media_type == "image/svg+xml")


def test_the_styles_load_nothing_and_know_the_dark() -> None:
    styles = (FOLDER / "style.css").read_text(encoding="utf-8")
    assert not re.search(r"url\(|@import|@font-face", styles)
    assert "prefers-color-scheme: dark" in styles
    light, dark = (re.findall(r"(--\w+):", part) for part in styles.split("@media")[:2])
    assert light == dark


@pytest.mark.parametrize("path", ["/guide/", "/guide/index", "/guide/nothing", "/guide/curves.md", "/guide/../app.py"])
def test_there_is_nothing_else(client: FlaskClient, path: str) -> None:
    answer = client.get(path)
    assert answer.status_code == 404
    assert answer.get_json(force=True)["type"] == "/problems/not_found"


def test_it_needs_a_key_where_keys_are_on(tmp_path: Path) -> None:
    (tmp_path / "keys").write_text("")
    guarded = create_app(read_settings({"ROCPR_API_KEYS_FILE": str(tmp_path / "keys")})).test_client()
    assert {guarded.get(path).status_code for path in [*PATHS.values(), "/guide/style.css"]} == {401}
