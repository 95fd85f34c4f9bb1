"""With the loops in C and without them, every operation answers the same bytes."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator
from functools import cache
from itertools import islice, product
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from service.answer import answer
from service.operations import OPERATIONS
from service.request import Request
from tests.properties.small_requests import requests
from tests.support.asking import LIMITS
from tests.support.compiled_library import library, used
from tests.support.sampling import some

__all__ = ["library"]

ROWS = 3_000
POINTS = [{"metric": metric, "at": 0.4} for metric in ("precision_at_recall", "recall_at_precision", "tpr_at_fpr")]
PARTIAL = [{"over": "recall", "to": 0.4}]
RULES = [
    {"metric": "pr", "min": 0.5, "confidence": 0.9},
    {"metric": "roc", "max_drop": 0.1, "confidence": 0.9},
    {"metric": "precision", "at_threshold": 0.4, "min": 0.1, "confidence": 0.9},
    {"metric": "partial", "over": "fpr", "to": 0.3, "max_drop": 0.1, "confidence": 0.9},
]
QUESTIONS: list[tuple[str, dict[str, Any]]] = [
    ("curves", {"operating_points": POINTS, "intervals": {"level": 0.9}}),
    ("curves", {"intervals": {"method": "bca", "resamples": 100, "seed": 1}, "include": ["auc"]}),
    ("curves", {"keep": "corners", "interpolation": {"at_recall": [0.1, 0.35, 0.9]}}),
    ("curves", {"keep": "drawn", "thresholds": [0.2, 0.4, 0.8]}),
    ("curves", {"include": ["calibration", "statistics"], "costs": {"fn_cost": 3}, "partial": PARTIAL}),
    ("tradeoffs", {"at_lambda": [0.3, 0.7]}),
    ("tradeoffs", {"lambda_density": {"a": 2, "b": 3}, "min_recall": 0.2}),
    ("slices", {"slices": {"slice": [row % 40 for row in range(ROWS)]}, "intervals": {}}),
    ("comparisons", {}),
    ("gates", {"rules": RULES}),
    ("classes", {}),
]


SCORES: dict[str, Callable[[np.ndarray], np.ndarray]] = {
    "distinct": lambda distinct: distinct,
    "few": lambda distinct: np.round(distinct, 2),
    "very few": lambda distinct: np.sqrt(np.round(distinct, 1)),
    "of both signs and all sizes": lambda distinct: np.tan(3 * distinct - 1.5),
}
WEIGHTS: dict[str, Callable[[np.random.Generator], np.ndarray] | None] = {
    "none": None,
    "whole": lambda random: random.integers(1, 40, ROWS),
    "fractional": lambda random: random.random(ROWS),
}


@cache
def sample(scores: str, weights: str) -> dict[str, list[Any]]:
    random = np.random.default_rng(12)
    distinct = random.random(ROWS)
    columns = {"scores": SCORES[scores](distinct), "labels": (random.random(ROWS) < distinct).astype(int)}
    if (drawn := WEIGHTS[weights]) is not None:
        columns["weights"] = drawn(random)
    return {name: column.tolist() for name, column in columns.items()}


def long_request(scores: str, weights: str, turn: int, accept: str) -> Request:
    """One of the questions about a long sample, in turn."""
    one = sample(scores, weights)
    other = one | {"scores": one["scores"][::-1]}
    operation, options = QUESTIONS[turn]
    document = {
        "comparisons": {"evaluations": [one | {"name": "a"}, other | {"name": "b"}]},
        "gates": one | {"baseline": other},
        "classes": one | {"scores": {"1": one["scores"], "0": other["scores"]}},
    }.get(operation, one)
    body = json.dumps(document | options).encode()
    return Request(operation, f"/v1/{operation}", "application/json", accept, (), body)


def long_cases() -> Iterator[tuple[str, str, int, str]]:
    """Each question about each sample; a quarter ask for a picture."""
    for number, (scores, weights) in enumerate(product(SCORES, WEIGHTS)):
        for turn in range(len(QUESTIONS)):
            yield scores, weights, turn, "image/svg+xml" if (number + turn) % 4 == 0 else "application/json"


def answers(library: Path, request: Request) -> list[tuple[int, bytes]]:
    found = []
    for path in (library, None):
        with used(path):
            result = answer(request, LIMITS)
            found.append((result.status, bytes(result.body)))
    return found


def test_small_requests(library: Path, *, runs_all: bool) -> None:
    """The requests with the worst counts and weights that were found."""
    seen = set()
    for name, make in islice(requests().items(), 0, None, 1 if runs_all else 17):
        request = make()
        compiled, plain = answers(library, request)
        assert compiled == plain, name
        seen.add(request.operation)
    assert seen == set(OPERATIONS) - {"columns", "slices", "classes"}  # those without numbers are among the long ones


@pytest.mark.parametrize(("scores", "weights", "turn", "accept"), some(long_cases(), 5))
def test_long_requests(library: Path, scores: str, weights: str, turn: int, accept: str) -> None:
    """Many distinct scores, few of them, scores of both signs and all sizes; whole weights and fractional ones."""
    compiled, plain = answers(library, long_request(scores, weights, turn, accept))
    assert compiled[0] == 200, compiled[1]
    assert compiled == plain
