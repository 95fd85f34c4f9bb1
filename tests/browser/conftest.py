"""A running server and one Chromium that opens its pages."""

import os
import shutil
import signal
import subprocess
import sys
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest
from playwright.sync_api import Browser, sync_playwright

from tests.browser.watching import SECONDS, Watched
from tests.e2e.conftest import free_port, wait_for_port

CHROMIUM = next(filter(None, map(shutil.which, ("chromium", "chromium-browser", "google-chrome"))), None)
OPTIONS = (
    "--no-sandbox",
    "--disable-gpu",
    "--disable-quic",
    "--no-first-run",
    "--disable-background-networking",
    "--disable-component-update",
    "--disable-sync",
)

OpenPage = Callable[..., Watched]


@pytest.fixture(scope="session")
def server(root: Path, tmp_path_factory: pytest.TempPathFactory) -> Iterator[str]:
    """The address of `rocpr serve`, whose log must tell of no failure."""
    port = free_port()
    log = tmp_path_factory.mktemp("browser") / "log"
    variables = {name: value for name, value in os.environ.items() if not name.startswith("ROCPR_")}
    command = [sys.executable, "-c", "from service.cli.main import main; main()", "serve", "--port", str(port)]
    with log.open("wb") as stream:
        process = subprocess.Popen(
            command, cwd=root, env=variables | {"ROCPR_WORKERS": "1"}, stdout=stream, stderr=subprocess.STDOUT
        )
    wait_for_port(port, process, seconds=SECONDS)
    yield f"http://127.0.0.1:{port}"
    process.send_signal(signal.SIGTERM)
    assert process.wait(timeout=SECONDS) == 0
    text = log.read_text()
    assert "Traceback" not in text, text
    assert '"level":"error"' not in text, text


@pytest.fixture(scope="module")
def browser() -> Iterator[Browser]:
    """Chromium without a window and with nothing kept from before.

    For a module, not the session: while playwright runs, tests of the same process cannot start an event loop.
    """
    if CHROMIUM is None:
        pytest.skip("there is no Chromium on this machine; Debian's package is chromium")
    with sync_playwright() as playwright:
        browser = playwright.chromium.launch(executable_path=CHROMIUM, args=list(OPTIONS), timeout=SECONDS * 1000)
        yield browser
        browser.close()


@pytest.fixture
def open_page(browser: Browser, server: str) -> Iterator[OpenPage]:
    """A function that opens a path of the server in a window of its own; at the end every page must have been quiet.

    Its options: width and height in pixels, and what playwright's new_context takes, such as color_scheme="dark" or
    forced_colors="active".
    """
    opened = []

    def open_path(path: str, *, width: int = 1280, height: int = 800, **options: Any) -> Watched:
        context = browser.new_context(viewport={"width": width, "height": height}, base_url=server, **options)
        context.set_default_timeout(SECONDS * 1000)
        watched = Watched(context.new_page(), server)
        opened.append(watched)
        watched.page.goto(path)
        return watched

    yield open_path
    for watched in opened:
        watched.page.context.close()
    for watched in opened:
        watched.check_quiet()
