"""What the server and the application say to each other about one request, through its WSGI environ.

The server (server/) calls the application with whole requests only, on a thread of a lane, and may call it more than
once for one request. Each call is a pass:

    HEAD      before the body is read: whoever has no key, asks for what there is not, or sends too much, learns it now.
    SMALL     with the body, on the thread for small requests.
    COLUMNAR  with the body, where an evaluator process for small Arrow and Parquet bodies is free.
    BIG       with the body, where a slot for big requests is held.

A pass that does not answer names the next one: `move_to`. Its response is dropped, and it leaves no trace in the log
or the counts. Another WSGI server (the tests' client) names no pass; then one call does everything.
"""

from collections.abc import Callable
from contextlib import ExitStack
from enum import StrEnum
from threading import Lock
from typing import TYPE_CHECKING

from flask import Response

if TYPE_CHECKING:
    from _typeshed.wsgi import WSGIEnvironment

PASS = "rocpr.pass"  # noqa: S105  # a key of the environ
"""Which pass this is; a Pass."""

MOVED = "rocpr.moved"
"""The pass that the request needs next; a Pass. Set by the application."""

STARTED = "rocpr.started"
"""When the request's head had arrived, as time.perf_counter tells."""

WAITED = "rocpr.waited"
"""For how many seconds it has waited in queues."""

CLIENT = "rocpr.client"
"""Whether anybody still waits for the answer; a Client."""

UNTIL_SENT = "rocpr.until_sent"
"""An ExitStack that the server closes once the answer was sent or is no longer wanted."""


class Pass(StrEnum):
    """Why the application is called."""

    HEAD = "head"
    SMALL = "small"
    COLUMNAR = "columnar"
    BIG = "big"


class ClientGone(Exception):
    """The client no longer waits for the answer."""


class Client:
    """Whoever waits for an answer; the server says when they have gone, on its own thread."""

    def __init__(self) -> None:
        self._lock = Lock()
        self._gone = False
        self._stop: Callable[[], object] | None = None

    @property
    def gone(self) -> bool:
        """Whether the client has gone."""
        return self._gone

    def leave(self) -> None:
        """Say that the client has gone; what was registered is called, once."""
        with self._lock:
            self._gone, stop, self._stop = True, self._stop, None
            if stop is not None:
                stop()

    def stop_with(self, stop: Callable[[], object] | None) -> None:
        """Register what ends the work under way, in place of what was registered; None for nothing.

        Raises ClientGone if the client has already gone.
        """
        with self._lock:
            if self._gone and stop is not None:
                raise ClientGone
            self._stop = stop


def pass_of(environ: "WSGIEnvironment") -> Pass | None:
    """Tell which pass this is; None under another server."""
    return environ.get(PASS)


def client_of(environ: "WSGIEnvironment") -> Client:
    """Return who waits for the answer; under another server that is somebody who never leaves."""
    client: Client = environ.setdefault(CLIENT, Client())
    return client


def move_to(environ: "WSGIEnvironment", following: Pass) -> Response:
    """Ask for another pass; the response is only there for Flask to have one."""
    environ[MOVED] = following
    return Response(status=204)


def has_moved(environ: "WSGIEnvironment") -> bool:
    """Whether this pass asked for another one, so that it is not the one that answers."""
    return MOVED in environ


def until_sent(environ: "WSGIEnvironment") -> ExitStack:
    """Return the stack that closes once the answer was sent; under another server it is made here and never closed."""
    stack: ExitStack = environ.setdefault(UNTIL_SENT, ExitStack())
    return stack
