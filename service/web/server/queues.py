"""The queues of requests: fair between owners, and between the connections of one owner.

Knows a request's owner and how long the owner's other ones took; nothing of HTTP. Runs on the loop, without locks.
"""

import time
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from service.web.server.exchange import Exchange

PENALTY, MOST_PENALTY = 4.0, 10.0
"""How many seconds of waiting each second of recent use costs, and the most that all recent use costs."""

_FORGOTTEN = 1e-3
"""Seconds of recent use below which an owner is forgotten."""


class Use:
    """The seconds recently used, with exponential decay."""

    __slots__ = ("_seconds", "_since")

    def __init__(self) -> None:
        self._seconds = 0.0
        self._since = 0.0

    def add(self, seconds: float, half_life: float) -> None:
        """Add seconds used until now."""
        self._seconds = self.recent(half_life) + seconds
        self._since = time.monotonic()

    def recent(self, half_life: float) -> float:
        """Return Σ used · 2^(-age / half_life), in seconds."""
        age = time.monotonic() - self._since
        return self._seconds * 0.5 ** min(age / half_life, 64.0) if self._seconds else 0.0

    def penalty(self, half_life: float) -> float:
        """Return the penalty in seconds of waiting."""
        return min(PENALTY * self.recent(half_life), MOST_PENALTY)


@dataclass(slots=True)
class _Line:
    """The requests of one owner; `since` is when one was last taken, or when the line last began to fill."""

    items: list[tuple[float, "Exchange"]] = field(default_factory=list)
    since: float = 0.0
    use: Use = field(default_factory=Use)


class FairQueue:
    """Waiting requests, each in its owner's line.

    The owner whose line has waited longest, less a penalty for recent use, goes first, so that nobody's hundredth
    request comes before another's first. Within a line requests are ordered by arrival, plus a penalty for what their
    connection had used by then. Every waiting request moves up with time, so none waits for ever.
    """

    def __init__(self, half_life: float) -> None:
        self._half_life = half_life
        self._lines: dict[str, _Line] = {}
        self._count = 0

    def __len__(self) -> int:
        return self._count

    def put(self, item: "Exchange") -> None:
        """Add a request to its owner's line."""
        now = time.monotonic()
        line = self._lines.setdefault(item.owner, _Line())
        if not line.items:
            line.since = now
        line.items.append((now + item.use.penalty(self._half_life), item))
        self._count += 1

    def remove(self, item: "Exchange") -> bool:
        """Remove a request from its line; returns whether it was there."""
        line = self._lines.get(item.owner)
        place = next((at for at, (_, found) in enumerate(line.items) if found is item), None) if line else None
        if line is None or place is None:
            return False
        del line.items[place]
        self._count -= 1
        return True

    def owners(self) -> list[str]:
        """Return the waiting owners, in the order of their turns."""
        turns = {
            owner: line.since + line.use.penalty(self._half_life) for owner, line in self._lines.items() if line.items
        }
        return sorted(turns, key=turns.__getitem__)

    def take(self, owner: str) -> "Exchange":
        """Take an owner's next request."""
        line = self._lines[owner]
        place = min(range(len(line.items)), key=lambda at: line.items[at][0])
        _, item = line.items.pop(place)
        line.since = time.monotonic()
        self._count -= 1
        return item

    def worst(self) -> "Exchange":
        """The request to turn away: the last of the longest line; of several, the one that has waited least."""
        longest = max(self._lines.values(), key=lambda line: (len(line.items), line.since))
        return max(longest.items, key=lambda entry: entry[0])[1]

    def charge(self, item: "Exchange", seconds: float) -> None:
        """Count the time that a request took, for its owner and its connection."""
        item.use.add(seconds, self._half_life)
        self._lines.setdefault(item.owner, _Line()).use.add(seconds, self._half_life)

    def drop_idle_owners(self) -> None:
        """Drop owners who neither wait nor have recent use."""
        idle = [
            owner
            for owner, line in self._lines.items()
            if not line.items and line.use.recent(self._half_life) < _FORGOTTEN
        ]
        for owner in idle:
            del self._lines[owner]
