"""One request on its way through the application: its environ, its passes, and their results.

Knows WSGI, passes.py and lanes; nothing of sockets. `run` may be called on a thread, everything else on the loop.
"""

import io
import logging
import time
from collections.abc import Callable, Mapping
from contextlib import ExitStack, suppress
from functools import partial
from typing import TYPE_CHECKING, Any

from service.web.observation.metrics import count_abandoned
from service.web.passes import CLIENT, MOVED, PASS, STARTED, UNTIL_SENT, WAITED, Client, Pass
from service.web.server.incoming_body import IncomingBody
from service.web.server.lane import Lane
from service.web.server.reply import FileBody, Reply, close_body, written_head
from service.wire.problems import Problem, no_room

if TYPE_CHECKING:
    from _typeshed.wsgi import WSGIApplication, WSGIEnvironment

    from service.web.server.connection import Connection

_LOG = logging.getLogger("service")

_WITHOUT_CONTENT = frozenset({"204", "304"})

Fields = list[tuple[str, str]]
Then = Callable[[], object]
"""A callback for the loop."""


class Exchange:
    """One request of a connection, from its head until its answer was sent or is no longer needed.

    owner, use   who is charged for it (queues.py).
    began        when its head was complete (time.monotonic).
    has_body     whether it owns the request's body, and must close it.
    """

    def __init__(
        self,
        application: "WSGIApplication",
        environ: "WSGIEnvironment",
        connection: "Connection",
        *,
        owner: str,
        lanes: Mapping[Pass, Lane],
    ) -> None:
        self.owner = owner
        self.use = connection.use
        self.began = time.monotonic()
        self.has_body = False
        self._application = application
        self._environ = environ
        self._connection = connection
        self._lanes = lanes
        self._client = Client()
        self._until_sent = ExitStack()
        self._lane: Lane | None = None
        """The lane of the current pass, until the application has answered."""
        self._waits_since = 0.0
        environ |= {
            STARTED: time.perf_counter(),
            CLIENT: self._client,
            UNTIL_SENT: self._until_sent,
            "wsgi.file_wrapper": FileBody,
            "wsgi.input": io.BytesIO(),
        }

    def ask(self, for_pass: Pass, body: IncomingBody | None) -> None:
        """Queue for a pass. In all but the first, the application reads the body; it is closed with the exchange.

        Raises Problem overloaded if there is no room for the body.
        """
        if for_pass is not Pass.HEAD:
            self._give(body)
        self._environ[PASS] = for_pass
        self._waits_since = time.monotonic()
        self._lane = self._lanes[for_pass]
        self._lane.put(self)

    def withdraw_if_overdue(self, seconds: float) -> bool:
        """Whether it has waited longer than this; if so, it is removed from the queue."""
        return time.monotonic() - self._waits_since > seconds and self.withdraw()

    def withdraw(self) -> bool:
        """Stop waiting; returns whether it was waiting and had not begun."""
        if self._lane is None or not self._lane.withdraw(self):
            return False
        self._lane = None
        return True

    def turn_away(self) -> None:
        """Refuse the request because too many wait."""
        self._lane = None
        self._connection.refuse(Problem("overloaded", "Too many requests are waiting already."))

    def leave(self) -> None:
        """Stop work on it, and release what it holds as soon as no thread works on it."""
        self._client.leave()
        if self._lane is None:
            self.dispose()
        elif self.withdraw():
            count_abandoned("waiting")
            self.dispose()

    def dispose(self) -> None:
        """Release what it holds; not while a thread works on it."""
        with suppress(Exception):  # closed as far as possible
            self._until_sent.close()

    def run(self) -> Then:
        """Call the application for the pass; return the callback that reports the result."""
        if self._client.gone:
            count_abandoned("waiting")
            return self.dispose
        waited: float = self._environ.get(WAITED, 0.0)
        self._environ[WAITED] = waited + time.monotonic() - self._waits_since
        try:
            return partial(self._report, self._called())
        except BaseException as error:  # noqa: BLE001  # the loop and a lane's thread must survive any error of the application
            _LOG.error("Unexpected failure", exc_info=error)
            return partial(self._report, self._connection.failed)

    def _report(self, report: Then) -> None:
        """Report to the connection, and release what nobody needs any more if the client has left."""
        self._lane = None
        if self._client.gone:
            self.dispose()
        report()

    def _give(self, body: IncomingBody | None) -> None:
        if not self.has_body:
            self.has_body = True
            self._environ.pop("HTTP_TRANSFER_ENCODING", None)
            self._environ["CONTENT_LENGTH"] = str(0 if body is None else body.length)
            if body is not None:
                self._until_sent.callback(body.close)
        if body is not None:
            try:
                self._environ["wsgi.input"] = body.whole()
            except OSError as error:
                raise no_room() from error

    # Perhaps on a thread.

    def _called(self) -> Then:
        started: list[tuple[str, Fields]] = []

        # The quotes keep the annotation from being evaluated at each call.
        def start_response(status: str, fields: Fields, _error: object = None) -> "Callable[[bytes], object]":
            started[:] = [(status, fields)]
            return _refuse_write

        body = self._application(self._environ, start_response)
        is_kept = False
        try:
            following: Pass | None = self._environ.pop(MOVED, None)
            if following is not None:
                return partial(self._connection.moved, following, has_body=self.has_body)
            ((status, fields),) = started
            code = status[:3]
            if self._environ["REQUEST_METHOD"] == "HEAD" or code in _WITHOUT_CONTENT:
                if code in _WITHOUT_CONTENT:
                    fields = [field for field in fields if field[0].lower() != "content-length"]
                return partial(self._connection.replied, Reply(written_head(status, fields), b"", 0))
            announced = next((int(value) for name, value in fields if name.lower() == "content-length"), None)
            if isinstance(body, FileBody) and (extent := body.extent()) is not None:
                length = extent[1] if announced is None else announced
                reply = Reply(written_head(status, fields, length), body, length)
                is_kept = True  # and closed after sending
            else:
                content = b"".join(body)
                if announced not in {None, len(content)}:
                    raise ValueError("the answer is not as long as it says")
                reply = Reply(written_head(status, fields, len(content)), content, len(content))
            return partial(self._connection.replied, reply)
        finally:
            if not is_kept:
                close_body(body)


def _refuse_write(_: bytes) -> Any:  # noqa: ANN401  # never returns
    raise RuntimeError("this server takes bodies as iterables only")
