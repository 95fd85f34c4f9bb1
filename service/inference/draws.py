"""How often each example of a class occurs in a bootstrap resample: n draws with replacement from n examples.

Counts are drawn, not indices: independent Poisson counts, given their total, are distributed like the counts of that
many draws with equal probabilities. So every example gets a Poisson count with a mean slightly below 1, in passes over
memory, and the few missing draws are made one by one. If the total exceeds n, one time in a thousand, all n draws are
made one by one. Resamples take from the streams in turn, so they do not depend on how many are requested at once.
Knows numbers of examples; nothing of scores or tables.
Source of the Poisson counts: Marsaglia, Tsang & Wang 2004, "Fast generation of discrete random variables".
"""

import math
from typing import Any, Protocol, TypeAlias

import numpy as np
from numpy.typing import NDArray

from service.curves.arrays import FloatArray, IntArray

CountArray: TypeAlias = NDArray[np.integer[Any]]

CROWD = 32
"""From this many examples per kind on, drawing counts of kinds is faster than drawing counts of examples."""

_BELOW = 3.0
"""The standard deviations by which the mean total of the Poisson counts is below n."""
_RANDOM_WORDS = 1 << 15
"""Counts drawn at a time, to stay in the processor's cache."""
_TABLE_CELLS = 1 << 16
_COMMON = 4
"""Counts up to this are read off 16 random bits; a second draw decides on larger counts and the remainders of cells."""
_NOTHING = 2.0**-64
"""A uniform double cannot resolve the probabilities of rarer counts."""


class Draws(Protocol):
    """The counts of one class, resample after resample."""

    def counts(self, resamples: int) -> CountArray:
        """Counts in the next b resamples, (b, kinds); the next call may overwrite the array."""
        ...


def draws(examples: FloatArray, seed: np.random.SeedSequence) -> tuple[IntArray | None, Draws]:
    """Start drawing from kinds of this many examples each, (kinds,), whole numbers that sum to at most 2^53.

    Also returns the kind of each count, (n,), if examples are drawn singly; None if counts are of the given kinds.
    """
    size = int(examples.sum())
    if size > min(CROWD * examples.size, np.iinfo(np.int32).max):
        return None, KindDraws(examples, seed)
    kinds = None if size == examples.size else np.repeat(np.arange(examples.size), examples.astype(np.int64))
    return kinds, SingleDraws(size, seed)


class KindDraws:
    """Draws from kinds of many examples each: every count is binomial given the ones before."""

    def __init__(self, examples: FloatArray, seed: np.random.SeedSequence) -> None:
        # In ascending order the remaining probability, a difference, is never small relative to its rounding error.
        self._order = np.argsort(examples, kind="stable")
        self._chances = examples[self._order] / examples.sum()
        self._size = int(examples.sum())
        self._random = np.random.Generator(np.random.PCG64(seed))

    def counts(self, resamples: int) -> CountArray:
        """Counts in the next b resamples, (b, kinds)."""
        out = np.empty((resamples, self._order.size), np.int64)
        out[:, self._order] = self._random.multinomial(self._size, self._chances, size=resamples)
        return out


class SingleDraws:
    """Draws from n single examples."""

    def __init__(self, size: int, seed: np.random.SeedSequence) -> None:
        words, rare, missing = (np.random.PCG64(child) for child in seed.spawn(3))
        self._size = size
        self._padded = size + -size % 4  # four counts from each random word
        self._words = words
        self._rare, self._missing = np.random.Generator(rare), np.random.Generator(missing)
        self._mean = max(1 - _BELOW / math.sqrt(size), 0.0)
        cells, self._rare_ends = poisson_cells(self._mean)
        # Rare counts have the first cells, followed by 4, 3, 2, 1 and 0, so counts are greater below each bound.
        self._bounds = [np.uint16(_TABLE_CELLS - sum(cells[: count + 1])) for count in range(_COMMON + 1)]
        self._more = np.empty(_RANDOM_WORDS, np.bool_)
        self._out = np.empty(0, np.uint8)

    def counts(self, resamples: int) -> CountArray:
        """Counts in the next b resamples, (b, n)."""
        if self._out.size < resamples * self._padded:
            self._out = np.empty(resamples * self._padded, np.uint8)
        flat = self._out[: resamples * self._padded]
        table = flat.reshape(resamples, self._padded)
        if self._mean == 0:
            flat[:] = 0
        else:
            for start in range(0, flat.size, _RANDOM_WORDS):
                self._poisson(flat[start : start + _RANDOM_WORDS])
            table[:, self._size :] = 0
        missing = self._size - table.sum(axis=1, dtype=np.int32)  # sums faster than 64 bits
        above = missing < 0
        table[above] = 0
        missing[above] = self._size
        at = self._missing.integers(0, self._size, size=int(missing.sum()))
        at += np.repeat(np.arange(resamples) * self._padded, missing)
        np.add.at(flat, at, np.uint8(1))
        return table[:, : self._size]

    def _poisson(self, out: NDArray[np.uint8]) -> None:
        """Fill an array, whose size is a multiple of four, with Poisson counts."""
        words = self._words.random_raw(out.size // 4).view(np.uint16)
        more = self._more[: out.size]
        np.less(words, self._bounds[0], out=out.view(np.bool_))
        for bound in self._bounds[1:_COMMON]:
            np.less(words, bound, out=more)
            np.add(out, more.view(np.uint8), out=out)
        rare = np.flatnonzero(np.less(words, self._bounds[_COMMON], out=more))
        out[rare] = np.searchsorted(self._rare_ends, self._rare.random(rare.size), side="right")


def poisson_cells(mean: float) -> tuple[list[int], FloatArray]:
    """Share 2^16 cells among the counts 0, 1, ... of a Poisson distribution whose mean is at most 1.

    A count up to 4 gets the whole part of its probability times 2^16. The remainders, and all other counts, are left to
    a second draw. Returns the cells, and the second draw's distribution function at 0, 1, ....
    """
    chances = [math.exp(-mean)]
    while chances[-1] > _NOTHING:
        chances.append(chances[-1] * mean / len(chances))
    cells = [int(chance * _TABLE_CELLS) for chance in chances[: _COMMON + 1]]
    rest = np.array(chances) * _TABLE_CELLS
    rest[: len(cells)] -= cells
    ends = np.cumsum(rest)
    return cells, ends / ends[-1] if ends[-1] > 0 else ends
