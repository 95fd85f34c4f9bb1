"""Valid bodies of small tables in every format, with the places of the bytes that control how each is read."""

import json
import math
import struct
from collections.abc import Iterator
from dataclasses import dataclass
from decimal import Decimal
from typing import Any

import pyarrow as pa
from pyarrow import parquet

from service.wire.media_types import ARROW_FILE, ARROW_STREAM, CSV, JSON, PARQUET
from tests.properties.bodies import arrow_body, arrow_file_body, chunked, csv_body, json_body, parquet_body

SCORES = [0.9, 0.8, 0.7, 0.7, 0.4, 0.2, -1.5, 3.0, 2.0, 0.1, 0.3, 0.6]
LABELS = [1, 0, 1, 1, 0, 0, 0, 1, 1, 0, 1, 0]
TEXTS = ["spam" if label else "ham" for label in LABELS]
RULES = [{"metric": "roc", "min": 0.5, "confidence": 0.9}, {"metric": "recall", "at_threshold": 0.2, "min": 0.5}]
DROPS = [{"metric": "roc", "max_drop": 0.1, "confidence": 0.9}, {"metric": "f_measure", "at": 0.5, "max_drop": 0.1}]
PARQUET_FILES: list[dict[str, Any]] = [
    {"compression": "NONE"},
    {"compression": "SNAPPY", "row_group_size": 5, "data_page_version": "2.0"},
    {"compression": "ZSTD", "use_dictionary": False, "write_page_checksum": True},
    {"compression": "GZIP", "data_page_size": 20, "write_batch_size": 3},
]


@dataclass(frozen=True)
class Body:
    """A valid body, its request, and the places of the parts that control how it is read."""

    operation: str
    media_type: str
    content: bytes
    query: tuple[tuple[str, str], ...]
    structure: list[tuple[int, int]]


def _tables() -> list[tuple[str, pa.Table, dict[str, str]]]:
    sample = {"scores": SCORES, "labels": LABELS}
    text = pa.table({"scores": SCORES, "labels": TEXTS, "weights": [1.0, 0.5] * 6})
    again = text.set_column(1, "labels", pa.array(TEXTS[::-1]).dictionary_encode())
    named = text.set_column(1, "labels", text["labels"].combine_chunks().dictionary_encode())
    nested = pa.table({"first": [[1, 2]] * 12, "then": [{"a": None, "b": "x"}] * 12, **sample})
    counts = pa.table(
        {"threshold": [0.8, None, 0.2], "tp": [1, 2, 3], "fp": [0, 1.5, 4], "fn": [3, 2, 1], "tn": [5.0, 3.5, 1]}
    )
    narrow = pa.table({"scores": pa.array(SCORES, pa.float32()), "labels": [label == 1 for label in LABELS]})
    return [
        ("curves", pa.table(sample), {"include": "auc"}),
        ("curves", chunked(nested, 5), {"include": "auc"}),
        ("curves", text, {"include": "auc", "positive_label": "spam"}),
        ("curves", pa.concat_tables([named, again]), {"include": "auc", "positive_label": "spam"}),
        ("curves", narrow, {"include": "auc"}),
        ("tradeoffs", counts, {"indices": "f_measure"}),
        ("comparisons", pa.table({"a": SCORES, "b": SCORES[::-1], "y": LABELS}), {"scores": "a,b", "labels": "y"}),
        ("gates", counts, {"rules": json.dumps(RULES)}),
        ("columns", _of_every_type(), {}),
        ("columns", chunked(nested, 5), {}),
        (
            "gates",
            pa.table({"a": SCORES, "b": SCORES[::-1], "y": LABELS}),
            {"scores": "a", "baseline_scores": "b", "labels": "y", "paired": "true", "rules": json.dumps(DROPS)},
        ),
    ]


def _of_every_type() -> pa.Table:
    return pa.table(
        {
            "scores": [math.nan, None, *SCORES[2:]],
            "labels": pa.array([None, *TEXTS[1:]]).dictionary_encode(),
            "price": pa.array([Decimal(label) / 4 for label in LABELS]),
            "truth": [None, *(label == 1 for label in LABELS[1:])],
            "day": pa.array(LABELS, pa.timestamp("us")),
            "none": pa.nulls(12),
        }
    )


def _messages(content: bytes) -> list[tuple[int, int]]:
    """The metadata of an Arrow stream's messages."""
    source = pa.BufferReader(content)
    found = []
    for message in pa.ipc.MessageReader.open_stream(source):
        end = source.tell() - message.body.size
        found.append((end - message.metadata.size - 8, end))
    return found


def _headers(content: bytes) -> list[tuple[int, int]]:
    """The footer of a Parquet file, and its first page headers, at least roughly."""
    end = len(content) - 8
    found = [(end - struct.unpack("<I", content[-8:-4])[0], end + 8)]
    metadata = parquet.ParquetFile(pa.BufferReader(content)).metadata
    for group in range(metadata.num_row_groups):
        for place in range(metadata.num_columns):
            column = metadata.row_group(group).column(place)
            starts = {column.data_page_offset, column.dictionary_page_offset or column.data_page_offset}
            found += [(start, start + 24) for start in starts]
    return found


def right_bodies() -> Iterator[Body]:
    """Valid bodies, several for each format."""
    for operation, table, options in _tables():
        query = tuple(options.items())
        if "first" not in table.column_names:
            content = csv_body(_spelled_out(table))
            yield Body(operation, CSV, content, query, [(0, content.index(b"\n") + 1)])
        for content in (arrow_body(table), arrow_body(chunked(table, 4))):
            yield Body(operation, ARROW_STREAM, content, query, _messages(content))
        for packed in ({}, {"compression": "lz4"}, {"compression": "zstd"}):
            content = arrow_body(table, **packed)
            yield Body(operation, ARROW_STREAM, content, query, _messages(content))
            content = arrow_file_body(table.unify_dictionaries(), **packed)
            yield Body(operation, ARROW_FILE, content, query, [(len(content) - 400, len(content))])
        for written in PARQUET_FILES:
            content = parquet_body(table, **written)
            yield Body(operation, PARQUET, content, query, _headers(content))
    sample: dict[str, Any] = {"scores": SCORES, "labels": LABELS}
    points = [{"metric": "tpr_at_fpr", "at": 0.25}, {"metric": "f_measure", "at": 0.5}]
    counts = {"tp": [1, 2], "fp": [0, 1.5], "positives": 4, "negatives": 5}
    for operation, document in (
        ("curves", sample | {"include": ["auc"], "intervals": {"level": 0.9}, "operating_points": points}),
        ("tradeoffs", {"counts": counts, "lambda_density": {"a": 2, "b": 1}}),
        ("comparisons", {"evaluations": [{"name": "a", **sample}, {"name": "b", **sample, "scores": SCORES[::-1]}]}),
        ("columns", {"a": SCORES, "b": TEXTS, "c": [None, True, 1, "x", [], {}] * 2, "d": [2**60, 0.5] * 6}),
        ("gates", sample | {"baseline": sample | {"scores": SCORES[::-1]}, "paired": True, "rules": DROPS}),
    ):
        content = json_body(document)
        yield Body(operation, JSON, content, (), [(0, len(content))])


def _spelled_out(table: pa.Table) -> pa.Table:
    """The table with dictionaries decoded."""
    kinds = [kind.value_type if pa.types.is_dictionary(kind) else kind for kind in table.schema.types]
    return table.cast(pa.schema(zip(table.column_names, kinds, strict=True)))
