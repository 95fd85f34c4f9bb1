"""Two lanes: small requests are answered where they arrive, big ones in helper processes, as many as there are slots.

Knows what makes a request big, slots and helpers; not what a request means, nor how an answer is sent.
"""

import io
import logging
import os
import tempfile
import time
from collections.abc import Callable, Iterator
from contextlib import ExitStack, contextmanager, suppress
from threading import Lock, Timer
from typing import BinaryIO

from service.answer import Answer, Request
from service.web.helper import DeadlineExceeded, Helper, HelperDied, NoRoom
from service.web.slots import Slot, Slots
from service.wire.codings import IDENTITY
from service.wire.limits import Limits
from service.wire.media_types import ARROW_STREAM, PARQUET
from service.wire.problems import Problem, no_more_files

TRIES = 2
"""How often a request is tried when helpers die under it."""

UNREAD_PER_SLOT = 4
"""How many answers may wait in files for clients that read slowly, for each slot."""

IDLE_SECONDS = 5.0
"""How long a helper waits for another request before it is ended: a new one takes milliseconds, one kept memory."""

_LOG = logging.getLogger("service")

_COMPACT = frozenset({ARROW_STREAM, PARQUET})
"""Media types whose length says little about the rows within."""


class Place:
    """What a big request holds: a slot until it is evaluated, and a place among the unread answers until it is sent."""

    def __init__(self, slot: Slot, unread: Slot) -> None:
        self._slot = slot
        self._unread: Slot | None = unread

    def evaluated(self) -> None:
        """Make the slot free for another request."""
        self._slot.release()

    def sent_from(self, content: BinaryIO) -> "AnswerFile":
        """Make a file of an answer that gives its place among the unread ones back when it is closed."""
        file = AnswerFile(content, self._unread)
        self._unread = None
        return file

    def leave(self) -> None:
        """Give back what was not handed on."""
        self._slot.release()
        if self._unread is not None:
            self._unread.release()


class AnswerFile(io.FileIO):
    """An answer that is being sent."""

    def __init__(self, content: BinaryIO, unread: Slot | None) -> None:
        super().__init__(os.dup(content.fileno()), "rb")
        self._unread = unread

    def close(self) -> None:
        """Close the file, and give its place back."""
        super().close()
        if self._unread is not None:
            self._unread.release()


class BigLane:
    """The lane of big requests of one server process; the slots are those of all its processes."""

    def __init__(
        self,
        slots: Slots,
        unread: Slots,
        limits: Limits,
        *,
        seconds: float,
        memory_bytes: int,
        spool_directory: str | None,
        on_helper_end: Callable[[str], None],
        on_write_failed: Callable[[OSError | None], None],
    ) -> None:
        self._slots = slots
        self._unread = unread
        self._limits = limits
        self._seconds = seconds
        self._memory_bytes = memory_bytes
        self._directory = spool_directory
        self._on_helper_end = on_helper_end
        self._on_write_failed = on_write_failed
        self._idle: list[tuple[Helper, float]] = []
        """The helpers that wait, each with when it began to; the one that worked last is the last."""
        self._sweep: Timer | None = None
        self._lock = Lock()

    @contextmanager
    def admitted(self) -> Iterator[Place]:
        """Hold a place for one request.

        Raises Problem overloaded when there is none, when no more files can be opened, or when the spool directory
        takes no more of what is written.
        """
        try:
            place = self._take()
        except OSError as error:
            _LOG.error("No slot can be taken", exc_info=error)
            raise no_more_files() from error
        try:
            yield place
        except (NoRoom, OSError) as error:
            self._on_write_failed(error if isinstance(error, OSError) else None)
            raise Problem("overloaded", "There is no room for the body or its answer now.") from error
        finally:
            place.leave()

    def _take(self) -> Place:
        taken: list[Slot] = []
        with ExitStack() as held:
            for slots, what in ((self._slots, "big requests are under way"), (self._unread, "answers wait to be read")):
                slot = slots.take()
                if slot is None:
                    raise Problem("overloaded", f"As many {what} as there may be: {slots.count}.")
                taken.append(held.enter_context(slot))
            held.pop_all()
        return Place(*taken)

    def spool(self) -> BinaryIO:
        """Open a file without a name, for a body."""
        return tempfile.TemporaryFile(dir=self._directory)

    def answer(self, request: Request, body: BinaryIO) -> tuple[Answer, BinaryIO]:
        """Answer a request whose body is in a file; the answer's body is in the file that comes with it.

        Raises Problem deadline_exceeded, helper_died when two helpers died of it; HelperFailed for a defect; NoRoom.
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
        """Start a helper before there is a request for it, which tries again when that fails."""
        with suppress(HelperDied):
            self._keep(self._helper())

    def _answer(self, request: Request, body: BinaryIO, content: BinaryIO, seconds: float) -> Answer:
        helper = self._helper()  # which may raise HelperDied, too
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
        """See to it that helpers that wait for too long are ended; to be called with the lock.

        Where no thread can be had for that, the next helper that is kept tries again.
        """
        if self._sweep is None:
            sweep = Timer(IDLE_SECONDS, self._sweep_now)
            sweep.daemon = True
            with suppress(RuntimeError):
                sweep.start()
                self._sweep = sweep

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
