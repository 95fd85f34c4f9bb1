"""Arrow files, including some whose footers or compressed buffers lie."""

import struct
from contextlib import suppress
from dataclasses import dataclass, replace

import numpy as np
import pyarrow as pa
import pytest

from service.wire.formats import arrow_format
from service.wire.formats.arrow_format import ArrowTable
from service.wire.formats.arrow_messages import MOST_BATCHES
from service.wire.limits import Limits
from service.wire.problems import Problem
from tests.properties.bodies import arrow_body, arrow_file_body, chunked
from tests.wire.formats.arrow_builder import DICTIONARY, RECORD_BATCH, MessageBuilder, message, schema_message

LIMITS = Limits(max_rows=1000, max_interpolated_rows=10)
NUMBERS = pa.table({"x": [1.5, 2.5, 3.5], "y": ["a", "b", "a"]})
NAMED = NUMBERS.set_column(1, "y", NUMBERS["y"].dictionary_encode())
PACKED = [None, "lz4", "zstd"]


def read(body, *names, is_file=True, limits=LIMITS):
    columns = ArrowTable(body, limits, is_file=is_file).read(list(names))
    return {name: column.cells.to_pylist() for name, column in columns.items()}


def refused(body, limits=LIMITS, *, is_file=True):
    with pytest.raises(Problem) as caught:
        read(body, "x", limits=limits, is_file=is_file)
    return caught.value.type.code, caught.value.detail


@pytest.fixture
def never_opened(monkeypatch):
    """Fail if pyarrow opens the body."""
    monkeypatch.setattr(arrow_format.pa.ipc, "open_stream", lambda *_, **__: pytest.fail("opened"))


@pytest.mark.parametrize("compression", PACKED)
@pytest.mark.parametrize("table", [NUMBERS, NAMED, chunked(NUMBERS, 1), chunked(NAMED, 2)])
def test_a_file_is_read_as_its_stream_is(table, compression):
    file, stream = arrow_file_body(table, compression=compression), arrow_body(table, compression=compression)
    assert read(file, "y", "x") == read(stream, "y", "x", is_file=False) == table.select(["y", "x"]).to_pydict()
    assert read(memoryview(file).tobytes(), "x") == {"x": [1.5, 2.5, 3.5]}


@dataclass
class File:
    """The parts of a file: its messages, and where the footer says that they are."""

    messages: list
    dictionaries: list
    batches: list

    @classmethod
    def of(cls, dictionaries, batches):
        """Make a valid file."""
        places, at = [], 8
        for each in (*dictionaries, *batches):
            metadata = 8 + struct.unpack_from("<i", each, 4)[0]
            places.append((at, metadata, len(each) - metadata))
            at += len(each)
        return cls([*dictionaries, *batches], places[: len(dictionaries)], places[len(dictionaries) :])

    def written(self):
        """Write it, with the schema only in the footer, as polars does."""
        builder = MessageBuilder(1024)
        fields = builder.tables([builder.integer_field("x")])
        schema = builder.table({1: ("offset", fields)})
        lists = []
        for blocks in (self.dictionaries, self.batches):
            builder.StartVector(24, len(blocks), 8)
            for offset, metadata, length in reversed(blocks):
                builder.PrependInt64(length)
                builder.PrependInt32(0)
                builder.PrependInt32(metadata)
                builder.PrependInt64(offset)
            lists.append(builder.EndVector())
        places = {1: schema, 2: lists[0], 3: lists[1]}
        builder.Finish(builder.table({0: ("int16", 4)} | {k: ("offset", place) for k, place in places.items()}))
        footer = bytes(builder.Output())
        return b"ARROW1\0\0" + b"".join(self.messages) + footer + struct.pack("<i", len(footer)) + b"ARROW1"


