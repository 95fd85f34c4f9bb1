"""Large bodies at once: all are answered, within the memory; no time is asserted but the one to give it back."""

from tests.soak.memory import large_bodies
from tests.soak.servers import serving


def test_large_bodies_at_once_are_answered_within_the_memory() -> None:
    with serving(retry_after_seconds=1, big_seconds=300) as service:
        assert large_bodies(service, 3).missed == []
        assert service.failures() == []
