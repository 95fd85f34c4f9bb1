"""Families of tables whose columns are listed: wide ones, long ones, and ones special to a format."""

from collections.abc import Callable, Iterator

import numpy as np
import pyarrow as pa

from service.request import Request
from service.wire.media_types import ARROW_STREAM, CSV, JSON, PARQUET
from tests.properties.bodies import arrow_body, parquet_body
from tests.support.costs.families import Family, asking, csv_family

CELLS = {"strings": '"a"', "booleans": "true", "nulls": "null", "numbers": "0.5", "lists": "[]", "objects": "{}"}
TYPED = {
    "floats": pa.array([0.5, 1.5]),
    "text": pa.array(["a", None]),
    "a dictionary": pa.array(["a", None]).dictionary_encode(),
    "decimals": pa.array([1, 2]).cast(pa.decimal128(25, 2)),
    "times": pa.array([1, 2], pa.timestamp("us")),
}
BODIES = {ARROW_STREAM: arrow_body, PARQUET: parquet_body}


def columns_families() -> Iterator[Family]:
    """Tables in every format."""
    yield from _of_csv()
    for name, cell in CELLS.items():
        for cells, most in ((1, 20_000), (40, 6_000)):
            yield Family(f"columns: JSON, lists of {cells} of {name}", _lists(cell, cells), most)
        yield Family(f"columns: JSON, a list of {name}", _one_list(cell), 120_000)
    wrong = lambda size: asking("columns", dict.fromkeys(map(str, range(size)), 1))  # noqa: E731  # short
    yield Family("columns: JSON, no columns", wrong, 20_000)
    for name, column in TYPED.items():
        for content_type in BODIES:
            yield Family(f"columns: {name} of {content_type}", _wide(column, content_type), 2_000)
    yield Family("columns: rows of decimals", _tall(pa.array([1] * 2000).cast(pa.decimal128(25, 2))), 60)
    coded = pa.DictionaryArray.from_arrays(pa.array(np.zeros(2000, np.int16)), pa.array(["x"]))
    yield Family("columns: rows of a dictionary", _tall(coded), 60)
    yield Family("columns: rows of text", _tall(coded.cast(pa.string())), 60)


def _of_csv() -> Iterator[Family]:
    for cell in ("1", "a", "", "true"):
        for rows in (1, 30):
            yield csv_family("columns", f"{rows} rows of {cell or 'nothing'}", _table(cell, rows), 9_000)
    numbers = lambda size: "a\n" + "".join(f"{row}\n" for row in range(size))  # noqa: E731  # short
    yield csv_family("columns", "numbers", numbers, 50_000)
    yield csv_family("columns", "numbers and one text", lambda size: numbers(size) + "x\n", 50_000)
    yield csv_family("columns", "large integers", lambda size: numbers(size) + "9007199254740992\n" * size, 10_000)
    yield csv_family("columns", "one long text", lambda size: "a\n" + "x" * size + "\n", 250_000)
    decimals = (("delimiter", ";"), ("decimal", ","))
    yield csv_family("columns", "decimal commas", lambda size: "a;b\n" + "0,5;1\n" * size, 40_000, *decimals)

    def compressed(size: int) -> Request:
        return asking("columns", "a,b\n" + "1,x\n" * size, content_type=CSV, sent_as="gzip")

    yield Family("columns: CSV, compressed", compressed, 260_000)


def _names(size: int) -> list[str]:
    return [f"{number:x}" for number in range(size)]


def _table(cell: str, rows: int) -> Callable[[int], str]:
    return lambda size: "\n".join([",".join(_names(size)), *[",".join([cell] * size)] * rows]) + "\n"


def _lists(cell: str, cells: int) -> Callable[[int], Request]:
    column = ",".join([cell] * cells)
    return lambda size: asking("columns", "{" + ",".join(f'"{name}":[{column}]' for name in _names(size)) + "}")


def _one_list(cell: str) -> Callable[[int], Request]:
    return lambda size: asking("columns", f'{{"a":[{",".join([cell] * size)}]}}')


def _wide(column: pa.Array, content_type: str) -> Callable[[int], Request]:
    return lambda size: _columnar(pa.table(dict.fromkeys(_names(size), column)), content_type)


def _tall(column: pa.Array) -> Callable[[int], Request]:
    return lambda size: _columnar(pa.table({"a": pa.chunked_array([column] * size)}), ARROW_STREAM)


def _columnar(table: pa.Table, content_type: str) -> Request:
    return Request("columns", "/v1/columns", content_type, JSON, (), BODIES[content_type](table))
