"""The width that commands lay out for."""

import pytest


@pytest.fixture(autouse=True)
def _width(monkeypatch: pytest.MonkeyPatch) -> None:
    """Lay out for 80 columns, however wide the terminal of the tests is."""
    monkeypatch.setenv("COLUMNS", "80")
