"""The phases of a connection, and the limits of those that depend only on the client. Knows nothing else."""

from enum import Enum

PATIENCE_SECONDS = 10.0
"""Seconds allowed for a head, for a body beyond its bytes at ROCPR_MIN_BODY_RATE, and for silence."""

LINGER_SECONDS = 5.0
"""How long an ended connection still drops input, so that the client can read its answer."""


class Phase(Enum):
    """The phase of a connection; sweep.py ends connections that stay in one too long."""

    IDLE = "no byte of a request has come"
    HEAD = "a head is coming"
    BODY = "a body is coming"
    ANSWERING = "a request waits for the application, or is with it"
    SENDING = "an answer is being sent"
    LINGERING = "the last answer was sent; what comes is dropped"
    CLOSED = "there is no connection any more"

    @property
    def takes_bytes(self) -> bool:
        """Whether as many bytes may come as the client can send."""
        return self in {Phase.BODY, Phase.LINGERING}
