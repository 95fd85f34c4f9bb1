"""What watches the pages sees what they do wrong."""

import pytest

from tests.browser.conftest import OpenPage


def test_messages_errors_and_requests_elsewhere_are_seen(open_page: OpenPage) -> None:
    watched = open_page("/guide")
    watched.check_quiet()
    page = watched.page
    page.evaluate("console.log('said'); setTimeout(() => { throw new Error('thrown') })")
    page.evaluate("document.body.append(Object.assign(new Image(), {src: 'http://127.0.0.1:1/elsewhere'}))")
    watched.wait(lambda: watched.requests)
    for part in ("log: said", "uncaught: thrown"):
        with pytest.raises(AssertionError):
            watched.check_quiet()
        watched.expect_message(part)
    watched.console.clear()  # Chromium says that the policy forbids the picture
    with pytest.raises(AssertionError, match="elsewhere"):
        watched.check_quiet()
    watched.requests.clear()


def test_an_overflow_and_a_barrier_are_seen(open_page: OpenPage) -> None:
    watched = open_page("/guide", width=320)
    watched.check_fits()
    watched.page.evaluate(
        "document.body.append(Object.assign(document.createElement('input'), {id: 'nameless'}));"
        "document.getElementById('nameless').size = 400"
    )
    with pytest.raises(AssertionError):
        watched.check_fits()
    with pytest.raises(AssertionError, match="nameless"):
        watched.check_accessible()
