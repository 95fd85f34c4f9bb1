"""Calls of every loop over rows, with columns of many sizes and kinds."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np

from service.curves.sweep import sweep
from service.curves.sweep.sweep import Drawn

SIZES = (*range(1, 40), 47, 48, 49, 50, 511, 512, 513, 514, 1_024, 1_025, 5_000)
"""Around those at which another way of sorting or another piece begins."""


def every_loop(sizes: tuple[int, ...] = SIZES) -> Iterator[bytes]:
    """The bits of what every loop finds."""
    for size in sizes:
        random = np.random.default_rng(size)
        labels = random.random(size) < 0.5
        normal = random.normal(size=size)
        for scores in (normal, np.round(normal, 1), np.ldexp(normal, 900), np.ones(size)):
            for weights in (None, random.random(size), 10.0 ** random.uniform(-150, 150, size), np.zeros(size)):
                for array in _of_sample(scores, labels, weights, random):
                    yield array.tobytes()
        for largest in (1, 2, 300, 2**52 // size):
            steps = random.integers(0, largest, (2, size), endpoint=True).astype(float)
            steps[:, 0] = 0
            tp, fp = steps.cumsum(axis=1)
            for array in _of_counts(np.append(tp, tp[-1] + 1), np.append(fp, fp[-1] + 1)):
                yield array.tobytes()
            tp, fp = (np.concatenate(([0.0], np.sort(column), [largest])) for column in steps)
            tp[1:-1] = steps[0]
            yield b"".join(found.tobytes() for found in sweep.hull_and_members(tp, fp))


def _of_sample(
    scores: np.ndarray, labels: np.ndarray, weights: np.ndarray | None, random: np.random.Generator
) -> Iterator[np.ndarray]:
    thresholds, tp, fp = sweep.table(scores, labels, weights, descending=bool(scores.size % 2))
    yield from (thresholds, tp, fp, sweep.order(scores, descending=True), sweep.running_sums(np.abs(scores)))
    for count in (1, 3, scores.size):
        numbers = random.integers(0, count, scores.size)
        yield sweep.slices(numbers, count, scores, labels, weights, descending=True)
    if tp[-1] > 0 and fp[-1] > 0:
        yield from _of_counts(tp, fp)
        for few in (True, False):
            kinds = random.integers(1, tp.size, (2, scores.size))
            counts = random.integers(0, 9, (2, 3, scores.size)).astype(np.uint8 if few else np.float64)
            drawn = [Drawn(rows, weights, each) for rows, each in zip(kinds, counts, strict=True)]
            yield from sweep.resamples(tp.size, *drawn)
            yield sweep.resampled_areas(tp.size, *drawn)
            yield sweep.resampled_areas(tp.size, *drawn, roc_alone=True)[:, 0]


def _of_counts(tp: np.ndarray, fp: np.ndarray) -> Iterator[np.ndarray]:
    (hull, members), rows = sweep.hull_and_members(tp, fp), np.arange(tp.size)
    yield from (hull, members, sweep.points(tp, fp, tp[-1], fp[-1]))
    yield np.array([float(sweep.doubled_area(tp[first:], fp[first:])) for first in (0, tp.size // 2)])
    yield np.sign(sweep.turns(tp, fp, rows[:-2], rows[1:-1], rows[2:]))
    yield np.array([*sweep.areas(tp, fp), *sweep.areas(tp, fp, hull)])
    if 1 <= tp[-1] < 1e5:
        yield np.array(sweep.areas(np.floor(tp), np.floor(fp), trapezoid=True))
