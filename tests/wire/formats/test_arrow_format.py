"""Arrow streams: what is read from them; hostile ones are refused before they cost anything."""

import io
import struct

import numpy as np
import pyarrow as pa
import pytest
from pyarrow import parquet

from service.wire.columns import labels, numbers
from service.wire.formats import arrow_format, parquet_format
from service.wire.formats.arrow_format import MOST_BATCHES, ArrowTable
from service.wire.formats.parquet_format import ParquetTable
from service.wire.formats.table_columns import MOST_COLUMNS
from service.wire.limits import Limits
from service.wire.problems import Problem
from service.wire.wrong import Wrong
from tests.properties.bodies import arrow_body, chunked

END = b"\xff\xff\xff\xff\0\0\0\0"
LIMITS = Limits(max_rows=1000, max_interpolated_rows=10)
TABLE = pa.table({"x": [1.5, 2.5], "y": [True, False], "z": [[1], None]})
BODY = arrow_body(TABLE)


def read(body, *names, limits=LIMITS):
    return {name: column.cells for name, column in ArrowTable(body, limits).read(list(names)).items()}


def refused(body, *names, limits=LIMITS):
    with pytest.raises(Problem) as caught:
        read(body, *names, limits=limits)
    return caught.value.type.code, [(error.pointer, error.code) for error in caught.value.errors]


@pytest.mark.parametrize("table", [ArrowTable, ParquetTable])
def test_a_lack_of_memory_is_not_the_fault_of_the_body(table, monkeypatch):
    """It gets its own problem, 413."""

    def validate(*_):
        raise pa.ArrowMemoryError("malloc of size 1 failed")

    for module in (arrow_format, parquet_format):
        monkeypatch.setattr(module, "validate", validate)
    sink = io.BytesIO()
    parquet.write_table(TABLE, sink)
    with pytest.raises(MemoryError):
        table(BODY if table is ArrowTable else sink.getvalue(), LIMITS).read(["x"])


def test_booleans_of_a_byte_each_are_booleans():
    """Whatever their bytes are; nulls stay nulls."""
    cells = pa.ExtensionArray.from_storage(pa.bool8(), pa.array([9, 1, 0, 2, None, -1], pa.int8())).slice(1)
    for body in (arrow_body(pa.table({"x": cells})), arrow_body(chunked(pa.table({"x": cells}), 2))):
        assert read(body, "x")["x"].to_pylist() == [True, False, True, None, True]
        assert read(body, "x")["x"].type == pa.bool_()


def test_columns_are_read_by_name_and_other_types_not_at_all():
    table = ArrowTable(BODY, LIMITS)
    assert table.header == ["x", "y", "z"]
    cells = read(BODY, "y", "z", "x")
    assert cells["x"].to_pylist() == [1.5, 2.5]
    assert cells["y"].to_pylist() == [True, False]
    assert cells["z"] is None
    assert read(BODY, "z") == {"z": None}


def test_types_that_are_not_read_are_named():
    columns = ArrowTable(BODY, LIMITS).read(["x", "z"])
    assert columns["z"].kind == "list<item: int64>"
    with pytest.raises(
        Wrong, match=r"This column is list<item: int64>; numbers must be integers, floats or decimals\."
    ):
        numbers(columns["z"], nullable=False)
    with pytest.raises(Wrong, match=r"This column is list<item: int64>; labels must be .* or text\."):
        labels(columns["z"], None)


def test_dictionaries_of_numbers_are_numbers():
    parts = pa.chunked_array([pa.array([3, 1, 3]).dictionary_encode(), pa.array([1, 2]).dictionary_encode()])
    cells = read(arrow_body(pa.table({"x": parts, "y": parts.cast(pa.dictionary(pa.int32(), pa.float64()))})), "y", "x")
    assert cells["x"].to_pylist() == [3, 1, 3, 1, 2]
    assert cells["y"].type == pa.float64()


def test_views_show_no_more_than_a_body_may_hold():
    """A stream's views share buffers, but pyarrow writes them as they are."""
    text = b"a" * 100_000
    table = np.zeros((900, 4), np.int32)
    table[:, :2] = len(text), np.frombuffer(text[:4], np.int32)[0]
    array = pa.Array.from_buffers(pa.string_view(), 900, [None, pa.py_buffer(table.tobytes()), pa.py_buffer(text)])
    body = arrow_body(pa.table({"x": array, "y": range(900)}))
    assert len(body) < 1 << 20
    assert refused(body, "x", limits=Limits(1000, 1, len(text) * 900 - 1)) == ("body_too_large", [])
    assert read(body, "x", limits=Limits(1000, 1, len(text) * 900))["x"].null_count == 0
    assert len(read(body, "y", limits=Limits(1000, 1, 7200))["y"]) == 900


