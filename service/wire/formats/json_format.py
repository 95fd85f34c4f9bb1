"""Strict JSON in (RFC 8259): bytes to plain objects, and lists to columns.

Refuses what lenient parsers let pass: NaN and Infinity, numbers beyond a double, a key given twice.
"""

import codecs
import json
import math
import re
from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from contextlib import suppress
from itertools import accumulate, compress, repeat
from operator import eq, ne
from typing import Any

import numpy as np

from service.curves.budget import is_bounded, spend
from service.curves.exact import LARGEST_EXACT_INTEGER, FloatArray
from service.wire.columns import (
    ColumnError,
    Labels,
    Tally,
    chosen_labels,
    first_misfit,
    inexact_integer,
    label_misfit,
    labels,
    numbers,
    shown,
    tally,
)
from service.wire.formats.json_columns import PLACEHOLDER, NumberList, lift_columns
from service.wire.formats.reading_work import json_work
from service.wire.limits import Limits
from service.wire.problems import FieldError, Problem, pointer_token

_VALUE_KINDS: dict[type, str] = {bool: "boolean", int: "number", float: "number", str: "string"}
_NAMES = {
    **{kind: f"a {name}" for kind, name in _VALUE_KINDS.items()},
    type(None): "null",
    list: "a list",
    NumberList: "a list",
    dict: "an object",
}
_DEFAULT_LABELS = (
    {("number", 0), ("number", 1)},
    {("boolean", False), ("boolean", True)},
    {("number", -1), ("number", 1)},
)

_NEEDS_NO_QUOTES = re.compile(
    r"(?=.{1,24}\Z)(?:-?(?:0|[1-9]\d*)(?:\.\d+)?(?:[eE][+-]?\d+)?|[Tt]rue|[Ff]alse)", re.ASCII
)
"""Text that is JSON by itself."""

_OF_PYTHON = {"True": "true", "False": "false", "None": "null"}
"""Words of Python that str() and repr() write, and what they are in JSON."""

_SEARCHED_BYTES = 1 << 20
"""How many bytes of a body are searched at a time."""

_DEEPEST = 3
"""Levels of objects that any schema has."""

MOST_PLACES = 1_000_000
"""How many lists, objects and members are made of a body; a request needs hundreds."""

VALUES_PER_ROW = 4
"""How many values, times the limit on rows, are made of a body besides the lists that are lifted out of it.

A comparison may bring that many columns of strings. A value takes about 64 bytes of memory, and as few as 4 of a body.
"""


class StrictJsonError(ValueError):
    """Text that is not strict JSON; the message is a sentence for the caller, the pointer the place where known."""

    def __init__(self, detail: str, pointer: str | None = None) -> None:
        super().__init__(detail)
        self.pointer = pointer


def parse_json(text: str, lifted: Sequence[NumberList] = ()) -> object:
    """Parse strict JSON, with placeholders for the lists that were lifted out of it. Raises StrictJsonError."""
    columns = iter(lifted)

    def constant(name: str) -> NumberList:
        column = next(columns, None) if name == PLACEHOLDER else None
        if column is None:
            raise StrictJsonError(f"{name} is not a JSON number; leave out its row.")
        return column

    try:
        document = json.loads(text, object_pairs_hook=_unique_object, parse_constant=constant)
    except json.JSONDecodeError as error:
        raise StrictJsonError(_what_is_wrong(error)) from None
    except RecursionError:
        raise StrictJsonError("It is nested too deeply.") from None
    except StrictJsonError:
        raise
    except ValueError:  # Python's bound on the digits of an integer
        raise StrictJsonError("An integer has thousands of digits.") from None
    for pointer in _infinities(document, ""):
        raise StrictJsonError("A number is beyond the range of a double.", pointer)
    if next(columns, None) is not None:
        raise StrictJsonError("A placeholder was within a string.")
    return document


def _what_is_wrong(error: json.JSONDecodeError) -> str:
    """Say where a text stops to be JSON, and for what is often sent instead, how to send it."""
    place, rest = error.pos, error.doc[error.pos : error.pos + 5]
    word = next((each for each in _OF_PYTHON if rest.startswith(each)), None)
    if not rest:
        return f"It ends too early, after {place} characters."
    if word is not None:
        return f"At character {place}, {word} is Python; JSON has {_OF_PYTHON[word]}, which json.dumps writes."
    if rest.startswith("'"):
        return f"Character {place} is a single quote; JSON has double quotes, which Python's json.dumps writes."
    follows = rest.startswith(("}", "]")) and error.doc[max(0, place - 80) : place].rstrip().endswith(",")
    if follows or error.msg.startswith("Illegal trailing comma"):  # as Python 3.13 says
        return f"At character {place} a list or object ends with a comma, which JSON does not allow."
    if error.msg == "Extra data" and rest.startswith(("{", "[")):
        return f"At character {place} a second document begins (JSON Lines?); send one object of columns."
    return f"At character {place}: {error.msg}."


