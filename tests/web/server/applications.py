"""Applications that the server can call, each for one kind of answer."""

from collections.abc import Callable, Iterable, Iterator
from threading import Event, Lock
from typing import Any

from service.web.passes import CLIENT, MOVED, PASS, Pass
from tests.e2e.wire import SECONDS

Environ = dict[str, Any]
Start = Callable[..., Any]
Application = Callable[[Environ, Start], Iterable[bytes]]


def echo(environ: Environ, start: Start) -> Iterable[bytes]:
    """Answer with the method, the path and the body."""
    content = f"{environ['REQUEST_METHOD']} {environ['PATH_INFO']} ".encode() + environ["wsgi.input"].read()
    start("200 OK", [("Content-Length", str(len(content)))])
    return [content]


def asked_first(application: Application = echo, following: Pass = Pass.SMALL) -> Application:
    """Move from the pass for the head to another one, as an application that needs the body does."""

    def call(environ: Environ, start: Start) -> Iterable[bytes]:
        if environ[PASS] is Pass.HEAD:
            environ[MOVED] = following
            start("204 NO CONTENT", [])
            return []
        return application(environ, start)

    return call


def of_length(size: int, *, closes: Callable[[], object] = lambda: None) -> Application:
    """Answer with this many bytes."""
    return answering(Body([bytes(size)], closes), "200 OK", ("Content-Length", str(size)))


def answering(body: Iterable[bytes], status: str = "200 OK", *fields: tuple[str, str]) -> Application:
    """Answer with this body, whatever it is."""

    def call(_: Environ, start: Start) -> Iterable[bytes]:
        start(status, list(fields))
        return body

    return call


class Body:
    """A body that records when it is closed."""

    def __init__(self, pieces: Iterable[bytes], closes: Callable[[], object] = lambda: None) -> None:
        self._pieces = pieces
        self._closes = closes
        self.closed = 0

    def __iter__(self) -> Iterator[bytes]:
        return iter(self._pieces)

    def close(self) -> None:
        self.closed += 1
        self._closes()


class Held:
    """An application that answers when released; it records when it was called, and with what."""

    def __init__(self, application: Application = echo) -> None:
        self.begun = Event()
        self.go = Event()
        self.environ: Environ = {}
        self._application = application
        self._lock = Lock()
        self.calls = 0

    def __call__(self, environ: Environ, start: Start) -> Iterable[bytes]:
        with self._lock:
            self.calls += 1
        self.environ = environ
        self.begun.set()
        assert self.go.wait(SECONDS)
        return self._application(environ, start)

    def is_abandoned(self) -> bool:
        """Whether the server has reported that the client is gone."""
        return bool(self.environ[CLIENT].gone)
