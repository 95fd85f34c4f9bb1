"""Ends connections that take too long, hold too much, or are too many.

Knows connections and their phases; connection.py knows what happens on a single connection.
"""

import select
import time
from collections import Counter
from collections.abc import Collection, Mapping
from dataclasses import dataclass

from service.web.server.connection import Connection
from service.web.server.exchange import Exchange
from service.web.server.phase import Phase
from service.web.server.transport import too_slow
from service.wire.problems import Problem, no_room

LAST_SECONDS = 1.0
"""Once the process must stop: how long it waits for a request on an idle connection, or for a client to close."""

LAST_REQUEST_SECONDS = 10.0
"""Once the process must stop: how long a request may still take to arrive."""

LAST_TURN_SECONDS = 20.0
"""Once the process must stop: how long a request may still wait for its turn."""

YOUNG_SECONDS = 2.0
"""The age below which a client is too young for its speed to count."""

LOOK_SECONDS = 1.0
"""How long a request is worked on before its client is checked. One that has closed its sending side then counts as
gone: most have closed the other side, too, which the system does not say before it has sent them something."""

EVICTED_AT_ONCE = 64
"""How many connections are ended at a time if there are too many: choosing them means examining all."""

_WITHOUT_REQUEST = frozenset({Phase.IDLE, Phase.HEAD, Phase.LINGERING})
_READING = frozenset({Phase.HEAD, Phase.BODY})


@dataclass(frozen=True, slots=True)
class Held:
    """The bytes kept for a client: of the body that it sends, and of its unread answer."""

    in_memory: int
    in_files: int

    @property
    def total(self) -> int:
        """Both together."""
        return self.in_memory + self.in_files


def enforce_limits(connection: Connection, now: float, queue_seconds: float, stopping_since: float | None) -> None:
    """End what has taken too long and, if the process must stop (since this time), what would delay it."""
    if stopping_since is not None:
        queue_seconds = min(queue_seconds, max(0.0, stopping_since + LAST_TURN_SECONDS - connection.since))
        _shorten_limits(connection, stopping_since)
    if connection.phase is Phase.ANSWERING:
        _enforce_limits_of_request(connection, now, queue_seconds)
    elif connection.phase is Phase.SENDING:
        if connection.sending is not None and connection.sending.is_stalled():
            connection.transport.abort()
    elif now >= connection.deadline:
        _end_phase(connection)


def _enforce_limits_of_request(connection: Connection, now: float, queue_seconds: float) -> None:
    if connection.exchange is not None and connection.exchange.withdraw_if_overdue(queue_seconds):
        connection.refuse(Problem("overloaded", "The request waited too long for its turn."))
    elif now - connection.since >= LOOK_SECONDS and (connection.half_closed or has_gone(connection)):
        connection.transport.abort()


def _end_phase(connection: Connection) -> None:
    """End a phase that depends only on the client and has reached its limit."""
    if connection.phase is Phase.IDLE:
        connection.transport.close()
    elif connection.phase is Phase.LINGERING:
        connection.transport.abort()
    elif connection.phase is not Phase.CLOSED:
        connection.refuse(too_slow())


def _shorten_limits(connection: Connection, stopping_since: float) -> None:
    """Shorten the limits of phases that depend only on the client."""
    if connection.phase in {Phase.IDLE, Phase.LINGERING}:
        last = max(stopping_since, connection.since) + LAST_SECONDS
    else:
        last = stopping_since + LAST_REQUEST_SECONDS
    connection.deadline = min(connection.deadline, last)


def has_gone(connection: Connection) -> bool:
    """Whether the system knows that a client is gone, even if its bytes are not being read."""
    poll = select.poll()
    poll.register(connection.transport.get_extra_info("socket").fileno(), 0)
    return bool(poll.poll(0))  # poll reports these without being asked: a hang-up or an error


