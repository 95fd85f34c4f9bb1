"""Sending an answer: in pieces, no faster than the client reads, and not for ever."""

import tempfile
from collections.abc import Iterator
from typing import Any, BinaryIO

import pytest

from service.web.server import sending as sending_module
from service.web.server.reply import FileBody, Reply
from service.web.server.sending import BUFFERED_BYTES, PIECE_BYTES, STALLED_SECONDS, Sending

HEAD = b"HTTP/1.1 200 OK\r\n"
KEEP = b"Connection: keep-alive\r\n\r\n"
CONTENT = bytes(range(256)) * 4096  # four pieces


class Transport:
    """A transport of asyncio whose client reads when a test says so; `was_sent` is the last result of a sending.

    system   how many bytes the system takes at once.
    """

    def __init__(self, system: int = 0) -> None:
        self.written = bytearray()
        self.waiting = 0
        self.most = 0
        self.was_sent = False
        self._system = system
        self._high = self._low = 1 << 16
        self._is_paused = False
        self.sending: Sending | None = None

    def set_write_buffer_limits(self, high: int, low: int | None = None) -> None:
        self._high, self._low = high, high // 4 if low is None else low
        self._maybe_pause()

    def is_closing(self) -> bool:
        return False

    def get_write_buffer_size(self) -> int:
        return self.waiting

    def write(self, data: bytes) -> None:
        self.written += data
        taken = min(self._system, len(data)) if not self.waiting else 0
        self._system -= taken
        self.waiting += len(data) - taken
        self.most = max(self.most, self.waiting)
        self._maybe_pause()

    def _maybe_pause(self) -> None:
        if self.waiting > self._high and not self._is_paused:
            self._is_paused = True

    def read(self, size: int) -> None:
        """Let the client read this many bytes."""
        self.waiting -= min(size, self.waiting)
        if self._is_paused and self.waiting <= self._low:
            self._is_paused = False
            assert self.sending is not None
            self.was_sent = self.sending.send_more()

    def begin(self, body: bytes | FileBody, length: int, *, is_last: bool = False) -> Sending:
        """Begin to send an answer, as a connection does."""
        self.sending = Sending(self, Reply(HEAD, body, length), is_last=is_last)
        self.was_sent = self.sending.send_more()
        return self.sending

    @property
    def content(self) -> bytes:
        return bytes(self.written).partition(b"\r\n\r\n")[2]


@pytest.fixture
def file() -> Iterator[BinaryIO]:
    with tempfile.TemporaryFile() as file:
        file.write(b"before" + CONTENT)
        file.seek(6)
        yield file


@pytest.mark.parametrize(("is_last", "field"), [(True, b"close"), (False, b"keep-alive")])
def test_a_short_answer_is_sent_at_once(*, is_last: bool, field: bytes) -> None:
    transport = Transport(1 << 20)
    transport.begin(b"abc", 3, is_last=is_last)
    assert transport.written == HEAD + b"Connection: " + field + b"\r\n\r\nabc"
    assert transport.was_sent


def test_an_answer_is_sent_when_all_of_it_has_left_the_process() -> None:
    """Until then, its client may be too slow, and the connection must not end."""
    transport = Transport()
    sending = transport.begin(b"abc", 3)
    assert not transport.was_sent
    for _ in range(len(transport.written) - 1):
        transport.read(1)
        assert not transport.was_sent
    assert sending.unsent_in_memory() == 1
    transport.read(1)
    assert transport.was_sent


@pytest.mark.parametrize("kind", ["memory", "file"])
def test_a_long_answer_is_produced_no_faster_than_it_is_read(file: BinaryIO, kind: str) -> None:
    transport = Transport(100_000)
    sending = transport.begin(CONTENT if kind == "memory" else FileBody(file), len(CONTENT))
    reads = 0
    while not transport.was_sent:
        left = len(HEAD + KEEP + CONTENT) - len(transport.written)
        told = sending.unsent_in_memory(), sending.unsent_in_file()
        assert told == ((transport.waiting + left, 0) if kind == "memory" else (transport.waiting, left))
        transport.read(50_000)
        reads += 1
    assert transport.content == CONTENT
    assert reads > len(CONTENT) / 50_000 - 3
    assert transport.most <= PIECE_BYTES + BUFFERED_BYTES + len(HEAD + KEEP)
    assert sending.bytes == len(CONTENT)


@pytest.mark.parametrize("length", [10, PIECE_BYTES, PIECE_BYTES + 1])
def test_of_a_file_are_sent_up_to_the_stated_length(file: BinaryIO, length: int) -> None:
    transport = Transport(1 << 30)
    transport.begin(FileBody(file), length)
    assert transport.was_sent
    assert transport.content == CONTENT[:length]


def test_of_a_file_are_sent_from_its_position(file: BinaryIO) -> None:
    transport = Transport(1 << 30)
    transport.begin(FileBody(file), len(CONTENT))
    assert transport.content == CONTENT


def test_a_file_that_is_shorter_than_the_answer_is_an_error(file: BinaryIO) -> None:
    """The reader must not take it for the whole answer."""
    with pytest.raises(OSError, match="shorter"):
        Transport(1 << 30).begin(FileBody(file), len(CONTENT) + 1)
    transport = Transport()
    transport.begin(FileBody(file), len(CONTENT))
    file.truncate(6 + PIECE_BYTES)
    with pytest.raises(OSError, match="shorter"):
        transport.read(1 << 20)


@pytest.mark.parametrize("make", [FileBody, lambda _: b"abc"])
def test_what_is_not_sent_is_let_go(file: BinaryIO, make: Any) -> None:
    body = make(file)
    Transport().begin(body, 3).close()
    assert file.closed == isinstance(body, FileBody)


class TestTime:
    @pytest.fixture(autouse=True)
    def now(self, monkeypatch: pytest.MonkeyPatch) -> list[float]:
        now = [1000.0]
        clock = type("Clock", (), {"monotonic": staticmethod(lambda: now[0])})
        monkeypatch.setattr(sending_module, "time", clock)
        return now

    def test_who_reads_nothing_is_stalled(self, now: list[float]) -> None:
        transport = Transport()
        sending = transport.begin(CONTENT, len(CONTENT))
        assert not sending.is_stalled()
        now[0] += STALLED_SECONDS
        assert not sending.is_stalled()
        now[0] += 0.1
        assert sending.is_stalled()

    def test_who_reads_slowly_is_not(self, now: list[float]) -> None:
        transport = Transport()
        sending = transport.begin(CONTENT, len(CONTENT))
        for _ in range(10):
            now[0] += STALLED_SECONDS
            assert not sending.is_stalled()
            transport.read(1)
        transport.read(len(CONTENT) // 2)
        assert not sending.is_stalled()
        now[0] += STALLED_SECONDS + 0.1
        assert sending.is_stalled()

    def test_the_rate_is_what_the_client_has_read_in_its_time(self, now: list[float]) -> None:
        transport = Transport()
        sending = transport.begin(CONTENT, len(CONTENT))
        assert sending.rate() == 0
        transport.read(100_000)
        head = len(HEAD + KEEP)
        assert sending.rate() == 100_000 - head
        now[0] += 10
        assert sending.rate() == pytest.approx((100_000 - head) / 10)