def decode_json(body: bytes, limits: Limits) -> object:
    """Decode a JSON body; its long lists of numbers become a NumberList each.

    Raises Problem `malformed_body`, and `too_many_rows`, `body_too_large` or TooMuchWork before much is made of it.
    """
    if body.startswith(codecs.BOM_UTF8):
        detail = "The body begins with a byte order mark (EF BB BF), which JSON does not have; send UTF-8 without it."
        raise Problem("malformed_body", detail)
    rest, lifted = lift_columns(body, max(limits.max_rows, limits.max_interpolated_rows))
    _refuse_many_values(rest, limits)
    _spend_on(rest, body)
    if lifted:
        # What is wrong is reported below, in terms of the whole body.
        with suppress(UnicodeDecodeError, StrictJsonError):
            return parse_json(rest.decode("utf-8"), lifted)
        _refuse_many_values(body, limits)
        _spend_on(body, body)
    try:
        return parse_json(body.decode("utf-8"))
    except UnicodeDecodeError as error:
        raise Problem("malformed_body", f"The body is not UTF-8 at byte {error.start}.") from None
    except StrictJsonError as error:
        errors = [] if error.pointer is None else [FieldError(error.pointer, "not_finite", str(error))]
        raise Problem("malformed_body", f"The body is not strict JSON. {error}", errors) from None


def _spend_on(text: bytes, body: bytes) -> None:
    if is_bounded():
        spend(json_work(text, len(body)))


def _refuse_many_values(text: bytes, limits: Limits) -> None:
    """Refuse a text of which plain objects would take much more memory than the text does."""
    if _has_more(text, b"[{:", MOST_PLACES):
        detail = f"The body has more than {MOST_PLACES} lists, objects and members."
        raise Problem("body_too_large", detail)
    most = VALUES_PER_ROW * limits.max_rows + MOST_PLACES
    if _has_more(text, b",", most):
        detail = f"The body has more than {most} values, not counting long lists of numbers."
        raise Problem("body_too_large", detail)


def _has_more(text: bytes, marks: bytes, most: int) -> bool:
    """Tell whether marks stand outside of strings more than `most` times, as far as the text is JSON.

    No more of the text is looked at than it takes to tell.
    """
    steps = range(0, len(text), _SEARCHED_BYTES)
    counts = accumulate(text.count(mark, start, start + _SEARCHED_BYTES) for start in steps for mark in marks)
    return any(count > most for count in counts) and any(count > most for count in accumulate(_outside(text, marks)))


def _outside(text: bytes, marks: bytes) -> Iterator[int]:
    """Count marks outside of strings, step by step."""
    if b"\\" in text:  # what is escaped is within a string, and no end of it
        text = text.replace(b"\\\\", b"").replace(b'\\"', b"")
    inside = np.uint8(0)
    for start in range(0, len(text), _SEARCHED_BYTES):
        part = np.frombuffer(text, np.uint8, min(_SEARCHED_BYTES, len(text) - start), start)
        # An odd number of quotes up to a place means a string.
        quotes = np.cumsum(part == ord('"'), dtype=np.uint8)
        quotes += inside
        quotes &= 1
        inside = quotes[-1]
        yield sum(int(np.count_nonzero(quotes < (part == mark))) for mark in marks)


def _unique_object(pairs: list[tuple[str, object]]) -> dict[str, object]:
    members = dict(pairs)
    if len(members) < len(pairs):
        twice, _ = Counter(key for key, _ in pairs).most_common(1)[0]
        raise StrictJsonError(f"The key {twice[:40]!r} is given twice in one object.")
    return members


def _infinities(value: object, pointer: str, depth: int = 0) -> Iterator[str]:
    """Point to numbers that overflowed while parsing; JSON has no other way to write infinity.

    Goes as deep as any schema does; what lies deeper is refused for being there.
    """
    if isinstance(value, float) and math.isinf(value):
        yield pointer
    elif isinstance(value, dict) and depth < _DEEPEST:
        for key, member in value.items():
            yield from _infinities(member, f"{pointer}/{pointer_token(key)}", depth + 1)
    elif isinstance(value, list):
        for infinity in (math.inf, -math.inf):
            if infinity in value:
                yield f"{pointer}/{value.index(infinity)}"
        if value and isinstance(value[0], dict):  # a list of objects; a list that mixes them in is refused for that
            for position, member in enumerate(value):
                if isinstance(member, dict):
                    yield from _infinities(member, f"{pointer}/{position}", depth)


