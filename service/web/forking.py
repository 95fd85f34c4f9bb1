"""Prevents losing stop signals that arrive while a process is being forked.

Knows signals and forks; nothing of gunicorn. Python drops signals that a new process received before it first runs,
assuming that they are its parent's; gunicorn would wait its graceful timeout for a worker that missed its stop.
"""

import os
import signal

STOPS = frozenset({signal.SIGTERM, signal.SIGINT, signal.SIGQUIT})


def hold_stops_while_forking() -> None:
    """From now on, block stop signals in parent and child until a fork is complete."""
    os.register_at_fork(before=_hold, after_in_parent=_unblock_stops, after_in_child=_unblock_stops)


def _hold() -> None:
    signal.pthread_sigmask(signal.SIG_BLOCK, STOPS)


def _unblock_stops() -> None:
    signal.pthread_sigmask(signal.SIG_UNBLOCK, STOPS)
