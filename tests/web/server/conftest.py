"""A loop in a thread, the lanes of a process, a clock that can be advanced, and servers of applications."""

import asyncio
import threading
from collections.abc import Callable, Iterator, Mapping
from typing import Any

import pytest

from service.web.lanes import board
from service.web.passes import DRAINING, Pass
from service.web.server import connection, exchange, expiry, lane, queues, sending, server
from service.web.server.lane import Lane, ThreadLane
from tests.web.server.serving import SECONDS, Clock, Served

Serve = Callable[..., Served]


@pytest.fixture(scope="session")
def failures() -> list[dict[str, Any]]:
    """Errors that the loop caught."""
    return []


@pytest.fixture(scope="session")
def loop(failures: list[dict[str, Any]]) -> Iterator[asyncio.AbstractEventLoop]:
    loop = asyncio.new_event_loop()
    loop.set_exception_handler(lambda _, context: failures.append(context))
    thread = threading.Thread(target=loop.run_forever, daemon=True)
    thread.start()
    yield loop
    loop.call_soon_threadsafe(loop.stop)
    thread.join(SECONDS)
    loop.close()


@pytest.fixture(scope="session")
def lanes(loop: asyncio.AbstractEventLoop) -> Mapping[Pass, Lane]:
    """Lanes for all tests. All have threads, which never end, because many applications here wait for their test."""
    small, columnar, big = (
        ThreadLane(loop, name, threads=threads, ahead=ahead, most=100, half_life=1.0)
        for name, threads, ahead in (("small", 1, 1), ("columnar", 1, 1), ("big", 2, 0))
    )
    return {Pass.HEAD: small, Pass.SMALL: small, Pass.COLUMNAR: columnar, Pass.BIG: big}


@pytest.fixture
def clock(loop: asyncio.AbstractEventLoop, monkeypatch: pytest.MonkeyPatch) -> Clock:
    """The time of all parts of the server, but not of the loop itself."""

    async def settled() -> None:
        """Wait for whatever the loop is doing, and for what that makes it do next."""
        for _ in range(2):
            await asyncio.sleep(0)

    clock = Clock(lambda: asyncio.run_coroutine_threadsafe(settled(), loop).result(SECONDS))
    for module in (board, connection, exchange, lane, queues, sending, server, expiry):
        monkeypatch.setattr(module, "time", clock)
    return clock


@pytest.fixture
def serve(
    loop: asyncio.AbstractEventLoop,
    lanes: Mapping[Pass, Lane],
    failures: list[dict[str, Any]],
    clock: Clock,  # noqa: ARG001  # so that nothing depends on how long a test takes
) -> Iterator[Serve]:
    """Make servers of applications; at the end, the loop must have caught no error."""
    served: list[Served] = []

    def serve(application: Callable[..., Any], **options: Any) -> Served:
        served.append(Served(loop, options.pop("lanes", lanes), application, **options))
        return served[-1]

    yield serve
    for one in served:
        one.end()
    DRAINING.clear()
    found, failures[:] = list(failures), []
    assert found == []
