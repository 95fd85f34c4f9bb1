"""Arrow streams that no writer writes: each is refused, for the right error, before pyarrow makes arrays of it."""

import gc
import re
import struct
import tracemalloc

import pyarrow as pa
import pytest

from service.wire.formats import arrow_columns
from service.wire.formats.arrow_format import ArrowTable
from service.wire.formats.arrow_messages import MOST_PAIRS
from service.wire.formats.table_columns import MOST_COLUMNS
from service.wire.limits import Limits
from service.wire.problems import Problem
from tests.properties.bodies import arrow_body
from tests.wire.formats.arrow_builder import (
    DICTIONARY,
    END,
    RECORD_BATCH,
    SCHEMA,
    STRUCT,
    TIMESTAMP,
    UNION,
    batch_message,
    message,
    schema_message,
)

LIMITS = Limits(max_rows=1000, max_interpolated_rows=10)
LONG = "n" * 2000


def read(body, *names):
    return [column.cells.to_pylist() for column in ArrowTable(body, LIMITS).read(list(names)).values()]


def test_the_messages_that_the_lies_start_from_are_read():
    assert read(schema_message("x") + batch_message() + END, "x") == [[1, 2]]
    apart = batch_message(nodes=[(2, 0)] * 2, buffers=[(0, 0), (0, 2), (0, 0), (8, 2)])
    assert read(schema_message("x", "y") + apart, "x", "y") == [[1, 2], [3, 4]]
    own = schema_message("x", pairs=MOST_PAIRS, size=9) + batch_message(pairs=MOST_PAIRS)
    assert read(own, "x") == [[1, 2]]
    old = schema_message("x", version=3, pairs=1) + batch_message(version=3)
    assert read(old, "x") == [[1, 2]]


def many_children(builder):
    return builder.schema([builder.field(kind=STRUCT, children=[builder.field(LONG)] * 1000)])


def many_pairs_of_a_field(builder):
    return builder.schema([builder.field(metadata=[builder.pair("k", LONG)] * 1000)])


def many_pairs_of_the_schema(builder):
    return builder.schema([builder.field()], [builder.pair(LONG)] * 1000)


def many_zones(builder):
    zone = builder.CreateString(LONG)
    return builder.schema([builder.field(kind=TIMESTAMP, type_fields={1: ("offset", zone)})] * 1000)


def many_unions(builder):
    numbers = builder.integers([0] * 500)
    return builder.schema([builder.field(kind=UNION, type_fields={1: ("offset", numbers)})] * 1000)


def pointing_out(place, number):
    body = bytearray(schema_message("x"))
    struct.pack_into("<I", body, 8 + place, number)
    return bytes(body)


FIRST = schema_message("x")
TWO = schema_message("x", "y")
TWO_NODES = [(2, 0)] * 2
TOO_MANY = "The header or schema is longer than "
LIES = {
    "no schema first": (batch_message(), "does not begin with a schema"),
    "a schema again": (FIRST + FIRST, "has no schema"),
    "a schema without a header": (message(SCHEMA, None), "Arrow message is empty"),
    "a batch without a header": (FIRST + message(RECORD_BATCH, None), "Arrow message is empty"),
    "a dictionary without its batch": (
        FIRST + message(DICTIONARY, lambda builder: builder.table({})),
        "Arrow message is empty",
    ),
    "a root out of the message": (pointing_out(0, 1 << 30), "points outside itself"),
    "big-endian": (
        message(SCHEMA, lambda builder: builder.schema([builder.integer_field()], big_endian=True)),
        "data is big-endian",
    ),
    "a negative length": (FIRST + batch_message(rows=-2, nodes=[(-2, 0)]), "has a negative length"),
    "compressed as before V5": (FIRST + batch_message(version=3, pairs=1), "compressed as they were before Arrow 1.0"),
    "pairs of a schema's message": (schema_message("x", pairs=MOST_PAIRS + 1), "pairs of custom metadata"),
    "pairs of a batch": (FIRST + batch_message(pairs=MOST_PAIRS + 1), "pairs of custom metadata"),
    "a long message": (FIRST + batch_message(pairs=1, size=1 << 20), TOO_MANY),
    "children": (message(SCHEMA, many_children), TOO_MANY),
    "metadata of a field": (message(SCHEMA, many_pairs_of_a_field), TOO_MANY),
    "metadata of the schema": (message(SCHEMA, many_pairs_of_the_schema), TOO_MANY),
    "time zones": (message(SCHEMA, many_zones), TOO_MANY),
    "types of unions": (message(SCHEMA, many_unions), TOO_MANY),
    "fields": (message(SCHEMA, lambda b: b.schema([b.field("")] * (MOST_COLUMNS + 1))), TOO_MANY),
    "buffers that are one": (
        TWO + batch_message(nodes=TWO_NODES, buffers=[(0, 0), (0, 16), (0, 0), (0, 1)]),
        "are longer than its body",
    ),
    "a buffer of negative length": (
        TWO + batch_message(nodes=TWO_NODES, buffers=[(0, -8), (0, 16), (0, 0), (0, 8)]),
        "are longer than its body",
    ),
    "buffers beyond 64 bits": (
        TWO + batch_message(nodes=TWO_NODES, buffers=[(0, 1 << 62), (0, 1 << 62), (0, 1 << 62), (0, 1 << 62)]),
        "are longer than its body",
    ),
}


@pytest.mark.parametrize(("body", "detail"), LIES.values(), ids=LIES)
def test_a_lie_is_found_out(body, detail):
    with pytest.raises(Problem, match=re.escape(detail)):
        ArrowTable(body + END, LIMITS)


def test_metadata_that_are_one_text_many_times_are_not_copied():
    body = schema_message("x", pairs=1000, size=100_000) + batch_message() + END
    gc.collect()  # otherwise, what earlier tests left could be freed meanwhile
    before = pa.total_allocated_bytes()
    tracemalloc.start()
    with pytest.raises(Problem, match="custom metadata"):
        ArrowTable(body, LIMITS)
    assert tracemalloc.get_traced_memory()[1] < 1 << 20
    tracemalloc.stop()
    assert pa.total_allocated_bytes() == before


def test_a_dictionary_that_many_batches_share_is_looked_at_once(monkeypatch):
    looks = []

    def look_at(cells, room):
        looks.append(len(cells))
        return room

    monkeypatch.setattr(arrow_columns, "_look_at", look_at)
    cells = pa.DictionaryArray.from_arrays(pa.array([0, 1], pa.int8()), pa.array(["a", "b", "c"]))
    batch = pa.record_batch([cells], ["x"])
    table = ArrowTable(arrow_body(pa.Table.from_batches([batch] * 400)), LIMITS).read(["x"])
    assert table["x"].cells.num_chunks == 400
    assert looks == [3]
