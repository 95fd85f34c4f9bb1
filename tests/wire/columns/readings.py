"""What columns of every format are read as; `python -m tests.wire.columns.readings` writes it anew.

Recorded while each format still had its own readers. They agreed on nearly all of it; CHANGELOG.md lists the rest.
"""

import json
from collections.abc import Callable, Iterator
from datetime import date, datetime
from pathlib import Path
from typing import Any

import pyarrow as pa

from service.wire.columns import Column, categories, contents, labels, numbers, typed_column
from service.wire.wrong import Wrong

FILE = Path(__file__).with_name("readings.json")

TEXTS = [
    *(["0", "1", "1"], ["-1", "1", ""], ["TRUE", "False", " 1"], ["1.0", "0", "true"], ["yes", "no", "NA", "Yes"]),
    *(["0,5", "1", "2"], ["1,000", "7", "x%"], ["9007199254740993", "9007199254740992"], ["2", "2.0", "02", "3"]),
    *(["inf", "-Infinity", "1"], ["1e999"], ["nan", "1"], ["é", "e\u0301"], ["x ", "y"], ["", "", "null"]),
    ["a", "b", "c", "d", "e", "f", "a"],
]
LISTS: list[list[Any]] = [
    *([0, 1, 1.0], [-1, 1], [0.0, -0.0, 1], [True, False], [True, 1, 0], [1, "1", True], ["1", "0"], ["2", 2, "2.0"]),
    *([0.5, None, 2], [None, None], [], [2**53 + 1, 1], [2**64, 1], [10**400, 0.5], [[1], [0]], [[0.1, 0.9], [1, 2]]),
    *([{"a": 1}], ["a", "\ud800"], ["a", None, "b", "NA"], [3, 1, 2, 3], [0, -1, 1], ["no", 0, None, 1.5]),
]
TYPED: list[tuple[list[Any], str]] = [
    *(([0, 1, None], "int8"), ([1, 2**63 - 1], "int64"), ([0, 2**64 - 1], "uint64"), ([0.5, float("nan")], "double")),
    *(([0.0, -0.0, 1.0], "float"), ([True, False, None], "bool"), ([None, None], "null")),
    *(([datetime(2024, 1, 31), datetime(2024, 1, 1)], "timestamp[s]"), ([date(2024, 1, 31), None], "date32")),  # noqa: DTZ001  # as Arrow has them
    *((["ja", "nein", "ja"], "string"), (["a", None], "large_string")),
]
POSITIVE: dict[str, list[Any]] = {
    "json": [None, 1, "1", True, "true", 2, "a", "yes", 0.5, -1, "nope"],
    "csv": [None, "1", "true", "2", "2.0", "yes", "YES", "é", "x", "", "0,5", "nope"],
    "typed": [None, "1", "true", "2", "0.5", "a", "ja ", "-1", "nope"],
}


def columns() -> Iterator[tuple[str, object]]:
    """Columns with their names."""
    for cells in LISTS:
        yield f"json {cells}", cells
    for cells in TEXTS:
        for decimal in ".,":
            yield f"csv {cells} {decimal}", Column(pa.array(cells, pa.string()), "csv", decimal)
        whole = pa.chunked_array([pa.array(cells)])
        yield f"text {cells}", typed_column(whole)
        yield f"dictionary {cells}", typed_column(whole.dictionary_encode())
    for cells, kind in TYPED:
        given = pa.array(cells, kind)
        yield f"{kind} {cells}", typed_column(pa.chunked_array([given[:1], given[1:]]))


def readings() -> dict[str, dict[str, Any]]:
    """{column: {way: what it is read as}}"""
    return {name: dict(_readings(column)) for name, column in columns()}


def _readings(column: object) -> Iterator[tuple[str, Any]]:
    source = column.source if isinstance(column, Column) else "json"
    yield "numbers", _read(lambda: [repr(each) for each in numbers(column, nullable=False).tolist()])
    yield "nullable", _read(lambda: [repr(each) for each in numbers(column, nullable=True).tolist()])
    for label in POSITIVE[source]:
        yield f"labels {label!r}", _read(lambda label=label: _flags(*labels(column, label)))
    yield "slices", _read(lambda: [categories(column).numbers.tolist(), [*map(repr, categories(column).values)]])
    yield "contents", _read(lambda: repr(contents(column)))


def _flags(positive: Any, rest: str | None) -> list[Any]:
    return ["".join("-+"[flag] for flag in positive.tolist()), rest]


def _read(read: Callable[[], Any]) -> Any:
    try:
        return read()
    except Wrong as wrong:
        return {"code": wrong.code, "detail": wrong.detail, "row": wrong.row}


if __name__ == "__main__":
    lines = (f"{json.dumps(name)}: {json.dumps(found)}" for name, found in readings().items())
    FILE.write_text("{\n" + ",\n".join(lines) + "\n}\n", "ascii")
