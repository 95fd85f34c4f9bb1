"""Plain Arrow streams: NumPy alone reads them as pyarrow does, and leaves all other streams to pyarrow."""

import datetime as dt
from contextlib import suppress
from functools import partial

import numpy as np
import pyarrow as pa
import pytest

from service.wire.columns import categories, contents, labels, numbers
from service.wire.formats.arrow_format import ArrowTable
from service.wire.formats.plain_arrow import NotPlain, PlainArrowTable
from service.wire.limits import Limits
from service.wire.problems import Problem
from service.wire.wrong import Wrong
from tests.properties.bodies import arrow_body, chunked
from tests.wire.formats.arrow_builder import END, INT, SCHEMA, batch_message, message, schema_message
from tests.wire.formats.test_arrow_lies import LIES

LIMITS = Limits(max_rows=1000, max_interpolated_rows=10)
TABLE = pa.table({"x": [1.5, 2.5], "y": [True, False]})
KINDS = [
    pa.bool_(),
    *(pa.float16(), pa.float32(), pa.float64()),
    *(pa.int8(), pa.int16(), pa.int32(), pa.int64()),
    *(pa.uint8(), pa.uint16(), pa.uint32(), pa.uint64()),
]


def read(table):
    """All columns: name, the type's name, the cells."""
    columns = table.read(table.header)
    if isinstance(table, PlainArrowTable):
        columns = {name: column.typed() for name, column in columns.items()}
    return table.rows, {
        name: (column.kind, column.cells.type, column.cells.to_pylist()) for name, column in columns.items()
    }


def plain(body):
    return read(PlainArrowTable(body, LIMITS))


def mixed(rows):
    """A table of all plain types."""
    cells = np.arange(rows) % 2
    return pa.table(
        {f"{kind} é": pa.array(cells.astype(bool) if kind == pa.bool_() else cells).cast(kind) for kind in KINDS}
    )


@pytest.mark.parametrize("rows", [1, 7, 8, 9, 100])
@pytest.mark.parametrize("end", ["with its end", "cut at its end"])
def test_plain_streams_are_read_as_pyarrow_reads_them(rows, end):
    body = arrow_body(mixed(rows))
    body = body if end == "with its end" else body.removesuffix(END)
    assert plain(body) == read(ArrowTable(body, LIMITS))
    assert plain(body)[0] == rows


READERS = {
    "numbers": partial(numbers, nullable=False),
    "labels": partial(labels, positive_label=None),
    "one label": lambda column: labels(column, "1"),
    "contents": contents,
    "categories": categories,
}
WRONG = [
    pa.array([1.5, 0.0, np.nan]),
    pa.array([1.5, np.inf], pa.float32()),
    pa.array([1, 2**53 + 1]),
    pa.array([2**64 - 1], pa.uint64()),
    pa.array([-1, 0, 1, 2], pa.int8()),
]


@pytest.mark.parametrize("reader", READERS)
@pytest.mark.parametrize("cells", [*mixed(9).columns, *WRONG], ids=lambda cells: str(cells.type))
def test_a_plain_column_means_and_lacks_what_the_same_of_pyarrow_does(reader, cells):
    def meaning(kind):
        (column,) = kind(arrow_body(pa.table({"x": cells})), LIMITS).read(["x"]).values()
        try:
            return repr(READERS[reader](column))
        except Wrong as error:
            return error.code, error.detail, error.row

    assert meaning(PlainArrowTable) == meaning(ArrowTable)


def test_metadata_of_a_schema_such_as_that_of_pandas_is_skipped():
    assert plain(arrow_body(TABLE.replace_schema_metadata({"pandas": "{}" * 999})))[0] == 2


def columns_of_one_name(name, columns=16):
    """A table in whose schema all columns refer to the same text for their name."""

    def header(builder):
        text, kind = builder.CreateString(name), builder.table({0: ("int32", 8), 1: ("uint8", 1)})
        field = {0: ("offset", text), 2: ("uint8", INT), 3: ("offset", kind)}
        fields = builder.tables([builder.table(field) for _ in range(columns)])
        return builder.table({1: ("offset", fields)})

    return message(SCHEMA, header) + batch_message(rows=1, nodes=[(1, 0)] * columns, buffers=[(0, 0), (0, 1)] * columns)


