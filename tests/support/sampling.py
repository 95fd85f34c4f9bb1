"""Which cases of a long table the first command runs."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

import pytest


def some(cases: Iterable[Any], every: int) -> list[Any]:
    """All cases of a table for `parametrize`: every n-th for the first command, the others for `--all` alone.

    Of a product, a step that shares no factor with the inner table's length takes each value of both in turn.
    """
    return [
        pytest.param(*(case if isinstance(case, tuple) else (case,)), marks=[pytest.mark.all] if place % every else [])
        for place, case in enumerate(cases)
    ]
