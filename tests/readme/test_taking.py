"""The guide's table of which option takes which kind of data is what the service does."""

from tests.readme.taking import PAGE, written


def test_the_table_is_what_the_service_does() -> None:
    text = PAGE.read_text("utf-8")
    assert written(text) == text