def batch(values, *, declared=None, codec=1, packed=True, length=None, offset=0):
    """A record batch of one compressed column of 8-bit integers, which may lie about its buffer."""
    content = bytes(values)
    if packed:
        name = ("lz4", "zstd")[codec]
        content = struct.pack("<q", len(values) if declared is None else declared) + (
            bytes(values) if declared == -1 else pa.compress(content, name, asbytes=True)
        )
    buffers = [(0, 0), (offset, len(content) if length is None else length)]
    body = content + bytes(-len(content) % 8)

    def header(builder):
        nodes, spans = builder.structs([(len(values), 0)]), builder.structs(buffers)
        fields = {0: ("int64", len(values)), 1: ("offset", nodes), 2: ("offset", spans)}
        if packed:
            fields[3] = ("offset", builder.table({0: ("uint8", codec), 1: ("uint8", 0)}))
        return builder.table(dict(sorted(fields.items())))

    return message(RECORD_BATCH, header, body)


RIGHT = File.of([], [batch([1, 2]), batch([3], packed=False), batch([4, 5, 6], declared=-1)])


def test_the_file_that_the_lies_start_from_is_read():
    assert read(RIGHT.written(), "x") == {"x": [1, 2, 3, 4, 5, 6]}
    assert read(replace(RIGHT, batches=RIGHT.batches[::-1]).written(), "x") == {"x": [4, 5, 6, 3, 1, 2]}
    assert read(replace(RIGHT, batches=RIGHT.batches[1:2]).written(), "x") == {"x": [3]}


FIRST, SECOND, THIRD = RIGHT.batches
FOOTERS = {
    "one twice": [FIRST, FIRST],
    "overlapping": [FIRST, (FIRST[0] + 8, *FIRST[1:])],
    "overlapping bodies": [(FIRST[0], FIRST[1], FIRST[2] + 8), SECOND],
    "out of the file": [(1 << 40, 8, 8)],
    "beyond 64 bits": [((1 << 63) - 8, 8, (1 << 63) - 8)],
    "in the footer": [(FIRST[0], FIRST[1], 1 << 12)],
    "in the magic": [(0, FIRST[1] + 8, FIRST[2])],
    "a negative place": [(-8, 8, 8)],
    "a negative length": [FIRST, (SECOND[0], SECOND[1], -8)],
    "negative metadata": [(FIRST[0], -FIRST[1], FIRST[2])],
    "nothing": [(FIRST[0], 0, 0)],
    "in two": [(FIRST[0], 8, 0), (FIRST[0] + 8, FIRST[1] - 8, FIRST[2])],
    "two as one": [(FIRST[0], FIRST[1], FIRST[2] + SECOND[1] + SECOND[2])],
    "another border": [(FIRST[0], FIRST[1] + 8, FIRST[2] - 8)],
}


@pytest.mark.parametrize("blocks", FOOTERS.values(), ids=FOOTERS)
def test_a_footer_that_lies_is_found_out(blocks):
    assert refused(replace(RIGHT, batches=blocks).written())[0] == "malformed_body"


def test_a_batch_is_not_a_dictionary_of_a_footer():
    body = replace(RIGHT, dictionaries=RIGHT.batches[:1], batches=RIGHT.batches[1:]).written()
    assert refused(body) == (
        "malformed_body",
        "The footer of the Arrow file does not match the record batches and dictionaries in it.",
    )


def test_a_dictionary_does_not_come_twice_in_a_file():
    def dictionary(builder, between=""):
        inner = builder.batch(0, [(0, 0)], [(0, 0), (0, 0)])
        builder.CreateString(between)
        return builder.table({0: ("int64", 7), 1: ("offset", inner)})

    twice = [message(DICTIONARY, lambda builder, text=text: dictionary(builder, text)) for text in ("", "far from it")]
    assert refused(File.of(twice, [batch([1])]).written())[1] == "The Arrow file has the same dictionary twice."


@pytest.mark.parametrize("place", range(0, 200, 4))
@pytest.mark.parametrize("value", [0xFFFFFFFF, 0x7FFFFFFF, 0, 1 << 16])
def test_a_footer_may_point_anywhere(place, value):
    body = bytearray(RIGHT.written())
    struct.pack_into("<I", body, len(body) - 14 - place, value)
    with suppress(Problem):
        table = ArrowTable(bytes(body), LIMITS, is_file=True)
        assert sum(column.cells is not None for column in table.read(table.header[:1]).values()) <= 1


