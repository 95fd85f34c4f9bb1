"""One request to an application, step by step: without threads, sockets or a loop."""

from collections.abc import Callable
from typing import Any

from service.web.passes import UNTIL_SENT, Pass
from service.web.server.exchange import Exchange
from service.web.server.incoming_body import IncomingBody
from service.web.server.queues import Use
from service.web.server.reply import Reply
from service.wire.problems import Problem
from tests.web.server.applications import Application, Environ


class Lane:
    """A lane that works only when the test tells it to."""

    def __init__(self, told: list[Any]) -> None:
        self._told = told
        self.waiting: list[Exchange] = []

    def put(self, exchange: Exchange) -> None:
        self.waiting.append(exchange)

    def withdraw(self, exchange: Exchange) -> bool:
        """Remove it, unless it has begun."""
        if exchange not in self.waiting:
            return False
        self.waiting.remove(exchange)
        return True

    def begin(self) -> Callable[[], object]:
        """Do what waits, as a thread does; return what the loop would call."""
        return self.waiting.pop().run()

    def serve(self) -> Any:
        """Do it, and return what was reported to the receiver."""
        self.begin()()
        return self._told[-1] if self._told else None


class Asked:
    """A request to an application, and its outcome."""

    def __init__(self, application: Application, method: str = "GET", protocol: str = "HTTP/1.1") -> None:
        self.told: list[Any] = []
        self.closed: list[str] = []
        self.use = Use()
        self.lanes = {which: Lane(self.told) for which in Pass}
        self.environ: Environ = {"REQUEST_METHOD": method, "SERVER_PROTOCOL": protocol, "PATH_INFO": "/"}
        self.exchange = Exchange(
            application,
            self.environ,
            self,
            owner="owner",
            lanes=self.lanes,
        )
        self.environ[UNTIL_SENT].callback(self.closed.append, "given back")

    def moved(self, following: Pass, *, has_body: bool) -> None:
        self.told.append((following, has_body))

    def replied(self, reply: Reply) -> None:
        self.told.append(reply)

    def failed(self) -> None:
        self.told.append("failed")

    def refuse(self, problem: Problem) -> None:
        self.told.append(problem.type.code)

    def in_pass(self, which: Pass, body: IncomingBody | None = None) -> Any:
        """Let the application do one pass, and return what it reported."""
        self.exchange.ask(which, body)
        return self.lanes[which].serve()