OTHERS = {
    "nulls": arrow_body(pa.table({"x": [1.5, None]})),
    "text": arrow_body(TABLE.append_column("z", pa.array(["a", "b"]))),
    "a decimal": arrow_body(pa.table({"x": pa.array([1, 2], pa.int8()).cast(pa.decimal128(9, 2))})),
    "dates": arrow_body(pa.table({"x": [dt.date(2026, 1, 1)]})),
    "a dictionary": arrow_body(pa.table({"x": pa.array([1, 2]).dictionary_encode()})),
    "lists": arrow_body(pa.table({"x": [[1], [2]]})),
    "two batches": arrow_body(chunked(TABLE, 1)),
    "no rows": arrow_body(TABLE.slice(2)),
    "no batch": arrow_body(TABLE.schema.empty_table()),
    "no columns": arrow_body(pa.table({})),
    "many columns": arrow_body(pa.table({str(place): [1] for place in range(65)})),
    "names that are one long text": columns_of_one_name("\U0001f600" + 50_000 * "a"),
    "compression": arrow_body(TABLE, compression="zstd"),
    "an old version": arrow_body(TABLE, metadata_version=pa.ipc.MetadataVersion.V4),
    "the format before 0.15": arrow_body(TABLE, use_legacy_format=True),
    "metadata of a message": schema_message("x") + batch_message(pairs=1, size=1),
    "a buffer that is not aligned": schema_message("x") + batch_message(buffers=[(0, 0), (1, 2)]),
    "a type that another one stores": arrow_body(
        pa.table({"x": pa.ExtensionArray.from_storage(pa.bool8(), pa.array([1, 0], pa.int8()))})
    ),
    "more after its end": arrow_body(TABLE) + b"\0",
    "nothing": b"",
    "JSON": b'{"scores": [1]}',
    **{name: body for name, (body, _) in LIES.items()},
}


@pytest.mark.parametrize("body", OTHERS.values(), ids=OTHERS)
def test_any_other_stream_is_not_plain(body):
    with pytest.raises(NotPlain):
        plain(body)


def test_a_stream_with_too_many_rows_has_the_problem_of_any_other():
    with pytest.raises(Problem) as caught:
        plain(arrow_body(pa.table({"x": np.zeros(1001)})))
    assert caught.value.type.code == "too_many_rows"


def outcome(kind, body):
    """What is read, as text, in which NaN equals NaN; or the problem."""
    try:
        return str(read(kind(body, LIMITS)))
    except Problem as problem:
        return str(problem)


def test_a_changed_byte_makes_it_not_plain_or_is_read_as_pyarrow_reads_it():
    """Or only pyarrow looks at the changed part of the messages, and refuses it; then the columns are unchanged."""
    body = arrow_body(pa.table({"x": [1.5, 2.5, 3.5], "y": [True, False, True], "z": pa.array([1, 2, 3], pa.uint16())}))
    unchanged = outcome(PlainArrowTable, body)
    alike = refused = 0
    for place, before in enumerate(body):
        for byte in {0, 1, 0x7F, 0x80, 0xFF, before ^ 1, before ^ 8} - {before}:
            changed = body[:place] + bytes([byte]) + body[place + 1 :]
            with suppress(NotPlain):
                found, expected = (outcome(kind, changed) for kind in (PlainArrowTable, ArrowTable))
                if found == expected:
                    alike += 1
                else:
                    assert "is not an Arrow stream" in expected, (place, byte)
                    assert found == unchanged, (place, byte)
                    refused += 1
    assert alike > len(body)
    assert refused < alike / 2


def test_a_stream_that_is_cut_is_not_plain():
    body = arrow_body(TABLE)
    for size in range(len(body) - len(END)):
        with pytest.raises(NotPlain):
            plain(body[:size])
