"""What a label means, in every format: true or false, a number, or a text.

If all cells of a column are spellings of true, false, 1 and 0, they are compared as those: True, TRUE, 1 and 1.0 are
one label. If all are numbers, they are compared as numbers, else as texts. A positive_label is read as its column is.
"""

import json
import math
import re
import unicodedata
from collections.abc import Callable, Iterable
from decimal import Decimal

BLANKS = " \t"
"""What is ignored around a number or a truth in any format, and around a text in CSV."""

_NUMERAL = re.compile(r"[+-]?(?:[0-9]++(?:\.[0-9]*+)?|\.[0-9]++)(?:[eE][+-]?[0-9]++)?")
_WHOLE_NUMERAL = re.compile(r"[+-]?[0-9]++")
_BEYOND_DOUBLES = 1 << 1023
_TRUTH_WORDS = {"true": True, "false": False}


def as_truth(value: object, decimal: str = ".") -> bool | None:
    """True for true and 1, False for false and 0, in any case and with blanks around; None for anything else."""
    if isinstance(value, str) and (word := _TRUTH_WORDS.get(value.strip(BLANKS).lower())) is not None:
        return word
    found = value if isinstance(value, bool) else as_number(value, decimal)
    return bool(found) if found in (0, 1) else None


def as_number(value: object, decimal: str = ".") -> float | Decimal | None:
    """The number that a cell or a text is; None for anything else. Integers stay exact."""
    if isinstance(value, bool) or (isinstance(value, int) and abs(value) >= _BEYOND_DOUBLES):
        return None
    if not isinstance(value, str):
        return value if isinstance(value, (int, float, Decimal)) else None
    given = value.strip(BLANKS)
    given = given if decimal == "." else given.replace(".", "_").replace(decimal, ".")
    if not _NUMERAL.fullmatch(given) or not math.isfinite(found := float(given)):
        return None
    if not _WHOLE_NUMERAL.fullmatch(given):
        return found
    digits = given.lstrip("+-0") or "0"
    return -int(digits) if given.startswith("-") else int(digits)


def as_text(value: object) -> str:
    """A text itself; anything else as JSON writes it."""
    return value if isinstance(value, str) else json.dumps(value).removesuffix(".0")


def unquoted(value: object) -> object:
    """A label as a column of numbers or booleans would have it, if it could have it."""
    found = as_number(value)
    if found is not None:
        return found
    return _TRUTH_WORDS.get(value.strip(BLANKS).lower(), value) if isinstance(value, str) else value


def is_spelling(value: object, label: object, decimal: str = ".") -> bool:
    """Whether a cell means the same truth or number as a label, or is the same text to the eye."""
    value, label = (seen(each) if isinstance(each, str) else each for each in (value, label))
    readings = ((as_truth(each, decimal), as_number(each, decimal), as_text(each)) for each in (value, label))
    return any(one is not None and one == other for one, other in zip(*readings, strict=True))


def seen(text: str) -> str:
    """A text as the eye sees it: without blanks of any kind around it, each accent part of its letter."""
    return unicodedata.normalize("NFC", text).strip()


Reading = Callable[[object], object]
"""How a cell is read to be compared; None if it cannot be read so."""


def reading(values: Iterable[object]) -> Reading:
    """How the values of a column are compared: the first way in which all of them can be read."""
    listed = list(values)
    return next((read for read in (as_truth, as_number) if all(read(value) is not None for value in listed)), as_text)
