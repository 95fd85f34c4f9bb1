"""Thrift's compact protocol: what is written can be read, and nothing can be read in two ways."""

import pytest

from service.wire.formats.thrift_compact import (
    BINARY,
    BOOL,
    BYTE,
    DOUBLE,
    I16,
    I32,
    I64,
    LIST,
    STRUCT,
    NotThriftError,
    Reader,
    written,
)


def read(body):
    return Reader(body, 0, len(body)).struct()


@pytest.mark.parametrize(
    "struct",
    [
        {},
        {(1, I32): 0, (2, I64): -1, (3, BINARY): b"", (4, LIST): (I32, [])},
        {(1, I64): 2**63 - 1, (2, I64): -(2**63), (3, I32): 2**31 - 1, (4, I32): -(2**31)},
        {(3, LIST): (STRUCT, [{(1, BINARY): b"x" * 300}, {}]), (7, STRUCT): {(15, I32): 150}},
        {(1, LIST): (BINARY, [b"a"] * 20), (2, I16): -300},
    ],
)
def test_what_is_written_is_read(struct):
    assert read(written(struct)) == struct


def test_reads_as_the_protocol_says():
    """A zigzag integer, a boolean in the type, a long step, a short list, a byte, the eight bytes of a double."""
    assert read(b"\x15\x01\x00") == {(1, I32): -1}
    assert read(b"\x11\x12\x00") == {(1, BOOL): True, (2, BOOL): False}
    assert read(b"\x05\x28\x02\x00") == {(20, I32): 1}
    assert read(b"\x19\x25\x02\x04\x00") == {(1, LIST): (I32, [1, 2])}
    assert read(b"\x13\x08\x00") == {(1, BYTE): 8}
    assert read(b"\x17abcdefgh\x00") == {(1, DOUBLE): b"abcdefgh"}


@pytest.mark.parametrize(
    "body",
    [
        b"",
        b"\x15",
        b"\x15\x02",
        b"\x15\x80\x80\x80\x80\x10\x00",  # 2^32: more than 32 bits
        b"\x15" + b"\x80" * 10 + b"\x01\x00",
        b"\x05\x02\x02\x05\x02\x04\x00",  # a field twice
        b"\x25\x02\x05\x02\x04\x00",  # a field before an earlier one
        b"\x1b\x00\x00",  # a map
        b"\x1d\x00\x00",  # not a type
        b"\x18\x7fabc\x00",
        b"\x19\xf5\xff\xff\xff\xff\x0f",  # a list longer than the rest
        b"\x1c" * 40,
        b"\x1c" * 40 + b"\x00" * 41,  # complete, but deeper than any footer
    ],
)
def test_what_could_be_read_in_another_way_is_refused(body):
    with pytest.raises(NotThriftError):
        read(body)


def test_nothing_beyond_the_end_is_read():
    body = written({(1, BINARY): b"abc"})
    with pytest.raises(NotThriftError):
        Reader(body, 0, len(body) - 1).struct()
    reader = Reader(b"xx" + body + b"yy", 2, 100)
    assert reader.struct() == {(1, BINARY): b"abc"}
    assert reader.position == 2 + len(body)
