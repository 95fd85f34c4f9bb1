"""How the server and the application communicate: about one request, through its WSGI environ, and about the end.

The server (server/) calls the application only with complete requests, and perhaps several times for one. Each call is
a pass:

    HEAD      before the body is read: refuses a missing key, an unknown path, or too long a body.
    SMALL     with the body, on the server's event loop, which does nothing else meanwhile.
    COLUMNAR  with the body, when an evaluator process is free for small bodies that a library in C++ parses.
    BIG       with the body, holding a slot for big requests.

An answer may be what wsgi.file_wrapper makes: the server sends the file itself, while the thread and its slot are free
for others.

A pass that does not answer requests the next one with `move_to`. Its response is dropped, and it leaves no trace in the
log or the counts. Under another WSGI server (such as the tests' client) there are no passes; one call does everything.
"""

from collections.abc import Callable
from contextlib import ExitStack
from enum import StrEnum
from threading import Event, Lock
from typing import TYPE_CHECKING

from flask import Response

if TYPE_CHECKING:
    from _typeshed.wsgi import WSGIEnvironment

PASS = "rocpr.pass"  # noqa: S105  # a key of the environ
"""The current pass; a Pass."""

MOVED = "rocpr.moved"
"""The pass that the request needs next; a Pass. Set by the application."""

STARTED = "rocpr.started"
"""When the request's head arrived, by time.perf_counter."""

WAITED = "rocpr.waited"
"""The seconds that it has waited in queues."""

CLIENT = "rocpr.client"
"""The client, who may leave; a Client."""

UNTIL_SENT = "rocpr.until_sent"
"""An ExitStack that the server closes when the answer was sent or is no longer wanted."""


DRAINING = Event()
"""Set once the process must stop; it may still take requests for a while."""


class Pass(StrEnum):
    """Why the application is called."""

    HEAD = "head"
    SMALL = "small"
    COLUMNAR = "columnar"
    BIG = "big"


class ClientGone(Exception):
    """The client no longer waits for the answer."""


class Client:
    """The client that waits for an answer; the server reports, on its loop, when it has gone."""

    def __init__(self) -> None:
        self._lock = Lock()
        self._gone = False
        self._stop: Callable[[], object] | None = None

    @property
    def gone(self) -> bool:
        """Whether the client has gone."""
        return self._gone

    def leave(self) -> None:
        """Report that the client has gone; calls what was registered, once."""
        with self._lock:
            self._gone, stop, self._stop = True, self._stop, None
            if stop is not None:
                stop()

    def stop_with(self, stop: Callable[[], object] | None) -> None:
        """Register what ends the current work, replacing what was registered; None for nothing.

        Raises ClientGone if the client has already gone.
        """
        with self._lock:
            if self._gone and stop is not None:
                raise ClientGone
            self._stop = stop


def pass_of(environ: "WSGIEnvironment") -> Pass | None:
    """The current pass; None under another server."""
    return environ.get(PASS)


def client_of(environ: "WSGIEnvironment") -> Client:
    """Return the client; under another server, one that never leaves."""
    client: Client = environ.setdefault(CLIENT, Client())
    return client


def move_to(environ: "WSGIEnvironment", following: Pass) -> Response:
    """Request another pass; the response only satisfies Flask."""
    environ[MOVED] = following
    return Response(status=204)


def has_moved(environ: "WSGIEnvironment") -> bool:
    """Whether this pass requested another one, and so does not answer."""
    return MOVED in environ


def until_sent(environ: "WSGIEnvironment") -> ExitStack:
    """Return the stack that closes when the answer was sent; under another server, a new one that is never closed."""
    stack: ExitStack = environ.setdefault(UNTIL_SENT, ExitStack())
    return stack
