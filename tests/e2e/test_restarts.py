"""Restarts like those of deploy/systemd lose nothing."""

import pytest

from tests.support.attacks.restarts import roll

pytestmark = pytest.mark.all


def test_rolling_restarts_lose_nothing(*, runs_all: bool) -> None:
    found = roll(10 if runs_all else 2, ahead=2, workers=1)
    assert found.missed == []
