"""A key with a lot of long work costs another key no answer, and the work of its departed clients is dropped."""

import pytest

from tests.support import processes
from tests.support.attacks.attackers import askers
from tests.support.attacks.key_fairness import BIG_ROWS, THREADS, one_at_a_time, two_keys
from tests.support.clients import Client
from tests.support.samples import question, small
from tests.support.servers import Service

pytestmark = pytest.mark.all

SECONDS = 2.0
WAIT_SECONDS = 60.0


def in_use(service: Service, key: str) -> float:
    """The number of held slots."""
    with Client(service.port) as client:
        page = client.ask("GET", "/metrics", Authorization=f"Bearer {key}").body.decode()
    line = next(line for line in page.splitlines() if line.startswith("rocpr_slots_in_use "))
    return float(line.rpartition(" ")[2])


def test_gates_of_one_key_cost_another_nothing_and_end_with_their_clients() -> None:
    big = question(BIG_ROWS, "auc")
    with two_keys() as (service, greedy, modest):
        assert one_at_a_time(service.port, modest, big, 0.5).wrong == []
        with askers(service.port, "gates", THREADS, greedy):
            processes.wait_until(lambda: in_use(service, modest) > 0, WAIT_SECONDS, "a gate is under way")
            for asked in (big, small()):
                got = one_at_a_time(service.port, modest, asked, SECONDS)
                assert got.wrong == []
                assert got.times
        processes.wait_until(lambda: in_use(service, modest) == 0, WAIT_SECONDS, "no slot is held for those who left")
        assert service.failures() == []