def test_a_partial_file_is_malformed():
    body = RIGHT.written()
    for part in (
        b"",
        b"ARROW1",
        b"ARROW1\0\0ARROW1",
        b"ARROW1\0\0" + bytes(4) + b"ARROW1",
        body[:-1],
        body[1:],
        body[:-20],
    ):
        assert refused(part) == ("malformed_body", "The body is not an Arrow file, or only part of one.")
    for size in (-1, 1 << 30, len(body), len(body) - 17):
        lie = body[:-10] + struct.pack("<i", size) + body[-6:]
        assert refused(lie)[0] == "malformed_body"
    long = File.of([], [batch([], packed=False)] * (MOST_BATCHES + 1)).written()
    assert refused(long)[0] == "invalid_request"


LONG = 1 << 40
COMPRESSED_LIES = {
    "huge": (batch([1, 2], declared=LONG), "body_too_large"),
    "as long as can be said": (batch([1, 2], declared=(1 << 63) - 1), "body_too_large"),
    "negative": (batch([1, 2], declared=-2), "malformed_body"),
    "as negative as can be said": (batch([1, 2], declared=-(1 << 63)), "malformed_body"),
    "no room for how long it becomes": (batch([1, 2], length=7), "malformed_body"),
    "out of the body": (batch([1, 2], offset=1 << 40), "malformed_body"),
    "before the body": (batch([1, 2], offset=-8), "malformed_body"),
}


@pytest.mark.parametrize(("lie", "code"), COMPRESSED_LIES.values(), ids=COMPRESSED_LIES)
@pytest.mark.usefixtures("never_opened")
def test_a_compressed_buffer_that_lies_is_found_out_before_anything_is_made(lie, code):
    assert refused(schema_message("x") + lie, is_file=False)[0] == code
    assert refused(File.of([], [lie]).written())[0] == code


@pytest.mark.parametrize("declared", [1, 3, 1 << 20])
@pytest.mark.parametrize("codec", [0, 1])
def test_a_buffer_has_exactly_its_declared_size(codec, declared):
    assert (
        refused(schema_message("x") + batch([1, 2], declared=declared, codec=codec), is_file=False)[0]
        == "malformed_body"
    )


def test_bytes_that_are_not_compressed_are_malformed():
    noise = batch([1, 2]).replace(b"\x28\xb5\x2f\xfd", bytes(4))
    assert refused(schema_message("x") + noise, is_file=False)[0] == "malformed_body"


@pytest.mark.parametrize("compression", ["lz4", "zstd"])
@pytest.mark.usefixtures("never_opened")
def test_what_all_buffers_become_is_added_up(compression):
    zeros = pa.table({"x": np.zeros(500)})
    one = arrow_body(zeros, compression=compression)
    assert len(one) < 1000
    many = arrow_body(chunked(pa.concat_tables([zeros, zeros]), 500), compression=compression)
    assert refused(one, Limits(1000, 10, 3999), is_file=False)[0] == "body_too_large"
    assert refused(many, Limits(1000, 10, 7999), is_file=False)[0] == "body_too_large"
    file = arrow_file_body(chunked(pa.concat_tables([zeros, zeros]), 500), compression=compression)
    assert refused(file, Limits(1000, 10, 7999)) == (
        "body_too_large",
        "The compressed buffers unpack to more than the limit of 7999 bytes.",
    )


def test_what_buffers_become_may_be_as_much_as_the_limit():
    zeros = pa.table({"x": np.zeros(500)})
    assert len(read(arrow_file_body(zeros, compression="zstd"), "x", limits=Limits(1000, 10, 4000))["x"]) == 500


@pytest.mark.usefixtures("never_opened")
def test_dictionaries_that_come_again_and_again_are_added_up():
    """A stream may replace a dictionary before each batch, but a reader holds all of them."""
    texts = [pa.array([f"{letter}" * 3000, "b"]).dictionary_encode() for letter in "acdefgh"]
    table = pa.Table.from_batches([pa.record_batch([text], ["x"]) for text in texts])
    body = arrow_body(table, compression="zstd")
    assert len(body) < 7 * 1000
    assert refused(body, Limits(1000, 10, 7 * 3000), is_file=False)[0] == "body_too_large"
