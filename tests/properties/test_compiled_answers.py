"""With the loops in C and without them, every operation answers the same bytes."""

from __future__ import annotations

import json
from collections.abc import Iterator
from itertools import islice
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

__all__ = ["library"]

ROWS = 3_000
POINTS = [{"metric": metric, "at": 0.4} for metric in ("precision_at_recall", "recall_at_precision", "tpr_at_fpr")]
RULES = [
    {"metric": "pr", "min": 0.5, "confidence": 0.9},
    {"metric": "roc", "max_drop": 0.1, "confidence": 0.9},
    {"metric": "precision", "at_threshold": 0.4, "min": 0.1, "confidence": 0.9},
    {"metric": "partial", "over": "fpr", "to": 0.3, "max_drop": 0.1, "confidence": 0.9},
]
OPTIONS: dict[str, list[dict[str, Any]]] = {
    "curves": [
        {"operating_points": POINTS, "intervals": {"level": 0.9}},
        {"intervals": {"method": "bca", "resamples": 100, "seed": 1}, "include": ["auc"]},
        {"keep": "corners", "interpolation": {"at_recall": [0.1, 0.35, 0.9]}},
        {"keep": "drawn", "thresholds": [0.2, 0.4, 0.8]},
        {"include": ["calibration", "statistics"], "costs": {"fn_cost": 3}, "partial": [{"over": "recall", "to": 0.4}]},
    ],
    "tradeoffs": [{"at_lambda": [0.3, 0.7]}, {"lambda_density": {"a": 2, "b": 3}, "min_recall": 0.2}],
    "slices": [{"slices": {"slice": [row % 40 for row in range(ROWS)]}, "intervals": {}}],
}


def samples(random: np.random.Generator) -> Iterator[dict[str, Any]]:
    """Many distinct scores, few of them, scores of both signs and all sizes; whole weights and fractional ones."""
    distinct = random.random(ROWS)
    for scores in (distinct, np.round(distinct, 2), np.sqrt(np.round(distinct, 1)), np.tan(3 * distinct - 1.5)):
        labels = random.random(ROWS) < distinct
        sample = {"scores": scores.tolist(), "labels": labels.astype(int).tolist()}
        yield sample
        yield sample | {"weights": random.integers(1, 40, ROWS).tolist()}
        yield sample | {"weights": random.random(ROWS).tolist()}


def long_requests() -> Iterator[tuple[str, Request]]:
    """Every operation on long samples, and pictures of them."""
    given = list(samples(np.random.default_rng(12)))
    for number, sample in enumerate(given):
        other = sample | {"scores": sample["scores"][::-1]}
        named = [sample | {"name": "a"}, other | {"name": "b"}]
        documents = [(operation, sample | options) for operation in OPTIONS for options in OPTIONS[operation]]
        documents += [("comparisons", {"evaluations": named}), ("gates", sample | {"baseline": other, "rules": RULES})]
        documents.append(("classes", sample | {"scores": {"1": sample["scores"], "0": other["scores"]}}))
        for turn, (operation, document) in enumerate(documents):
            accept = "image/svg+xml" if (number + turn) % 4 == 0 else "application/json"
            request = Request(
                operation, f"/v1/{operation}", "application/json", accept, (), json.dumps(document).encode()
            )
            yield f"{operation} {turn} of sample {number}", request


LONG = dict(long_requests())


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
    for name, request in islice(requests(), 0, None, 1 if runs_all else 3):
        compiled, plain = answers(library, request)
        assert compiled == plain, name
        seen.add(request.operation)
    assert seen == set(OPERATIONS) - {"columns", "slices", "classes"}  # those without numbers are among the long ones


@pytest.mark.parametrize("name", LONG)
def test_long_requests(library: Path, name: str) -> None:
    compiled, plain = answers(library, LONG[name])
    assert compiled[0] == 200, compiled[1]
    assert compiled == plain
