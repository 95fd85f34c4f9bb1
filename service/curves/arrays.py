"""The kinds of arrays that the mathematics works on, and how it walks along them. Knows NumPy only."""

from collections.abc import Iterator
from typing import TypeAlias

import numpy as np
from numpy.typing import NDArray

FloatArray: TypeAlias = NDArray[np.float64]
IntArray: TypeAlias = NDArray[np.int64]
BoolArray: TypeAlias = NDArray[np.bool_]

LARGEST_EXACT_INTEGER = 2.0**53
"""Every integer up to here is a double."""

LARGEST_DOUBLE = float(np.finfo(np.float64).max)
"""Stands for infinity in JSON, which has none."""

BLOCK = 1 << 15
"""Rows in a block: long columns are processed in blocks whose intermediate results stay in the processor's cache."""


def blocks(size: int, rows: int = BLOCK) -> Iterator[slice]:
    """Cut this many rows into one or more blocks."""
    for start in range(0, max(size, 1), rows):
        yield slice(start, start + rows)


def are_integers(column: FloatArray) -> bool:
    """Whether all numbers are integers, of any size."""
    return all(bool((np.floor(part) == part).all()) for part in map(column.__getitem__, blocks(column.size)))


def with_infinite_last(thresholds: FloatArray, *, lower_is_positive: bool) -> FloatArray:
    """Thresholds, with infinity in place of the double that is the last threshold of a sweep over finite scores.

    JSON has no infinity, so that double, ∓1.797e308, may stand in an answer for the threshold that calls everything
    positive.
    """
    last = LARGEST_DOUBLE if lower_is_positive else -LARGEST_DOUBLE
    return np.where(thresholds == last, np.copysign(np.inf, last), thresholds)
