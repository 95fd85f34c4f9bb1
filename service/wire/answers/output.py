"""The body of an answer while it is made: where its pieces go, and that there is memory for the next one.

Knows memory and files; nothing of what the pieces hold.
"""

from collections.abc import Iterable, Iterator
from typing import BinaryIO

from service.environment import look_for_memory
from service.wire.formats.codings import Piece

WRITTEN_AT_ONCE = 1 << 17
"""How many bytes are written to a file in one call: most kernels of servers let nobody else have the processor before a
call ends, so one call for 100 MB keeps small requests waiting for 10 ms or more, whatever its priority."""

_LONG_PIECE = 1 << 12
"""Bytes; what is shorter takes no memory to speak of, and less time than to look for some."""


class Output:
    """Takes the pieces of one answer, in memory, or into a file that is given.

    headroom_bytes   how much memory has to be free before a piece is made: orjson and Arrow end a process that gets
                     none. Without it nobody looks.
    """

    def __init__(self, headroom_bytes: int = 0, file: BinaryIO | None = None) -> None:
        self._headroom_bytes = headroom_bytes
        self._file = file
        self._pieces: list[Piece] = []

    def look(self) -> None:
        """Raise MemoryError unless there is memory for the next piece."""
        if self._headroom_bytes:
            look_for_memory(self._headroom_bytes)

    def looked_after(self, pieces: Iterable[Piece]) -> Iterator[Piece]:
        """Pass pieces on as they are made, and look after each long one."""
        for piece in pieces:
            yield piece
            if len(piece) >= _LONG_PIECE:
                self.look()

    def write(self, piece: Piece) -> None:
        """Take a piece. Raises OSError where a file has no room for it."""
        if self._file is None:
            self._pieces.append(piece)
        else:
            content = memoryview(piece)
            starts = range(0, len(content), WRITTEN_AT_ONCE)
            self._file.writelines(content[start : start + WRITTEN_AT_ONCE] for start in starts)

    def held(self) -> bytes:
        """Return what lies in memory: all of it without a file, else nothing."""
        return b"".join(self._pieces)
