"""Reads strict JSON (RFC 8259): bytes to plain objects.

Refuses what lenient parsers accept: NaN and Infinity, numbers beyond a double, duplicate keys.
"""

import codecs
import json
import math
from collections import Counter
from collections.abc import Iterator, Sequence
from contextlib import suppress
from itertools import accumulate

import numpy as np

from service.curves.clock import is_bounded, still_time, takes_long
from service.wire.columns import Column
from service.wire.formats.json_columns import PLACEHOLDER, lift_columns
from service.wire.limits import Limits
from service.wire.problems import FieldError, Problem, pointer_token

_OF_PYTHON = {"True": "true", "False": "false", "None": "null"}
"""Words that Python's str() and repr() write, and their form in JSON."""

_SEARCHED_BYTES = 1 << 20
"""Bytes of a body searched at a time."""

_DEEPEST = 3
"""The most levels of objects in any schema."""

MOST_PLACES = 1_000_000
"""The most lists, objects and members in a body; a request needs hundreds."""

_FEW_PLACES = 20_000
"""The same where others wait: the parser takes 0.2 to 0.4 µs for each, in one call that no clock can stop."""
_FEW_DIGITS = 100_000
"""Digits are slow to read where they are a number of hundreds, and one call reads all of a text."""

VALUES_PER_ROW = 4
"""The most values in a body, times the limit on rows, not counting the lists lifted out of it.

A comparison may have that many columns of strings. A value takes about 64 bytes of memory, and as few as 4 in a body.
"""


class StrictJsonError(ValueError):
    """Text that is not strict JSON; the message is a sentence for the caller, the pointer gives the place if known."""

    def __init__(self, detail: str, pointer: str | None = None) -> None:
        super().__init__(detail)
        self.pointer = pointer


def parse_json(text: str, lifted: Sequence[Column] = ()) -> object:
    """Parse strict JSON with placeholders for lists that were lifted out. Raises StrictJsonError."""
    columns = iter(lifted)

    def constant(name: str) -> Column:
        column = next(columns, None) if name == PLACEHOLDER else None
        if column is None:
            instead = "leave out its row" if name == "NaN" else "replace it by a number beyond all others"
            raise StrictJsonError(f"{name} is not a JSON number; {instead}.")
        return column

    try:
        document = json.loads(text, object_pairs_hook=_unique_object, parse_constant=constant)
    except json.JSONDecodeError as error:
        raise StrictJsonError(_what_is_wrong(error)) from None
    except RecursionError:
        raise StrictJsonError("It is nested too deeply.") from None
    except StrictJsonError:
        raise
    except ValueError:  # Python's limit on the digits of an integer
        raise StrictJsonError("An integer has thousands of digits.") from None
    for pointer in _infinities(document, ""):
        raise StrictJsonError("A number is beyond the range of a double.", pointer)
    if next(columns, None) is not None:
        raise StrictJsonError("A placeholder was within a string.")
    return document


def _what_is_wrong(error: json.JSONDecodeError) -> str:
    """Say where a text stops being JSON and, for common mistakes, how to fix it."""
    place, rest = error.pos, error.doc[error.pos : error.pos + 5]
    word = next((each for each in _OF_PYTHON if rest.startswith(each)), None)
    if not rest:
        return f"It ends too early, at character {place}."
    if word is not None:
        return f"At character {place}, {word} is Python; JSON has {_OF_PYTHON[word]}, which json.dumps writes."
    if rest.startswith("'"):
        return f"Character {place} is a single quote; JSON has double quotes, which Python's json.dumps writes."
    follows = rest.startswith(("}", "]")) and error.doc[max(0, place - 80) : place].rstrip().endswith(",")
    if follows or error.msg.startswith("Illegal trailing comma"):  # the message of Python 3.13
        return f"At character {place} a list or object ends with a comma, which JSON does not allow."
    if error.msg == "Extra data" and rest.startswith(("{", "[")):
        return f"At character {place} a second document begins (JSON Lines?); send one object of columns."
    return f"At character {place}: {error.msg.removesuffix(' at').removesuffix(' starting')}."


