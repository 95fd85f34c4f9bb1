"""Restarts like those of deploy/systemd lose nothing; a draining server says so and still serves."""

import signal
from contextlib import ExitStack

import pytest

from tests.e2e.wire import SECONDS
from tests.support import processes
from tests.support.attacks.restarts import roll
from tests.support.clients import Client
from tests.support.samples import small
from tests.support.servers import STOP_SECONDS, serving

pytestmark = pytest.mark.all


def test_rolling_restarts_lose_nothing(*, runs_all: bool) -> None:
    found = roll(10 if runs_all else 2, ahead=2, workers=1)
    assert found.missed == []


def test_a_drain_is_announced_and_answers_what_comes() -> None:
    with serving(workers=1, drain_seconds=6) as service, ExitStack() as clients:
        kept = clients.enter_context(Client(service.port))
        assert not kept.post(small().body).closes
        service.process.send_signal(signal.SIGTERM)
        asking = clients.enter_context(Client(service.port))
        processes.wait_until(
            lambda: asking.ask("GET", "/health/ready").status == 503, SECONDS, "it is not ready any more"
        )
        refused = asking.ask("GET", "/health/ready")
        assert (refused.problem, refused.closes, "retry-after" in refused.headers) == ("not_ready", True, True)
        assert asking.ask("GET", "/health/live").status == 200
        for client in (kept, asking):  # one that was there before, and a new one
            answer = client.post(small().body)
            assert (answer.status, answer.closes, answer.body) == (200, True, small().answer)
        assert service.process.wait(STOP_SECONDS) == 0
        assert service.failures() == []
