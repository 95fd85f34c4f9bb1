"""The phases of a connection, and the limits of those that depend only on the client. Knows nothing else."""

from enum import Enum

PATIENCE_SECONDS = 10.0
"""Seconds allowed for a head, for a body beyond its bytes at ROCPR_MIN_BODY_RATE, and for silence."""

LINGER_SECONDS = 5.0
"""How long an ended connection still drops input, so that the client can read its answer."""


class Phase(Enum):
    """The phase of a connection; expiry.py ends connections that stay in one too long."""

    IDLE = "no byte of a request has come"
    HEAD = "a head is coming"
    BODY = "a body is coming", True
    ANSWERING = "a request waits for the application, or is with it"
    SENDING = "an answer is being sent"
    LINGERING = "the last answer was sent; what comes is dropped", True
    CLOSED = "there is no connection any more"

    def __init__(self, _meaning: str, takes_bytes: bool = False) -> None:  # noqa: FBT001, FBT002  # values of an Enum
        """`takes_bytes` says whether as many bytes may come as the client can send."""
        self.takes_bytes = takes_bytes
