"""One table, one answer, bit for bit: whatever its format, chunks, types and coding."""

import json
from collections.abc import Callable, Iterator, Mapping
from functools import partial
from typing import Any
from zlib import crc32

import pyarrow as pa
import pytest
from hypothesis import given
from hypothesis import strategies as st

from service.answer import answer
from service.operations import OPERATIONS
from service.request import Request
from service.wire.formats.codings import CODINGS, IDENTITY, compress
from service.wire.media_types import ARROW_FILE, ARROW_STREAM, CSV, JSON, PARQUET
from tests.properties.bodies import arrow_body, arrow_file_body, chunked, json_body, parquet_body
from tests.support import strategies
from tests.support.asking import LIMITS, read_csv, tables
from tests.support.strategies import (
    Data,
    Rows,
    classifiers,
    examples,
    fractional_sweeps,
    samples,
    sweeps,
    weighted_samples,
)

Columns = dict[str, list[Any]]

LABELS: dict[str, tuple[Any, Any, str | None]] = {
    "numbers": (0, 1, None),
    "signs": (-1, 1, None),
    "booleans": (False, True, None),
    "chosen": (7, 3, "3"),
    "text": ("ham", "spam, tinned", "spam, tinned"),
    "empty": ("né", "", ""),
}
"""{kind: how a negative and a positive are written, and the query's positive_label}"""
PARQUET_FILES: list[dict[str, Any]] = [
    {"compression": "NONE"},
    {"compression": "SNAPPY", "use_dictionary": False, "row_group_size": 3},
    {"compression": "ZSTD", "data_page_version": "2.0", "write_page_checksum": True},
    {"compression": "GZIP", "use_byte_stream_split": ["scores", "weights", "tp", "fp"], "use_dictionary": False},
    {"compression": "BROTLI", "data_page_size": 16, "write_batch_size": 2, "store_schema": False},
    {"compression": "LZ4", "version": "1.0", "row_group_size": 7},
]


def ask(
    operation: str,
    media_type: str,
    body: bytes,
    query: Mapping[str, str],
    *,
    accept: str = JSON,
    coding: str = IDENTITY,
) -> bytes:
    """The answer's body; every request here is valid."""
    parameters = tuple(query.items())
    content = compress(coding, body)
    asked = Request(operation, "/", media_type, accept, parameters, content, content_encoding=coding)
    result = answer(asked, LIMITS)
    assert result.status == 200, result.body
    return result.body


def typed(columns: Columns) -> Iterator[pa.Table]:
    """The same columns in several types that hold their values exactly."""
    table = pa.table(columns)
    yield table
    for kinds in ((pa.int8(), pa.uint64(), pa.float16()), (pa.uint8(), pa.int32(), pa.float32()), (pa.int64(),)):
        yield pa.table([_cast(column.combine_chunks(), kinds) for column in table.columns], table.column_names)


def _cast(column: pa.Array, kinds: tuple[pa.DataType, ...]) -> pa.Array:
    """A column in the first type that holds it; text in a dictionary, or with long offsets."""
    if pa.types.is_string(column.type):
        if pa.uint64() in kinds:
            return column.dictionary_encode()
        return column.cast(pa.large_string() if pa.int64() in kinds else pa.string_view())
    if pa.types.is_boolean(column.type) or column.null_count:
        return column
    for kind in kinds:
        try:
            cast = column.cast(kind)
            exact = cast.cast(column.type).equals(column)
        except pa.ArrowInvalid:
            continue
        if exact:
            return cast
    return column


def csv_text(columns: Columns) -> bytes:
    """CSV with numbers as Python writes them."""
    rows = zip(*columns.values(), strict=True)
    lines = [",".join(_cell(value) for value in row) for row in [list(columns), *rows]]
    return "\n".join([*lines, ""]).encode()


def _cell(value: Any) -> str:
    if value is None:
        return ""
    if isinstance(value, bool):
        return str(value).lower()
    return '"' + value.replace('"', '""') + '"' if isinstance(value, str) else repr(value)


def in_dictionaries(table: pa.Table) -> pa.Table:
    """The same table with each value stored once; text as polars writes it."""
    columns = [
        column.cast(pa.string_view()) if pa.types.is_string(column.type) else column
        for column in table.combine_chunks().columns
    ]
    encoded = [column if pa.types.is_null(column.type) else column.dictionary_encode() for column in columns]
    return pa.table(encoded, table.column_names)


def bodies(columns: Columns) -> Iterator[tuple[str, Callable[[], bytes]]]:
    """A table's columns in every format but JSON; bodies of different types may be equal."""
    stored_once = in_dictionaries(pa.table(columns))
    yield CSV, partial(csv_text, columns)
    yield ARROW_STREAM, partial(arrow_body, stored_once)
    yield ARROW_STREAM, partial(arrow_body, chunked(stored_once, 3))
    yield ARROW_STREAM, partial(arrow_body, chunked(stored_once, 3), compression="zstd")
    yield ARROW_FILE, partial(arrow_file_body, chunked(stored_once, 3), compression="lz4")
    for table in typed(columns):
        yield ARROW_STREAM, partial(arrow_body, table)
        yield ARROW_STREAM, partial(arrow_body, chunked(table, 3))
        yield ARROW_STREAM, partial(arrow_body, chunked(table, 3), compression="lz4")
        yield ARROW_FILE, partial(arrow_file_body, chunked(table, 3))
        yield ARROW_FILE, partial(arrow_file_body, table, compression="zstd")
        yield ARROW_STREAM, partial(arrow_body, pa.concat_tables([table.slice(0, 1), table.slice(1)]))
        for options in PARQUET_FILES:
            yield PARQUET, partial(parquet_body, table, **options)


