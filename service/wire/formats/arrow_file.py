"""The file format of Arrow, which is also Feather 2: a stream between two magic words, and a footer.

The footer says once more where the messages of the stream are, for those who read from the middle. The stream is read
from its beginning, as any other; a footer that says anything else than the stream is refused. So nothing is looked for
where a footer points.
"""

import struct

import numpy as np

from service.wire.formats.arrow_messages import MOST_BATCHES, Counted, Flat, Place
from service.wire.formats.codings import Body
from service.wire.formats.tables import LONGEST_HEADER, too_many_columns
from service.wire.problems import Problem

_BEGIN, _MAGIC = b"ARROW1\0\0", b"ARROW1"
_SIZE_BYTES = 4
_TAIL = _SIZE_BYTES + len(_MAGIC)
_DICTIONARIES, _BATCHES = 2, 3
"""Fields of the footer, by their place in Arrow's File.fbs."""

_BLOCK = np.dtype({"names": ["offset", "metadata", "body"], "formats": ["<i8", "<i4", "<i8"], "offsets": [0, 8, 16]})
_LONGEST_FOOTER = LONGEST_HEADER + MOST_BATCHES * _BLOCK.itemsize


def stream_and_footer(body: Body) -> tuple[memoryview, bytes]:
    """Take a file apart. Raises Problem for what is none, or not all of one."""
    size = int.from_bytes(body[-_TAIL : -len(_MAGIC)], "little")
    end = len(body) - _TAIL - size
    if body[: len(_BEGIN)] != _BEGIN or body[-len(_MAGIC) :] != _MAGIC or not len(_BEGIN) <= end < len(body) - _TAIL:
        raise Problem("malformed_body", "The body is not an Arrow file, or not all of it.")
    if size > _LONGEST_FOOTER:
        raise too_many_columns()
    return memoryview(body)[len(_BEGIN) : end], body[end : end + size]


def check_footer(footer: bytes, counted: Counted) -> None:
    """Refuse a footer that does not name every message of the stream, and no other, in their order."""
    try:
        root = Flat.root(footer)
        places = [_places(root, field) for field in (_DICTIONARIES, _BATCHES)]
    except (struct.error, ValueError):
        raise Problem("malformed_body", "The footer of the Arrow file points out of itself.") from None
    if places != [counted.dictionaries, counted.batches]:
        detail = "The footer of the Arrow file does not name the record batches and dictionaries that are in the file."
        raise Problem("malformed_body", detail)
    if len(set(counted.identities)) < len(counted.identities):
        raise Problem("malformed_body", "A dictionary of the Arrow file comes twice.")


def _places(root: Flat, field: int) -> list[Place]:
    """Read where the messages of one kind are, counted from the beginning of the stream."""
    blocks = root.structs(field, _BLOCK)
    if blocks.size > MOST_BATCHES:
        raise ValueError("There are more than any stream that was counted has.")
    return [(offset - len(_BEGIN), metadata, length) for offset, metadata, length in blocks.tolist()]
