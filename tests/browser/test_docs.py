"""/docs in a real Chromium: the example can be sent as it stands, without a search for the button."""

from __future__ import annotations

from playwright.sync_api import Locator, Page, Response

from tests.browser.conftest import Visit, check_fits, until

SCREEN = 900
"""How high the window is, in pixels."""


def opened(operation: Locator) -> Locator:
    """Open an operation of the page."""
    operation.locator(".opblock-summary-control").click()
    operation.locator("textarea").wait_for()
    return operation


def curves(visit: Visit) -> tuple[Page, Locator]:
    """The page at the first operation, as a link to it opens it."""
    page = visit("/docs#/curves/evaluateCurves")
    operation = page.locator("#operations-curves-evaluateCurves")
    operation.locator("textarea").wait_for()
    return page, operation


def sent(page: Page, operation: Locator) -> Response:
    with page.expect_response("**/v1/*") as answer:
        operation.locator(".execute").click()
    return answer.value


def test_an_untouched_form_is_answered(visit: Visit) -> None:
    page = visit("/docs")
    page.locator(".opblock-post").first.wait_for()
    operations = page.locator(".opblock-post").all()
    assert len(operations) > 5
    for operation in operations:
        answer = sent(page, opened(operation))
        assert (answer.status, "?" in answer.request.url) == (200, False)
        operation.locator(".opblock-summary-control").click()  # the next one is drawn sooner


def test_the_button_is_within_a_screen_of_the_heading(visit: Visit) -> None:
    page = visit("/docs")
    operation = page.locator(".opblock").first
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


def test_lists_go_into_one_parameter_and_nothing_chosen_sends_nothing(visit: Visit) -> None:
    page, operation = curves(visit)
    choices = operation.locator(".parameters-container select:has(option[value=''])")
    assert choices.count() > 3
    for choice in choices.all():
        choice.select_option("")
    answer = sent(page, operation)
    assert (answer.status, "?" in answer.request.url) == (200, False)
    operation.locator("tr[data-param-name=include] select").select_option(["auc", "points"])
    answer = sent(page, operation)
    assert answer.status == 200
    assert answer.request.url.endswith("/v1/curves?include=auc,points")


def test_an_arrow_answer_is_offered_as_a_file(visit: Visit) -> None:
    page, operation = curves(visit)
    operation.locator(".responses-table .content-type").first.select_option("application/vnd.apache.arrow.stream")
    answer = sent(page, operation)
    assert answer.headers["content-type"] == "application/vnd.apache.arrow.stream"
    link = operation.locator("a[download]")
    until(link.count, "the link")
    assert link.get_attribute("download") == "answer.arrow"
    assert (link.get_attribute("href") or "").startswith("blob:")