def held_for(connection: Connection) -> Held:
    """Count what is kept for a client."""
    in_memory, in_files = len(connection.ahead), 0
    reader = connection.reader
    if reader is not None and reader.body is not None and reader.body.is_spooled:
        in_files += reader.body.length
    elif reader is not None:
        in_memory += reader.taken
    if connection.sending is not None:
        in_memory += connection.sending.unsent_in_memory()
        in_files += connection.sending.unsent_in_file()
    return Held(in_memory, in_files)


def rate_of(connection: Connection) -> float | None:
    """The bytes per second that the client sends or reads, too low while it is young; None if it does neither."""
    if connection.sending is not None:
        return connection.sending.rate()
    if connection.phase in _READING and connection.reader is not None:
        return connection.reader.taken / max(time.monotonic() - connection.since, 1.0)
    return None


def make_room(connections: Collection[Connection], most: Held) -> bool:
    """End the slowest clients, then waiting requests, while more than `most` is kept; returns whether that was enough.

    Clients that hold less than the average, or are young, come last. The requests are those of the owner who holds the
    most, the last first.
    """
    held = {one: size for one in connections if (size := held_for(one)) != Held(0, 0)}
    in_memory, in_files = sum(size.in_memory for size in held.values()), sum(size.in_files for size in held.values())
    if in_memory > most.in_memory or in_files > most.in_files:
        rates = {one: rate for one in held if (rate := rate_of(one)) is not None}
        share = (in_memory + in_files) / max(1, len(held))  # what evaluators write may be all there is
        for connection in sorted(rates, key=lambda one: (held[one].total < share or _is_young(one), rates[one])):
            size = held[connection]
            if (in_memory > most.in_memory and size.in_memory) or (in_files > most.in_files and size.in_files):
                in_memory -= size.in_memory
                in_files -= size.in_files
                _drop_client(connection)
        for connection, exchange in _waiting_of_largest_holder(held):
            if in_memory <= most.in_memory and in_files <= most.in_files:
                break
            if not exchange.withdraw():  # already being processed
                continue
            in_memory -= held[connection].in_memory
            in_files -= held[connection].in_files
            connection.refuse(no_room())
    return in_memory <= most.in_memory and in_files <= most.in_files


def _waiting_of_largest_holder(held: Mapping[Connection, Held]) -> list[tuple[Connection, Exchange]]:
    waiting = [(one, one.exchange) for one in held if one.phase is Phase.ANSWERING and one.exchange is not None]
    kept = Counter[str]()
    for connection, exchange in waiting:
        kept[exchange.owner] += held[connection].total
    ((greediest, _),) = kept.most_common(1) or [("", 0)]
    of_greediest = [pair for pair in waiting if pair[1].owner == greediest]
    return sorted(of_greediest, key=lambda pair: -pair[1].began)


def evict(connections: Collection[Connection]) -> bool:
    """End some connections to make room for others; returns whether any could be ended.

    Those without a request go first, the oldest first; if there are none, the slowest. If one address has more than
    half of all that could be ended, only its connections are.
    """
    rates = {one: rate_of(one) for one in connections}
    candidates = [one for one, rate in rates.items() if rate is not None or one.phase in _WITHOUT_REQUEST]
    of_each = Counter(one.client[0] for one in candidates)
    most = max(of_each.values(), default=0)
    if 2 * most > len(candidates):
        candidates = [one for one in candidates if of_each[one.client[0]] == most]

    chosen = sorted((one for one in candidates if one.phase in _WITHOUT_REQUEST), key=lambda one: one.since)
    if not chosen:
        chosen = sorted(candidates, key=lambda one: (_is_young(one), rates[one] or 0.0))
    for connection in chosen[:EVICTED_AT_ONCE]:
        connection.transport.abort()
    return bool(candidates)


def _is_young(connection: Connection) -> bool:
    return time.monotonic() - connection.since < YOUNG_SECONDS


def _drop_client(connection: Connection) -> None:
    if connection.sending is None:
        connection.refuse(Problem("overloaded", "The server has no room now for a body that arrives this slowly."))
    else:
        connection.transport.abort()
