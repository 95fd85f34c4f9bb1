"""Bodies that are short when sent and would be large once read."""

import io
from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np
import orjson
import pyarrow as pa
from pyarrow import parquet

from service.wire.formats.codings import compress
from service.wire.media_types import ARROW_FILE, ARROW_STREAM, CSV, JSON, PARQUET
from tests.properties.bodies import arrow_body, arrow_file_body, parquet_body

GIB = 1 << 30
MANY = 2_000_000_000
"""More rows than fit in memory."""

ROWS = 4_000_000
"""Fewer rows than the limit."""

SHORT = 300 << 20
"""Just above the limit for a decompressed body; larger bombs would take longer to make."""


@dataclass(frozen=True)
class Bomb:
    """A body and its headers."""

    name: str
    body: bytes
    content_type: str
    content_encoding: str = ""
    target: str = "/v1/curves"

    @property
    def headers(self) -> dict[str, str]:
        coding = {"Content_Encoding": self.content_encoding} if self.content_encoding else {}
        return {"Content_Type": self.content_type, **coding}


def bombs(size: int = GIB) -> Iterator[Bomb]:
    """All bombs, some KB to 5 MB each; they unpack to about `size` bytes if their format allows a choice."""
    zeros = bytes(size)
    yield Bomb("gzip of zeros", compress("gzip", zeros), JSON, "gzip")
    yield Bomb("zstd of zeros", compress("zstd", zeros), JSON, "zstd")
    del zeros
    yield Bomb("zstd of CSV rows", compress("zstd", b"scores,labels\n" + b"1,1\n" * (size >> 2)), CSV, "zstd")
    nested = b'{"x":[' + b"[[]]," * 40_000_000 + b"1]}"  # 200 MB, less than may be unpacked
    yield Bomb("zstd, 200 MB of lists", compress("zstd", nested), JSON, "zstd")
    del nested
    one = pa.array(np.zeros(ROWS))
    names = ["scores", "labels", *(f"c{number}" for number in range(size // one.nbytes - 2))]
    wide = pa.table([one] * len(names), names)
    others = ",".join(name for name in names if name != "labels")
    every = f"/v1/comparisons?scores={others}&labels=labels"
    yield Bomb(
        "Arrow IPC of zeros, its buffers zstd",
        arrow_body(wide, compression="zstd"),
        ARROW_STREAM,
        target=every,
    )
    yield Bomb(
        "Arrow file of zeros, its buffers lz4", arrow_file_body(wide, compression="lz4"), ARROW_FILE, target=every
    )
    few = pa.table([one] * 10, [f"c{number}" for number in range(10)])
    yield Bomb("zstd, 320 MB of Arrow IPC", compress("zstd", arrow_body(few)), ARROW_STREAM, "zstd")
    yield Bomb("Parquet of zeros", parquet_body(wide), PARQUET, target=every)
    yield Bomb("Parquet, too many rows", _long_parquet(size // 10), PARQUET)
    nulls = pa.nulls(MANY)
    yield Bomb("Arrow, 2e9 rows of the null type", arrow_body(pa.table([nulls, nulls], names[:2])), ARROW_STREAM)
    yield Bomb(
        "Parquet, 1e7 rows of the null type", parquet_body(pa.table([pa.nulls(10_000_000)] * 2, names[:2])), PARQUET
    )
    runs = pa.RunEndEncodedArray.from_arrays(pa.array([MANY], pa.int32()), pa.array([1.0]))
    yield Bomb("Arrow, 2e9 rows run-end encoded", arrow_body(pa.table([runs, runs], names[:2])), ARROW_STREAM)
    yield Bomb("Arrow, 4e6 rows of one long text", _long_texts(), ARROW_STREAM, "zstd")


def _long_parquet(rows: int) -> bytes:
    out = io.BytesIO()
    table = pa.table({"scores": np.zeros(1_000_000), "labels": np.zeros(1_000_000, np.int8)})
    with parquet.ParquetWriter(out, table.schema) as writer:
        for _ in range(rows // 1_000_000):
            writer.write_table(table)
    return out.getvalue()


def _long_texts() -> bytes:
    """A dictionary whose one entry is in every row: 400 GB when written out."""
    places = pa.array(np.zeros(ROWS, np.int8))
    texts = pa.DictionaryArray.from_arrays(places, pa.array(["x" * 100_000]))
    return compress("zstd", arrow_body(pa.table([texts, texts], ["scores", "labels"])))


def large_sample(size: int) -> bytes:
    """A JSON body for /v1/curves of about this many bytes, all of whose rows differ."""
    random = np.random.default_rng(9)
    rows = size // 22
    scores = random.random(rows)
    document = {"scores": scores, "labels": (random.random(rows) < scores).astype(np.int64)}
    return orjson.dumps(document, option=orjson.OPT_SERIALIZE_NUMPY)
