"""Long lists of numbers lifted out of a JSON body and parsed at once; what is left is short, for a strict parser.

    {"scores": [0.9, 0.4, ...], "labels": [1, 0, ...]}  becomes  {"scores": NaN, "labels": NaN}  and two columns

Knows where a list of numbers begins and ends; not what a body means, nor whether it is JSON.
"""

import re
from dataclasses import dataclass
from typing import Any

import numpy as np
import simdjson

from service.curves.exact import LARGEST_EXACT_INTEGER, BoolArray, FloatArray
from service.wire.columns import items, labels, numbers
from service.wire.problems import Problem

PLACEHOLDER = "NaN"
"""What stands where a list was: no JSON, but a constant that Python's parser reports when it meets one."""

SHORTEST_LIFTED = 128
"""Lists of fewer bytes stay where they are: there is nothing to gain."""

MOST_LISTS = 1000
"""How many lists are looked at. The others stay, so that a body of brackets costs no more than another."""

PIECE = 1 << 18
"""Lists are parsed in pieces of about so many bytes: simdjson takes fifteen bytes of memory for one of text."""

_BEGINS_WITH_A_NUMBER = re.compile(rb"\[\s*+[-\d]")
_DEFAULT_LABELS = ({0.0, 1.0}, {-1.0, 1.0})


@dataclass(slots=True, eq=False)
class NumberList:
    """A list of numbers, (n,) with n > 0, all below 2^53 in size, so that none is an integer that was rounded.

    low, high   the least and the greatest of them.
    """

    values: FloatArray
    low: float
    high: float


def lift_columns(body: bytes, longest: int) -> tuple[bytes, list[NumberList]]:
    """Replace long flat lists of numbers by placeholders, and return the rest with the lists in their order.

    What is lifted is, by itself, a JSON list of numbers. Whether it is a value of the body, and not a part of a string,
    shows when the rest is parsed: then each placeholder is met as a constant. From a body that has such a constant
    already, nothing is lifted. Raises Problem `too_many_rows` for a list of more than `longest` numbers, unparsed.
    """
    parser = simdjson.Parser()  # of this call alone: threads cannot share one
    rest: list[bytes] = []
    lifted: list[NumberList] = []
    copied = end = 0
    for _ in range(MOST_LISTS):
        last = body.find(b"]", end)
        if last < 0:
            break
        # The bracket before this one is no other's: simdjson would read lists in a list as one.
        start = body.rfind(b"[", end, last)
        end = last + 1
        if start < 0 or end - start < SHORTEST_LIFTED:
            continue
        column = _number_list(body, start, last, longest, parser)
        if column is not None:
            rest.append(body[copied:start])
            lifted.append(column)
            copied = end
    rest.append(body[copied:])
    placeholder = PLACEHOLDER.encode()
    if not lifted or any(placeholder in piece for piece in rest):
        return body, []
    return placeholder.join(rest), lifted


def _number_list(body: bytes, start: int, end: int, longest: int, parser: simdjson.Parser) -> NumberList | None:
    """Parse the list of numbers between two brackets; None for other text, and where an integer may be rounded.

    Numbers hold no comma, so that it is cut at any: its pieces are lists of numbers if, and only if, it is one.
    """
    if not _BEGINS_WITH_A_NUMBER.match(body, start):
        return None
    size = body.count(b",", start, end) + 1
    if size > longest:
        raise Problem("too_many_rows", f"A list has {size} values, the limit is {longest}.")
    pieces: list[FloatArray] = []
    while start < end:
        cut = body.find(b",", start + PIECE, end)
        cut = end if cut < 0 else cut
        try:  # in one expression, since a document that has a name would keep the parser from its next
            buffer = parser.parse(b"[%b]" % body[start + 1 : cut]).as_buffer(of_type="d")  # type: ignore[union-attr]  # a list
        except (ValueError, TypeError, RuntimeError):  # not JSON; not a number; a number that is out of range
            return None
        pieces.append(np.frombuffer(buffer, np.float64))
        if not pieces[-1].size:
            return None
        start = cut
    values = pieces[0] if len(pieces) == 1 else np.concatenate(pieces)
    low, high = float(np.minimum.reduce(values)), float(np.maximum.reduce(values))
    return NumberList(values, low, high) if max(-low, high) < LARGEST_EXACT_INTEGER else None


@numbers.register
def _(column: NumberList, *, nullable: bool) -> FloatArray:  # noqa: ARG001  # it has no nulls
    return column.values


@labels.register
def _(column: NumberList, positive_label: object) -> BoolArray:
    values, low, high = column.values, column.low, column.high
    ones: BoolArray = values == high
    zeros: BoolArray = values == low
    binary = low == high or np.count_nonzero(zeros) == values.size - np.count_nonzero(ones)
    if binary and positive_label is None and any({low, high} <= allowed for allowed in _DEFAULT_LABELS):
        return ones if high == 1 else ~ones
    if binary and type(positive_label) in {int, float}:
        return ones if positive_label == high else zeros if positive_label == low else np.zeros_like(ones)
    return labels(values.tolist(), positive_label)


@items.register
def _(column: NumberList) -> list[Any]:
    listed: list[Any] = column.values.tolist()
    return listed
