"""/docs breaks no rule of axe: in both themes, with an open form and its answer."""

from __future__ import annotations

from tests.browser.conftest import Visit, check_accessible


def test_everyone_can_use_it(visit: Visit) -> None:
    page = visit("/docs")
    page.locator(".opblock-post").first.wait_for()
    operation = page.locator("#operations-curves-evaluateCurves")
    operation.locator(".opblock-summary-control").press("Enter")
    operation.locator(".execute").press("Enter")
    operation.locator(".live-responses-table").wait_for()
    check_accessible(page)
    page.emulate_media(color_scheme="dark")
    check_accessible(page)
