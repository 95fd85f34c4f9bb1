"""The site: every link leads to one of its files, and a place there, or to the repository; it loads nothing else."""

import posixpath
import re
from html.parser import HTMLParser
from pathlib import Path

import pytest

from deploy import site
from service.wire.problems import PROBLEM_TYPES

REPOSITORY = "https://github.com/owner/rocpr/blob/v1.2.3/"


class Page(HTMLParser):
    """What a page links to, what it loads, and the places in it."""

    def __init__(self, text: str) -> None:
        super().__init__()
        self.links: list[str] = []
        self.loads: list[str] = []
        self.places: set[str] = set()
        self.feed(text)

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        for name, value in attrs:
            if name in {"href", "src"}:
                (self.links if tag == "a" else self.loads).append(value or "")
            if name == "id":
                self.places.add(value or "")


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    into = tmp_path_factory.mktemp("site")
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("GITHUB_REPOSITORY", "owner/rocpr")
        patch.setenv("GITHUB_REF_NAME", "v1.2.3")
        site.main(into)
    return into


@pytest.fixture(scope="module")
def pages(folder: Path) -> dict[str, Page]:
    return {
        str(path.relative_to(folder)): Page(path.read_text(encoding="utf-8")) for path in sorted(folder.rglob("*.html"))
    }


def test_it_has_everything(folder: Path, pages: dict[str, Page]) -> None:
    assert {"index.html", "changes.html", "running.html", "ci.html", "docs/index.html", "guide/index.html"} <= set(
        pages
    )
    assert {path.stem for path in (folder / "problems").iterdir()} == set(PROBLEM_TYPES)
    for name in ("openapi.yaml", "openapi.json", "llms.txt", "guide/curves.md", "docs/swagger-ui.css"):
        assert (folder / name).stat().st_size > 0


def test_every_link_leads_somewhere(folder: Path, pages: dict[str, Page], root: Path) -> None:
    for name, page in pages.items():
        for link in page.links:
            target, _, fragment = link.partition("#")
            if link.startswith(REPOSITORY):
                assert (root / target.removeprefix(REPOSITORY)).exists(), (name, link)
                continue
            assert "://" not in link or link.startswith("http://127.0.0.1:8000"), (name, link)
            if "://" in link:
                continue
            path = posixpath.normpath(posixpath.join(posixpath.dirname(name), target)) if target else name
            assert (folder / path).is_file(), (name, link)
            assert not fragment or fragment in pages[path].places, (name, link)


def test_nothing_is_loaded_from_elsewhere(folder: Path, pages: dict[str, Page]) -> None:
    for name, page in pages.items():
        for link in page.loads:
            assert (folder / posixpath.dirname(name) / link).is_file(), (name, link)


def test_the_contract_is_read_and_not_tried(folder: Path) -> None:
    page = (folder / "docs/index.html").read_text()
    assert '"../openapi.json"' in page
    assert '"tryItOutEnabled": false' in page


def test_the_list_for_programs_names_pages_that_are_there(folder: Path) -> None:
    links = re.findall(r"\]\((guide/\w+\.md)", (folder / "llms.txt").read_text())
    assert len(links) > 20
    assert all((folder / link).is_file() for link in links)


def test_without_a_repository_its_files_are_named_and_not_linked(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.delenv("GITHUB_REPOSITORY", raising=False)
    site.main(tmp_path)
    page = (tmp_path / "index.html").read_text()
    assert "github.com" not in page
    assert "(tests/README.md)" in page
