"""Signals that tell a process to stop are not lost when they come while it is being forked.

Knows signals and forks; nothing of gunicorn. Python drops what a new process was sent before it first runs, since it
takes that for its parent's: a worker that missed its stop would be waited for until gunicorn's graceful timeout.
"""

import os
import signal

STOPS = frozenset({signal.SIGTERM, signal.SIGINT, signal.SIGQUIT})


def hold_stops_while_forking() -> None:
    """Let signals to stop wait, in the parent and in the child, until a fork is over; from now on, in this process."""
    os.register_at_fork(before=_hold, after_in_parent=_let_in, after_in_child=_let_in)


def _hold() -> None:
    signal.pthread_sigmask(signal.SIG_BLOCK, STOPS)


def _let_in() -> None:
    signal.pthread_sigmask(signal.SIG_UNBLOCK, STOPS)
