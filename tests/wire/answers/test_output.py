"""Where the bytes of an answer go, and when memory is checked."""

import io

import pytest

from service.wire.answers import output
from service.wire.answers.output import WRITTEN_AT_ONCE, Output

LONG, SHORT = b"l" * 5000, b"s" * 100


def test_pieces_are_held_or_written() -> None:
    file = io.BytesIO()
    held, written = Output(), Output(file=file)
    for piece in (SHORT, memoryview(LONG), b"", b"x" * (2 * WRITTEN_AT_ONCE + 1)):
        held.write(piece)
        written.write(piece)
    assert held.held() == file.getvalue() == SHORT + LONG + b"x" * (2 * WRITTEN_AT_ONCE + 1)
    assert written.held() == b""


def test_memory_is_checked_whenever_pieces_took_a_sixteenth_of_the_headroom(monkeypatch: pytest.MonkeyPatch) -> None:
    looked: list[int] = []
    monkeypatch.setattr(output, "require_memory", looked.append)
    headroom = 16 * (len(SHORT) + len(LONG)) - 1
    pieces = Output(headroom).checking_memory([SHORT, LONG, SHORT, LONG, LONG])
    assert [(next(pieces), len(looked)) for _ in range(5)] == [(SHORT, 0), (LONG, 0), (SHORT, 1), (LONG, 1), (LONG, 2)]
    assert list(pieces) == []
    assert looked == [headroom, headroom]
    assert list(Output().checking_memory([LONG, LONG])) == [LONG, LONG]
    assert looked == [headroom, headroom]
