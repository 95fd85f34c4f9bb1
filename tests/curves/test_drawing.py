"""Where a score lies along an axis of scores."""

from __future__ import annotations

import numpy as np
import pytest

from service.curves.drawing import along


@pytest.mark.parametrize(
    ("scores", "places"),
    [
        ([0.25, 1.0], [0.25, 1.0]),
        ([-1.0, 0.5, 3.0], [0.0, 0.375, 1.0]),
        ([2.0, 2.0], [0.5, 0.5]),
        ([-1.5e308, 0.0, 1.5e308], [0.0, 0.5, 1.0]),
        ([4.0, 5.0, 8.0], [0.0, 0.25, 1.0]),
    ],
)
def test_scores_beyond_probabilities_are_shares_of_their_range(scores: list[float], places: list[float]) -> None:
    assert along(np.array(scores), np.array(scores)).tolist() == places
