"""A page of a real browser, and everything that it said or asked for and should not have."""

import time
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any

import pytest
from axe_playwright_python.sync_playwright import Axe
from playwright.sync_api import ConsoleMessage, Page, Request

SECONDS = 60.0
"""How long a test waits for what should come at once: also a machine that is busy must not fail it."""


@dataclass
class Watched:
    """A page, what it wrote to the console, what failed in it uncaught, and what it asked of others than the server."""

    page: Page
    server: str
    console: list[str] = field(default_factory=list)
    requests: list[str] = field(default_factory=list)

    def __post_init__(self) -> None:
        self.page.on("console", self._keep_message)
        self.page.on("pageerror", lambda error: self.console.append(f"uncaught: {error}"))
        self.page.on("request", self._keep_request)

    def _keep_message(self, message: ConsoleMessage) -> None:
        self.console.append(f"{message.type}: {message.text} ({message.location.get('url')})")

    def _keep_request(self, request: Request) -> None:
        if not request.url.startswith((f"{self.server}/", "data:", f"blob:{self.server}/")):
            self.requests.append(request.url)

    def expect_message(self, part: str) -> None:
        """Wait for a message of the console that has this part, and let the page have it; for a test of a refusal."""
        self.wait(lambda: any(part in message for message in self.console))
        self.console = [message for message in self.console if part not in message]

    def wait(self, is_true: Callable[[], Any]) -> Any:
        """Ask again and again until the answer is true, and return it.

        A page whose policy lets no text be run as a script fails playwright's wait_for_function; evaluate works.
        """
        end = time.monotonic() + SECONDS
        while not (found := is_true()):
            if time.monotonic() > end:
                pytest.fail(f"waited {SECONDS} s in vain; the console has {self.console}")
            self.page.wait_for_timeout(20)
        return found

    def check_accessible(self) -> None:
        """Fail for each rule of axe that the page breaks as it stands."""
        violations = Axe().run(self.page).response["violations"]
        assert not violations, "\n".join(
            f"{one['id']}: {one['help']}: {[node['html'] for node in one['nodes']]}" for one in violations
        )

    def check_fits(self) -> None:
        """Fail if the page as a whole scrolls sideways."""
        width, needed = self.page.evaluate("[document.documentElement.clientWidth, document.documentElement.scrollWidth]")
        assert needed <= width, f"the page is {needed} pixels wide, the window {width}"

    def check_quiet(self) -> None:
        """Fail if the page said anything, or asked anyone but the server."""
        assert (self.console, self.requests) == ([], []), (self.console, self.requests)