@pytest.mark.parametrize("rows", [1, 2])
def test_batches_are_one_table(rows):
    body = arrow_body(chunked(pa.table({"x": [1, 2, 3]}), rows))
    assert read(body, "x")["x"].to_pylist() == [1, 2, 3]


def test_a_stream_may_end_without_its_marker_between_messages():
    assert BODY.endswith(END)
    assert read(BODY.removesuffix(END), "x")["x"].to_pylist() == [1.5, 2.5]


@pytest.mark.parametrize(
    "body", [b"", b"{}", b"scores,labels\n", BODY[:-1], BODY[:-9], BODY[:40], BODY + b"x", BODY + BODY]
)
def test_a_partial_stream_is_malformed(body):
    assert refused(body, "x") == ("malformed_body", [])


def test_an_empty_table_has_no_rows():
    assert refused(arrow_body(TABLE.slice(0, 0)), "x") == ("invalid_request", [("", "no_rows")])


def test_a_name_that_two_columns_have_cannot_be_read():
    twice = arrow_body(pa.table([pa.array([1]), pa.array([2]), pa.array([3])], ["a/b", "a/b", "x"]))
    assert refused(twice, "x", "a/b") == ("invalid_request", [("/a~1b", "duplicate")])
    assert read(twice, "x")["x"].to_pylist() == [3]


def deltas():
    out = pa.BufferOutputStream()
    parts = [pa.array(["a"]).dictionary_encode(), pa.array(["a", "b"]).dictionary_encode()]
    options = pa.ipc.IpcWriteOptions(emit_dictionary_deltas=True)
    with pa.ipc.new_stream(out, pa.schema([("x", parts[0].type)]), options=options) as stream:
        for part in parts:
            stream.write_batch(pa.record_batch([part], ["x"]))
    return out.getvalue().to_pybytes()


def test_a_dictionary_in_parts_is_read():
    assert read(deltas(), "x")["x"].to_pylist() == ["a", "a", "b"]


def test_the_metadata_of_older_writers_is_read():
    body = arrow_body(TABLE, metadata_version=pa.ipc.MetadataVersion.V4)
    assert read(body, "x")["x"].to_pylist() == [1.5, 2.5]
    packed = arrow_body(TABLE, metadata_version=pa.ipc.MetadataVersion.V4, compression="zstd")
    assert refused(packed, "x") == ("unsupported_media_type", [])


def test_rows_are_counted_before_anything_is_made_of_them():
    """A column of nulls has no buffers, so a few bytes may claim any number of rows."""
    nulls = arrow_body(pa.table({"x": pa.nulls(10)}))
    at = [place for place in range(0, len(nulls), 8) if struct.unpack_from("<q", nulls, place)[0] == 10]
    huge = bytearray(nulls)
    for place in at:
        struct.pack_into("<q", huge, place, 2_000_000_000)
    assert len(huge) < 500
    assert refused(bytes(huge), "x") == ("too_many_rows", [])
    several = arrow_body(chunked(pa.table({"x": range(1001)}), 100))
    assert refused(several, "x") == ("too_many_rows", [])
    assert len(read(several, "x", limits=Limits(1001, 1))["x"]) == 1001


def test_a_negative_length_is_malformed():
    body = bytearray(arrow_body(pa.table({"x": pa.nulls(10)})))
    for place in range(0, len(body), 8):
        if struct.unpack_from("<q", body, place)[0] == 10:
            struct.pack_into("<q", body, place, -10)
    assert refused(bytes(body), "x") == ("malformed_body", [])


def test_batches_are_counted():
    one = arrow_body(pa.table({"x": pa.nulls(1)})).removesuffix(END)
    schema = arrow_body(pa.table({"x": pa.nulls(0)})).removesuffix(END)
    batch = one.removeprefix(schema)
    limits = Limits(10**6, 1)
    assert read(schema + MOST_BATCHES * batch, "x", limits=limits)["x"].null_count == MOST_BATCHES
    assert refused(schema + (MOST_BATCHES + 1) * batch, "x", limits=limits) == (
        "invalid_request",
        [("", "too_many_batches")],
    )


def test_columns_are_counted():
    many = pa.table([pa.array([1])] * (MOST_COLUMNS + 1), [f"c{k}" for k in range(MOST_COLUMNS + 1)])
    assert refused(arrow_body(many), "c1") == ("invalid_request", [("", "too_many_columns")])
    pandas = TABLE.replace_schema_metadata({"pandas": "x" * 100_000})
    assert read(arrow_body(pandas), "x")["x"].to_pylist() == [1.5, 2.5]
