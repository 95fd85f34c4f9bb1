"""Writes a JSON document in pieces: a whole answer may take more memory than its evaluation.

Knows arrays and lists; nothing of results.
"""

from collections.abc import Iterable, Iterator
from itertools import tee
from typing import Any

import numpy as np
import orjson

from service.wire.formats.codings import Piece

_SHORT_COLUMN = 1 << 10
"""A document whose columns are all this short is written in one call, since calls are most of its cost."""

_PIECE_ROWS = 1 << 16
"""The rows of a longer column written at once."""

_PIECE_LISTS = 1 << 6
"""The same for cells that are lists of names: up to 50 names of 400 bytes."""

_LISTS = (np.ndarray, list, tuple)


def json_pieces(document: dict[str, Any]) -> Iterator[Piece]:
    """Write a document and a line end; NaN becomes null, and dataclasses become objects."""
    if _is_short(document):
        yield orjson.dumps(document, option=orjson.OPT_SERIALIZE_NUMPY | orjson.OPT_APPEND_NEWLINE)
        return
    yield from _pieces(document)
    yield b"\n"


def written_once(columns: dict[str, Any]) -> dict[str, Any]:
    """Let columns that are the same array share its text: digits are most of a long answer's cost."""
    names_of: dict[int, list[str]] = {}
    for name, cells in columns.items():
        if isinstance(cells, np.ndarray):
            names_of.setdefault(id(cells), []).append(name)
    for names in names_of.values():
        if len(names) > 1:
            columns = columns | dict(zip(names, _texts(columns[names[0]], len(names)), strict=True))
    return columns


def _texts(cells: np.ndarray, number: int) -> Iterable[object]:
    if not _is_short(cells):
        return tee(_pieces(cells), number)
    return [orjson.Fragment(orjson.dumps(cells, option=orjson.OPT_SERIALIZE_NUMPY))] * number


def _is_short(value: object) -> bool:
    """Whether all columns of a value are short."""
    if isinstance(value, dict):
        return all(map(_is_short, value.values()))
    if isinstance(value, Iterator):
        return False
    return not isinstance(value, _LISTS) or len(value) <= (
        _SHORT_COLUMN if isinstance(value, np.ndarray) else _PIECE_LISTS
    )


def _pieces(value: object) -> Iterator[Piece]:
    """Write a value: objects and long columns in pieces, everything else by orjson."""
    if isinstance(value, Iterator):
        yield from value
    elif isinstance(value, dict) and value:
        before = b"{"
        for name, content in value.items():
            yield before + orjson.dumps(name) + b":"
            yield from _pieces(content)
            before = b","
        yield b"}"
    elif isinstance(value, _LISTS) and len(value) > (
        step := _PIECE_ROWS if isinstance(value, np.ndarray) else _PIECE_LISTS
    ):
        before = b"["
        for start in range(0, len(value), step):
            yield before
            yield memoryview(orjson.dumps(value[start : start + step], option=orjson.OPT_SERIALIZE_NUMPY))[1:-1]
            before = b","
        yield b"]"
    else:
        yield orjson.dumps(value, option=orjson.OPT_SERIALIZE_NUMPY)
