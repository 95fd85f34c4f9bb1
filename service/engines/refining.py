"""Which bins to divide further, and how finely, to bound the areas within the tolerance.

An open group of p positives and n negatives leaves the ROC area open by p n / (P N), and average precision by what its
formula gives for the best and the worst order. It leaves no area under a precision-recall curve further open than
average precision.
"""

from typing import NamedTuple

import numpy as np

from service.curves.arrays import BoolArray, FloatArray, IntArray
from service.curves.confusion import ConfusionTable
from service.curves.hull import roc_convex_hull

_LEAST_SCALE, _LARGEST_SCALE = 1e-300, 1e300
_FINEST = 4
"""The most bins for each row."""

_LEFT, _REACHED = 0.1, 0.7
"""The parts of a goal that may stay open in groups that are not divided, and in those that are."""

_NEAR_GOAL = 1.5
"""Widths up to this multiple of the goal are near it: most groups then stay as they are."""

_STEEPER = 1.5
"""A factor of extra bins for gains: dividing a group into m does not make every corner m times lower."""


class RowGroups(NamedTuple):
    """Groups of rows: columns (m,).

    score_from, score_to   the least and the greatest score of the rows of each.
    masses                 {positives, negatives and, of weights, their sums of squares: column}.
    rows                   how many rows are in each.
    """

    score_from: FloatArray
    score_to: FloatArray
    masses: dict[str, FloatArray]
    rows: FloatArray

    @property
    def ends(self) -> dict[str, FloatArray]:
        """The columns that say where the groups are, by the names of a request: one if each has one score."""
        if self.score_to is self.score_from:
            return {"score": self.score_from}
        return {"score_from": self.score_from, "score_to": self.score_to}

    def take(self, places: IntArray | BoolArray | slice) -> "RowGroups":
        """Select groups."""
        masses = {name: column[places] for name, column in self.masses.items()}
        return RowGroups(self.score_from[places], self.score_to[places], masses, self.rows[places])

    @classmethod
    def of_parts(cls, parts: "list[RowGroups]") -> "RowGroups":
        """Put groups together, in the order of the parts."""
        if len(parts) == 1:
            return parts[0]
        masses = {name: np.concatenate([part.masses[name] for part in parts]) for name in parts[0].masses}
        low, high = (np.concatenate([getattr(part, name) for part in parts]) for name in ("score_from", "score_to"))
        return cls(low, high, masses, np.concatenate([part.rows for part in parts]))

    def merge_overlapping(self) -> "RowGroups":
        """Sort by score, and unite groups that have scores in common.

        No rounding of an engine can then put a tie into two groups, whatever it did with FLOOR and LN.
        """
        ordered = self.take(np.argsort(self.score_from, kind="stable"))
        reach = np.maximum.accumulate(ordered.score_to)
        starts = np.append(0, np.flatnonzero(ordered.score_from[1:] > reach[:-1]) + 1)
        if starts.size >= reach.size:  # none has a score in common with another, or there are none
            return ordered
        masses = {name: np.add.reduceat(column, starts) for name, column in ordered.masses.items()}
        ends = np.maximum.reduceat(ordered.score_to, starts)
        return RowGroups(ordered.score_from[starts], ends, masses, np.add.reduceat(ordered.rows, starts))


def bound_width(groups: RowGroups, *, lower_is_positive: bool = False) -> tuple[FloatArray, FloatArray]:
    """How wide each group leaves the bounds of the ROC area and of average precision, (m,) each; 0 for an exact group.

    ROC: p n / (P N). Average precision: (p (tp + p) / (tp + p + fp) - ∫ t / (t + fp + n) dt from tp to tp + p) / P,
    where tp and fp are the counts before the group.
    """
    p, n = groups.masses["positives"], groups.masses["negatives"]
    if not p.size:
        return np.zeros(0), np.zeros(0)
    order = np.argsort(groups.score_from)
    order = order if lower_is_positive else order[::-1]
    tp, fp = (_before(column, order) for column in (p, n))
    positives, negatives = p.sum(), n.sum()
    with np.errstate(divide="ignore", invalid="ignore"):
        best = p * (tp + p) / (tp + p + fp)
        worst = p - (fp + n) * np.log1p(p / (tp + fp + n))
        of_precision = np.where(p > 0, best - np.where(fp + n > 0, worst, p), 0.0) / positives
    is_open = groups.score_from < groups.score_to
    return np.where(is_open, p / positives * (n / negatives), 0.0), np.where(is_open, np.maximum(of_precision, 0), 0.0)


