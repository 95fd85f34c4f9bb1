"""Parquet files: what is read from them; none can unpack to more than the limit."""

import base64
from decimal import Decimal

import numpy as np
import pyarrow as pa
import pytest
from pyarrow.parquet import encryption

from service.wire.columns import numbers
from service.wire.formats.parquet_format import ParquetTable
from service.wire.limits import Limits
from service.wire.problems import Problem
from service.wire.wrong import Wrong
from tests.properties.bodies import parquet_body
from tests.support.raising import raised

LIMITS = Limits(max_rows=1000, max_interpolated_rows=10, max_decompressed_bytes=1 << 20)
TABLE = pa.table({"z": [[1], None], "x": [1.5, 2.5], "s": [{"x": 3, "t": 4}] * 2, "y": [True, False], "t": ["a", "b"]})
BODY = parquet_body(TABLE)


def read(body, *names, limits=LIMITS):
    return {name: column.cells for name, column in ParquetTable(body, limits).read(list(names)).items()}


def refused(body, *names, limits=LIMITS):
    problem = raised(Problem, read, body, *names, limits=limits)
    return problem.type.code, [(error.pointer, error.code) for error in problem.errors]


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
        pa.array([{"a": 1}, None]),
        pa.array([[1], [2]]),
    ],
    ids=lambda column: str(column.type),
)
def test_types_that_are_neither_numbers_nor_labels(column):
    body = parquet_body(pa.table({"x": column}))
    assert read(body, "x") == {"x": None}
    kind = ParquetTable(body, LIMITS).read(["x"])["x"].kind
    assert kind in {"binary that is not UTF-8", "nested", "time"}


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
    problem = raised(Problem, read, parquet_body(TABLE, encryption_properties=properties), "x")
    assert problem.type.code == "unsupported_media_type"
    assert problem.detail == "The Parquet file is encrypted; send it unencrypted."


@pytest.mark.parametrize(
    ("cells", "kind"),
    [
        (pa.array([1], pa.timestamp("us")), "timestamp"),
        (pa.array([1], pa.timestamp("ns")), "timestamp"),
        (pa.array([1], pa.date32()), "date"),
        (pa.array([1], pa.time64("us")), "time"),
        (pa.array([b"\xff"]), "binary that is not UTF-8"),
        (pa.array([[1]]), "nested"),
    ],
)
def test_a_type_that_is_not_read_is_named(cells, kind):
    body = parquet_body(pa.table({"x": cells}), use_deprecated_int96_timestamps=cells.type == pa.timestamp("ns"))
    error = raised(Wrong, numbers, ParquetTable(body, LIMITS).read(["x"])["x"], nullable=False)
    assert error.detail.startswith(f"This column is {kind}; numbers must be integers, floats or decimals.")


def test_rows_are_counted_in_the_footer():
    table = pa.table({"x": np.zeros(1001)})
    assert refused(parquet_body(table), "x") == ("too_many_rows", [])
    assert len(read(parquet_body(table), "x", limits=Limits(1001, 1))["x"]) == 1001


def test_what_unpacks_to_more_than_the_limit_is_refused():
    table = pa.table({"x": np.zeros(1000), "t": ["a" * 4000] * 1000, "u": np.zeros(1000)})
    body = parquet_body(table, compression="ZSTD", use_dictionary=False)
    assert len(body) < 20_000
    assert len(read(body, "t")["t"]) == 1000  # one text, which is held once
    assert read(body, "x")["x"].to_pylist() == [0] * 1000
    assert refused(body, "x", "u", limits=Limits(1000, 1, 12_000)) == ("body_too_large", [])
    assert len(read(body, "x", "u", limits=Limits(1000, 1, 20_000))) == 2


def test_text_that_repeats_itself_is_held_once():
    table = pa.table({"t": ["a" * 500_000, "b"] * 50})
    body = parquet_body(table, compression="NONE")
    assert len(body) < 1 << 20

    cells = read(body, "t")["t"]
    assert pa.types.is_dictionary(cells.type)
    assert cells.nbytes < 2 << 20


def test_text_in_other_encodings():
    for encoding in ("PLAIN", "DELTA_LENGTH_BYTE_ARRAY", "DELTA_BYTE_ARRAY"):
        body = parquet_body(TABLE, use_dictionary=False, column_encoding={"t": encoding})
        assert read(body, "t")["t"].to_pylist() == ["a", "b"]


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
    column = ParquetTable(body, LIMITS).read(["x"])["x"]
    np.testing.assert_array_equal(numbers(column, nullable=True), [0.25, -1.5, np.nan])
