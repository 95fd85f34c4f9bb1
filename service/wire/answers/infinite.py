"""Infinite thresholds in JSON, which has no such numbers: the greatest double stands for one, and a warning says so."""

import math
from dataclasses import replace

import numpy as np

from service.curves.arrays import LARGEST_DOUBLE, FloatArray
from service.curves.evaluation import CurvesWarning
from service.wire.wrong import Wrong

_WRITTEN = repr(LARGEST_DOUBLE).replace("+", "")

INFINITE_SCORES = CurvesWarning(
    "infinite_scores",
    f"Some thresholds are infinite, which JSON cannot express: {_WRITTEN} stands for inf, and -{_WRITTEN} for -inf.",
)


def finite_in_order(scores: FloatArray) -> FloatArray:
    """Numbers in the same order that JSON has. Raises Wrong if there is no number beyond a finite one."""
    infinite = np.isinf(scores)
    if not infinite.any():
        return scores
    if (np.abs(scores) == LARGEST_DOUBLE).any():
        detail = f"This is sent as JSON, which has no number beyond {_WRITTEN}, and that is here, too."
        raise Wrong("not_finite", detail, int(infinite.argmax()))
    return np.clip(scores, -LARGEST_DOUBLE, LARGEST_DOUBLE)


class FiniteScores:
    """The scores of one JSON answer; remembers whether any was infinite."""

    def __init__(self) -> None:
        self._large: set[float] = set()

    def finite(self, scores: FloatArray | float | None) -> FloatArray | float | None:
        """Replace infinite scores, or one, by the greatest double of their sign."""
        if scores is None or not (large := np.abs(scores) >= LARGEST_DOUBLE).any():
            return scores
        self._large |= {*np.asarray(scores)[large].tolist()}
        return np.clip(scores, -LARGEST_DOUBLE, LARGEST_DOUBLE)

    @property
    def warnings(self) -> tuple[CurvesWarning, ...]:
        """A warning if a score was infinite."""
        if not any(map(math.isinf, self._large)):
            return ()
        also_finite = len(self._large) > len({math.copysign(1, score) for score in self._large})
        more = " Here it also stands for itself; answers in CSV and Arrow tell them apart." if also_finite else ""
        return (replace(INFINITE_SCORES, detail=INFINITE_SCORES.detail + more),)
