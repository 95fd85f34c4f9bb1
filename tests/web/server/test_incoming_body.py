"""The body of a request while it arrives: in memory, then in a file, and never above the limit."""

import errno
import io
import os
import tempfile
import tracemalloc
from collections.abc import Iterator
from functools import partial
from pathlib import Path
from typing import Any

import pytest

from service.web.server.incoming_body import IncomingBody
from service.wire.problems import Problem


class Spool:
    """Files that were opened."""

    def __init__(self, directory: Path) -> None:
        self.files: list[Any] = []
        self._open = partial(tempfile.TemporaryFile, dir=directory)

    def __call__(self) -> Any:
        self.files.append(self._open())
        return self.files[-1]


@pytest.fixture
def spool(tmp_path: Path) -> Iterator[Spool]:
    spool = Spool(tmp_path)
    yield spool
    for file in spool.files:
        file.close()


@pytest.mark.parametrize("pieces", [[b"abcd"], [b"ab", b"cd"], [b"", b"abcd", b""]])
def test_a_short_body_stays_in_memory(spool: Spool, pieces: list[bytes]) -> None:
    body = IncomingBody(100, 4, spool)
    for piece in pieces:
        body.write(memoryview(piece))
    assert (body.length, body.is_spooled, spool.files) == (4, False, [])
    assert body.whole().read() == b"abcd"
    assert body.whole().read() == b"abcd"


@pytest.mark.parametrize("pieces", [[b"abcde"], [b"abcd", b"e"], [b"ab", b"cde"], [b"a", b"b", b"c", b"d", b"e"]])
def test_a_longer_one_goes_to_one_file(spool: Spool, pieces: list[bytes]) -> None:
    body = IncomingBody(100, 4, spool)
    for piece in pieces:
        body.write(piece)
    (file,) = spool.files
    assert (body.length, body.is_spooled) == (5, True)
    whole = body.whole()
    assert whole is file
    assert os.pread(whole.fileno(), 100, 0) == b"abcde"  # as another process reads it
    assert whole.read() == b"abcde"
    body.write(b"fg")
    assert body.whole().read() == b"abcdefg"
    assert spool.files == [file]


def test_an_empty_body_is_whole(spool: Spool) -> None:
    assert IncomingBody(100, 4, spool).whole().read() == b""


def test_a_body_may_be_as_long_as_the_limit(spool: Spool) -> None:
    body = IncomingBody(5, 100, spool)
    body.write(b"abcde")
    with pytest.raises(Problem, match="longer than the limit of 5 bytes") as caught:
        body.write(b"f")
    assert caught.value.type.code == "body_too_large"
    with pytest.raises(Problem):
        IncomingBody(5, 2, spool).write(b"abcdef")
    assert spool.files == []


def test_a_file_that_cannot_be_opened_is_reported() -> None:
    def fail() -> Any:
        raise OSError(errno.EMFILE, "no descriptor is left")

    body = IncomingBody(100, 4, fail)
    body.write(b"abcd")
    with pytest.raises(OSError, match="no descriptor"):
        body.write(b"e")


@pytest.mark.parametrize("size", [5, 1 << 20], ids=["at its end", "while it comes"])
def test_a_full_file_system_is_reported_and_the_body_can_be_dropped(size: int) -> None:
    """When a file is closed, its last bytes are still in memory, and again find no room."""
    body = IncomingBody(1 << 30, 4, partial(open, "/dev/full", "r+b"))
    with pytest.raises(OSError, match="No space left"):
        write_whole(body, size)
    body.close()
    body.close()


def write_whole(body: IncomingBody, size: int) -> None:
    body.write(bytes(size))
    body.whole()


def test_a_dropped_body_leaves_nothing(spool: Spool) -> None:
    short, long = IncomingBody(100, 4, io.BytesIO), IncomingBody(100, 4, spool)
    for body in (short, long):
        body.write(b"abcd")
        body.write(b"e" if body is long else b"")
        body.close()
        body.close()
    assert spool.files[0].closed


def test_a_body_of_single_bytes_takes_no_more_memory_than_another() -> None:
    size = 100_000
    body = IncomingBody(size, size, io.BytesIO)
    tracemalloc.start()
    try:
        for _ in range(size):
            body.write(b"x")
        _, most = tracemalloc.get_traced_memory()
    finally:
        tracemalloc.stop()
    assert body.whole().read() == b"x" * size
    assert most < 3 * size
