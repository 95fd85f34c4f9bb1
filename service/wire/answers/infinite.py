"""Infinite thresholds in JSON, which has no such numbers: the greatest double stands for one, and a warning says so.

Knows the names of what holds thresholds; nothing of results.
"""

import math
from collections.abc import Mapping
from dataclasses import is_dataclass, replace
from typing import Any

import numpy as np

from service.curves.arrays import LARGEST_DOUBLE, FloatArray
from service.curves.evaluation import CurvesWarning
from service.wire.wrong import Wrong

_WRITTEN = repr(LARGEST_DOUBLE).replace("+", "")

INFINITE_SCORES = CurvesWarning(
    "infinite_scores",
    f"Some thresholds are infinite, which JSON cannot express: {_WRITTEN} stands for inf, and -{_WRITTEN} for -inf.",
)

_OF_SCORES = frozenset({"threshold", "score_from", "score_to", "selected_thresholds", "ks_threshold"})
"""The names of numbers, and of columns of numbers, that may be infinite."""


def finite_in_order(scores: FloatArray) -> FloatArray:
    """Numbers in the same order that JSON has. Raises Wrong if there is no number beyond a finite one."""
    infinite = np.isinf(scores)
    if not infinite.any():
        return scores
    if (np.abs(scores) == LARGEST_DOUBLE).any():
        detail = f"This is sent as JSON, which has no number beyond {_WRITTEN}, and that is here, too."
        raise Wrong("not_finite", detail, int(infinite.argmax()))
    return np.clip(scores, -LARGEST_DOUBLE, LARGEST_DOUBLE)


def without_infinities(document: dict[str, Any]) -> tuple[dict[str, Any], tuple[CurvesWarning, ...]]:
    """Replace infinite thresholds within a document; warns if there are any."""
    occurring: set[float] = set()
    replaced = _replaced(document, occurring)
    if not any(map(math.isinf, occurring)):
        return document, ()
    also_finite = len(occurring) > len({math.copysign(1, number) for number in occurring})
    more = " Here it also stands for itself; answers in CSV and Arrow tell them apart." if also_finite else ""
    return replaced, (replace(INFINITE_SCORES, detail=INFINITE_SCORES.detail + more),)


def _replaced(value: Any, occurring: set[float], name: str = "") -> Any:  # noqa: ANN401  # any part of a document
    """The same with finite thresholds; notes the infinite and the largest finite ones that occur."""
    if isinstance(value, Mapping):
        return {key: _replaced(member, occurring, key) for key, member in value.items()}
    if is_dataclass(value) and hasattr(value, "ks_threshold"):
        return replace(value, ks_threshold=_replaced(value.ks_threshold, occurring, "ks_threshold"))  # type: ignore[type-var]  # an instance
    if name not in _OF_SCORES:
        return value
    if isinstance(value, np.ndarray):
        large = np.abs(value) >= LARGEST_DOUBLE
        if large.any():
            occurring |= {*value[large].tolist()}
            return np.clip(value, -LARGEST_DOUBLE, LARGEST_DOUBLE)
    elif isinstance(value, float) and abs(value) >= LARGEST_DOUBLE:
        occurring.add(value)
        return math.copysign(LARGEST_DOUBLE, value)
    return value
