"""The lane of big requests: full, it says so; what takes too long is ended; small requests go past it."""

import os
import signal
from contextlib import ExitStack

from tests.e2e.wire import Connection, request
from tests.soak import processes
from tests.soak.clients import Client
from tests.soak.samples import question, small
from tests.soak.servers import serving

CHUNKED = request("POST", "/v1/curves", Content_Type="application/json", Transfer_Encoding="chunked")
BIG = question(20_000, "auc")


def test_a_full_lane_refuses_and_small_requests_are_answered() -> None:
    with serving(slots=2, retry_after_seconds=7) as service, ExitStack() as clients:
        holders = [clients.enter_context(Connection(service.port)) for _ in range(2)]
        for holder in holders:
            holder.send(CHUNKED + b"%x\r\n" % len(BIG.body))
        processes.wait_until(lambda: service.metric("rocpr_slots_in_use") == 2, 10, "both slots are held")
        with Client(service.port) as client:
            for _ in range(3):
                refused = client.post(BIG.body)
                assert (refused.status, refused.problem, refused.closes) == (503, "overloaded", True)
                assert refused.headers["retry-after"] == "7"
                answered = client.post(small().body)
                assert (answered.status, answered.body) == (200, small().answer)
                assert client.ask("GET", "/health/ready").status == 200
        for holder in holders:
            answer = holder.send(BIG.body + b"\r\n0\r\n\r\n").read()
            assert (answer.status, answer.body) == (200, BIG.answer)
        assert service.metric("rocpr_slots_in_use") == 0
        assert service.metric('rocpr_refusals_total{code="overloaded"}') == 3
        assert service.failures() == []


def test_what_takes_too_long_is_ended() -> None:
    """A stopped helper is one that will never answer, as one that holds the interpreter's lock."""
    with serving(workers=1, slots=1, big_seconds=1) as service:
        (helper,) = service.helpers()
        os.kill(helper, signal.SIGSTOP)
        with Client(service.port) as client:
            late = client.post(BIG.body)
            assert (late.status, late.problem) == (503, "deadline_exceeded")
            answer = client.post(BIG.body)
            assert (answer.status, answer.body) == (200, BIG.answer)
        processes.wait_until(lambda: not processes.living([helper]), 10, "the helper that was late has ended")
        assert service.metric('rocpr_helper_deaths_total{reason="deadline"}') == 1
        assert service.metric("rocpr_slots_in_use") == 0
