"""The running server that the gate's command asks, and the width that commands lay out for."""

import pytest

from tests.cli.gate_server import guarded

__all__ = ["guarded"]


@pytest.fixture(autouse=True)
def _width(monkeypatch: pytest.MonkeyPatch) -> None:
    """Lay out for 80 columns, however wide the terminal of the tests is."""
    monkeypatch.setenv("COLUMNS", "80")
