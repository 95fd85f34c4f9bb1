"""/docs breaks no rule of axe: in both themes, with an open form and its answer."""

from __future__ import annotations

from typing import Any

import pytest

from tests.browser.conftest import Visit, check_accessible


@pytest.mark.parametrize("scheme", ["light", "dark"])
def test_everyone_can_use_it(visit: Visit, scheme: Any) -> None:
    page = visit("/docs", color_scheme=scheme)
    page.locator(".opblock-post").first.wait_for()
    operation = page.locator("#operations-curves-evaluateCurves")
    operation.locator(".opblock-summary-control").press("Enter")
    operation.locator(".execute").press("Enter")
    operation.locator(".live-responses-table").wait_for()
    check_accessible(page)
