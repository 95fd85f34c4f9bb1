"""Bodies that are cut short, broken, or larger than they look are refused, and nothing breaks."""

from collections.abc import Iterator

import pytest

from tests.support.attacks import cuts, malformed, memory
from tests.support.attacks.bombs import SHORT, bombs
from tests.support.servers import Service, serving

pytestmark = pytest.mark.all


@pytest.fixture(scope="module")
def service() -> Iterator[Service]:
    with serving(**cuts.SETTINGS) as service:
        yield service


def test_a_body_that_is_cut_is_never_evaluated(service: Service) -> None:
    assert cuts.cut(service, places=60).missed == []


def test_a_malformed_body_is_refused_with_a_problem(service: Service) -> None:
    found = malformed.send_all(service, 1_000_000, 1_000_500)
    assert found.missed == []
    assert {"malformed, 200", "malformed, 400", "malformed, 422"} <= set(found.figures)


def test_a_bomb_is_refused_within_the_memory(service: Service) -> None:
    found, _ = memory.refuse_bombs(service, bombs(SHORT))
    assert found.missed == []
