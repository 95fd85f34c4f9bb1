"""Where the bytes of an answer go, and when memory is looked for."""

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


def test_memory_is_checked_only_after_long_pieces(monkeypatch: pytest.MonkeyPatch) -> None:
    looked: list[int] = []
    monkeypatch.setattr(output, "require_memory", looked.append)
    pieces = Output(7).checking_memory([SHORT, LONG, SHORT, LONG])
    assert [(next(pieces), len(looked)) for _ in range(4)] == [(SHORT, 0), (LONG, 0), (SHORT, 1), (LONG, 1)]
    assert list(pieces) == []
    assert looked == [7, 7]
    assert list(Output().checking_memory([LONG, LONG])) == [LONG, LONG]
    assert looked == [7, 7]
