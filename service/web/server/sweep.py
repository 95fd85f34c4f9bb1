"""What happens by time and by scarcity: connections that take too long, keep too much, or are too many.

Knows connections and their phases; what happens on a connection by itself is connection.py's.
"""

import select
import time
from collections import Counter
from collections.abc import Collection, Mapping
from dataclasses import dataclass

from service.web.server.connection import Connection, Phase
from service.web.server.exchange import Exchange
from service.web.server.transport import too_slow
from service.wire.problems import Problem, no_room

LAST_SECONDS = 1.0
"""How long an idle connection still waits for a request once the process is to stop, and an ended one for its end."""

LAST_REQUEST_SECONDS = 10.0
"""Once the process is to stop: how long a request may still take to arrive."""

LAST_TURN_SECONDS = 20.0
"""Once the process is to stop: how long a request may still wait for its turn."""

YOUNG_SECONDS = 2.0
"""Before that, a client's speed is unknown."""

PROBE_SECONDS = 1.0
"""How long a request is worked on before it is looked whether its client still reads."""

EVICTED_AT_ONCE = 64
"""How many connections are ended together where there are too many: to choose them takes a look at all."""

_WITHOUT_REQUEST = frozenset({Phase.IDLE, Phase.HEAD, Phase.LINGERING})
_READING = frozenset({Phase.HEAD, Phase.BODY})


def look_after(connection: Connection, now: float, queue_seconds: float, stopping_since: float | None) -> None:
    """End what has taken too long; where the process is to stop, since that time, what would keep it from its end."""
    if stopping_since is not None:
        queue_seconds = min(queue_seconds, max(0.0, stopping_since + LAST_TURN_SECONDS - connection.since))
        _hurry(connection, stopping_since)
    if connection.phase is Phase.ANSWERING:
        _look_after_request(connection, now, queue_seconds)
    elif connection.phase is Phase.SENDING:
        if connection.sending is not None and connection.sending.is_stalled():
            connection.transport.abort()
    elif now >= connection.deadline:
        _end_phase(connection)


def _look_after_request(connection: Connection, now: float, queue_seconds: float) -> None:
    if connection.exchange is not None and connection.exchange.misses_its_turn(queue_seconds):
        connection.refuse(Problem("overloaded", "The request waited too long for its turn."))
    elif now - connection.since >= PROBE_SECONDS:
        _look_for_client(connection)


def _end_phase(connection: Connection) -> None:
    """End a phase that depends on the client alone, and has lasted as long as it may."""
    if connection.phase is Phase.IDLE:
        connection.transport.close()
    elif connection.phase is Phase.LINGERING:
        connection.transport.abort()
    elif connection.phase is not Phase.CLOSED:
        connection.refuse(too_slow())


def _hurry(connection: Connection, stopping_since: float) -> None:
    """Let nothing that depends on the client alone last long."""
    if connection.phase in {Phase.IDLE, Phase.LINGERING}:
        last = max(stopping_since, connection.since) + LAST_SECONDS
    else:
        last = stopping_since + LAST_REQUEST_SECONDS
    connection.deadline = min(connection.deadline, last)


def _look_for_client(connection: Connection) -> None:
    """End the work for a client that has gone.

    One that has closed its sending side may still read. It gets an interim answer, which clients skip; the system of
    one that has gone refuses that, and the socket knows it from then on.
    """
    if has_gone(connection):
        connection.transport.abort()
    else:
        connection.probe()


def has_gone(connection: Connection) -> bool:
    """Whether the system knows that a client is gone, also one whose bytes are not read now."""
    poll = select.poll()
    poll.register(connection.transport.get_extra_info("socket").fileno(), 0)
    return bool(poll.poll(0))  # what is told unasked: a hang-up, an error


@dataclass(frozen=True, slots=True)
class Held:
    """How many bytes are kept for a client: of the body that it sends, and of the answer that it has not read."""

    in_memory: int
    in_files: int

    @property
    def total(self) -> int:
        """Both together."""
        return self.in_memory + self.in_files


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
    """Tell how many bytes a second the client sends or reads, too few of what is YOUNG; None where it does neither."""
    if connection.sending is not None:
        return connection.sending.rate()
    if connection.phase in _READING and connection.reader is not None:
        return connection.reader.taken / max(time.monotonic() - connection.since, 1.0)
    return None


def make_room(connections: Collection[Connection], most: Held) -> bool:
    """End the slowest clients while more is kept than may be, then requests that wait; whether that was enough.

    Clients for whom less is kept than for most, or that have just begun, come last. The requests are those of the owner
    for whom most is kept, the last first.
    """
    held = {one: size for one in connections if (size := held_for(one)) != Held(0, 0)}
    in_memory, in_files = sum(size.in_memory for size in held.values()), sum(size.in_files for size in held.values())
    if in_memory > most.in_memory or in_files > most.in_files:
        rates = {one: rate for one in held if (rate := rate_of(one)) is not None}
        share = (in_memory + in_files) / len(held)
        for connection in sorted(rates, key=lambda one: (held[one].total < share or _is_young(one), rates[one])):
            size = held[connection]
            if (in_memory > most.in_memory and size.in_memory) or (in_files > most.in_files and size.in_files):
                in_memory -= size.in_memory
                in_files -= size.in_files
                _give_way(connection)
        for connection, exchange in _waiting_of_the_greediest(held):
            if in_memory <= most.in_memory and in_files <= most.in_files:
                break
            if not exchange.withdraw():  # it is worked on
                continue
            in_memory -= held[connection].in_memory
            in_files -= held[connection].in_files
            connection.refuse(no_room())
    return in_memory <= most.in_memory and in_files <= most.in_files


def _waiting_of_the_greediest(held: Mapping[Connection, Held]) -> list[tuple[Connection, Exchange]]:
    """List the requests of the owner for whom most is kept, the last first."""
    waiting = [(one, one.exchange) for one in held if one.phase is Phase.ANSWERING and one.exchange is not None]
    kept = Counter[str]()
    for connection, exchange in waiting:
        kept[exchange.owner] += held[connection].total
    ((greediest, _),) = kept.most_common(1) or [("", 0)]
    of_greediest = [pair for pair in waiting if pair[1].owner == greediest]
    return sorted(of_greediest, key=lambda pair: -pair[1].began)


def evict(connections: Collection[Connection]) -> bool:
    """End some connections, because there may be no more; whether there were any that can be missed.

    Those of one address, if it has most of all: those without a request, the oldest first, else the slowest.
    """
    rates = {one: rate_of(one) for one in connections}
    missed = [one for one, rate in rates.items() if rate is not None or one.phase in _WITHOUT_REQUEST]
    of_each = Counter(one.client[0] for one in missed)
    most = max(of_each.values(), default=0)
    if 2 * most > len(missed):
        missed = [one for one in missed if of_each[one.client[0]] == most]

    chosen = sorted((one for one in missed if one.phase in _WITHOUT_REQUEST), key=lambda one: one.since)
    if not chosen:
        chosen = sorted(missed, key=lambda one: (_is_young(one), rates[one] or 0.0))
    for connection in chosen[:EVICTED_AT_ONCE]:
        connection.transport.abort()
    return bool(missed)


def _is_young(connection: Connection) -> bool:
    return time.monotonic() - connection.since < YOUNG_SECONDS


def _give_way(connection: Connection) -> None:
    if connection.sending is None:
        connection.refuse(Problem("overloaded", "The server has no room now for a body that arrives this slowly."))
    else:
        connection.transport.abort()
