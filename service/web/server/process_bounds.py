"""The limits of one process. Knows nothing of what they limit."""

from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class Held:
    """The bytes kept for a client: of the body that it sends, and of its unread answer."""

    in_memory: int
    in_files: int

    @property
    def total(self) -> int:
        """Both together."""
        return self.in_memory + self.in_files


@dataclass(frozen=True, slots=True)
class Bounds:
    """The limits of one process; times are in seconds.

    body_bytes     the longest body.
    held           the most bytes kept of bodies and unread answers together.
    min_body_rate  bytes per second, see ROCPR_MIN_BODY_RATE.
    """

    body_bytes: int
    held: Held
    min_body_rate: float
    keepalive: float
    queue_seconds: float
    retry_after_seconds: int
