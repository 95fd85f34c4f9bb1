"""gunicorn's worker without gunicorn: what it reports to the master, and how it stops. tests/e2e tests the whole."""

import logging
import os
import signal
from collections.abc import Callable, Iterator
from queue import SimpleQueue
from types import SimpleNamespace
from typing import Any

import pytest
from gunicorn.config import Config
from gunicorn.workers.base import Worker as BaseWorker

from service.web.passes import DRAINING
from service.web.server import worker as worker_module
from service.web.server.worker import STOP_SWEEP_SECONDS, SWEEP_SECONDS, Worker, _log_failure
from tests.web.server.serving import Clock

GRACEFUL_SECONDS = 30


class Loop:
    """A loop that runs what a test tells it to."""

    def __init__(self) -> None:
        self.later: list[tuple[float, Callable[[], object]]] = []
        self.is_stopped = False

    def call_later(self, seconds: float, function: Callable[[], object]) -> None:
        self.later.append((seconds, function))

    def stop(self) -> None:
        self.is_stopped = True

    def go_on(self) -> float:
        """Do what is next, and return how long the loop would have waited."""
        seconds, function = self.later.pop(0)
        function()
        return seconds


class Told:
    """A worker, and what it reported to the master and to its parts."""

    def __init__(self, monkeypatch: pytest.MonkeyPatch, drain_seconds: int = 0) -> None:
        self.heartbeats = self.sweeps = self.interrupted = 0
        self.connections = 0
        self.listens = True
        self.loop = Loop()
        self.worker = worker = Worker.__new__(Worker)
        monkeypatch.setattr(BaseWorker, "notify", lambda _: self.beat())
        worker.alive, worker.ppid, worker.log = True, os.getppid(), logging.getLogger("tests.worker")
        worker.cfg = SimpleNamespace(graceful_timeout=GRACEFUL_SECONDS, worker_int=lambda _: self.interrupt())
        worker._loop, worker._drain_seconds, worker._stops_at = self.loop, drain_seconds, None
        worker._server = SimpleNamespace(sweep=self.sweep, stopping_since=None)
        worker._listeners = SimpleNamespace(count=lambda: self.connections, close=self.close)

    def beat(self) -> None:
        self.heartbeats += 1

    def sweep(self) -> None:
        self.sweeps += 1

    def interrupt(self) -> None:
        self.interrupted += 1

    def close(self) -> None:
        assert self.listens
        self.listens = False


@pytest.fixture
def told(monkeypatch: pytest.MonkeyPatch) -> Told:
    return Told(monkeypatch)


@pytest.fixture(autouse=True)
def _serves_again() -> Iterator[None]:
    yield
    DRAINING.clear()


def test_every_sweep_tells_the_master_that_all_is_well(told: Told) -> None:
    told.worker._sweep()
    assert (told.sweeps, told.heartbeats) == (1, 1)
    for _ in range(2):
        assert told.loop.go_on() == SWEEP_SECONDS
    assert (told.sweeps, told.heartbeats) == (3, 3)


def test_without_a_master_it_stops(told: Told) -> None:
    told.worker.ppid = -1
    told.worker._sweep()
    assert not told.listens
    assert DRAINING.is_set()
    assert told.loop.is_stopped


class TestStopping:
    def test_ends_when_the_last_connection_has(self, told: Told) -> None:
        told.connections = 2
        told.worker._stop()
        assert DRAINING.is_set()
        assert told.worker._server.stopping_since is not None
        assert (told.listens, told.loop.is_stopped) == (False, False)
        assert told.loop.go_on() == STOP_SWEEP_SECONDS
        assert not told.loop.is_stopped
        told.connections = 0
        told.loop.go_on()
        assert told.loop.is_stopped
        assert told.sweeps == 3

    def test_does_not_wait_for_ever(self, told: Told, monkeypatch: pytest.MonkeyPatch) -> None:
        clock = Clock()
        monkeypatch.setattr(worker_module, "time", clock)
        told.connections = 1
        told.worker._stop()
        clock.forward(GRACEFUL_SECONDS - 1)
        told.loop.go_on()
        assert not told.loop.is_stopped
        clock.forward(2)
        told.loop.go_on()
        assert told.loop.is_stopped

    def test_drains_first(self, monkeypatch: pytest.MonkeyPatch) -> None:
        told = Told(monkeypatch, drain_seconds=7)
        told.worker._stop()
        assert DRAINING.is_set()
        assert (told.listens, told.loop.is_stopped) == (True, False)
        assert told.loop.go_on() == 7
        assert (told.listens, told.loop.is_stopped) == (False, True)

    def test_a_second_time_ends_the_drain(self, monkeypatch: pytest.MonkeyPatch) -> None:
        told = Told(monkeypatch, drain_seconds=3600)
        told.worker._stop()
        assert told.listens
        told.worker._stop()
        assert (told.listens, told.loop.is_stopped) == (False, True)
        told.loop.go_on()  # the end of the drain, if nothing is left to stop

    def test_at_once_does_not_wait(self, told: Told) -> None:
        told.connections = 1
        told.worker._quit()
        assert told.loop.is_stopped
        assert (told.worker.alive, told.interrupted) == (False, 1)

    def test_before_the_loop_runs_is_noted(self, told: Told) -> None:
        told.worker.handle_exit(signal.SIGTERM, None)
        assert DRAINING.is_set()
        assert not told.worker.alive

    def test_at_once_before_the_loop_runs_is_noted_even_while_a_class_is_made(self, told: Told) -> None:
        class Interrupted:
            def __set_name__(self, owner: type, name: str) -> None:
                told.worker.handle_quit(signal.SIGINT, None)

        type("OfAnImportedModule", (), {"attribute": Interrupted()})
        assert DRAINING.is_set()
        assert (told.worker.alive, told.interrupted) == (False, 1)

    def test_that_came_since_the_fork_is_heard(self, told: Told, monkeypatch: pytest.MonkeyPatch) -> None:
        raised: list[int] = []
        monkeypatch.setattr(BaseWorker, "init_signals", lambda _: raised.append(0))
        monkeypatch.setattr(worker_module.signal, "raise_signal", raised.append)
        told.worker.signals = SimpleQueue()
        for number in (signal.SIGHUP, signal.SIGTERM, signal.SIGTTIN, signal.SIGQUIT):
            told.worker.signals.put(number)
        told.worker.init_signals()
        assert raised == [0, signal.SIGTERM, signal.SIGQUIT]


def test_tls_is_refused() -> None:
    config = Config()
    Worker.check_config(config, None)
    config.set("certfile", __file__)
    with pytest.raises(SystemExit, match="does not serve TLS"):
        Worker.check_config(config, None)


@pytest.mark.parametrize("context", [{"exception": ValueError(), "message": "secret"}, {"message": "secret"}])
def test_what_the_loop_catches_is_logged_without_its_words(context: dict[str, Any], caplog) -> None:
    _log_failure(None, context)
    (record,) = caplog.records
    assert record.getMessage() == "Unexpected failure"
    assert "secret" not in caplog.text
