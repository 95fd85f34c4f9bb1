"""The correct groups, computed by NumPy."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

if TYPE_CHECKING:
    from service.engines.refining import RowGroups


def read_labels(values: list[Any], _: np.ndarray) -> tuple[np.ndarray, None]:
    """1, true, +1 and text that begins with p are positive."""
    texts = [str(value).strip().lower() for value in values]
    return np.array(
        [text in {"1", "1.0", "+1", "true"} or text.startswith("p") for text in texts], dtype=np.bool_
    ), None


def check(groups: RowGroups, scores: np.ndarray, labels: np.ndarray, weights: np.ndarray | None = None) -> None:
    """Check that every row is in one group, and that each group's ends and sums are those of its rows."""
    masses = np.ones(scores.size) if weights is None else weights.astype(np.float64)
    there = masses > 0
    scores, labels, masses = scores[there].astype(np.float64) + 0.0, labels[there], masses[there]
    order = np.argsort(scores, kind="stable")
    scores, labels, masses = scores[order], labels[order], masses[order]
    place = np.argsort(groups.score_from)
    groups = groups.take(place)
    starts = np.searchsorted(scores, groups.score_from, side="left")
    stops = np.searchsorted(scores, groups.score_to, side="right")
    assert np.array_equal(scores[starts], groups.score_from)
    assert np.array_equal(scores[stops - 1], groups.score_to)
    assert starts[0] == 0
    assert stops[-1] == scores.size
    assert np.array_equal(starts[1:], stops[:-1])
    assert np.array_equal(groups.rows, stops - starts)
    wanted = {"positives": masses * labels, "negatives": masses * ~labels}
    if weights is not None:
        wanted |= {"positives_squared": masses**2 * labels, "negatives_squared": masses**2 * ~labels}
    assert set(groups.masses) == set(wanted)
    for name, column in wanted.items():
        sums = np.add.reduceat(column, starts)
        assert np.allclose(groups.masses[name], sums, rtol=1e-12, atol=0), name
        if weights is None:
            assert np.array_equal(groups.masses[name], sums), name


def is_exact(groups: RowGroups) -> bool:
    return np.array_equal(groups.score_from, groups.score_to)
