"""Families of Arrow and Parquet bodies of many parts, each of which holds little or nothing."""

import io
from collections.abc import Callable, Iterator

import numpy as np
import pyarrow as pa

from service.request import Request
from service.wire.formats.codings import compress
from service.wire.media_types import ARROW_STREAM, JSON, PARQUET
from tests.properties.bodies import parquet_body
from tests.support.costs.families import Family

ROWS = pa.table({"scores": [0.5, 0.25], "labels": [1, 0]})


def columnar_families() -> Iterator[Family]:
    """Parts in both formats, compressed, as they are alike."""
    for name, make, most in (
        ("Arrow, empty batches", lambda size: _stream([ROWS, *[ROWS.slice(0, 0)] * size]), 4_000),
        ("Arrow, batches", lambda size: _stream([ROWS] * size), 4_000),
        ("Arrow, dictionaries", lambda size: _stream([_coded(number) for number in range(size)]), 1_200),
        ("Arrow, columns", lambda size: _stream([_wide(size)]), 4_000),
        ("Arrow, columns in a column", lambda size: _stream([_nested(size)]), 4_000),
    ):
        yield Family(f"curves: {name}", _asking(ARROW_STREAM, make), most)
    few = {"use_dictionary": False, "write_statistics": False}
    single = {"data_page_size": 1, "write_batch_size": 1, "compression": "zstd", **few}
    for name, make, most in (
        ("row groups", lambda size: parquet_body(_tall(size), row_group_size=1, **few), 2_000),
        ("pages", lambda size: parquet_body(_tall(size), **single), 3_000),
        ("columns", lambda size: parquet_body(_wide(size), **few), 2_000),
    ):
        yield Family(f"curves: Parquet, {name}", _asking(PARQUET, make), most)


def _asking(content_type: str, make: Callable[[int], bytes]) -> Callable[[int], Request]:
    query = (("include", "auc"),)
    return lambda size: Request(
        "curves", "/v1/curves", content_type, JSON, query, compress("gzip", make(size)), "gzip", "identity"
    )


def _stream(tables: list[pa.Table]) -> bytes:
    sink = io.BytesIO()
    with pa.ipc.new_stream(sink, tables[0].schema) as writer:
        for table in tables:
            for batch in table.combine_chunks().to_batches() or [pa.RecordBatch.from_pylist([], table.schema)]:
                writer.write_batch(batch)
    return sink.getvalue()


def _coded(number: int) -> pa.Table:
    texts = pa.array(["1", "0"] if number % 2 else ["0", "1"])
    codes = pa.array([0, 1], pa.int8())
    return pa.table({"scores": [0.5, 0.25], "labels": pa.DictionaryArray.from_arrays(codes, texts)})


def _wide(size: int) -> pa.Table:
    return pa.table({**dict(zip(ROWS.column_names, ROWS.columns, strict=True)), **_more(size)})


def _more(size: int) -> dict[str, pa.Array]:
    return dict.fromkeys((f"{number:x}" for number in range(size)), pa.array([1, 2], pa.int8()))


def _nested(size: int) -> pa.Table:
    return ROWS.append_column("more", pa.StructArray.from_arrays([*_more(size).values()], [*_more(size)]))


def _tall(size: int) -> pa.Table:
    return pa.table({"scores": np.random.default_rng(5).random(size + 1), "labels": np.arange(size + 1) % 2})
