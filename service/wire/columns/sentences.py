"""What sentences about columns have in common: how a wrong value is shown, and what to do about a missing one."""

import re
from collections.abc import Sized

from service.wire.spellings import as_text

_SHOWN_CHARACTERS = 24
"""The characters of a wrong value that a problem repeats: as many as a double may have."""

NO_VALUE = ("", "#N/A", "<NA>", "N/A", "NA", "NULL", "NaN", "None", "n/a", "nan", "null")
"""Texts that tables have in place of a missing value; pandas reads all of them as one."""

LEAVE_OUT = "Leave out rows without one, or set missing=drop."
"""What to do about a missing number or label of a table; only the sender can decide it."""

_NEEDS_NO_QUOTES = re.compile(
    r"(?=.{1,24}\Z)(?:-?(?:0|[1-9]\d*)(?:\.\d+)?(?:[eE][+-]?\d+)?|[Tt]rue|[Ff]alse)", re.ASCII
)
"""Words that are JSON values."""

_OF_SEVERAL = {
    "number": " Of several columns, send one, such as predict_proba(X)[:, 1] of two classes.",
    "label": " Of a column for each class, send array.argmax(axis=1); more than two classes go to /v1/classes.",
}
_NAMES_OF_TYPES = {
    bool: "a boolean",
    int: "a number",
    float: "a number",
    str: "a string",
    type(None): "null",
    dict: "an object",
}


def shown(value: object) -> str:
    """Format a wrong scalar for a problem: long ones are cut, and 2.0 is written as 2."""
    text = as_text(value)
    beginning = text[:_SHOWN_CHARACTERS]
    more = "..." if len(text) > _SHOWN_CHARACTERS else ""
    return f"{beginning!r}{more}" if isinstance(value, str) else f"{beginning}{more}"


def told_without_quotes(value: object) -> str | None:
    """Say that a value is a number or a boolean in quotes; None if it is not."""
    if not isinstance(value, str) or not _NEEDS_NO_QUOTES.fullmatch(value):
        return None
    return f"{shown(value)} is a string; send {value.lower()} without quotes."


def other(value: object, wanted: str, *, row: int, rows: int) -> str:
    """Say what a JSON value is instead of a number or a label; of an array as a list of lists, what to do."""
    told = f"This is {_NAMES_OF_TYPES.get(type(value), 'a list')}; it must be a {wanted}."
    width = len(value) if row == 0 and isinstance(value, Sized) and not isinstance(value, (str, dict)) else 0
    if not width:
        return told
    if width == 1 or rows == 1:
        return f"{told} Of an array with one column or one row, send array.ravel()."
    return told + _OF_SEVERAL[wanted]


def is_unicode(text: str) -> bool:
    """Whether a text has no half of a surrogate pair: JSON can write one, but Arrow and engines cannot take it."""
    try:
        text.encode()
    except UnicodeEncodeError:
        return False
    return True
