"""Writes one table as a body in every format, for the tests of formats."""

import io
import json
from collections.abc import Mapping
from typing import Any

import pyarrow as pa
from pyarrow import csv as arrow_csv
from pyarrow import parquet


def json_body(document: Mapping[str, Any]) -> bytes:
    """A JSON body."""
    return json.dumps(document).encode()


def csv_body(table: pa.Table) -> bytes:
    """A CSV file."""
    out = io.BytesIO()
    arrow_csv.write_csv(table, out)
    return out.getvalue()


def arrow_body(table: pa.Table, **options: Any) -> bytes:
    """An Arrow stream with a record batch for each chunk."""
    out = io.BytesIO()
    with pa.ipc.new_stream(out, table.schema, options=pa.ipc.IpcWriteOptions(**options)) as stream:
        stream.write_table(table)
    return out.getvalue()


def arrow_file_body(table: pa.Table, **options: Any) -> bytes:
    """An Arrow file with a record batch for each chunk; Feather 2 is one."""
    out = io.BytesIO()
    with pa.ipc.new_file(out, table.schema, options=pa.ipc.IpcWriteOptions(**options)) as file:
        file.write_table(table)
    return out.getvalue()


def parquet_body(table: pa.Table, **options: Any) -> bytes:
    """A Parquet file."""
    out = io.BytesIO()
    parquet.write_table(table, out, **options)
    return out.getvalue()


def chunked(table: pa.Table, rows: int) -> pa.Table:
    """The same table in chunks of this many rows."""
    return pa.Table.from_batches(table.to_batches(max_chunksize=rows), table.schema)