@numbers.register
def _(column: list, *, nullable: bool) -> FloatArray:  # type: ignore[type-arg]  # singledispatch takes a plain class
    kinds = set(map(type, column))
    wrong = kinds - {int, float, *([type(None)] if nullable else [])}
    if wrong:
        row = _first(type(value) in wrong for value in column)
        raise ColumnError("not_a_number", _quoted(column[row]) or _other(column[row], "number"), row)
    if type(None) in kinds:
        column = [math.nan if value is None else value for value in column]
    try:
        array = np.fromiter(column, np.float64, len(column))
    except OverflowError:
        raise inexact_integer(_first(not math.isfinite(_as_double(value)) for value in column)) from None
    if int in kinds:
        for large in np.flatnonzero(np.abs(array) >= LARGEST_EXACT_INTEGER):
            if isinstance(column[large], int) and int(array[large]) != column[large]:
                raise inexact_integer(int(large))
    return array


@labels.register
def _(column: list, positive_label: object) -> Labels:  # type: ignore[type-arg]  # singledispatch takes a plain class
    types = set(map(type, column))
    wrong = types - _VALUE_KINDS.keys()
    if wrong:
        row = _first(type(value) in wrong for value in column)
        raise ColumnError("not_a_label", _other(column[row], "label"), row)
    if types == {bool} and (positive_label is None or positive_label is True):
        return Labels(np.frombuffer(bytes(column), np.bool_))
    kinds = {_VALUE_KINDS[kind] for kind in types}
    if positive_label is not None:
        positive = _typed(positive_label)
        if kinds == {positive[0]}:
            chosen = np.fromiter(map(eq, column, repeat(positive_label)), np.bool_, len(column))
            if chosen.any() and _at_most_two(column):
                return Labels(chosen)
        else:
            chosen = np.fromiter((_typed(value) == positive for value in column), np.bool_, len(column))
        return chosen_labels(chosen, positive_label, _tally(column))
    ones = column.count(1)
    if kinds - {"number"} or len(column) - ones not in {column.count(0), column.count(-1)}:
        misfit = first_misfit(enumerate(map(_typed, column)), _DEFAULT_LABELS)
        assert misfit is not None  # noqa: S101  # they are not all in one of these
        quoted = _quoted(column[misfit])
        raise (
            ColumnError("not_a_label", f"labels[{misfit}]: {quoted}", misfit)
            if quoted
            else label_misfit(misfit, _tally(column))
        )
    return Labels(np.fromiter(map(eq, column, repeat(1)), np.bool_, len(column)))


def _quoted(value: object) -> str | None:
    """Say that a value is a number or a truth value in quotes; None if it is not."""
    if not isinstance(value, str) or not _NEEDS_NO_QUOTES.fullmatch(value):
        return None
    return f"{shown(value)} is a string; send {value.lower()} without quotes."


def _other(value: object, wanted: str) -> str:
    is_list = isinstance(value, (list, NumberList)) and wanted == "number"
    advice = " Of predict_proba(X), send one column, predict_proba(X)[:, 1]." if is_list else ""
    return f"This is {_NAMES[type(value)]}; it must be a {wanted}.{advice}"


def _typed(value: object) -> tuple[str, object]:
    """Type and value of a scalar: 1 is not true, and 1 is 1.0, as JSON has one kind of number."""
    return _VALUE_KINDS[type(value)], value


def _at_most_two(column: list[object]) -> bool:
    """Tell whether a column of one kind has at most two values.

    It compares: a set of a caller's integers takes time by their square where they are chosen to hash alike.
    """
    first = next(iter(column), None)
    second = next(compress(column, map(ne, column, repeat(first))), None)
    return column.count(first) + column.count(second) == len(column)


def _tally(column: list[Any]) -> Tally:
    """Count labels by type and value; numbers are sorted, as a set of them takes time where they hash alike."""
    hashed = Counter(value for value in column if isinstance(value, (str, bool)))
    ordered = sorted(value for value in column if not isinstance(value, (str, bool)))
    news = [0, *compress(range(1, len(ordered)), map(ne, ordered[1:], ordered))] if ordered else []
    counts = [*hashed.values(), *np.diff([*news, len(ordered)]).tolist()]
    return tally([*hashed, *(ordered[place] for place in news)], np.array(counts))


def _as_double(value: object) -> float:
    try:
        return float(value)  # type: ignore[arg-type]  # numbers only, by then
    except OverflowError:
        return math.inf


def _first(hits: Iterable[bool]) -> int:
    return next(row for row, hit in enumerate(hits) if hit)
