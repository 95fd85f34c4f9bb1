"""The Arrow file format, also called Feather 2: messages, and a footer with the schema and the places of messages.

The footer's schema and the messages are turned into a stream and read as such, since not all writers leave a complete
stream in a file. Files whose messages share bytes, or are not where the footer says, are refused first.
"""

import struct
from itertools import accumulate, pairwise

import numpy as np

from service.wire.formats.arrow_fields import CONTINUATION, V5
from service.wire.formats.arrow_messages import MOST_BATCHES, Counted, Place
from service.wire.formats.codings import Body
from service.wire.formats.flatbuffer import Flat
from service.wire.formats.table_columns import LONGEST_HEADER, too_many_columns
from service.wire.problems import Problem

_BEGIN, _MAGIC = b"ARROW1\0\0", b"ARROW1"
_TAIL = 4 + len(_MAGIC)
"""The length of the footer and the magic at the end of a file."""

_SCHEMA, _DICTIONARIES, _BATCHES = 1, 2, 3
"""Fields of the footer, by their index in Arrow's File.fbs."""

_BLOCK = np.dtype({"names": ["offset", "metadata", "body"], "formats": ["<i8", "<i4", "<i8"], "offsets": [0, 8, 16]})

_MESSAGE = struct.Struct("<I 5H2x i h B x I 4x")
"""A message's flatbuffer: the offset of its table, the table's list of three fields, and the table."""
_MESSAGE_TABLE = 16
_MESSAGE_FIELDS = (10, 12, 4, 6, 8)
"""The length of that list and of the table; the offsets in it of the version, the header's type, and the header."""
_SCHEMA_KIND = 1


class ArrowFile:
    """A file whose footer has been read; `stream` has the same schema and messages."""

    def __init__(self, body: Body) -> None:
        size = int.from_bytes(body[-_TAIL : -len(_MAGIC)], "little")
        end = len(body) - _TAIL - size
        is_between = len(_BEGIN) <= end < len(body) - _TAIL
        if body[: len(_BEGIN)] != _BEGIN or body[-len(_MAGIC) :] != _MAGIC or not is_between:
            raise Problem("malformed_body", "The body is not an Arrow file, or only part of one.")
        if size > LONGEST_HEADER:
            raise too_many_columns()
        footer = body[end : end + size]
        try:
            root = Flat.root(footer)
            schema = root.inner(_SCHEMA).position
            self._dictionaries, self._batches = (_blocks(root, field) for field in (_DICTIONARIES, _BATCHES))
        except (struct.error, ValueError):
            raise Problem("malformed_body", "The footer of the Arrow file points outside itself.") from None
        blocks = self._dictionaries + self._batches
        _check_places(blocks, end)
        self._first = _schema_message(footer, schema)
        parts = [body[offset : offset + metadata + length] for offset, metadata, length in blocks]
        self.stream = b"".join([self._first, *parts])

    def check(self, counted: Counted) -> None:
        """Refuse a stream whose messages are not those in the footer."""
        blocks = self._dictionaries + self._batches
        starts = accumulate((metadata + length for _, metadata, length in blocks), initial=len(self._first))
        places = [(start, metadata, length) for start, (_, metadata, length) in zip(starts, blocks, strict=False)]
        if counted.dictionaries + counted.batches != places or len(counted.batches) != len(self._batches):
            detail = "The footer of the Arrow file does not match the record batches and dictionaries in it."
            raise Problem("malformed_body", detail)
        if len(set(counted.identities)) < len(counted.identities):
            raise Problem("malformed_body", "The Arrow file has the same dictionary twice.")


def _blocks(root: Flat, field: int) -> list[Place]:
    """Read the places of the messages of one kind."""
    blocks = root.structs(field, _BLOCK)
    return [tuple(block) for block in blocks[: MOST_BATCHES + 1].tolist()]


def _check_places(blocks: list[Place], end: int) -> None:
    """Refuse messages that overlap or are not between the start of the file and the footer."""
    if any(min(block) < 0 for block in blocks):
        raise Problem("malformed_body", "The footer of the Arrow file has negative offsets.")
    bounds = sorted((offset, offset + metadata + length) for offset, metadata, length in blocks)
    bounds = [(0, len(_BEGIN)), *bounds, (end, end)]
    if any(stop > start for (_, stop), (start, _) in pairwise(bounds)):
        raise Problem(
            "malformed_body", ("The footer of the Arrow file lists a message outside the file, or the same one twice.")
        )


def _schema_message(footer: bytes, schema: int) -> bytes:
    """Write the message of a schema that is in a footer; offsets in a flatbuffer are relative to their own place."""
    place = _MESSAGE_TABLE + _MESSAGE_FIELDS[-1]
    header = _MESSAGE.size + schema - place
    message = _MESSAGE.pack(_MESSAGE_TABLE, *_MESSAGE_FIELDS, _MESSAGE_TABLE - 4, V5, _SCHEMA_KIND, header)
    message += footer + bytes(-len(footer) % 8)
    return CONTINUATION + len(message).to_bytes(4, "little") + message
