"""/docs in a real Chromium: everyone can send an example as shown, without searching for the button."""

from __future__ import annotations

import pytest
from playwright.sync_api import Locator, Page, Response

from tests.browser.conftest import Visit, check_accessible, check_fits, until

pytestmark = pytest.mark.all

SCREEN = 900
"""How high the window is, in pixels."""


def opened(operation: Locator) -> Locator:
    """Open an operation of the page."""
    operation.locator(".opblock-summary-control").click()
    operation.locator("textarea").wait_for()
    return operation


def sent(page: Page, operation: Locator) -> Response:
    with page.expect_response("**/v1/*") as answer:
        operation.locator(".execute").click()
    return answer.value


@pytest.mark.parametrize("first", [0, 1])
def test_an_untouched_form_is_answered(visit: Visit, first: int) -> None:
    """Every second operation: they take half a minute together."""
    page = visit("/docs")
    page.locator(".opblock-post").first.wait_for()
    operations = page.locator(".opblock-post").all()
    assert len(operations) > 5
    for operation in operations[first::2]:
        answer = sent(page, opened(operation))
        assert (answer.status, "?" in answer.request.url) == (200, False)
        operation.locator(".opblock-summary-control").click()  # the next one is drawn sooner


def test_a_form_as_a_reader_fills_it_in(visit: Visit) -> None:
    """One page for all of this, because loading it takes longer than using it."""
    page = visit("/docs")
    page.locator(".opblock-post").first.wait_for()
    operation = page.locator("#operations-curves-evaluateCurves")
    check_button(page, operation)
    check_lists(page, operation)
    check_arrow(page, operation)
    for scheme in ("light", "dark"):
        page.emulate_media(color_scheme=scheme)  # type: ignore[arg-type]  # one of two words
        check_accessible(page)


def check_button(page: Page, operation: Locator) -> None:
    """It is within a screen of the heading."""
    box = operation.bounding_box()
    assert box
    assert box["y"] < SCREEN
    opened(operation)
    for width in (1280, 320):
        page.set_viewport_size({"width": width, "height": SCREEN})
        check_fits(page)
        top, button = operation.bounding_box(), operation.locator(".execute").bounding_box()
        assert top
        assert button
        assert button["y"] + button["height"] - top["y"] <= SCREEN


def check_lists(page: Page, operation: Locator) -> None:
    """A list goes into one parameter; a parameter without a choice is not sent."""
    choices = operation.locator(".parameters-container select:has(option[value=''])")
    assert choices.count() > 3
    for choice in choices.all()[:4]:
        choice.select_option("")
    answer = sent(page, operation)
    assert (answer.status, "?" in answer.request.url) == (200, False)
    operation.locator("tr[data-param-name=include] select").select_option(["auc", "points"])
    answer = sent(page, operation)
    assert answer.status == 200
    assert answer.request.url.endswith("/v1/curves?include=auc,points")


def check_arrow(page: Page, operation: Locator) -> None:
    """An answer in Arrow is offered as a file."""
    operation.locator(".responses-table .content-type").first.select_option("application/vnd.apache.arrow.stream")
    answer = sent(page, operation)
    assert answer.headers["content-type"] == "application/vnd.apache.arrow.stream"
    link = operation.locator("a[download]")
    until(link.count, "the link")
    assert link.get_attribute("download") == "answer.arrow"
    assert (link.get_attribute("href") or "").startswith("blob:")