def some_bodies(columns: Columns, turn: int) -> Iterator[tuple[str, bytes]]:
    """With `--all` each body; otherwise, in turn, a sixth of them."""
    for position, (media_type, write) in enumerate(bodies(columns)):
        if strategies.examples_are_all or (position + turn) % 6 == 0:
            yield media_type, write()


def assert_one_answer(operation: str, document: dict[str, Any], columns: Columns, query: dict[str, str]) -> None:
    """Every format and coding gets the JSON document's answer; then all formats of the answer agree."""
    whole = ask(operation, JSON, json_body(document), {})
    for position, (media_type, body) in enumerate(dict.fromkeys(some_bodies(columns, crc32(whole)))):
        coding = [*CODINGS][position % len(CODINGS)]
        for written in (IDENTITY, coding) if strategies.examples_are_all or not position % 3 else (IDENTITY,):
            assert ask(operation, media_type, body, query, coding=written) == whole, (media_type, written)
    parts = tables(json.loads(whole))
    for name in [table.name for table in OPERATIONS[operation].tables]:
        if name not in parts:
            continue
        expected = parts[name]
        one = {"table": name} | query
        body = csv_text(columns)
        assert read_csv(ask(operation, CSV, body, one, accept=CSV).decode()) == expected
        assert (
            pa.ipc.open_stream(ask(operation, CSV, body, one, accept=ARROW_STREAM)).read_all().to_pydict() == expected
        )


def written(data: Data, kind: str) -> tuple[dict[str, Any], Columns, dict[str, str]]:
    """A sample as a JSON document, as columns, and the query that goes with them."""
    negative, positive, positive_label = LABELS[kind]
    columns: Columns = {"scores": data.scores, "labels": [positive if label else negative for label in data.labels]}
    if data.weights is not None:
        columns["weights"] = data.weights
    document: dict[str, Any] = {**columns, "lower_is_positive": data.lower_is_positive}
    query = {"lower_is_positive": json.dumps(data.lower_is_positive)}
    if positive_label is not None:
        document["positive_label"] = positive
        query["positive_label"] = positive_label
    return document, columns, query


KINDS = st.sampled_from(sorted(LABELS))
SCORES = st.one_of(st.integers(-5, 5).map(float), st.floats(width=16, allow_nan=False, allow_infinity=False))


@examples(30)
@given(st.one_of(samples(most=10), samples(score=SCORES, most=10), weighted_samples(most=8)), KINDS)
def test_a_sample_is_one_curve(data: Data, kind: str) -> None:
    document, columns, query = written(data, kind)
    assert_one_answer("curves", document, columns, query)


@examples(15)
@given(st.one_of(samples(most=10), weighted_samples(most=8)), KINDS)
def test_a_sample_is_one_trade_off(data: Data, kind: str) -> None:
    document, columns, query = written(data, kind)
    query["at_lambda"] = "[0.2, 1]"
    assert_one_answer("tradeoffs", document | {"at_lambda": [0.2, 1]}, columns, query)


@examples(12)
@given(samples(most=8), KINDS, st.randoms(use_true_random=False))
def test_samples_are_one_comparison(data: Data, kind: str, chance: Any) -> None:
    document, columns, query = written(data, kind)
    other = chance.sample(data.scores, len(data.scores))
    evaluations = [{"name": "scores", **document}, {"name": "other", **document, "scores": other}]
    assert_one_answer(
        "comparisons", {"evaluations": evaluations}, columns | {"other": other}, query | {"scores": "scores,other"}
    )


@examples(12)
@given(st.one_of(samples(most=8), weighted_samples(most=8)), KINDS, st.booleans(), st.randoms(use_true_random=False))
def test_samples_are_one_gate(data: Data, kind: str, paired: bool, chance: Any) -> None:  # noqa: FBT001  # hypothesis gives it
    document, columns, query = written(data, kind)
    other = chance.sample(data.scores, len(data.scores))
    rules = [
        {"metric": "roc", "max_drop": 0.1, "confidence": 0.9},
        {"metric": "pr", "max_drop": 0.1, "confidence": 0.9},
        {"metric": "recall", "at_threshold": 1, "min": 0.5},
    ]
    options = {"paired": paired, "rules": rules, "intervals": {"resamples": 100}}
    baseline = {key: column for key, column in columns.items() if key != "scores"} | {"scores": other}
    query |= {key: json.dumps(value) for key, value in options.items()} | {"baseline_scores": "other"}
    assert_one_answer("gates", document | options | {"baseline": baseline}, columns | {"other": other}, query)


@examples(12)
@given(st.one_of(sweeps(), classifiers(), fractional_sweeps()).filter(lambda rows: len(rows.tp) > 0), st.booleans())
@pytest.mark.parametrize("operation", ["curves", "tradeoffs"])
def test_counts_are_one_answer(operation: str, rows: Rows, with_thresholds: bool) -> None:  # noqa: FBT001  # hypothesis gives it
    columns: Columns = {"tp": rows.tp, "fp": rows.fp}
    if with_thresholds:
        columns["threshold"] = [None] * len(rows.tp)
    totals = {"positives": rows.positives, "negatives": rows.negatives}
    document = {"counts": columns | totals}
    assert_one_answer(operation, document, columns, {key: json.dumps(value) for key, value in totals.items()})
