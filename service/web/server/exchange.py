"""One request on its way through the application: its environ, its passes, and what becomes of them.

Knows WSGI, passes.py and lanes; nothing of sockets. `run` is called on a thread of a lane, everything else on the loop.
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
"""What is to be called on the loop."""


class Receiver(Protocol):
    """What an exchange reports to, on the loop: the connection."""

    def moved(self, following: Pass, *, has_body: bool) -> None:
        """The application asks for another pass."""

    def replied(self, reply: Reply) -> None:
        """The application has answered."""

    def failed(self) -> None:
        """The application has not answered, or not to the end."""

    def take_piece(self, piece: bytes | None) -> None:
        """Here is a piece of a stream; None after the last."""

    def refuse(self, problem: Problem) -> None:
        """The server has no place for the request."""


class Exchange:
    """One request, from its head until its answer was sent or is no longer wanted.

    owner, use   on whose account it is served (queues.py).
    began        when its head had come (time.monotonic).
    has_body     whether it has the request's body, and closes it in the end.
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
        """Where it is, until the application has answered."""
        self._waits_since = 0.0
        environ |= {
            STARTED: time.perf_counter(),
            CLIENT: self._client,
            UNTIL_SENT: self._until_sent,
            "wsgi.file_wrapper": FileBody,
            "wsgi.input": io.BytesIO(),
        }

    def ask(self, for_pass: Pass, body: IncomingBody | None) -> None:
        """Wait for a pass; in all but the first the application reads the body, which is closed with the exchange.

        Raises Problem overloaded where there is no room for the body.
        """
        if for_pass is not Pass.HEAD:
            self._give(body)
        self._environ[PASS] = for_pass
        self._waits_since = time.monotonic()
        self._lane = self._lanes[for_pass]
        self._lane.put(self)

    def misses_its_turn(self, seconds: float) -> bool:
        """Whether it has waited for so long in vain; then it waits no more."""
        return time.monotonic() - self._waits_since > seconds and self.withdraw()

    def withdraw(self) -> bool:
        """Wait no more; whether it did, and was not begun."""
        if self._lane is None or not self._lane.withdraw(self):
            return False
        self._lane = None
        return True

    def turn_away(self) -> None:
        """Hear that too many wait for their turn."""
        self._lane = None
        self._receiver.refuse(Problem("overloaded", "Too many requests are waiting already."))

    def leave(self) -> None:
        """End what is done for it, and give back what it holds as soon as no thread works on it."""
        self._client.leave()
        if self._lane is None:
            self.dispose()
        elif self.withdraw():
            count_abandoned("waiting")
            self.dispose()

    def dispose(self) -> None:
        """Give back what it holds; not while a thread works on it."""
        with suppress(Exception):  # it is closed as far as it can be
            self._until_sent.close()

    def run(self) -> Then:
        """Call the application for the pass, on a thread; return what tells the receiver of it."""
        if self._client.gone:
            count_abandoned("waiting")
            return self.dispose
        waited: float = self._environ.get(WAITED, 0.0)
        self._environ[WAITED] = waited + time.monotonic() - self._waits_since
        try:
            return partial(self._report, self._called())
        except BaseException as error:  # noqa: BLE001  # a thread of a lane must not end, whatever an application raises
            _LOG.error("Unexpected failure", exc_info=error)
            return partial(self._report, self._receiver.failed)

    def _report(self, report: Then) -> None:
        """Tell the receiver, unless it has left meanwhile."""
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

    # On a thread.

    def _called(self) -> Then:
        started: list[tuple[str, Fields]] = []

        def start_response(status: str, fields: Fields, _error: object = None) -> Callable[[bytes], object]:
            started[:] = [(status, fields)]
            return _no_write

        body = self._application(self._environ, start_response)
        with ExitStack() as here:
            here.callback(close_body, body)
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
                here.pop_all()  # it is closed when it was sent
                return partial(self._receiver.replied, reply)
            if announced is None and self._environ[PASS] is Pass.BIG:
                return self._streamed(status, fields, body)
            content = b"".join(body)
            if announced not in {None, len(content)}:
                raise ValueError("the answer is not as long as it says")
            return partial(
                self._receiver.replied, Reply(written_head(status, fields, len(content)), content, len(content))
            )

    def _streamed(self, status: str, fields: Fields, body: Iterable[bytes]) -> Then:
        """Hand over a body piece by piece, as the client reads it, until it leaves."""
        stream, is_chunked = Stream(), self._environ["SERVER_PROTOCOL"] == "HTTP/1.1"
        if is_chunked:
            fields = [*fields, ("Transfer-Encoding", "chunked")]
        self._call_on_loop(self._receiver.replied, Reply(written_head(status, fields), stream, None, is_chunked))
        try:
            for piece in filter(None, body):
                if not stream.wait_for_room():
                    return self.dispose
                self._call_on_loop(self._receiver.take_piece, piece)
        except Exception as error:  # noqa: BLE001  # a part was sent; the connection ends, so that it is not mistaken for the whole answer
            _LOG.error("Unexpected failure", exc_info=error)
            return self._receiver.failed
        return partial(self._receiver.take_piece, None)


def _no_write(_: bytes) -> Any:  # noqa: ANN401  # it never returns
    raise RuntimeError("this server takes bodies as iterables only")
