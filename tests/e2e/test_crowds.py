"""Crowds of bad clients, all at once: nobody else loses an answer, and each bad client is answered or disconnected.

The short form, which counts; the long one, with times, is part of deploy/soak.sh.
"""

from collections.abc import Iterator

import pytest

from tests.support import processes
from tests.support.attacks.attackers import crowds
from tests.support.attacks.bad_clients import missed_by
from tests.support.attacks.small_calls import counted, during
from tests.support.attacks.unread import ports_of, still_there
from tests.support.attacks.uploads import big_ones, compact, during_uploads
from tests.support.servers import Service, serving

pytestmark = pytest.mark.all

CROWDS = {"refused": 150, "half-heads": 50, "slow-heads": 50, "slow-bodies": 50, "idle": 300}
LONG_ENOUGH = 13.0
"""Seconds; a client that is too slow gets its answer after 10."""

UNREAD = 10


@pytest.fixture(scope="module")
def service() -> Iterator[Service]:
    with serving(workers=2, queue_seconds=120, big_seconds=300) as service:
        yield service
        assert service.failures() == []


@pytest.fixture(scope="module")
def unread(service: Service) -> Iterator[set[int]]:
    """The ports of clients that read nothing of a long answer; they stay while the other tests run."""
    with crowds(service.port, {"unread": UNREAD}) as seen:
        yield ports_of(service)
    assert seen["unread"]["ends"] == {"200": UNREAD}


@pytest.mark.usefixtures("unread")
def test_crowds_cost_other_clients_no_answer(service: Service) -> None:
    one = during(service, LONG_ENOUGH, lambda: crowds(service.port, CROWDS))
    assert counted(one.times.wrong) == []
    assert [what for name in CROWDS for what in missed_by(one.seen, name)] == []


@pytest.mark.usefixtures("unread")
def test_slow_uploads_do_not_keep_a_big_request_from_its_answer(service: Service) -> None:
    one, _ = during_uploads(service, 3)
    assert one.wrong == []


@pytest.mark.usefixtures("unread")
def test_many_compact_bodies_at_once_are_answered(service: Service) -> None:
    assert counted(compact(service).wrong) == []


def test_answers_that_nobody_reads_are_aborted(service: Service, unread: set[int]) -> None:
    assert big_ones(service, 3, 0).wrong == []
    what = "no client that reads nothing has a connection"
    processes.wait_until(lambda: not still_there(service, unread), 90, what, every=0.5)
    assert big_ones(service, 1, 0).wrong == []
