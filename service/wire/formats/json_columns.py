"""Long lists of numbers are lifted out of a JSON body and parsed at once; a strict parser reads the short rest.

    {"scores": [0.9, 0.4, ...], "labels": [1, 0, ...]}  becomes  {"scores": -Infinity, "labels": -Infinity}
    and two columns

Knows where a list of numbers begins and ends, not what a body means, nor whether it is JSON.
"""

import re
from collections.abc import Callable

import numpy as np
import orjson
from numpy.typing import NDArray

from service.curves.arrays import LARGEST_EXACT_INTEGER, FloatArray, blocks
from service.curves.clock import still_time
from service.wire.columns import Column
from service.wire.problems import Problem

try:
    import simdjson
except ImportError:  # there is no wheel for every Python
    simdjson = None

_Parse = Callable[[bytes], FloatArray]
"""Parses one list of numbers. Other text raises ValueError, TypeError or RuntimeError."""

PLACEHOLDER = "-Infinity"
"""The placeholder for a list: not JSON, but a constant that Python's parser reports.

The parser's other two, NaN and Infinity, are more often part of a name.
"""

SHORTEST_LIFTED = 128
"""Shorter lists, in bytes, stay: there is nothing to gain."""

MOST_LISTS = 1000
"""The most lists examined. The others stay, so that a body full of brackets costs no more than others."""

PIECE = 20 << 10
"""Lists are parsed in pieces of about this many bytes, each in at most 10 ms; a thousand doubles are one piece.
simdjson needs fifteen bytes of memory per byte of text."""

_OF_NUMBERS = b"[]+-.0123456789eE, \t\r\n"
_BEGINS_WITH_A_NUMBER = re.compile(rb"\[\s*+[-\d]")
_COMMA, _ZERO, _NINE = np.uint8(ord(",")), np.uint8(ord("0")), np.uint8(9)
_SEPARATORS = (b",", b", ")
"""What most writers of JSON put between two values: a comma, or a comma and a space."""


def lift_columns(body: bytes, longest: int) -> tuple[bytes, list[Column]]:
    """Replace long flat lists of numbers by placeholders, and return the rest and the lists in order.

    Each lifted text is a valid JSON list of numbers. Parsing the rest shows whether it was a value and not part of a
    string: only then is its placeholder reported as a constant. Nothing is lifted from a body that already has the
    constant. Raises Problem `too_many_rows` for a list of more than `longest` numbers, unparsed.
    """
    parse = _parse_with_orjson if simdjson is None else _parse_with_simdjson()
    rest: list[bytes] = []
    lifted: list[Column] = []
    copied = end = 0
    for _ in range(MOST_LISTS):
        last = body.find(b"]", end)
        if last < 0:
            break
        # The bracket before this one must not belong to another list: simdjson would flatten lists in a list.
        start = body.rfind(b"[", end, last)
        end = last + 1
        if start < 0 or end - start < SHORTEST_LIFTED:
            continue
        still_time()
        column = _number_list(body, start, last, longest, parse)
        if column is not None:
            rest.append(body[copied:start])
            lifted.append(column)
            copied = end
    rest.append(body[copied:])
    placeholder = PLACEHOLDER.encode()
    if not lifted or any(placeholder in piece for piece in rest):
        return body, []
    return placeholder.join(rest), lifted


def _number_list(body: bytes, start: int, end: int, longest: int, parse: _Parse) -> Column | None:
    """Parse the list of numbers between two brackets; None for other text, or if an integer may be rounded.

    Numbers contain no comma, so the text can be cut at any comma: its pieces are lists of numbers if and only if it is
    one.
    """
    if not _BEGINS_WITH_A_NUMBER.match(body, start):
        return None
    text = np.frombuffer(body, np.uint8, end - start - 1, start + 1)
    if text.size >= 2 * longest:  # each number takes two bytes
        size = 1 + sum(int(np.count_nonzero(text[some] == _COMMA)) for some in blocks(text.size))
        if size > longest:
            raise Problem("too_many_rows", f"A list has {size} values; the limit is {longest}.")
    values = _digits(text)
    if values is None:
        values = _numbers(body, start, end, parse)
    if values is None:
        return None
    low, high = float(np.minimum.reduce(values)), float(np.maximum.reduce(values))
    return Column.of_numbers(values) if max(-low, high) < LARGEST_EXACT_INTEGER else None


def _digits(text: NDArray[np.uint8]) -> FloatArray | None:
    """Read a list of single digits, as most labels are, in a sixth of the time; None for any other text."""
    for separator in _SEPARATORS:
        step = 1 + len(separator)
        if text.size % step == 1 and text[1:step].tobytes() == separator:
            digits = text[::step] - _ZERO  # characters below '0' wrap around
            rest = all((text[place::step] == mark).all() for place, mark in enumerate(separator, 1))
            return digits.astype(np.float64) if rest and (digits <= _NINE).all() else None
    return None


def _numbers(body: bytes, start: int, end: int, parse: _Parse) -> FloatArray | None:
    """Parse the list of numbers between two brackets, piece by piece; None for other text."""
    pieces: list[FloatArray] = []
    whole = memoryview(body)
    while start < end:
        cut = body.find(b",", start + PIECE, end)
        cut = end if cut < 0 else cut
        numbers_there = _parsed(b"".join((b"[", whole[start + 1 : cut], b"]")), parse)
        if numbers_there is None:
            return None
        pieces.append(numbers_there)
        start = cut
    return pieces[0] if len(pieces) == 1 else np.concatenate(pieces)


def _parsed(text: bytes, parse: _Parse) -> FloatArray | None:
    """Parse one list of numbers; None for other text. Numbers of 20 digits with an exponent take up to 12 µs each."""
    still_time()
    try:
        found = parse(text)
    except (ValueError, TypeError, RuntimeError):  # not JSON; not a number; out of range
        return None
    return found if found.size else None


def _parse_with_simdjson() -> _Parse:
    parser = simdjson.Parser()  # one per call: threads cannot share it
    # In one expression: a named document would block the parser's next call.
    return lambda text: np.frombuffer(parser.parse(text).as_buffer(of_type="d"), np.float64)


def _parse_with_orjson(text: bytes) -> FloatArray:
    """Takes twice as long. orjson also reads what is no number, so that is refused first."""
    if text.translate(None, _OF_NUMBERS):
        raise ValueError
    return np.array(orjson.loads(text), np.float64)
