"""Samples and counts that take much time for their size: one function for each path through the mathematics."""

from collections.abc import Callable, Mapping
from typing import Any

import numpy as np
from numpy.typing import ArrayLike

Table = dict[str, Any]


def sample(rows: int, *, digits: int = 6, seed: int = 1) -> Table:
    """Informative scores with labels of both classes."""
    random = np.random.default_rng(seed)
    labels = (random.random(rows) < 0.4).astype(int)
    labels[:2] = 1, 0
    return {"scores": (labels * 0.3 + random.random(rows)).round(digits).tolist(), "labels": labels.tolist()}


def classes(count: int, rows: int) -> dict[str, Any]:
    """Scores for this many classes, and each row's class."""
    names = [f"class {number}" for number in range(count)]
    scores = sample(rows)["scores"]
    turned = {name: scores[number:] + scores[:number] for number, name in enumerate(names)}
    return {"scores": turned, "labels": [names[row * 7 % count] for row in range(rows)]}


def weighted(rows: int, low: float, high: float, digits: int = 4) -> Table:
    """Weights over this many powers of ten."""
    weights = 10.0 ** np.random.default_rng(2).uniform(low, high, rows)
    return sample(rows) | {"weights": [float(f"{weight:.{digits}g}") for weight in weights]}


def counts(tp: ArrayLike, fp: ArrayLike, positives: float | None = None, negatives: float | None = None) -> Table:
    """Counts; the totals are those of the last row unless given."""
    tp, fp = np.asarray(tp).tolist(), np.asarray(fp).tolist()
    totals = {"positives": positives or tp[-1], "negatives": negatives or fp[-1]}
    return {"counts": {"tp": tp, "fp": fp} | totals}


def whole(rows: int, positives: int, negatives: int) -> Table:
    """Whole counts anywhere below their totals, in order."""
    tp, fp = (
        np.sort(np.random.default_rng(seed).integers(1, top, rows)) for seed, top in ((3, positives), (4, negatives))
    )
    return counts(tp, fp, positives, negatives)


def no_sweep(rows: int) -> Table:
    """Whole counts that form no curve."""
    random = np.random.default_rng(5)
    return counts(random.integers(1, 10**15, rows), random.integers(1, 10**15, rows), 10**15, 10**15)


def line(rows: int) -> Table:
    """Rows on a straight line, at distances from its first row, a vertex, that no double holds: integers decide."""
    fp = np.append(4.1 - 4, 1024 + 8.0 * np.arange(rows))
    return counts(np.append(4.1, fp[1:] + 4), fp)


def circle(rows: int, scale: float = 1e3) -> Table:
    """A quarter of a circle: every row is a vertex of the hull."""
    angle = np.linspace(0, np.pi / 2, rows + 1)[1:]
    return counts(np.sin(angle) * scale, (1 - np.cos(angle)) * scale)


def root(rows: int) -> Table:
    """A square root in whole numbers: every row is a vertex of the hull."""
    share = np.linspace(0, 1, rows + 1)[1:]
    return counts(np.floor(np.sqrt(share) * 1e15), np.floor(share * 1e15))


def near_ray(power: int) -> Callable[[int], Table]:
    """Rows whose precisions differ only in the last bits: losses are computed in integers."""

    def make(rows: int) -> Table:
        share = np.arange(1, rows + 1) / rows
        return counts(share * 1000 * (1 + 2.0**power * rows * (1 - share)), share * 1000)

    return make


def steps(rows: int, negatives: int = 10**15) -> Table:
    """Long steps between whole counts: their true positives are summed in closed form."""
    tp = np.unique(np.random.default_rng(6).integers(1, 10**7, rows))
    fp = np.sort(np.random.default_rng(7).integers(1, negatives, tp.size))
    return counts(tp, fp, 10**7, negatives)


def short_steps(negatives: int) -> Callable[[int], Table]:
    """The longest steps whose true positives are summed one by one."""

    def make(rows: int) -> Table:
        fp = np.sort(np.random.default_rng(8).integers(1, negatives, rows))
        return counts(128 * np.arange(1, rows + 1), fp, 128 * rows, negatives)

    return make


def powers(rows: int) -> Table:
    """Counts over 400 powers of two."""
    return counts(np.cumsum(2.0 ** np.linspace(-200, 200, rows)), np.cumsum(2.0 ** np.linspace(200, -200, rows)[::-1]))


TABLES: Mapping[str, Callable[[int], Table]] = {
    "sample": sample,
    "sample of few scores": lambda rows: sample(rows, digits=1),
    "weights": lambda rows: weighted(rows, -2, 2),
    "weights of 280 powers of ten": lambda rows: weighted(rows, -140, 140),
    "weights, some tiny": lambda rows: weighted(rows, -300, 140, 17),
    "whole weights": lambda rows: sample(rows) | {"weights": [3 + row % 10**9 for row in range(rows)]},
    "counts": lambda rows: whole(rows, 10**4, 10**4),
    "counts, 1e15": lambda rows: whole(rows, 10**15, 10**15),
    "counts, above 2^53": lambda rows: whole(rows, 9 * 10**15, 9 * 10**15),
    "counts, no sweep": no_sweep,
    "counts, a line": line,
    "counts, a circle": circle,
    "counts, a tiny circle": lambda rows: circle(rows, 1e-145),
    "counts, a root": root,
    "counts near a ray, 2^-44": near_ray(-44),
    "counts near a ray, 2^-46": near_ray(-46),
    "counts near a ray, 2^-48": near_ray(-48),
    "counts, long steps": steps,
    "counts, long steps of few": lambda rows: steps(rows, 10**7),
    "counts, short steps": short_steps(10**4),
    "counts, short steps of few": short_steps(10**15),
    "counts, powers of two": powers,
    "counts, equal rows": lambda rows: counts([1] * rows, [1] * rows),
}

FEW: Mapping[str, Table] = {
    "plain": counts([100, 200], [5, 10], 300, 1000),
    "1900 of 1e15": counts([1], [3], 1900, 10**15),
    "1e15": counts([1], [3], 10**15, 10**15),
    "9e15": counts([1], [3], 9007199254740991, 9007199254740881),
    "1e150": counts([1], [3], 1e150, 1e150),
    "fractions": counts([0.1], [0.3], 1.5, 2.5),
    "1e7": counts([1], [3], 9_999_991, 10**15),
    "tiny": counts([100, 200], [5e-324, 10], 300, 1000),
    "1e-150": counts([1e-150], [3e-150], 7e-150, 1e-149),
    "1000.5": counts([0.5, 7], [0.25, 9], 1000.5, 999.75),
}
"""Tables of one or two rows whose totals make requests expensive."""
