"""Long bodies on their way between a client and a file: carried by threads that stand back, in short steps.

The processes that answer small requests carry the bodies of big ones. A thread of lower priority leaves the processor
to the others, but most kernels of servers let nobody else have it before a call to them ends.
"""

import mmap
import os
import socket
import sys
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager, suppress
from functools import partial
from typing import TYPE_CHECKING, BinaryIO, Self, TypeVar, cast

if TYPE_CHECKING:
    from socket import _SendableFile

NICENESS = 10
"""How much a thread that carries stands back for those that answer."""

STEP_BYTES = 1 << 20
"""How much of a file is sent at a time. What is no longer than that is not worth a thread of its own."""

T = TypeVar("T")


def carried(work: Callable[[], T], size: int | None) -> T:
    """Do what carries so many bytes, or nobody knows how many; a long body in a thread of its own.

    No priority that was given up can be had again. Where no thread can be had, or the process is about to end, it is
    done in this one.
    """
    if size is not None and size <= STEP_BYTES:
        return work()
    with ThreadPoolExecutor(1, "carrier", initializer=_stand_back) as carrier:
        try:
            future = carrier.submit(work)
        except RuntimeError:
            future = None
        if future is not None:
            try:
                return future.result()
            finally:
                del future  # it has the error, whose traceback has it: what the work held would stay until a collection
    return work()


def _stand_back() -> None:
    if sys.platform == "linux":  # elsewhere this is the priority of the whole process
        with suppress(OSError):  # some sandboxes refuse it
            os.nice(NICENESS)


class ClientSocket(socket.socket):
    """A client's connection, over which a file is carried."""

    @classmethod
    def of(cls, sock: socket.socket) -> Self:
        """Take over a socket; the other object is of no use afterwards."""
        return cls(sock.family, sock.type, sock.proto, fileno=sock.detach())

    def sendfile(self, file: "_SendableFile", offset: int = 0, count: int | None = None) -> int:
        """Send `count` bytes of a file, or what there is, and return how many that were.

        The system's own sendfile hands over each page by itself, which on the way to a proxy on the same machine takes
        a third longer than to copy them.
        """
        regular = cast("BinaryIO", file)  # as the method needs it that this one overrides
        return carried(partial(self._send_in_steps, regular, offset, count), count)

    def _send_in_steps(self, file: BinaryIO, offset: int, count: int | None) -> int:
        sent = 0
        while count is None or sent < count:
            size = STEP_BYTES if count is None else min(STEP_BYTES, count - sent)
            with _part(file, offset + sent, size) as step:
                if not step:
                    break
                done = 0
                # sendall has one time for the whole step; each send has its own, until the system takes more.
                while done < len(step):
                    with step[done:] as rest:
                        done += self.send(rest)
            sent += done
        return sent


@contextmanager
def _part(file: BinaryIO, start: int, size: int) -> Iterator[memoryview]:
    """Give up to `size` bytes of a file, fewer only at its end; mapped, which saves a copy, where they can be.

    What is mapped is left to the system to read, while it sends: where a page is gone, that is an error of the call.
    """
    try:
        mapping = mmap.mmap(file.fileno(), size, access=mmap.ACCESS_READ, offset=start)
    except (OSError, ValueError):  # a file system without mappings; a start within a page; fewer bytes, or none
        file.seek(start)
        yield memoryview(file.read(size))
        return
    with mapping, memoryview(mapping) as part:
        yield part
