"""Shares that were written as per cent: what to write instead.

Knows numbers and refusals; nothing of fields.
"""

import re
from decimal import Decimal

from service.wire.wrong import Wrong

_PER_CENT = re.compile(r"([0-9]+(?:\.[0-9]+)?) ?%")
_LIKELY = range(2, 101)
"""A share of 1.5 may be a slip; from 2 on, it is rather a number of per cent."""


def share_meant(text: str) -> str | None:
    """The share that a text such as `2.5%` means, 0.025; None if it is no such text."""
    found = _PER_CENT.fullmatch(text)
    return None if found is None else _share_of(found[1])


def with_share(wrong: Wrong, most: float, number: float) -> Wrong:
    """A refusal of a number above `most`; if that is 1, with what to write for as many per cent."""
    if most != 1 or not _LIKELY[0] <= number <= _LIKELY[-1]:
        return wrong
    return Wrong(wrong.code, f"{wrong.detail} If you mean {number:g} %, write {_share_of(str(number))}.", wrong.row)


def _share_of(number: str) -> str:
    return format((Decimal(number) / 100).normalize(), "f")
