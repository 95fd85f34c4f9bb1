"""One request on its way through the application: its environ, its passes, and their results.

Knows WSGI, passes.py and lanes; nothing of sockets. `run` may be called on a thread, everything else on the loop.
"""

import io
import logging
import time
from collections.abc import Callable, Iterable, Mapping
from contextlib import ExitStack, suppress
from functools import partial
from typing import TYPE_CHECKING, Any, Protocol

from service.web.observation.observation import count_abandoned
from service.web.passes import CLIENT, MOVED, PASS, STARTED, UNTIL_SENT, WAITED, Client, Pass
from service.web.server.incoming_body import IncomingBody
from service.web.server.lane import Lane
from service.web.server.queues import Use
from service.web.server.reply import FileBody, Reply, Stream, close_body, written_head
from service.wire.problems import Problem, no_room

if TYPE_CHECKING:
    from _typeshed.wsgi import WSGIApplication, WSGIEnvironment

_LOG = logging.getLogger("service")

_WITHOUT_CONTENT = frozenset({"204", "304"})

Fields = list[tuple[str, str]]
Then = Callable[[], object]
"""A callback for the loop."""


class Receiver(Protocol):
    """The receiver of an exchange's reports, on the loop: the connection."""

    def moved(self, following: Pass, *, has_body: bool) -> None:
        """The application requests another pass."""

    def replied(self, reply: Reply) -> None:
        """The application has answered."""

    def failed(self) -> None:
        """The application has failed to answer, or to finish its answer."""

    def take_piece(self, piece: bytes | FileBody | None) -> None:
        """Receive a piece of a stream; None after the last."""

    def refuse(self, problem: Problem) -> None:
        """The server has no room for the request."""


class Exchange:
    """One request, from its head until its answer was sent or is no longer needed.

    owner, use   who is charged for it (queues.py).
    began        when its head was complete (time.monotonic).
    has_body     whether it owns the request's body, and must close it.
    """

    def __init__(
        self,
        application: "WSGIApplication",
        environ: "WSGIEnvironment",
        receiver: Receiver,
        *,
        owner: str,
        use: Use,
        lanes: Mapping[Pass, Lane],
        call_on_loop: Callable[..., object],
    ) -> None:
        self.owner = owner
        self.use = use
        self.began = time.monotonic()
        self.has_body = False
        self._application = application
        self._environ = environ
        self._receiver = receiver
        self._lanes = lanes
        self._call_on_loop = call_on_loop
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
        self._receiver.refuse(Problem("overloaded", "Too many requests are waiting already."))

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
            return partial(self._report, self._receiver.failed)

    def _report(self, report: Then) -> None:
        """Report to the receiver, unless it has left."""
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
                return partial(self._receiver.moved, following, has_body=self.has_body)
            ((status, fields),) = started
            code = status[:3]
            if self._environ["REQUEST_METHOD"] == "HEAD" or code in _WITHOUT_CONTENT:
                if code in _WITHOUT_CONTENT:
                    fields = [field for field in fields if field[0].lower() != "content-length"]
                return partial(self._receiver.replied, Reply(written_head(status, fields), b"", 0))
            announced = next((int(value) for name, value in fields if name.lower() == "content-length"), None)
            if isinstance(body, FileBody) and (extent := body.extent()) is not None:
                length = extent[1] if announced is None else announced
                reply = Reply(written_head(status, fields, length), body, length)
                is_kept = True  # and closed after sending
                return partial(self._receiver.replied, reply)
            if announced is None and self._environ[PASS] is Pass.BIG:
                return self._streamed(status, fields, body)
            content = b"".join(body)
            if announced not in {None, len(content)}:
                raise ValueError("the answer is not as long as it says")
            return partial(
                self._receiver.replied, Reply(written_head(status, fields, len(content)), content, len(content))
            )
        finally:
            if not is_kept:
                close_body(body)

    def _streamed(self, status: str, fields: Fields, body: Iterable[bytes]) -> Then:
        """Pass on a body piece by piece as the client reads it, until it leaves.

        The last piece may be a FileBody, which the loop sends while this thread and its slot are free for others.
        """
        stream, is_chunked = Stream(), self._environ["SERVER_PROTOCOL"] == "HTTP/1.1"
        if is_chunked:
            fields = [*fields, ("Transfer-Encoding", "chunked")]
        self._call_on_loop(self._receiver.replied, Reply(written_head(status, fields), stream, None, is_chunked))
        try:
            for piece in filter(None, body):
                if not stream.wait_for_room():
                    close_body(piece)
                    return self.dispose
                self._call_on_loop(self._receiver.take_piece, piece)
        except Exception as error:  # noqa: BLE001  # part was sent; the connection ends, so that nobody takes it for the whole answer
            _LOG.error("Unexpected failure", exc_info=error)
            return self._receiver.failed
        return partial(self._receiver.take_piece, None)


def _refuse_write(_: bytes) -> Any:  # noqa: ANN401  # never returns
    raise RuntimeError("this server takes bodies as iterables only")
