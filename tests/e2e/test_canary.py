"""A secret and hostile texts in every string: they appear nowhere that they should not."""

import pytest

from tests.support.attacks.canary import run

pytestmark = pytest.mark.all


def test_the_canary_is_not_found_anywhere() -> None:
    assert run().missed == []