def hull_gain(groups: RowGroups, *, lower_is_positive: bool = False) -> FloatArray:
    """How far the best order of each group reaches above the known ROC hull, as a share of P, (m,).

    The known points are those between groups. The best order begins with all positives of a group: a corner at tp + p
    and the fp before it. The hull areas are left open by about the height of the highest corner at most.
    """
    p, n = groups.masses["positives"], groups.masses["negatives"]
    order = np.argsort(groups.score_from)
    order = order if lower_is_positive else order[::-1]
    tp, fp = (np.append(0.0, np.cumsum(column[order])) for column in (p, n))
    table = ConfusionTable(np.full(tp.size, np.nan), tp, fp, float(tp[-1]), float(fp[-1]), lower_is_positive)
    vertices = roc_convex_hull(table)
    across, up = fp[vertices], tp[vertices]
    last = np.append(across[1:] > across[:-1], True)  # of a vertical piece, the upper end
    out = np.zeros(p.size)
    out[order] = (tp[:-1] + p[order] - np.interp(fp[:-1], across[last], up[last])) / tp[-1]
    return np.where(groups.score_from < groups.score_to, np.maximum(out, 0.0), 0.0)


class Goals(NamedTuple):
    """The targets: for the widths of all groups together, and for the gain of each."""

    width: float
    gain: float


def allocate_bins(
    widths: FloatArray, gains: FloatArray, rows: FloatArray, goals: Goals, most: int
) -> tuple[IntArray, FloatArray]:
    """Choose the groups to divide, and into how many bins each, so that widths and gains meet their goals.

    The narrowest groups stay as they are, as many as together leave a tenth of the goal open, or near the goal seven
    tenths. A group of width c, divided into m bins, leaves about c / m; with m proportional to √c, M bins leave
    (Σ √c)² / M, the least possible. A gain is divided by m, too. At most `most` bins in total, and at least two each.
    """
    bins = np.where(gains > goals.gain, np.ceil(_STEEPER * gains / goals.gain), 0.0)
    if widths.sum() > goals.width:
        left, reached = (_LEFT, _REACHED) if widths.sum() > _NEAR_GOAL * goals.width else (_REACHED, _LEFT)
        order = np.argsort(widths)
        wide = order[np.searchsorted(np.cumsum(widths[order]), goals.width * left, side="right") :]
        roots = np.sqrt(widths[wide])
        total = float(roots.sum())
        bins[wide] = np.maximum(bins[wide], 2 + np.floor(roots * (total / (goals.width * reached))))
    bins = np.minimum(bins, _FINEST * rows + 2)
    chosen = np.flatnonzero(bins)
    if chosen.size > most // 2:
        chosen = np.sort(chosen[np.argsort(-bins[chosen], kind="stable")][: most // 2])
    finer = bins[chosen]
    if finer.sum() > most:
        finer = 2 + np.floor((finer - 2) * ((most - 2.0 * chosen.size) / (finer - 2).sum()))
    return chosen, np.maximum(finer, 2.0)


def scales(groups: RowGroups, bins: FloatArray) -> FloatArray:
    """Bins per unit of score, finite whatever the width of a group."""
    with np.errstate(over="ignore", divide="ignore"):
        return np.clip(bins / (groups.score_to - groups.score_from), _LEAST_SCALE, _LARGEST_SCALE)


def _before(column: FloatArray, order: IntArray) -> FloatArray:
    """The sum of all groups before each in the order of the sweep."""
    out = np.empty_like(column)
    summed = np.cumsum(column[order])
    out[order] = np.append(0.0, summed[:-1])
    return out
