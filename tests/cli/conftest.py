"""The width of the terminal, and a table whose columns have other names."""

from pathlib import Path

import pytest

from tests.cli.running import NAMED


@pytest.fixture(autouse=True)
def _width(monkeypatch: pytest.MonkeyPatch) -> None:
    """Lay out for 80 columns, however wide the terminal of the tests is."""
    monkeypatch.setenv("COLUMNS", "80")


@pytest.fixture
def named(tmp_path: Path) -> Path:
    path = tmp_path / "named.csv"
    path.write_text(NAMED)
    return path
