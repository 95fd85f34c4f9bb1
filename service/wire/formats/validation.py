"""Validates cells from outside before anything reads them: invalid ones would crash, or show foreign memory."""

from collections.abc import Iterable

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
from pyarrow import types

from service.wire.problems import Problem

UNREADABLE = (pa.ArrowException, OSError, UnicodeDecodeError, OverflowError)
"""What pyarrow raises for invalid bytes. Its MemoryError is a subclass of one of these, but means something else."""


def validate(columns: Iterable[pa.ChunkedArray], most_bytes: int) -> None:
    """Validate everything that will be read.

    Raises one of UNREADABLE, and Problem if text that views repeat is longer than `most_bytes` in total.
    """
    room, seen = most_bytes, set()
    for chunk in (chunk for column in columns for chunk in column.chunks):
        is_encoded = types.is_dictionary(chunk.type)
        words = chunk.dictionary if is_encoded else chunk
        chunk.validate()
        room -= _viewed_bytes(words)
        if room < 0:
            raise Problem("body_too_large", "The text of all string_view columns together is longer than the limit.")
        if not is_encoded:
            chunk.validate(full=True)
            continue
        buffers = (None if buffer is None else buffer.address for buffer in words.buffers())
        identity = words.offset, len(words), *buffers
        if identity not in seen:  # chunks share a dictionary
            words.validate(full=True)
            seen.add(identity)
        chunk.indices.validate(full=True)
        ends = pc.min_max(chunk.indices).as_py()
        if ends["min"] is not None and not 0 <= ends["min"] <= ends["max"] < len(words):
            raise pa.ArrowInvalid("An index points outside its dictionary.")


def _viewed_bytes(cells: pa.Array) -> int:
    """Add up the lengths of the texts of views, many of which may share a text; a view begins with its length."""
    if not (types.is_string_view(cells.type) or types.is_binary_view(cells.type)) or not len(cells):
        return 0
    views = np.frombuffer(cells.buffers()[1], np.int32, 4 * len(cells), 16 * cells.offset)
    return int(np.maximum(views[::4], 0).sum(dtype=np.int64))