def decode_json(body: bytes, limits: Limits) -> object:
    """Decode a JSON body; each long list of numbers becomes a Column.

    Raises Problem `malformed_body`, and `too_many_rows`, `body_too_large` or TooMuchWork before much is allocated.
    """
    if body.startswith(codecs.BOM_UTF8):
        detail = "The body begins with a byte order mark (EF BB BF), which JSON does not have; send UTF-8 without it."
        raise Problem("malformed_body", detail)
    rest, lifted = lift_columns(body, max(limits.max_rows, limits.max_interpolated_rows))
    _refuse_many_values(rest, limits)
    if lifted:
        # The error is reported below, by its place in the whole body.
        with suppress(UnicodeDecodeError, StrictJsonError):
            return parse_json(rest.decode("utf-8"), lifted)
        _refuse_many_values(body, limits)
    try:
        return parse_json(body.decode("utf-8"))
    except UnicodeDecodeError as error:
        raise Problem("malformed_body", f"The body is not UTF-8: byte {error.start} is invalid.") from None
    except StrictJsonError as error:
        errors = [] if error.pointer is None else [FieldError(error.pointer, "not_finite", str(error))]
        raise Problem("malformed_body", f"The body is not strict JSON. {error}", errors) from None


def _refuse_many_values(text: bytes, limits: Limits) -> None:
    """Refuse a text whose plain objects would take much more memory than the text. Raises Problem, and TooMuchWork."""
    if is_bounded() and (_has_more(text, b"[{:", _FEW_PLACES) or _has_more(text, b"0123456789", _FEW_DIGITS)):
        takes_long()
    if _has_more(text, b"[{:", MOST_PLACES):
        detail = f"The body has more than {MOST_PLACES} lists, objects and members."
        raise Problem("body_too_large", detail)
    most = VALUES_PER_ROW * limits.max_rows + MOST_PLACES
    if _has_more(text, b",", most):
        detail = f"The body has more than {most} values, not counting long lists of numbers."
        raise Problem("body_too_large", detail)


def _has_more(text: bytes, marks: bytes, most: int) -> bool:
    """Whether marks occur outside of strings more than `most` times, as far as the text is JSON.

    Stops reading as soon as the answer is known.
    """
    steps = range(0, len(text), _SEARCHED_BYTES)
    counts = accumulate(text.count(mark, start, start + _SEARCHED_BYTES) for start in steps for mark in marks)
    return any(count > most for count in counts) and any(count > most for count in accumulate(_outside(text, marks)))


def _outside(text: bytes, marks: bytes) -> Iterator[int]:
    """Count marks outside of strings, step by step."""
    if b"\\" in text:  # escaped characters are within a string and do not end it
        text = text.replace(b"\\\\", b"").replace(b'\\"', b"")
    inside = np.uint8(0)
    for start in range(0, len(text), _SEARCHED_BYTES):
        part = np.frombuffer(text, np.uint8, min(_SEARCHED_BYTES, len(text) - start), start)
        # After an odd number of quotes a place is within a string.
        quotes = np.cumsum(part == ord('"'), dtype=np.uint8)
        quotes += inside
        quotes &= 1
        inside = quotes[-1]
        yield sum(int(np.count_nonzero(quotes < (part == mark))) for mark in marks)


def _unique_object(pairs: list[tuple[str, object]]) -> dict[str, object]:
    still_time()
    members = dict(pairs)
    if len(members) < len(pairs):
        twice, _ = Counter(key for key, _ in pairs).most_common(1)[0]
        raise StrictJsonError(f"The key {twice[:40]!r} is given twice in one object.")
    return members


def _infinities(value: object, pointer: str, depth: int = 0) -> Iterator[str]:
    """Find numbers that overflowed in parsing; JSON has no other way to write infinity.

    Goes as deep as any schema; deeper values are refused anyway.
    """
    still_time()
    if isinstance(value, float) and math.isinf(value):
        yield pointer
    elif isinstance(value, dict) and depth < _DEEPEST:
        for key, member in value.items():
            yield from _infinities(member, f"{pointer}/{pointer_token(key)}", depth + 1)
    elif isinstance(value, list):
        for infinity in (math.inf, -math.inf):
            if infinity in value:
                yield f"{pointer}/{value.index(infinity)}"
        if value and isinstance(value[0], dict):  # a list of objects; mixed lists are refused anyway
            for position, member in enumerate(value):
                if isinstance(member, dict):
                    yield from _infinities(member, f"{pointer}/{position}", depth)
