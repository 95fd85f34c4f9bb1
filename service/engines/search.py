"""The search for groups that are narrow enough: bins over the whole range, then the widest divided, pass by pass."""

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np

from service.curves.exact import FloatArray, IntArray
from service.engines import sql
from service.engines.engine import Engine, NamedArrays
from service.engines.refining import RowGroups, concatenated, divided, openness, scales, united

MOST_BINS = 2**22
"""The most bins of a pass; an engine needs some 230 bytes for each."""

FIRST_BINS = 2**15
"""The bins of the first pass, which shows how the scores lie; many more would cost more than they tell."""

_MOST_PASSES = 5
"""After so many passes what is still too wide is grouped by score."""

Width = Callable[[RowGroups], float]
"""How far the bounds of the areas are apart, at most."""


class _Block(NamedTuple):
    """Groups of one level of bins, with the number of each, (m,)."""

    levels: tuple[str, ...]
    bins: IntArray
    groups: RowGroups

    def take(self, places: IntArray) -> "_Block":
        return _Block(self.levels, self.bins[places], self.groups.take(places))


@dataclass
class Search:
    """A search in the rows of an engine.

    first      the bins of the first pass.
    tolerance  how far the bounds of the areas may be apart.
    width      measures that; what `openness` adds up to if it is None.
    passes     how often the rows were read.
    """

    engine: Engine
    rows: sql.RowSource
    first: sql.FirstBins
    tolerance: float
    most_bins: int = MOST_BINS
    width: Width | None = None
    lower_is_positive: bool = False
    passes: int = 0

    def run(self) -> RowGroups:
        """Divide bins until the width is within the tolerance. Raises EngineFailed and Interrupted."""
        blocks = [self._bins(())]
        goal = self.tolerance
        while True:
            groups = concatenated([block.groups for block in blocks])
            each = openness(groups, lower_is_positive=self.lower_is_positive)
            widest = max(float(openings.sum()) for openings in each)
            if widest <= goal:
                narrow = united(groups)
                width = 0.0 if self.width is None or widest == 0 else self.width(narrow)
                if width <= self.tolerance:
                    return narrow
                goal = widest * self.tolerance / width / 2  # these bounds are wider than the openings
            else:
                blocks = [*self._divided(blocks, np.maximum(*each), goal)]

    def _divided(self, blocks: list[_Block], openings: FloatArray, goal: float) -> Iterator[_Block]:
        """Divide the widest groups: those of the last block, unless earlier ones leave too much open by now."""
        stops = np.cumsum([block.bins.size for block in blocks])
        settled = stops[-2] if len(blocks) > 1 and openings[: stops[-2]].sum() <= goal / 2 else 0
        rows = np.concatenate([block.groups.rows for block in blocks])
        chosen, finer = divided(openings[settled:], rows[settled:], goal, self.most_bins)
        chosen += settled
        exactly = rows[chosen].sum() <= 2 * finer.sum() or self.passes >= _MOST_PASSES
        into = np.zeros(rows.size)
        into[chosen] = finer
        for block, bins in zip(blocks, np.split(into, stops[:-1]), strict=True):
            wide = np.flatnonzero(bins)
            yield block.take(np.flatnonzero(bins == 0))
            if wide.size:
                yield self._finer(block.take(wide), bins[wide], exactly=exactly)

    def _finer(self, block: _Block, bins: FloatArray, *, exactly: bool) -> _Block:
        """Divide each group of a block into so many bins, or into its scores."""
        name = f"level_{self.passes}"
        # Rounding may give a score the bin after the last; it is still one of this group.
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
