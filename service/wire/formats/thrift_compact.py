"""The part of Thrift's compact protocol that Parquet's footers and page headers use: bytes to plain structs and back.

A struct is a dict from (field number, kind) to value, so that a field of an unexpected kind is absent. Reading is
strict: bytes that a lenient reader could interpret differently are refused.
"""

from collections.abc import Mapping
from typing import Any

from service.wire.formats.codings import Body

STOP, TRUE, FALSE, BYTE, I16, I32, I64, DOUBLE, BINARY, LIST, SET, MAP, STRUCT = range(13)
BOOL = TRUE
"""The kind of a boolean, either value."""

Struct = Mapping[tuple[int, int], Any]
"""{(field, kind): value}; a list's value is the pair of its items' kind and its items."""

_BITS = {I16: 16, I32: 32, I64: 64}
_DEEPEST_STRUCT = 12
_LONG_FORM = 15
"""Marks a list's length that does not fit into four bits and follows."""


class NotThriftError(ValueError):
    """Bytes that are not a struct of the compact protocol."""


class Reader:
    """Reads structs from `position`, stopping before `end`."""

    def __init__(self, body: Body, position: int, end: int) -> None:
        self._body = body
        self.position = position
        self._end = min(end, len(body))

    def struct(self, depth: int = 0) -> Struct:
        """Read a struct; its fields come in rising order. Raises NotThriftError."""
        if depth > _DEEPEST_STRUCT:
            raise NotThriftError
        fields: dict[tuple[int, int], Any] = {}
        last = 0
        while head := self._byte():
            step, kind = head >> 4, head & 0x0F
            field = last + step if step else self._integer(I16)
            if field <= last or field >= 1 << 15:
                raise NotThriftError
            last = field
            if kind in {TRUE, FALSE}:
                fields[field, BOOL] = kind == TRUE
            else:
                fields[field, kind] = self._value(kind, depth + 1)
        return fields

    def _value(self, kind: int, depth: int) -> Any:  # noqa: ANN401  # what a field holds
        if kind in _BITS:
            return self._integer(kind)
        if kind == BINARY:
            return self._take(self._varint())
        if kind == STRUCT:
            return self.struct(depth)
        if kind == LIST:
            head = self._byte()
            length = self._varint() if head >> 4 == _LONG_FORM else head >> 4
            if length > self._end - self.position:  # every item takes at least a byte
                raise NotThriftError
            kind = head & 0x0F
            return kind, [self._value(kind, depth + 1) for _ in range(length)]
        if kind in {TRUE, FALSE, BYTE}:
            return self._byte()
        if kind == DOUBLE:
            return self._take(8)
        raise NotThriftError

    def _integer(self, kind: int) -> int:
        zigzag = self._varint()
        if zigzag >> _BITS[kind]:
            raise NotThriftError
        return (zigzag >> 1) ^ -(zigzag & 1)

    def _varint(self) -> int:
        value = 0
        for shift in range(0, 70, 7):
            byte = self._byte()
            value |= (byte & 0x7F) << shift
            if byte < 0x80:  # noqa: PLR2004  # the bit that says that more follows
                return value
        raise NotThriftError

    def _byte(self) -> int:
        return self._take(1)[0]

    def _take(self, size: int) -> bytes:
        start, self.position = self.position, self.position + size
        if self.position > self._end:
            raise NotThriftError
        return self._body[start : self.position]


def written(struct: Struct) -> bytes:
    """Write a struct of booleans, integers, bytes, structs and lists of these."""
    out = bytearray()
    last = 0
    for (field, kind), value in sorted(struct.items(), key=lambda item: item[0]):
        head = (TRUE if value else FALSE) if kind == BOOL else kind
        out.append((field - last) << 4 | head)  # Parquet's field numbers are close together
        out += b"" if kind == BOOL else _written(kind, value)
        last = field
    out.append(STOP)
    return bytes(out)


def _written(kind: int, value: Any) -> bytes:  # noqa: ANN401  # what a field holds
    if kind in _BITS:
        return _varint(value << 1 ^ value >> 63)
    if kind == BINARY:
        text: bytes = value
        return _varint(len(text)) + text
    if kind == STRUCT:
        return written(value)
    item_kind, items = value
    head = bytes([_LONG_FORM << 4 | item_kind]) + _varint(len(items))
    return head + b"".join(_written(item_kind, item) for item in items)


def _varint(value: int) -> bytes:
    out = bytearray()
    while value >= 0x80:  # noqa: PLR2004  # the bit that says that more follows
        out.append(value & 0x7F | 0x80)
        value >>= 7
    out.append(value)
    return bytes(out)
