"""Parquet files: what is read from them; none can unpack to more than the limit."""

import base64
from decimal import Decimal

import numpy as np
import pyarrow as pa
import pytest
from pyarrow.parquet import encryption

from service.wire.columns import numbers
from service.wire.formats import parquet_format
from service.wire.formats.arrow_columns import ArrowColumn
from service.wire.formats.parquet_footer import Footer
from service.wire.formats.parquet_format import ParquetTable
from service.wire.formats.table_columns import LONGEST_HEADER
from service.wire.formats.thrift_compact import I64, LIST, STRUCT, Reader, written
from service.wire.limits import Limits
from service.wire.problems import Problem
from service.wire.wrong import Wrong
from tests.properties.bodies import parquet_body
from tests.support.raising import raised

LIMITS = Limits(max_rows=1000, max_interpolated_rows=10, max_decompressed_bytes=1 << 20)
TABLE = pa.table({"z": [[1], None], "x": [1.5, 2.5], "s": [{"x": 3, "t": 4}] * 2, "y": [True, False], "t": ["a", "b"]})
BODY = parquet_body(TABLE)
ROWS = (3, I64)


def read(body, *names, limits=LIMITS):
    return {name: column.cells for name, column in ParquetTable(body, limits).read(list(names)).items()}


def refused(body, *names, limits=LIMITS):
    problem = raised(Problem, read, body, *names, limits=limits)
    return problem.type.code, [(error.pointer, error.code) for error in problem.errors]


def with_footer(body, change):
    """The file of one column, called 0, with a changed footer."""
    footer = Footer(body)
    anew = footer.of_columns(footer.columns)
    changed = written(change(Reader(anew, 4, len(anew) - 8).struct()))
    start = len(body) - 8 - int.from_bytes(body[-8:-4], "little")
    return body[:start] + changed + len(changed).to_bytes(4, "little") + b"PAR1"


def test_columns_are_read_by_name_and_other_types_not_at_all():
    assert ParquetTable(BODY, LIMITS).header == ["z", "x", "s", "y", "t"]
    cells = read(BODY, "t", "z", "y", "x")
    assert cells["x"].to_pylist() == [1.5, 2.5]
    assert cells["y"].to_pylist() == [True, False]
    assert cells["t"].to_pylist() == ["a", "b"]
    assert cells["z"] is None
    assert read(BODY, "s", "z") == {"s": None, "z": None}


@pytest.mark.parametrize(
    "kind",
    [pa.int8(), pa.uint8(), pa.int16(), pa.uint16(), pa.int32(), pa.uint32(), pa.int64(), pa.uint64()],
)
@pytest.mark.parametrize("version", ["1.0", "2.6"])
def test_integers_keep_their_type(kind, version):
    most = np.iinfo(kind.to_pandas_dtype()).max
    cells = read(parquet_body(pa.table({"x": pa.array([0, most], kind)}), version=version), "x")["x"]
    assert cells.to_pylist() == [0, most]


@pytest.mark.parametrize("kind", [pa.float16(), pa.float32(), pa.float64(), pa.null(), pa.large_string()])
def test_other_types_that_are_read(kind):
    cells = [None, None] if kind == pa.null() else pa.array(np.array([0.5, 7])).cast(kind).to_pylist()
    for nullable in {True, kind == pa.null()}:
        table = pa.table([pa.array(cells, kind)], pa.schema([pa.field("x", kind, nullable)]))
        assert read(parquet_body(table), "x")["x"].to_pylist() == cells


@pytest.mark.parametrize(
    "column",
    [
        pa.array([1, 2], pa.int32()).cast(pa.time32("ms")),
        pa.array([b"a", b"\xff"]),
        pa.array([b"ab", b"cd"], pa.binary(2)),
        pa.array([{"a": 1}, None]),
        pa.array([[1], [2]]),
    ],
    ids=lambda column: str(column.type),
)
def test_types_that_are_neither_numbers_nor_labels(column):
    body = parquet_body(pa.table({"x": column}))
    assert read(body, "x") == {"x": None}
    kind = ParquetTable(body, LIMITS).read(["x"])["x"].kind
    assert kind in {"nested", "fixed_len_byte_array", "binary that is not UTF-8"} or kind in str(column.type)


