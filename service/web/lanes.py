"""Two lanes: small requests are answered where they arrive, big ones in helper processes, as many as there are slots.

Knows what makes a request big, slots and helpers; not what a request means, nor how an answer is sent.
"""

import math
import tempfile
import time
from collections.abc import Callable
from threading import Lock, Timer
from typing import BinaryIO

from service.answer import Answer, Request
from service.web.helper import DeadlineExceeded, Helper, HelperDied
from service.web.slots import Slot, Slots
from service.wire.codings import IDENTITY
from service.wire.limits import Limits
from service.wire.media_types import ARROW_STREAM, PARQUET
from service.wire.problems import Problem

TRIES = 2
"""How often a request is tried when helpers die under it."""

IDLE_SECONDS = 5.0
"""How long a helper waits for another request before it is ended: a new one takes milliseconds, one kept memory."""

_COMPACT = frozenset({ARROW_STREAM, PARQUET})
"""Media types whose length says little about the rows within."""


class BigLane:
    """The lane of big requests of one server process; the slots are those of all its processes."""

    def __init__(
        self,
        slots: Slots,
        limits: Limits,
        *,
        seconds: float,
        memory_bytes: int,
        spool_directory: str | None,
        on_helper_end: Callable[[str], None],
    ) -> None:
        self._slots = slots
        self._limits = limits
        self._seconds = seconds
        self._memory_bytes = memory_bytes
        self._directory = spool_directory
        self._on_helper_end = on_helper_end
        self._idle: list[tuple[Helper, float]] = []
        """The helpers that wait, each with when it began to; the one that worked last is the last."""
        self._sweep: Timer | None = None
        self._lock = Lock()

    def take(self) -> Slot:
        """Take a slot; raises Problem overloaded when all are held."""
        slot = self._slots.take()
        if slot is None:
            raise Problem("overloaded", f"{self._slots.count} big requests are under way, as many as there may be.")
        return slot

    def spool(self) -> BinaryIO:
        """Open a file without a name, for a body."""
        return tempfile.TemporaryFile(dir=self._directory)

    def answer(self, request: Request, body: BinaryIO) -> tuple[Answer, BinaryIO]:
        """Answer a request whose body is in a file; the answer's body is in the file that comes with it.

        Raises Problem deadline_exceeded, helper_died when two helpers died of it; HelperFailed for a defect.
        """
        body.flush()
        end = time.monotonic() + self._seconds
        for _ in range(TRIES):
            content = self.spool()
            try:
                return self._answer(request, body, content, end - time.monotonic()), content
            except HelperDied:
                content.close()
                self._on_helper_end("died")
            except DeadlineExceeded:
                content.close()
                self._on_helper_end("deadline")
                detail = f"The evaluation had not ended after {self._seconds:g} seconds."
                raise Problem("deadline_exceeded", detail) from None
            except BaseException:
                content.close()
                raise
        raise Problem("helper_died", f"The process that evaluated the request died, {TRIES} times.")

    def prepare(self) -> None:
        """Start a helper before there is a request for it."""
        self._keep(self._helper())

    def close(self) -> None:
        """End the helpers that wait."""
        self._end_idle(since=math.inf)

    def _answer(self, request: Request, body: BinaryIO, content: BinaryIO, seconds: float) -> Answer:
        helper = self._helper()
        try:
            result = helper.answer(request, body, content, seconds)
        except BaseException:
            helper.end()
            raise
        self._keep(helper)
        return result

    def _helper(self) -> Helper:
        """Take the helper that worked last, else a new one."""
        while True:
            with self._lock:
                helper = self._idle.pop()[0] if self._idle else None
            if helper is None:
                return Helper(self._limits, self._memory_bytes)
            if helper.is_alive():
                return helper
            self._on_helper_end("died")
            helper.end()

    def _keep(self, helper: Helper) -> None:
        with self._lock:
            self._idle.append((helper, time.monotonic()))
            self._sweep_later()

    def _sweep_later(self) -> None:
        """See to it that helpers that wait for too long are ended; to be called with the lock."""
        if self._sweep is None:
            self._sweep = Timer(IDLE_SECONDS, self._sweep_now)
            self._sweep.daemon = True
            self._sweep.start()

    def _sweep_now(self) -> None:
        self._end_idle(since=time.monotonic() - IDLE_SECONDS)
        with self._lock:
            self._sweep = None
            if self._idle:
                self._sweep_later()

    def _end_idle(self, since: float) -> None:
        """End the helpers that have waited since then or longer."""
        with self._lock:
            ended = [helper for helper, began in self._idle if began <= since]
            self._idle = [(helper, began) for helper, began in self._idle if began > since]
        for helper in ended:
            helper.end()


def is_big(content_type: str, content_encoding: str, length: int | None, big_body_bytes: int) -> bool:
    """Whether the headers tell that a request is big; None is the length of a chunked body."""
    return length is None or length > big_body_bytes or content_encoding != IDENTITY or content_type in _COMPACT
