"""Intervals of λ. Ends are kept as λ and as 1 - λ: near 1, only that is accurate in a double. Knows NumPy only."""

from dataclasses import dataclass

import numpy as np

from service.curves.arrays import FloatArray, IntArray


@dataclass(frozen=True, slots=True, eq=False)
class LambdaIntervals:
    """Adjacent intervals in rising order, (n,): `start` and `end` are λ, `rest_start` and `rest_end` are 1 - λ."""

    start: FloatArray
    end: FloatArray
    rest_start: FloatArray
    rest_end: FloatArray

    def __getitem__(self, which: IntArray) -> "LambdaIntervals":
        return LambdaIntervals(self.start[which], self.end[which], self.rest_start[which], self.rest_end[which])

    @property
    def ends(self) -> tuple[tuple[FloatArray, FloatArray], tuple[FloatArray, FloatArray]]:
        """λ and 1 - λ at the starts, and at the ends."""
        return (self.start, self.rest_start), (self.end, self.rest_end)

    @property
    def length(self) -> FloatArray:
        """The length of each, to within a few units."""
        return np.where(self.start < 1 / 2, self.end - self.start, self.rest_start - self.rest_end)
