"""The page at /, in a real Chromium: both themes, wide and narrow, with and without keys, and the commands to copy."""

from __future__ import annotations

import json
import re
from hashlib import sha256
from pathlib import Path
from typing import Any

import pytest

from service.web.page import PAGE_SCRIPTS
from tests.browser.conftest import Visit, check_accessible, check_fits, running, until
from tests.browser.page import bounded, copies, csv_of, loaded, ready, run, scores_of, table, text_of


def test_it_opens_with_a_sample_takes_a_file_and_is_accessible(visit: Visit) -> None:
    """All of what the first command shows of the page, in one test, so that it starts one browser."""
    page = ready(visit("/"))
    assert text_of(page, "#totals") == "candidate: 120 positives, 480 negatives"
    for plane in ("#roc", "#pr", "#compared-roc", "#compared-pr", "#drawn-gate"):
        assert page.locator(f"{plane} svg desc").count() == 1
    assert re.match(r"candidate is better than current by ", text_of(page, "#better h3"))
    counts = [int(text_of(page, f"#{cell}").replace(",", "")) for cell in ("tp", "fn", "fp", "tn")]
    assert (counts[0] + counts[1], counts[2] + counts[3]) == (120, 480)
    check_accessible(page)
    loaded(page, "scores.csv", csv_of(table()))
    assert page.locator("#labels").input_value() == "y"
    assert scores_of(page) == ["score", "older_score"]
    assert "200 rows" in text_of(page, "#source")


@pytest.mark.all
@pytest.mark.parametrize(("scheme", "paper"), [("light", "#ffffff"), ("dark", "#0d1117")])
@pytest.mark.parametrize("width", [1280, 320])
def test_everyone_can_use_it(visit: Visit, scheme: Any, paper: str, width: int) -> None:
    page = ready(visit("/", width=width, color_scheme=scheme))
    assert page.locator("#roc rect.paper").get_attribute("color") == paper
    for forced in ("none", "active"):
        page.emulate_media(forced_colors=forced)  # type: ignore[arg-type]  # one of two words
        check_accessible(page)
        check_fits(page)


@pytest.mark.all
class TestTheSameElsewhere:
    def test_commands_and_rules_do_what_the_page_shows(self, visit: Visit, root: Path, tmp_path: Path) -> None:
        page = bounded(loaded(visit("/"), "scores.csv", csv_of(table())), "ROC area", 0.7)
        (tmp_path / "scores.csv").write_bytes(csv_of(table()))
        curl, commands, rules = copies(page)
        (tmp_path / "rules.toml").write_text(rules)
        answer = json.loads(run(curl, tmp_path, root))
        assert answer["positives"] == 50
        first, second = commands.splitlines()
        assert f"{answer['auc']['roc']:.6f}" in run(first, tmp_path, root)
        verdict = run(second, tmp_path, root)
        assert ("Gate passed" in verdict) == ("passes" in text_of(page, "#verdict"))
        assert f"ROC curve, area {answer['auc']['roc']:.4f}" in text_of(page, "#roc desc")

    def test_a_copy(self, visit: Visit) -> None:
        page = ready(visit("/"))
        page.context.grant_permissions(["clipboard-read", "clipboard-write"])
        page.get_by_role("button", name="Copy: curl").click()
        until(lambda: page.get_by_role("button", name="Copy: curl").text_content() == "Copied", "the copy")
        assert page.evaluate("navigator.clipboard.readText()") == text_of(page, "#copies pre")

    def test_saved_pictures(self, visit: Visit, tmp_path: Path) -> None:
        page = ready(visit("/"))
        saved: list[Any] = []

        def note(download: Any) -> None:
            saved.append(download)

        page.on("download", note)
        page.locator("#save").click()
        until(lambda: page.evaluate("1") and len(saved) == 2, "two pictures")
        page.remove_listener("download", note)
        assert sorted(each.suggested_filename for each in saved) == ["candidate-pr.svg", "candidate-roc.svg"]
        saved[0].save_as(tmp_path / "picture.svg")
        assert (tmp_path / "picture.svg").read_text().startswith("<svg ")


@pytest.mark.all
def test_with_keys_the_page_waits_for_one(visit: Visit, root: Path, tmp_path: Path) -> None:
    key = "a-key-of-a-test-that-is-long-enough"
    keys = tmp_path / "keys"
    keys.write_text(f"tester {sha256(key.encode()).hexdigest()}\n")
    keys.chmod(0o600)
    with running(root, tmp_path / "log", ROCPR_WORKERS="1", ROCPR_API_KEYS_FILE=str(keys)) as address:
        page = visit("/", at=address)
        assert page.locator("#results").is_hidden()
        check_accessible(page)
        page.get_by_label("API key").fill(key)
        page.keyboard.press("Enter")
        ready(page)
        page.evaluate("document.getElementById('verdict').textContent = ''")
        page.keyboard.press("Tab")
        page.keyboard.press("Enter")
        ready(page)
        assert text_of(page, "#totals").startswith("candidate")


def test_it_is_small(root: Path) -> None:
    assert sum(path.stat().st_size for path in (root / "service/page").iterdir()) < 52_000


def test_scripts_import_from_layers_below_and_load_at_once(root: Path) -> None:
    below = [*PAGE_SCRIPTS]
    loaded = re.findall(r'(?:href|src)="/page/(\w+)\.js"', (root / "service/page/index.html").read_text())
    assert sorted(loaded) == sorted(below) == sorted(path.stem for path in (root / "service/page").glob("*.js"))
    while below:
        text = (root / f"service/page/{below.pop(0)}.js").read_text()
        assert set(re.findall(r'from "\./(\w+)\.js"', text)) <= set(below)
