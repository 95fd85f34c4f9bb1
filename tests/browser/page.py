"""Steps of tests on the page at /: wait for it, give it a file, and read it."""

from __future__ import annotations

import shlex
import subprocess
import sys
from pathlib import Path

import numpy as np
import pyarrow as pa
from playwright.sync_api import Page

from tests.browser.conftest import until


def text_of(page: Page, selector: str) -> str:
    return page.locator(selector).first.text_content() or ""


def ready(page: Page) -> Page:
    """Wait until everything that the page requests by itself has arrived."""
    until(lambda: text_of(page, "#verdict") and page.locator("#busy").is_hidden(), "the verdict")
    until(page.locator("#rates td:nth-child(3)").first.text_content, "the intervals")
    return page


def chosen(page: Page, name: str, content: bytes) -> Page:
    """Choose a file."""
    page.set_input_files("#file", {"name": name, "mimeType": "", "buffer": content})
    return page


def loaded(page: Page, name: str, content: bytes) -> Page:
    """Choose a file, and wait for its verdict."""
    page.evaluate("document.getElementById('verdict').textContent = ''")
    chosen(page, name, content)
    until(lambda: name in text_of(page, "#source"), "the file")
    return ready(page)


def bounded(page: Page, metric: str, bound: float) -> Page:
    """Add a bound, and wait for the verdict."""
    page.locator("#add").click()
    rule = page.locator(".rule").last
    rule.locator("select").first.select_option(label=metric)
    rule.locator("[type=number]").fill(str(bound))
    rule.locator("[type=number]").press("Tab")
    until(lambda: page.locator("#verdict").get_attribute("class"), "the verdict")
    return page


def scores_of(page: Page) -> list[str | None]:
    """The columns that are taken for scores."""
    return [box.get_attribute("value") for box in page.locator("#scores :checked").all()]


def copies(page: Page) -> list[str]:
    """What "do the same elsewhere" shows: curl, commands, rules."""
    return [each.text_content() or "" for each in page.locator("#copies pre").all()]


def run(command: str, folder: Path, root: Path) -> str:
    """Run a copied command in a folder, and return what it prints."""
    name, *words = shlex.split(command)
    ours = f"import sys; sys.path.insert(0, {str(root)!r}); from service.cli.main import main; main()"
    before = [sys.executable, "-c", ours] if name == "rocpr" else [name]
    done = subprocess.run([*before, *words], cwd=folder, capture_output=True, text=True, check=False, timeout=120)
    assert done.returncode in {0, 1}, done.stderr
    return done.stdout


def axis_of(page: Page, plane: str) -> tuple[float, float, float]:
    """Where a picture has its vertical axis: x, and y of 0 and of 1."""
    start, end = (page.locator(f"#{plane} polyline.grid").first.get_attribute("points") or "").split()
    (left, bottom), (_, top) = (map(float, corner.split(",")) for corner in (start, end))
    return left, bottom, top


def table(rows: int = 200) -> pa.Table:
    random = np.random.default_rng(3)
    labels = np.arange(rows) % 4 == 0
    scores = random.normal(size=rows) + labels
    return pa.table(
        {"id": np.arange(rows), "y": labels, "score": scores, "older_score": scores + random.normal(size=rows)}
    )


def csv_of(found: pa.Table, delimiter: str = ",", decimal: str = ".") -> bytes:
    columns = [[str(value).replace(".", decimal) for value in column.to_pylist()] for column in found.columns]
    lines = [delimiter.join(cells) for cells in [found.column_names, *zip(*columns, strict=True)]]
    return "\n".join(lines).encode()