@pytest.mark.parametrize(
    "body", [b"", b"{}", b"PAR1", b"PAR1PAR1", b"PAR1" * 4, BODY[:-1], BODY[1:], BODY[:200], BODY + b"PAR1"]
)
def test_a_partial_file_is_malformed(body):
    assert refused(body, "x") == ("malformed_body", [])


def test_an_empty_table_has_no_rows():
    assert refused(parquet_body(TABLE.slice(0, 0)), "x") == ("invalid_request", [("", "no_rows")])


def test_columns_are_told_apart_by_their_place():
    table = pa.table([pa.array([1, 2]), pa.array([{"b": 3}] * 2), pa.array([5, 6])], ["a.b", "a", "x"])
    assert read(parquet_body(table), "a.b", "x")["a.b"].to_pylist() == [1, 2]
    twice = pa.table([pa.array([1]), pa.array([2]), pa.array([3])], ["a/b", "a/b", "x"])
    assert refused(parquet_body(twice), "x", "a/b") == ("invalid_request", [("/a~1b", "duplicate")])
    assert read(parquet_body(twice), "x")["x"].to_pylist() == [3]


@pytest.mark.parametrize("plain_footer", [True, False])
def test_an_encrypted_file_is_not_supported(plain_footer):
    """If the footer is not encrypted but a column is, pyarrow ends the process when asked about that column."""

    class Keys(encryption.KmsClient):
        def __init__(self, _):
            super().__init__()

        def wrap_key(self, key, _):
            return base64.b64encode(key)

    settings = encryption.EncryptionConfiguration(
        footer_key="footer", column_keys={"column": ["x"]}, plaintext_footer=plain_footer
    )
    factory = encryption.CryptoFactory(Keys)
    properties = factory.file_encryption_properties(encryption.KmsConnectionConfig(), settings)
    problem = raised(Problem, ParquetTable, parquet_body(TABLE, encryption_properties=properties), LIMITS)
    assert problem.type.code == "unsupported_media_type"
    assert problem.detail == "The Parquet file is encrypted; send it unencrypted."


@pytest.mark.parametrize(
    ("cells", "kind"),
    [
        (pa.array([1], pa.timestamp("us")), "timestamp"),
        (pa.array([1], pa.timestamp("ns")), "int96"),
        (pa.array([1], pa.date32()), "date"),
        (pa.array([1], pa.time64("us")), "time"),
        (pa.array([b"\xff"]), "binary that is not UTF-8"),
        (pa.array([b"1"], pa.binary(1)), "fixed_len_byte_array"),
        (pa.array([[1]]), "nested"),
    ],
)
def test_a_type_that_is_not_read_is_named(cells, kind):
    body = parquet_body(pa.table({"x": cells}), use_deprecated_int96_timestamps=kind == "int96")
    error = raised(Wrong, numbers, ParquetTable(body, LIMITS).read(["x"])["x"], nullable=False)
    assert error.detail.startswith(f"This column is {kind}; numbers must be integers, floats or decimals.")


def test_rows_are_counted_in_the_footer():
    table = pa.table({"x": np.zeros(1001)})
    assert refused(parquet_body(table), "x") == ("too_many_rows", [])
    assert len(read(parquet_body(table), "x", limits=Limits(1001, 1))["x"]) == 1001


@pytest.mark.parametrize("rows", [1, 3, 1000, -2])
def test_a_footer_that_lies_about_rows_is_malformed(rows):
    def of_file(tree):
        return {**tree, ROWS: rows}

    def of_both(tree):
        kind, groups = tree[4, LIST]
        return {**tree, ROWS: rows, (4, LIST): (kind, [{**groups[0], ROWS: rows}])}

    table = pa.table({"x": [1.5, 2.5]})
    body = parquet_body(table)
    assert read(with_footer(body, dict), "0")["0"].to_pylist() == [1.5, 2.5]
    assert refused(with_footer(body, of_file), "0") == ("malformed_body", [])
    assert refused(with_footer(body, of_both), "0") == ("malformed_body", [])


