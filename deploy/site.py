"""Writes what a server shows of itself as files, for any static host: the guide, the contract, the problems.

    python deploy/site.py DIRECTORY

README.md is the first page; the changes, and how to run it for others, have pages, too. All links are relative, so that
the site works at any path. Links to other files of the repository lead to the tag GITHUB_REF_NAME of GITHUB_REPOSITORY,
and are plain text without these variables. For programs, there is the guide as Markdown, and llms.txt, which lists it.
Needs the environment of deploy/run.sh.
"""

import os
import posixpath
import re
import sys
from html import unescape
from pathlib import Path

from service.app import create_app
from service.guide import INDEX, markdown_of, pages
from service.guide.rendering import GUIDE, content_of, page_of, path_of
from service.settings import read_settings
from service.wire.problems import PROBLEM_TYPES

ROOT = Path(__file__).resolve().parent.parent
DOCUMENTS = {
    "README.md": ("/", "rocpr"),
    "CHANGELOG.md": ("/changes", "Changes"),
    "deploy/README.md": ("/running", "Run it for others"),
    "deploy/ci/README.md": ("/ci", "The gate in CI"),
}
"""{document of the repository: its path in the site, and its title}"""

START = (GUIDE, "/docs/", "/openapi.yaml", "/openapi.json", *(f"/problems/{code}" for code in PROBLEM_TYPES))
_LINK = re.compile(r'((?:href|src)=")(/[^"#?]*)')
_SERVED = {"openapi.yaml": "/openapi.yaml", "service/guide/index.md": GUIDE}


def site() -> dict[str, bytes]:
    """The site: {path: content}, with links as a server has them."""
    client = create_app(read_settings({"ROCPR_LOG_LEVEL": "warning"})).test_client()
    found = {path: _document(name).encode() for name, (path, _) in DOCUMENTS.items()}
    wanted = [*START, *(link for page in found.values() for link in _links(page))]
    while wanted:
        path = wanted.pop()
        if path in found:
            continue
        with client.get(path) as answer:
            if answer.status_code != 200:  # noqa: PLR2004  # OK
                raise SystemExit(f"{path} is linked, and the server answers {answer.status_code}")
            found[path] = answer.data
            wanted += _links(answer.data) if answer.mimetype == "text/html" else []
    for name in (INDEX, *pages()):
        found[f"{GUIDE}/{name}.md"] = markdown_of(name).encode()
    found["/llms.txt"] = markdown_of(INDEX).replace("](", f"]({GUIDE[1:]}/").encode()
    return found


def file_of(path: str, content: bytes) -> str:
    """The file that holds a path, from the site's root."""
    if not content.startswith(b"<!doctype html") and b"<html" not in content[:200]:
        return path[1:] if posixpath.splitext(path)[1] else f"{path[1:]}.json"
    if path == GUIDE or path.endswith("/"):
        return f"{path.strip('/')}/index.html".lstrip("/")
    return f"{path[1:]}.html"


def relative(text: str, own: str, files: dict[str, str]) -> str:
    """A page whose links are relative to its own file."""

    def place(path: str) -> str:
        return posixpath.relpath(files[path], posixpath.dirname(own) or ".")

    text = _LINK.sub(lambda match: match[1] + place(unescape(match[2])), text)
    # The page of the contract loads it, and has no server to try it on.
    text = text.replace('"/openapi.json"', f'"{place("/openapi.json")}"')
    return text.replace('"tryItOutEnabled": true', '"tryItOutEnabled": false')


def main(into: Path) -> None:
    """Write the site."""
    found = site()
    files = {path: file_of(path, content) for path, content in found.items()}
    for path, content in found.items():
        file = into / files[path]
        file.parent.mkdir(parents=True, exist_ok=True)
        is_page = file.suffix == ".html"
        file.write_bytes(relative(content.decode(), files[path], files).encode() if is_page else content)
    print(f"{len(found)} files, {sum(map(len, found.values())) >> 10} KiB")


def _links(page: bytes) -> list[str]:
    return [unescape(path) for _, path in _LINK.findall(page.decode())]


def _document(name: str) -> str:
    """A document of the repository as a page."""
    path, title = DOCUMENTS[name]
    links = {**dict(DOCUMENTS.values()), GUIDE: "Guide", "/docs/": "API"}
    text = (ROOT / name).read_text("utf-8")
    return page_of(title, content_of(text, lambda link: _place(link, posixpath.dirname(name))), links, path)


def _place(link: str, folder: str) -> str | None:
    """Where the site has what a document in this folder links to; None if it has it nowhere."""
    target, mark, fragment = link.partition("#")
    if not target:
        return link
    path = posixpath.normpath(posixpath.join(folder, target))
    if path in DOCUMENTS:
        return DOCUMENTS[path][0] + mark + fragment
    if path in _SERVED:
        return _SERVED[path] + mark + fragment
    if path.startswith("service/guide/"):
        return path_of(posixpath.basename(path).removesuffix(".md")) + mark + fragment
    if "://" in link:
        return link
    repository, tag = os.environ.get("GITHUB_REPOSITORY"), os.environ.get("GITHUB_REF_NAME")
    return f"https://github.com/{repository}/blob/{tag}/{path}" if repository and tag else None


if __name__ == "__main__":
    if len(sys.argv) != 2:  # noqa: PLR2004  # the program and DIRECTORY
        sys.exit("usage: python deploy/site.py DIRECTORY")
    main(Path(sys.argv[1]))
