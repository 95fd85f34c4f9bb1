"""A process that cannot map the board does without it."""

import errno
from pathlib import Path

import pytest

from service.web import runtime
from service.web.lanes.board import Board


def test_a_process_without_room_for_the_board_is_alone(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    def fail(*_: object) -> None:
        raise OSError(errno.ENOSPC, "no room")

    Board(tmp_path).count_connections(1)
    with monkeypatch.context() as patch:
        patch.setattr(runtime.os, "posix_fallocate", fail)
        alone = Board(tmp_path)
    alone.count_connections(5)
    assert alone.fewest_connections() == 5
    assert caplog.messages == ["This process shares nothing with the others: No space left on device."]
    other = Board(tmp_path)
    other.count_connections(7)
    assert other.fewest_connections() == 1
