"""A real Chromium, a real server, and pages that may neither write to the console nor load anything from elsewhere."""

from __future__ import annotations

import os
import shutil
import signal
import subprocess
import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import pytest
from axe_playwright_python.sync_playwright import Axe
from playwright.sync_api import Browser, Page, sync_playwright

from tests.support.processes import wait_until
from tests.support.servers import free_port, wait_for_port

CHROMIUM = shutil.which("chromium")
OPTIONS = [
    "--no-sandbox",
    "--disable-gpu",
    "--disable-quic",
    "--no-first-run",
    "--disable-background-networking",
    "--disable-component-update",
    "--disable-sync",
]
SECONDS = 240.0
"""How long a test waits for what should take less than a second."""

Visit = Callable[..., Page]


@contextmanager
def running(root: Path, log: Path, **variables: str) -> Iterator[str]:
    """Run the service as deployed, on its own port; yields its address."""
    port = free_port()
    environment = {name: value for name, value in os.environ.items() if not name.startswith("ROCPR_")} | variables
    command = [sys.executable, "-m", "gunicorn", "--config", "deploy/gunicorn.conf.py", "--bind", f"127.0.0.1:{port}"]
    with log.open("wb") as stream:
        process = subprocess.Popen(command, cwd=root, env=environment, stdout=stream, stderr=stream)
    try:
        wait_for_port(port, process)
        yield f"http://127.0.0.1:{port}"
    finally:
        process.send_signal(signal.SIGTERM)
        ended = process.wait(timeout=120)
    assert ended == 0


@pytest.fixture(scope="package")
def chromium() -> Iterator[Browser]:
    """One for these tests, not the session: while Playwright runs, other tests cannot start an event loop."""
    if CHROMIUM is None:
        pytest.skip("there is no chromium on this machine")
    with sync_playwright() as playwright:
        browser = playwright.chromium.launch(executable_path=CHROMIUM, args=OPTIONS)
        yield browser
        browser.close()


@pytest.fixture(scope="session")
def address(root: Path, tmp_path_factory: pytest.TempPathFactory) -> Iterator[str]:
    """The address of a server without keys."""
    with running(root, tmp_path_factory.mktemp("service") / "log", ROCPR_WORKERS="1") as found:
        yield found


@pytest.fixture(scope="package")
def tab(chromium: Browser) -> Iterator[Page]:
    """One tab for all tests in turn: opening one takes as long as most tests."""
    page = chromium.new_page()
    page.set_default_timeout(1000 * SECONDS)
    yield page
    page.close()


@pytest.fixture
def said() -> list[str]:
    """What pages wrote to the console, and what they requested from elsewhere."""
    return []


@pytest.fixture
def visit(tab: Page, address: str, said: list[str]) -> Iterator[Visit]:
    """Open pages; at the end, none may have written to the console or requested anything from elsewhere."""
    own = [address, "blob:", "data:", "about:"]
    listeners: dict[str, Callable[[Any], object]] = {
        "console": lambda message: said.append(message.text),
        "pageerror": lambda error: said.append(str(error)),
        "request": lambda asked: None if asked.url.startswith(tuple(own)) else said.append(asked.url),
    }

    def visit(path: str, *, width: int = 1280, at: str = address, **media: Any) -> Page:
        own.append(at)
        tab.set_viewport_size({"width": width, "height": 900})
        tab.emulate_media(**{"color_scheme": "light", "forced_colors": "none"} | media)
        tab.goto("about:blank")  # so that a page is loaded anew
        tab.goto(at + path)
        return tab

    for event, listener in listeners.items():
        tab.on(event, listener)  # type: ignore[call-overload]  # one event by name
    yield visit
    tab.unroute_all()
    tab.goto("about:blank")
    for event, listener in listeners.items():
        tab.remove_listener(event, listener)
    assert said == []


def until(holds: Callable[[], object], what: str = "it") -> None:
    """Wait until a condition holds: the page's policy forbids the scripts with which Playwright would wait."""
    wait_until(holds, SECONDS, what)


def check_accessible(page: Page) -> None:
    """Check that the page breaks no rule of axe."""
    found = Axe().run(page, options={"resultTypes": ["violations"]}).response["violations"]  # the others take time
    assert [(each["id"], [node["target"] for node in each["nodes"]]) for each in found] == []


def check_fits(page: Page) -> None:
    """Check that nothing makes the page itself scroll sideways."""
    assert page.evaluate("document.documentElement.scrollWidth <= document.documentElement.clientWidth")
