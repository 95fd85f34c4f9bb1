"""The trace that a request belongs to, as the header `traceparent` names it.

Knows the header alone (W3C Trace Context). A header that the standard forbids counts as absent. Ids are hexadecimal
digits, so they can do no harm in the log.
"""

import re
from dataclasses import dataclass
from random import getrandbits

_VERSION = "00"
_TRACEPARENT = re.compile(r"(?!ff)([0-9a-f]{2})-(?!0{32})([0-9a-f]{32})-(?!0{16})([0-9a-f]{16})-([0-9a-f]{2})(-.*)?")
"""version-trace-parent-flags; a later version may have more."""


@dataclass(frozen=True, slots=True)
class TraceContext:
    """A request's place in a trace: the trace, the caller's span, this request's own, and the caller's flags."""

    trace_id: str
    parent_id: str
    span_id: str
    flags: int

    @property
    def ids(self) -> dict[str, str]:
        """What a line of the log says."""
        return {"trace_id": self.trace_id, "span_id": self.span_id, "parent_id": self.parent_id}

    def __str__(self) -> str:
        """The header of a request that this one would make."""
        return f"{_VERSION}-{self.trace_id}-{self.span_id}-{self.flags:02x}"


def trace_of(header: str) -> TraceContext | None:
    """Read a header, and make an id for the request's own span; None if the header is not valid."""
    read = _TRACEPARENT.fullmatch(header)
    if read is None or (read[1] == _VERSION and read[5]):
        return None
    return TraceContext(read[2], read[3], f"{getrandbits(64) or 1:016x}", int(read[4], 16))
