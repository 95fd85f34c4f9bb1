"""Where requests wait for their turn: fair between owners, and between the connections of one owner.

Knows who owns a request and how long others of theirs took; nothing of HTTP. All of it is the loop's: no locks.
"""

import time
from dataclasses import dataclass, field
from typing import Generic, Protocol, TypeVar

PENALTY, MOST_PENALTY = 4.0, 10.0
"""How many seconds of waiting a second of lately used time counts for; and all of it together, at most."""


class Use:
    """How many seconds somebody has used lately: what they used long ago counts for less and less."""

    __slots__ = ("_seconds", "_since")

    def __init__(self) -> None:
        self._seconds = 0.0
        self._since = 0.0

    def add(self, seconds: float, half_life: float) -> None:
        """Count seconds that were used until now."""
        self._seconds = self.lately(half_life) + seconds
        self._since = time.monotonic()

    def lately(self, half_life: float) -> float:
        """Return Σ used · 2^(-age / half_life), in seconds."""
        age = time.monotonic() - self._since
        return self._seconds * 0.5 ** min(age / half_life, 64.0) if self._seconds else 0.0

    def penalty(self, half_life: float) -> float:
        """Return how many seconds of waiting that counts for."""
        return min(PENALTY * self.lately(half_life), MOST_PENALTY)


class Waiting(Protocol):
    """What may wait: a request."""

    owner: str
    use: Use
    """Of the connection."""


T = TypeVar("T", bound=Waiting)


@dataclass(slots=True)
class _Line(Generic[T]):
    """The requests of one owner; `since` is when its present first request, or one that left, came to be first."""

    items: list[tuple[float, T]] = field(default_factory=list)
    since: float = 0.0
    use: Use = field(default_factory=Use)


class FairQueue(Generic[T]):
    """Requests that wait, each in the line of its owner.

    The owner goes first whose line has stood longest, less a penalty for what the owner has used lately, so that
    nobody's hundredth request stands before another's first. Within a line requests go by when they came, plus the
    penalty for what their connection had used by then. Every waiting request moves up with time, so none waits
    for ever.
    """

    def __init__(self, half_life: float) -> None:
        self._half_life = half_life
        self._lines: dict[str, _Line[T]] = {}
        self._count = 0

    def __len__(self) -> int:
        return self._count

    def put(self, item: T) -> None:
        """Add a request at the end of its owner's line."""
        now = time.monotonic()
        line = self._lines.setdefault(item.owner, _Line())
        if not line.items:
            line.since = now
        line.items.append((now + item.use.penalty(self._half_life), item))
        self._count += 1

    def remove(self, item: T) -> bool:
        """Take a request out of its line; whether it was there."""
        line = self._lines.get(item.owner)
        place = next((at for at, (_, found) in enumerate(line.items) if found is item), None) if line else None
        if line is None or place is None:
            return False
        del line.items[place]
        self._count -= 1
        return True

    def owners(self) -> list[str]:
        """Return the owners who wait, in the order of their turns."""
        waiting = [(owner, line) for owner, line in self._lines.items() if line.items]
        if len(waiting) == 1:
            return [waiting[0][0]]
        turns = {owner: line.since + line.use.penalty(self._half_life) for owner, line in waiting}
        return sorted(turns, key=turns.__getitem__)

    def take(self, owner: str) -> T:
        """Take an owner's next request."""
        line = self._lines[owner]
        place = min(range(len(line.items)), key=lambda at: line.items[at][0])
        _, item = line.items.pop(place)
        line.since = time.monotonic()
        self._count -= 1
        return item

    def worst(self) -> T:
        """Tell who has to leave a queue that is too long: the last of the longest line; of several, of the youngest."""
        longest = max(self._lines.values(), key=lambda line: (len(line.items), line.since))
        return max(longest.items, key=lambda entry: entry[0])[1]

    def charge(self, item: T, seconds: float) -> None:
        """Count the time that a request took, for its owner and its connection."""
        item.use.add(seconds, self._half_life)
        self._lines.setdefault(item.owner, _Line()).use.add(seconds, self._half_life)

    def forget_the_idle(self) -> None:
        """Drop owners who neither wait nor have used anything that counts."""
        idle = [
            owner
            for owner, line in self._lines.items()
            if not line.items and line.use.lately(self._half_life) < _FORGOTTEN
        ]
        for owner in idle:
            del self._lines[owner]


_FORGOTTEN = 1e-3
"""Seconds of use that are forgotten."""
