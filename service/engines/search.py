"""The search for narrow enough groups: bins over the whole range, then the widest are divided, pass by pass."""

from collections.abc import Iterator
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np

from service.curves.arrays import FloatArray, IntArray
from service.curves.bounds import bounded_areas
from service.curves.errors import DomainError
from service.curves.histogram import Histogram
from service.engines import sql
from service.engines.engine import Engine, NamedArrays
from service.engines.refining import Goals, RowGroups, allocate_bins, bound_width, hull_gain, scales

MOST_BINS = 2**22
"""The most bins of a pass; DuckDB takes some 230 bytes for each."""

FIRST_BINS = 2**15
"""The bins of the first pass, which shows how the scores are distributed; more would cost more than they show."""

_MOST_PASSES = 5
"""After this many passes, groups that are still too wide are grouped by score."""

_OF_GAINS = 0.5
"""How far a corner may reach above the known hull, as a share of the tolerance."""

_SAFELY = 0.8
"""Goals are lowered by this factor, too, if bounds are too wide."""


class _Block(NamedTuple):
    """Groups of one level of bins, with the number of each, (m,)."""

    levels: tuple[str, ...]
    bins: IntArray
    groups: RowGroups

    def take(self, places: IntArray) -> "_Block":
        return _Block(self.levels, self.bins[places], self.groups.take(places))


def _nearer(goals: Goals, factor: float, widest: float, highest: float) -> Goals:
    """Lower the goals by the factor at which the bounds would fit; if a corner is above that of gains, only that."""
    gain = min(goals.gain, highest) * factor * _SAFELY
    return Goals(goals.width if highest > goals.gain else widest * factor * _SAFELY, gain)


def _views(blocks: list[_Block], groups: RowGroups) -> Iterator[_Block]:
    """The same blocks as views of these groups, which are those of all blocks together."""
    start = 0
    for block in blocks:
        stop = start + block.bins.size
        yield _Block(block.levels, block.bins, groups.take(slice(start, stop)))
        start = stop


@dataclass
class Search:
    """A search in the rows of an engine.

    first      the bins of the first pass.
    tolerance  how far apart the bounds of the areas may be.
    passes     how often the rows were read.
    """

    engine: Engine
    rows: sql.RowSource
    first: sql.FirstBins
    tolerance: float
    most_bins: int = MOST_BINS
    lower_is_positive: bool = False
    passes: int = 0

    def run(self) -> RowGroups:
        """Divide bins until the width is within the tolerance.

        Groups without areas, such as those of a class without weight, are not divided; evaluating them says why they
        have none. Raises EngineFailed.
        """
        blocks = [self._bins(())]
        if _merged(blocks[0].groups.merge_overlapping(), lower_is_positive=self.lower_is_positive) is None:
            return blocks[0].groups.merge_overlapping()
        goals = Goals(self.tolerance, self.tolerance * _OF_GAINS)
        while True:
            groups = RowGroups.of_parts([block.groups for block in blocks])
            blocks = [*_views(blocks, groups)]
            each = bound_width(groups, lower_is_positive=self.lower_is_positive)
            widest = max(float(widths.sum()) for widths in each)
            gains = hull_gain(groups, lower_is_positive=self.lower_is_positive)
            if widest <= goals.width and (gains.max() <= goals.gain or self.passes > 1):
                narrow = groups.merge_overlapping()
                width = bounds_apart(narrow, lower_is_positive=self.lower_is_positive) if widest > 0 else 0.0
                if width <= self.tolerance:
                    return narrow
                goals = _nearer(goals, self.tolerance / width, widest, float(gains.max()))
            blocks = [*self._divided(blocks, np.maximum(*each), gains, goals)]

    def _divided(self, blocks: list[_Block], widths: FloatArray, gains: FloatArray, goals: Goals) -> Iterator[_Block]:
        """Divide the highest and the widest groups; only those of the last block, if earlier ones leave little open."""
        stops = np.cumsum([block.bins.size for block in blocks])
        if len(blocks) > 1 and widths[: stops[-2]].sum() <= goals.width / 2:
            widths[: stops[-2]] = 0
        rows = np.concatenate([block.groups.rows for block in blocks])
        chosen, finer = allocate_bins(widths, gains, rows, goals, self.most_bins)
        exactly = rows[chosen].sum() <= 2 * finer.sum() or self.passes >= _MOST_PASSES
        into = np.zeros(rows.size)
        into[chosen] = finer
        for block, bins in zip(blocks, np.split(into, stops[:-1]), strict=True):
            wide = np.flatnonzero(bins)
            yield block.take(np.flatnonzero(bins == 0))
            if wide.size:
                yield self._finer(block.take(wide), bins[wide], exactly=exactly)

    def _finer(self, block: _Block, bins: FloatArray, *, exactly: bool) -> _Block:
        """Divide each group of a block into its number of `bins`, or into its scores."""
        name = f"level_{self.passes}"
        # Rounding may put a score into a bin after the last, which still belongs to this group.
        starts = np.append(0, np.cumsum(bins.astype(np.int64) + 2)[:-1])
        groups = block.groups
        self.engine.keep(
            name, {"bin": block.bins, "start": starts, "low": groups.score_from, "scale": scales(groups, bins)}
        )
        levels = (*block.levels, name)
        if not exactly:
            return self._bins(levels)
        self.passes += 1
        text = sql.exact_part_text(self.rows, self.first, levels)
        table = self.engine.rows(text, f"pass {self.passes}, by score")
        return _Block(levels, np.zeros(table["score"].size, dtype=np.int64), groups_of(table, self.rows))

    def _bins(self, levels: tuple[str, ...]) -> _Block:
        self.passes += 1
        table = self.engine.rows(sql.bins_text(self.rows, self.first, levels), f"pass {self.passes}")
        bins = np.asarray(table["bin"], dtype=np.int64)
        order = np.argsort(bins)  # whatever order an engine has, the same groups are divided
        return _Block(levels, bins, groups_of(table, self.rows)).take(order)


def bounds_apart(groups: RowGroups, *, lower_is_positive: bool = False) -> float:
    """The greatest distance between the bounds of an area; 0 if there are no areas."""
    merged = _merged(groups, lower_is_positive=lower_is_positive)
    if merged is None:
        return 0.0
    return max(each.upper - each.lower for each in bounded_areas(merged).values() if each is not None)


def _merged(groups: RowGroups, *, lower_is_positive: bool) -> Histogram | None:
    """The groups as they are evaluated; None if they cannot be."""
    found = groups.masses
    masses = found["positives"], found["negatives"]
    squares = (found["positives_squared"], found["negatives_squared"]) if "positives_squared" in found else None
    ends = groups.score_from, groups.score_to
    try:
        return Histogram(*ends, masses, squares, lower_is_positive=lower_is_positive).merged()
    except DomainError:
        return None


def groups_of(table: NamedArrays, rows: sql.RowSource) -> RowGroups:
    """Read the groups of a query's columns."""
    names = ["positives", "negatives"]
    if rows.weights is not None:
        names += ["positives_squared", "negatives_squared"]
    masses = {name: _doubles(table.pop(name)) for name in names}
    counted = masses["positives"] + masses["negatives"] if rows.weights is None else _doubles(table["rows"])
    if "score" in table:
        score = _doubles(table.pop("score"))
        return RowGroups(score, score, masses, counted)
    return RowGroups(_doubles(table["score_from"]), _doubles(table["score_to"]), masses, counted)


def _doubles(column: np.ndarray) -> FloatArray:
    out: FloatArray = np.asarray(column, dtype=np.float64)
    return out
