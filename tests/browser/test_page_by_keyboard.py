"""The whole way from a file to a deployed threshold on the page at /, by keyboard alone.

Scripts only read the page. A file is chosen in the browser's own dialog, which a key opens and Playwright answers.
"""

from __future__ import annotations

import contextlib
from itertools import count
from typing import Any

import numpy as np
import pytest
from playwright.sync_api import FileChooser, Page
from playwright.sync_api import TimeoutError as Timeout

from tests.browser.conftest import Visit, until
from tests.browser.page import ready, text_of

pytestmark = pytest.mark.all

AREAS = "ROC area, PR area, and average precision."

_FOCUSED = """() => {
    const at = document.activeElement, ring = at.matches(".unseen") ? at.nextElementSibling : at;
    const {left, right, top, bottom} = ring.getBoundingClientRect();
    return {
        ringed: getComputedStyle(ring).outlineStyle === "solid" && ring.checkVisibility(),
        seen: right > 0 && left < innerWidth && bottom > 0 && top < innerHeight,
    };
}"""


class Keyboard:
    """A user without a mouse."""

    def __init__(self, page: Page) -> None:
        self.page = page

    def is_at(self, selector: str) -> bool:
        return bool(self.page.evaluate(f"document.activeElement.matches({selector!r})"))

    def press(self, *keys: str) -> None:
        for key in keys:
            self.page.keyboard.press(key)

    def go(self, selector: str, key: str = "Tab") -> None:
        """Press Tab until an element has the focus; each stop on the way has a focus ring and is within the window."""
        for stop in count():
            assert stop < 60, f"{selector} is not reached"
            self.press(key)
            until(lambda: self.page.evaluate(_FOCUSED) == {"ringed": True, "seen": True}, f"a ring, {stop} stops on")
            if self.is_at(selector):
                return

    def stays_at(self, selector: str) -> None:
        """The focused element keeps the focus when everything has arrived."""
        ready(self.page)
        assert self.is_at(selector), f"focus on {selector} is lost"


def risks() -> bytes:
    """Three models of whether a customer leaves, worst first; a column of labels that is not the first choice."""
    random = np.random.default_rng(22)
    lines = ["kind,left,score_a,score_b,score_c"]
    for row in range(300):
        left = row % 3 == 0
        scores = ",".join(f"{random.normal() + shift * left:.4f}" for shift in (0.5, 1.5, 2.5))
        lines.append(f"{'new' if row % 2 else 'old'},{'gone' if left else 'here'},{scores}")
    return "\n".join(lines).encode()


def test_from_a_file_to_a_verdict(visit: Visit) -> None:
    page = ready(visit("/"))
    keyboard = Keyboard(page)
    paste_rows(page, keyboard)
    choose_file(page, keyboard)
    choose_columns(page, keyboard)
    move_threshold(page, keyboard)
    compare(page, keyboard)
    set_bounds(page, keyboard)
    take_away(page, keyboard)


def paste_rows(page: Page, keyboard: Keyboard) -> None:
    keyboard.go("summary")
    keyboard.press("Enter")
    keyboard.go("#rows")
    page.keyboard.type("label,score\nspam,0.9\nham,0.2\nspam,0.7\nham,0.8\n")
    keyboard.go("#use")
    keyboard.press("Space")
    until(lambda: text_of(page, "#totals") == "score: 2 positives, 2 negatives", "the pasted rows")
    keyboard.stays_at("#use")


def choose_file(page: Page, keyboard: Keyboard) -> None:
    keyboard.go("#file", "Shift+Tab")
    opened_by(page, keyboard).set_files({"name": "risks.csv", "mimeType": "", "buffer": risks()})
    until(lambda: "300 rows" in text_of(page, "#source"), "the file")
    until(lambda: text_of(page, "#positive_label-problem") == "Which label is positive?", "the question")
    assert keyboard.is_at("#file")


def opened_by(page: Page, keyboard: Keyboard) -> FileChooser:
    """Open the dialog for files; a busy Chromium may ignore the first press, and so may the second."""
    for _ in range(5):
        with contextlib.suppress(Timeout):
            with page.expect_file_chooser(timeout=20_000) as chooser:
                keyboard.press("Space")
            return chooser.value
    pytest.fail("no dialog opens")


def choose_columns(page: Page, keyboard: Keyboard) -> None:
    keyboard.go("#labels")
    keyboard.press("ArrowDown")
    assert page.locator("#labels").input_value() == "left"
    keyboard.go("#positive_label")
    keyboard.press("g")
    until(lambda: text_of(page, "#totals") == "score_c: 100 positives, 200 negatives", "the answer")
    keyboard.stays_at("#positive_label")
    keyboard.go("#scores [value=score_a]")
    keyboard.press("Space")
    until(lambda: page.locator("#models input").count() == 2, "two models")
    keyboard.stays_at("#scores [value=score_a]")
    keyboard.press("Space")
    until(lambda: page.locator("#models input").count() == 3, "three models")
    keyboard.stays_at("#scores [value=score_a]")


