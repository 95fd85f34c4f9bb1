"""Intervals of λ whose ends are doubles."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from service.curves.lambda_intervals import LambdaIntervals


def between(start: NDArray[np.float64], end: NDArray[np.float64]) -> LambdaIntervals:
    """The intervals from each start to its end."""
    return LambdaIntervals(start, end, 1 - start, 1 - end)
