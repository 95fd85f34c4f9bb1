"""The guide, in a real Chromium: every page fits a phone and is accessible, light, dark and in forced colours."""

from __future__ import annotations

import pytest

from service.guide import pages
from tests.browser.conftest import Visit, check_accessible, check_fits

pytestmark = pytest.mark.all


@pytest.mark.parametrize("path", ["/guide", *(f"/guide/{name}" for name in pages())])
def test_a_page_fits_a_phone_and_is_accessible(visit: Visit, path: str) -> None:
    page = visit(path, width=320)
    check_fits(page)
    check_accessible(page)


@pytest.mark.parametrize("mode", [{"color_scheme": "dark"}, {"forced_colors": "active"}])
def test_its_colours_suit_the_reader(visit: Visit, mode: dict[str, str]) -> None:
    """The pages share a stylesheet; this one has tables, commands and pictures."""
    check_accessible(visit("/guide/gates", **mode))
