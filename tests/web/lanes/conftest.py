"""The time on the boards of processes, which a test sets."""

import pytest

from service.web.lanes import board as board_module


@pytest.fixture
def now(monkeypatch: pytest.MonkeyPatch) -> list[float]:
    now = [1000.0]
    monkeypatch.setattr(board_module, "time", type("Clock", (), {"monotonic": staticmethod(lambda: now[0])}))
    return now
