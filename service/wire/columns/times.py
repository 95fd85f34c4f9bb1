"""Dates and timestamps as the texts that CSV has for them, as pandas writes it: 2024-01-31, or 2024-01-31 10:00:00."""

import pyarrow as pa
import pyarrow.compute as pc
from pyarrow import types

_DECIMALS_OF_SECONDS = (0, 3, 6)
"""How many decimals of a second suffice; else all are kept."""

_MIDNIGHT = " 00:00:00"


def is_time(kind: pa.DataType) -> bool:
    """Whether cells are dates or timestamps."""
    return bool(types.is_date(kind) or types.is_timestamp(kind))


def texts_of(times: pa.Array) -> pa.Array:
    """Write dates and timestamps, all in the same form; those with a time zone in UTC, as Parquet has them."""
    if types.is_timestamp(times.type) and times.type.tz is not None:
        times = pc.cast(times, pa.timestamp(times.type.unit, "UTC"))
    texts = pc.cast(times, pa.string())
    if types.is_date(times.type):
        return texts
    zone = "Z?$"
    for digits in _DECIMALS_OF_SECONDS:
        if not pc.any(pc.match_substring_regex(texts, rf"\.\d{{{digits}}}\d*[1-9]\d*{zone}")).as_py():
            shorter = r"\1" if digits else ""
            texts = pc.replace_substring_regex(texts, rf"(\.\d{{{digits}}})\d*", shorter)
            break
    if times.type.tz is not None:
        return pc.replace_substring_regex(texts, "Z$", "+00:00")
    are_dates = pc.all(pc.ends_with(texts, _MIDNIGHT)).as_py()
    return pc.replace_substring_regex(texts, f"{_MIDNIGHT}$", "") if are_dates else texts
