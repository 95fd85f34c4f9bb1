"""Large bodies at once: all are answered within the memory limit, and the memory is given back."""

from pathlib import Path

import pytest

from tests.support import processes
from tests.support.attacks.memory import large_bodies
from tests.support.clients import Client
from tests.support.processes import MIB
from tests.support.samples import question
from tests.support.servers import serving

pytestmark = pytest.mark.all


def test_large_bodies_at_once_are_answered_within_the_memory() -> None:
    with serving(retry_after_seconds=1, big_seconds=300) as service:
        assert large_bodies(service, 3, rest_seconds=60).missed == []
        assert service.failures() == []


def faults(pid: int) -> int:
    """How often a process had to get a page from the system."""
    return int(Path(f"/proc/{pid}/stat").read_text("ascii").rpartition(")")[2].split()[7])


def test_an_evaluator_keeps_its_memory_for_the_next_request_alone() -> None:
    asked = question(300_000, "auc")
    with serving(workers=1, slots=1) as service, Client(service.port) as client:
        (evaluator,) = service.helpers()
        kept = []

        def ask() -> int:
            before = faults(evaluator)
            assert client.post(asked.body).body == asked.answer
            kept.append(processes.pss([evaluator], processes.WITHOUT_FILES))
            return faults(evaluator) - before

        first = ask()
        assert first > 1000
        processes.wait_until(lambda: ask() < first / 10, 60, "a request comes within the time that memory is kept")
        processes.wait_until(
            lambda: 0 < processes.pss([evaluator], processes.WITHOUT_FILES) < max(kept) - 4 * MIB,
            60,
            "it gives it back",
        )
