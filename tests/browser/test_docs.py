"""/docs in a real Chromium: the example can be sent as it stands, without a search for the button."""

from __future__ import annotations

import pytest
from playwright.sync_api import Locator, Page, Response

from tests.browser.conftest import Visit, check_fits, until

OPERATIONS = [
    "curves/evaluateCurves",
    "tradeoffs/evaluateTradeoffs",
    "comparisons/compareClassifiers",
    "gates/checkGate",
]
CURVES = OPERATIONS[0]


def opened(visit: Visit, operation: str = CURVES, **options: object) -> tuple[Page, Locator]:
    """The page at an operation, and that operation."""
    page = visit(f"/docs#/{operation}", **options)
    found = page.locator(f"#operations-{operation.replace('/', '-')}")
    found.locator("textarea").wait_for()
    return page, found


def sent(page: Page, operation: Locator) -> Response:
    with page.expect_response("**/v1/*") as answer:
        operation.locator(".execute").click()
    return answer.value


@pytest.mark.parametrize("operation", OPERATIONS)
def test_an_untouched_form_is_answered(visit: Visit, operation: str) -> None:
    answer = sent(*opened(visit, operation))
    assert (answer.status, "?" in answer.request.url) == (200, False)


@pytest.mark.parametrize("width", [1280, 320])
def test_the_button_is_within_a_screen_of_the_heading(visit: Visit, width: int) -> None:
    page, operation = opened(visit, width=width)
    check_fits(page)
    top, button = operation.bounding_box(), operation.locator(".execute").bounding_box()
    assert top
    assert button
    assert button["y"] + button["height"] - top["y"] <= 900


def test_the_operations_begin_on_the_first_screen(visit: Visit) -> None:
    box = visit("/docs").locator(".opblock").first.bounding_box()
    assert box
    assert box["y"] < 900


def test_nothing_chosen_of_a_list_sends_nothing(visit: Visit) -> None:
    page, operation = opened(visit)
    choices = operation.locator(".parameters-container select:has(option[value=''])")
    assert choices.count() > 3
    for choice in choices.all():
        choice.select_option("")
    answer = sent(page, operation)
    assert (answer.status, "?" in answer.request.url) == (200, False)


def test_chosen_items_go_into_one_parameter(visit: Visit) -> None:
    page, operation = opened(visit)
    operation.locator("tr[data-param-name=include] select").select_option(["auc", "points"])
    answer = sent(page, operation)
    assert answer.status == 200
    assert answer.request.url.endswith("/v1/curves?include=auc,points")


def test_an_arrow_answer_is_offered_as_a_file(visit: Visit) -> None:
    page, operation = opened(visit)
    operation.locator(".responses-table .content-type").first.select_option("application/vnd.apache.arrow.stream")
    answer = sent(page, operation)
    assert answer.headers["content-type"] == "application/vnd.apache.arrow.stream"
    link = operation.locator("a[download]")
    until(link.count, "the link")
    assert link.get_attribute("download") == "answer.arrow"
    assert (link.get_attribute("href") or "").startswith("blob:")
