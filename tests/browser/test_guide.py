"""The guide: it fits a phone, and axe finds nothing to say, in the light and in the dark."""

import pytest

from service.guide import pages
from tests.browser.conftest import OpenPage


@pytest.mark.parametrize("path", ["/guide", *(f"/guide/{name}" for name in pages())])
def test_a_page_fits_a_phone_and_is_accessible(open_page: OpenPage, path: str) -> None:
    watched = open_page(path, width=320)
    watched.check_fits()
    watched.check_accessible()


@pytest.mark.parametrize("options", [{"color_scheme": "dark"}, {"forced_colors": "active"}], ids=str)
def test_colours_suit_the_reader(open_page: OpenPage, options: dict[str, str]) -> None:
    """The pages share a stylesheet; this one has tables, commands and pictures."""
    watched = open_page("/guide/gates", **options)
    watched.check_fits()
    watched.check_accessible()
