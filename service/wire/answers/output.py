"""The body of an answer while it is produced: stores its pieces, and checks that there is memory for the next one.

Knows memory and files; nothing of what the pieces hold.
"""

from collections.abc import Iterable, Iterator
from typing import BinaryIO

from service.environment import require_memory
from service.wire.formats.codings import Piece

WRITTEN_AT_ONCE = 1 << 17
"""Bytes written to a file in one call: most server kernels do not preempt a system call, so one of 100 MB makes
small requests wait for 10 ms or more, whatever its priority."""

_CHECKS = 16
"""Memory is checked each time that pieces have taken this fraction of the headroom, 1/16: a check is slow."""


class Output:
    """Stores the pieces of one answer in memory, or in a given file.

    headroom_bytes   how much memory must be free before a piece is produced: orjson and Arrow end a process that gets
                     none. 0 disables the check.
    """

    def __init__(self, headroom_bytes: int = 0, file: BinaryIO | None = None) -> None:
        self._headroom_bytes = headroom_bytes
        self._file = file
        self._pieces: list[Piece] = []

    def look(self) -> None:
        """Raise MemoryError unless there is memory for the next piece."""
        if self._headroom_bytes:
            require_memory(self._headroom_bytes)

    def checking_memory(self, pieces: Iterable[Piece]) -> Iterator[Piece]:
        """Pass pieces on as they are produced, and check memory whenever they have taken a part of the headroom."""
        taken = 0
        for piece in pieces:
            yield piece
            taken += len(piece)
            if taken * _CHECKS > self._headroom_bytes:
                self.look()
                taken = 0

    def write(self, piece: Piece) -> None:
        """Store a piece. Raises OSError if a file has no room for it."""
        if self._file is None:
            self._pieces.append(piece)
        else:
            content = memoryview(piece)
            starts = range(0, len(content), WRITTEN_AT_ONCE)
            self._file.writelines(content[start : start + WRITTEN_AT_ONCE] for start in starts)

    def held(self) -> bytes:
        """Return the body if it is in memory; nothing if it went to a file."""
        return b"".join(self._pieces)