def move_threshold(page: Page, keyboard: Keyboard) -> None:
    keyboard.go("#models input")
    keyboard.press("ArrowLeft")
    until(lambda: text_of(page, "#totals").startswith("score_b"), "the other model")
    keyboard.stays_at("#models [value=score_b]")
    keyboard.go("#tradeoffs summary")
    keyboard.press("Enter")
    until(lambda: page.locator("#tradeoffs svg").count() == 1, "the picture of trade-offs")
    keyboard.go("#slider")
    found = int(text_of(page, "#tp"))
    keyboard.press(*["ArrowRight"] * 9)
    assert int(text_of(page, "#tp")) > found
    keyboard.stays_at("#slider")
    keyboard.go("#lower")
    found = int(text_of(page, "#tp")) + int(text_of(page, "#fp"))
    keyboard.press("Space")
    assert int(text_of(page, "#tp")) + int(text_of(page, "#fp")) > found
    keyboard.go("#threshold")
    keyboard.press("ArrowUp")
    assert int(text_of(page, "#tp")) + int(text_of(page, "#fp")) == found
    keyboard.press("Control+a", *"-99", "Enter")
    until(lambda: (text_of(page, "#tp"), text_of(page, "#fp")) == ("100", "200"), "that all are called positive")
    keyboard.stays_at("#threshold")
    keyboard.go("#jump")
    keyboard.press("ArrowDown", "ArrowDown")
    until(lambda: int(text_of(page, "#tp")) >= 80, "a recall of 0.8")
    keyboard.stays_at("#jump")


def compare(page: Page, keyboard: Keyboard) -> None:
    until(lambda: page.locator("#better h3").count() == 2, "both comparisons")
    keyboard.go("#baseline")
    keyboard.press("ArrowDown")  # from score_a, past the model itself
    until(lambda: text_of(page, "#better h3") == "score_a is worse than score_c by " + AREAS, "the comparison")
    keyboard.stays_at("#baseline")
    keyboard.go("#comparison summary")
    keyboard.press("Space")
    assert page.locator("#compared-best_tradeoff svg").is_visible()


def set_bounds(page: Page, keyboard: Keyboard) -> None:
    keyboard.go("#add")
    keyboard.press("Enter")
    keyboard.stays_at(".rule:first-child select")
    keyboard.press("Home")  # the ROC area
    keyboard.go(".rule:first-child [type=number]")
    keyboard.press(*"0.99", "Tab")
    until(lambda: text_of(page, "#verdict") == "✗ score_b fails.", "the verdict")
    keyboard.stays_at(".rule:first-child [aria-label=Rows]")
    keyboard.go(".rule:first-child button")
    keyboard.press("Enter")
    keyboard.stays_at("#add")
    keyboard.press("Enter")
    keyboard.stays_at(".rule:last-child select")
    keyboard.press("Home")  # the ROC area
    keyboard.go(".rule:last-child [type=number]")
    keyboard.press(*"0.7")
    keyboard.go(".rule:last-child [type=checkbox]")
    keyboard.press("Space")
    keyboard.go('[aria-label="Copy: curl"]')
    until(lambda: text_of(page, "#verdict") == "✓ score_b passes.", "the verdict")
    keyboard.stays_at('[aria-label="Copy: curl"]')
    rule = 'metric = "roc"\nmin = 0.7\nconfidence = 0.95'
    until(lambda: rule in (page.locator("#copies pre").last.text_content() or ""), "the rule")


def take_away(page: Page, keyboard: Keyboard) -> None:
    page.context.grant_permissions(["clipboard-read", "clipboard-write"])
    for place, name in enumerate(("curl", "Command line", "rules.toml, for CI")):
        button = f'[aria-label="Copy: {name}"]'
        if place:
            keyboard.go(button)
        keyboard.press("Enter")
        until(lambda button=button: text_of(page, button) == "Copied", "the copy")
        assert page.evaluate("navigator.clipboard.readText()") == page.locator("#copies pre").nth(place).text_content()
    saved: list[Any] = []

    def note(download: Any) -> None:
        saved.append(download)

    page.on("download", note)
    keyboard.go("#save", "Shift+Tab")
    keyboard.press("Enter")
    until(lambda: page.evaluate("1") and len(saved) == 2, "two pictures")
    page.remove_listener("download", note)
    assert {each.suggested_filename for each in saved} == {"score_b-roc.svg", "score_b-pr.svg"}
