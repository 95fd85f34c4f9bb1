"""Where the bytes of an answer go, and when memory is looked for."""

import io

import pytest

from service.wire.answers import output
from service.wire.answers.output import WRITTEN_AT_ONCE, Output

LONG, SHORT = b"l" * (1 << 17), b"s" * 100


def test_pieces_are_held_or_written() -> None:
    file = io.BytesIO()
    held, written = Output(), Output(file=file)
    for piece in (SHORT, memoryview(LONG), b"", b"x" * (2 * WRITTEN_AT_ONCE + 1)):
        held.write(piece)
        written.write(piece)
    assert held.held() == file.getvalue() == SHORT + LONG + b"x" * (2 * WRITTEN_AT_ONCE + 1)
    assert written.held() == b""


def test_memory_is_checked_after_each_quarter_of_a_mebibyte(monkeypatch: pytest.MonkeyPatch) -> None:
    looked: list[int] = []
    monkeypatch.setattr(output, "require_memory", looked.append)
    given = [SHORT, LONG, LONG, SHORT, LONG, LONG]
    pieces = Output(7).checking_memory(given)
    assert [(next(pieces), len(looked)) for _ in given] == list(zip(given, (0, 0, 0, 1, 1, 1), strict=True))
    assert list(pieces) == []
    assert looked == [7, 7]
    assert list(Output(7).checking_memory([SHORT] * 2622)) == [SHORT] * 2622
    assert looked == [7, 7, 7]
    assert list(Output().checking_memory([LONG, LONG])) == [LONG, LONG]
    assert looked == [7, 7, 7]
