"""Rows that belong together, and rules in each slice, on the page at /."""

from __future__ import annotations

from pathlib import Path
from urllib.parse import parse_qs, urlsplit

import numpy as np
import pytest
from playwright.sync_api import Page, Request

from tests.browser.conftest import Visit, check_accessible, until
from tests.browser.page import bounded, chosen, copies, loaded, ready, run, text_of

pytestmark = pytest.mark.all

HOSPITALS = ("north", "south", "east")


def visits(patients: int = 60, each: int = 5) -> bytes:
    """Rows of the same patient are alike; the new model is worse in the east."""
    random = np.random.default_rng(5)
    lines = ["patient,hospital,y,old_score,new_score,visits"]
    for patient in range(patients):
        own, sick, hospital = random.normal(), patient % 2, HOSPITALS[patient % 3]
        for _ in range(each):
            old, new = own + sick + random.normal(size=2)
            new += 0 if hospital == "east" else 2 * sick
            lines.append(f"p{patient},{hospital},{sick},{old:.3f},{new:.3f},{1 + patient % 4}")
    return "\n".join(lines).encode()


def ends_of_recall(page: Page) -> str:
    return text_of(page, "#rates td:nth-child(3)")


def width(ends: str) -> float:
    lower, upper = map(float, ends.split(" to "))
    return upper - lower


def asked(request: Request) -> tuple[str, list[str]]:
    """What was asked for, and the clusters that were named."""
    address = urlsplit(request.url)
    return address.path, parse_qs(address.query).get("clusters", [])


def test_clusters_widen_every_interval(visit: Visit, root: Path, tmp_path: Path) -> None:
    page = loaded(visit("/"), "visits.csv", visits())
    assert "'patient' repeats its values" in text_of(page, "#warnings")
    of_rows, area = ends_of_recall(page), text_of(page, "#roc desc")
    requests: list[tuple[str, list[str]]] = []

    def note(request: Request) -> None:
        requests.append(asked(request))

    page.on("request", note)
    page.get_by_label("Rows of the same").select_option("patient")
    until(lambda: ends_of_recall(page) not in {"", of_rows}, "the intervals")
    page.locator("#tradeoffs summary").click()
    until(lambda: page.locator("#tradeoffs svg").count() == 1, "the trade-offs, which have no intervals")
    page.remove_listener("request", note)
    assert width(ends_of_recall(page)) > 1.2 * width(of_rows)
    assert text_of(page, "#roc desc") != area
    assert {path for path, named in requests if named == ["patient"]} == {"/v1/curves", "/v1/comparisons", "/v1/gates"}
    assert [path for path, named in requests if not named] == ["/v1/tradeoffs"]
    bounded(page, "ROC area", 0.7)
    (tmp_path / "visits.csv").write_bytes(visits())
    _, commands, rules = copies(page)
    assert 'clusters = "patient"\n' in rules
    assert "60 clusters" in run(commands.splitlines()[0], tmp_path, root)
    check_accessible(page)


def test_with_weights_there_are_intervals_too(visit: Visit) -> None:
    page = loaded(visit("/"), "visits.csv", visits())
    before = ends_of_recall(page)
    page.locator("#weights").select_option("visits")
    until(lambda: ends_of_recall(page) not in {"", before}, "the intervals")
    assert width(ends_of_recall(page)) < 0.5


def test_a_row_without_a_patient(visit: Visit, said: list[str]) -> None:
    page = loaded(visit("/"), "visits.csv", visits().replace(b"\np7,", b"\n,", 1))
    page.locator("#clusters").select_option("patient")
    until(lambda: text_of(page, "#clusters-problem").startswith("Row 37: "), "the problem")
    page.get_by_role("button", name="Leave out 1 of 300 rows without a value").click()
    until(lambda: text_of(page, "#totals") == "new_score: 149 positives, 150 negatives", "the other rows")
    said.clear()  # the browser itself notes the status


def test_a_rule_in_each_slice(visit: Visit, root: Path, tmp_path: Path) -> None:
    page = bounded(loaded(visit("/"), "visits.csv", visits()), "ROC area", 0.8)
    until(lambda: text_of(page, "#verdict") == "✓ new_score passes.", "the verdict on all rows")
    rows = page.locator(".rule").get_by_label("Rows", exact=True)
    assert rows.locator("option").all_text_contents() == [
        "on all rows",
        "in each patient",
        "in each hospital",
        "in each visits",
    ]
    rows.select_option("hospital")
    until(lambda: text_of(page, "#verdict") == "✗ new_score fails.", "the verdict on each hospital")
    assert text_of(page, "#reasons").startswith("roc of hospital east is ")
    (tmp_path / "visits.csv").write_bytes(visits())
    _, commands, rules = copies(page)
    assert 'slices = ["hospital"]' in rules
    (tmp_path / "rules.toml").write_text(rules)
    assert "roc of hospital east is " in run(commands.splitlines()[1], tmp_path, root)
    check_accessible(page)


def test_slices_by_the_keyboard(visit: Visit) -> None:
    page = ready(visit("/"))
    page.locator(".rule [type=number]").first.focus()
    page.keyboard.press("Tab")
    page.keyboard.press("ArrowDown")
    until(lambda: 'slices = ["country"]' in text_of(page, "#copies pre >> nth=2"), "the rule")
    until(lambda: "roc in every country" in text_of(page, "#drawn-gate desc"), "the verdict")
    page.keyboard.press("Tab")
    assert page.evaluate("document.activeElement.type") == "checkbox"


def test_without_a_column_of_few_values_rules_have_no_choice_of_rows(visit: Visit) -> None:
    rows = "\n".join(["y,score", *(f"{row % 2},{row}" for row in range(60))])
    page = bounded(loaded(visit("/"), "two.csv", rows.encode()), "ROC area", 0.1)
    assert page.locator(".rule").get_by_label("Rows", exact=True).is_hidden()


def test_a_bound_can_be_added_while_a_file_is_read(visit: Visit) -> None:
    page = ready(visit("/"))
    page.route("**/v1/columns*", lambda _: None)  # it never answers
    chosen(page, "visits.csv", visits())
    until(lambda: "visits.csv" in text_of(page, "#source"), "the file")
    page.locator("#add").click()
    assert page.locator(".rule").count() == 1