def test_what_unpacks_to_more_than_the_limit_is_refused_unseen():
    table = pa.table({"x": np.zeros(1000), "t": ["a" * 4000] * 1000, "u": np.zeros(1000)})
    body = parquet_body(table, compression="ZSTD", use_dictionary=False)
    assert len(body) < 20_000
    before = pa.default_memory_pool().max_memory()
    assert refused(body, "t") == ("body_too_large", [])
    assert pa.default_memory_pool().max_memory() == before
    assert read(body, "x")["x"].to_pylist() == [0] * 1000
    assert refused(body, "x", "u", limits=Limits(1000, 1, 12_000)) == ("body_too_large", [])
    assert len(read(body, "x", "u", limits=Limits(1000, 1, 20_000))) == 2


def test_what_the_footer_says_of_its_length_is_not_believed():
    body = parquet_body(pa.table({"t": ["a" * 4000] * 1000}), compression="ZSTD", use_dictionary=False)

    def understated(tree):
        kind, (group,) = tree[4, LIST]
        of_columns, (column,) = group[1, LIST]
        meta = {**column[3, STRUCT], (6, I64): 10}
        return {**tree, (4, LIST): (kind, [{**group, (1, LIST): (of_columns, [{**column, (3, STRUCT): meta}])}])}

    before = pa.default_memory_pool().max_memory()
    assert refused(with_footer(body, understated), "0") == ("body_too_large", [])
    assert pa.default_memory_pool().max_memory() == before
    assert len(read(with_footer(body, understated), "0", limits=Limits(1000, 1))["0"]) == 1000


def test_text_that_repeats_itself_is_held_once():
    table = pa.table({"t": ["a" * 500_000, "b"] * 50})
    body = parquet_body(table, compression="NONE")
    assert len(body) < 1 << 20

    cells = read(body, "t")["t"]
    assert pa.types.is_dictionary(cells.type)
    assert cells.nbytes < 2 << 20

    long = parquet_body(
        table.slice(0, 20), use_dictionary=False, column_encoding={"t": "DELTA_BYTE_ARRAY"}, compression="ZSTD"
    )
    assert refused(long, "t", limits=Limits(1000, 1)) == ("unsupported_media_type", [])


def test_text_in_other_encodings():
    for encoding in ("PLAIN", "DELTA_LENGTH_BYTE_ARRAY"):
        body = parquet_body(TABLE, use_dictionary=False, column_encoding={"t": encoding})
        assert read(body, "t")["t"].to_pylist() == ["a", "b"]


def test_pages_are_counted(monkeypatch):
    table = pa.table({"x": np.arange(600.0)})
    body = parquet_body(table, use_dictionary=False, data_page_size=8, write_batch_size=10)
    monkeypatch.setattr(parquet_format, "MOST_PAGES", 60)
    assert len(read(body, "x")["x"]) == 600
    monkeypatch.setattr(parquet_format, "MOST_PAGES", 59)
    assert refused(body, "x") == ("invalid_request", [("", "too_many_batches")])


def test_the_footer_is_not_read_when_it_is_too_long():
    body = parquet_body(TABLE.replace_schema_metadata({"much": "x" * LONGEST_HEADER}))
    assert refused(body, "x") == ("invalid_request", [("", "too_many_columns")])
    with pytest.raises(Problem, match=r"footer of the Parquet file is \d{7} bytes long.*write fewer row groups"):
        ParquetTable(body, LIMITS)


def test_a_page_whose_checksum_is_wrong_is_malformed():
    body = bytearray(
        parquet_body(pa.table({"x": [1.5, 2.5]}), use_dictionary=False, write_page_checksum=True, compression="NONE")
    )
    place = body.index(np.array([1.5, 2.5]).tobytes())
    body[place + 6] ^= 1
    assert refused(bytes(body), "x") == ("malformed_body", [])


@pytest.mark.parametrize(
    ("kind", "integers"),
    [
        *((pa.decimal128(digits, 2), True) for digits in (9, 18, 30)),
        *((pa.decimal128(digits, 2), False) for digits in (30, 38)),
        *((pa.decimal256(digits, 2), False) for digits in (39, 76)),
    ],
    ids=str,
)
def test_decimals_are_read_however_they_are_stored(kind, integers):
    column = pa.array([Decimal("0.25"), Decimal("-1.50"), None], kind)
    body = parquet_body(pa.table({"x": column}), store_decimal_as_integer=integers)
    cells = ArrowColumn(ParquetTable(body, LIMITS).read(["x"])["x"].cells)
    np.testing.assert_array_equal(numbers(cells, nullable=True), [0.25, -1.5, np.nan])
