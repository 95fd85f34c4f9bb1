"""Fields of a flatbuffer, such as an Arrow message, by their index in the format's definition. Knows no format."""

import struct
from collections.abc import Iterator
from typing import Self

import numpy as np

UINT8, UINT16, INT16, UINT32, INT32, INT64 = (struct.Struct(f"<{code}") for code in "BHhIiq")


_VTABLE_HEAD = 4
"""The bytes of a vtable before its offsets."""


class Omitted(ValueError):
    """A table is not there."""


class Flat:
    """A table of a flatbuffer; its fields are identified by their index in the format's definition.

    A table begins with the distance back to its vtable: the vtable's length in bytes, the table's, and the offset of
    each field in the table, 0 if it is omitted. References are relative to the field's own place. Nothing is read
    beyond the buffer: if it is not verified, the methods raise struct.error.
    """

    def __init__(self, buffer: bytes, position: int) -> None:
        self._buffer = buffer
        self.position = position
        self._offsets = position - _read(INT32, buffer, position)
        self._end = _read(UINT16, buffer, self._offsets)
        if self._end < _VTABLE_HEAD or self._end % 2:
            raise struct.error("a vtable has an impossible length")

    @classmethod
    def root(cls, buffer: bytes) -> Self:
        """The table that a buffer holds."""
        return cls(buffer, _read(UINT32, buffer, 0))

    def has(self, place: int) -> bool:
        """Whether a field is present."""
        return self._find(place) is not None

    def number(self, place: int, kind: struct.Struct) -> int:
        """Read a number, 0 if it is omitted."""
        found = self._find(place)
        return 0 if found is None else _read(kind, self._buffer, found)

    def inner(self, place: int) -> Self:
        """Read a table. Raises Omitted if it is omitted, which is valid in a flatbuffer."""
        found = self._find(place)
        if found is None:
            raise Omitted
        return self._at(found)

    def length(self, place: int) -> int:
        """Return the length of a text or a list, 0 if it is omitted."""
        found = self._find(place)
        return 0 if found is None else _read(UINT32, self._buffer, found + _read(UINT32, self._buffer, found))

    def text(self, place: int) -> str:
        """Read a text, empty if it is omitted. Raises ValueError, as UnicodeDecodeError is, if it is not a text."""
        found = self._find(place)
        if found is None:
            return ""
        start = found + _read(UINT32, self._buffer, found)
        length = _read(UINT32, self._buffer, start)
        content = self._buffer[start + 4 : start + 5 + length]
        if len(content) <= length or content[-1]:
            raise ValueError("a text does not end with a zero")
        return content[:-1].decode()

    def each(self, place: int) -> Iterator[Self]:
        """Read the tables of a list."""
        found = self._find(place)
        if found is not None:
            start = found + _read(UINT32, self._buffer, found) + 4
            for position in range(self.length(place)):
                yield self._at(start + 4 * position)

    def structs(self, place: int, kind: np.dtype[np.void]) -> np.ndarray:
        """Read a list of structs. Raises ValueError if it is longer than the buffer."""
        found = self._find(place)
        if found is None:
            return np.empty(0, kind)
        start = found + _read(UINT32, self._buffer, found) + 4
        return np.frombuffer(self._buffer, kind, self.length(place), start)

    def _find(self, place: int) -> int | None:
        entry = _VTABLE_HEAD + 2 * place
        offset = _read(UINT16, self._buffer, self._offsets + entry) if entry < self._end else 0
        return self.position + offset if offset else None

    def _at(self, pointer: int) -> Self:
        return type(self)(self._buffer, pointer + _read(UINT32, self._buffer, pointer))


def _read(kind: struct.Struct, buffer: bytes, position: int) -> int:
    """Read a number, which has to be aligned."""
    if position % kind.size:
        raise struct.error("a number is not aligned")
    number: int = kind.unpack_from(buffer, position)[0]
    return number
