"""Requests that are expensive for their length; `messages` makes them ready to be sent.

All are valid, and answered unless the server has no room. What makes them expensive: counts so large that each point of
a curve is computed in rational numbers, values that need hundreds of digits, densities that are integrated piece by
piece, resamples, and answers a hundred thousand times as long as the request.
"""

import random
from collections.abc import Callable
from typing import Any

import orjson

from tests.e2e.wire import chunked, request
from tests.support.samples import question

LARGE = 2**53
"""The largest total of counts that are computed exactly."""

POINTS = 7_990
"""About as many interpolated points as amount to 200,000 rows of work."""

MOST_POINTS = 99_990
SHORT = 1_000
"""The most bytes of an expensive small request."""

EVALUATIONS, ROWS = 50, 79
"""50 x 50 x 79 rows are just below 200,000."""

HEADERS, HEADER_BYTES = 93, 8_180
"""Just below the longest that the server reads, about 761 KB."""

CHUNKS = 4_000_000 // len(b"1\r\n \r\n")


def _counts(positives: float, negatives: float, tp: list[float], fp: list[float]) -> dict[str, Any]:
    return {"counts": {"tp": tp, "fp": fp, "positives": positives, "negatives": negatives}}


def _points(number: int) -> dict[str, Any]:
    rows = _counts(LARGE, LARGE, [LARGE // 2 + 1], [LARGE // 3 + 1])
    return rows | {"interpolation": {"every": LARGE / number}}


def documents() -> list[tuple[str, dict[str, Any]]]:
    """Expensive small requests: (operation, document)."""
    tiny = [10.0**-power for power in (300, 200, 100, 50, 20, 9, 1)]
    density = _counts(1, 1, tiny, [0.1 * tp for tp in tiny[:-1]] + [0.3])
    sample = {"scores": [number / 19 for number in range(19)], "labels": [number % 2 for number in range(19)]}
    return [
        ("curves", _points(POINTS)),
        ("curves", _points(MOST_POINTS)),
        ("tradeoffs", _counts(1, 1, [1e-300, 1], [0, 1]) | {"at_lambda": [0] * 420}),
        ("tradeoffs", density | {"lambda_density": {"a": 1000, "b": 1000}, "at_lambda": [1e-300] * 60}),
        ("curves", sample | {"intervals": {"method": "bca", "resamples": 10_000}}),
    ]


def comparison() -> dict[str, Any]:
    """Many short evaluations, each compared with all others."""
    chance = random.Random(1)
    labels = [number % 2 for number in range(ROWS)]
    return {
        "evaluations": [
            {"name": str(number), "scores": [round(chance.random(), 4) for _ in labels], "labels": labels}
            for number in range(EVALUATIONS)
        ]
    }


def gate(rows: int = 200, rules: int = 100, resamples: int = 10_000) -> dict[str, Any]:
    """A gate whose rules are all bootstrapped; 10 KB take some seconds."""
    chance = random.Random(3)
    scores = [round(chance.random(), 6) for _ in range(rows)]
    labels = [int(chance.random() < score) for score in scores]
    baseline = [round(score + chance.gauss(0, 0.1), 6) for score in scores]
    metrics = ("precision_at_recall", "tpr_at_fpr")
    wanted = [
        {"metric": metrics[number % 2], "at": 0.05 + 0.9 * number / rules, "max_drop": 0.5, "confidence": 0.9}
        for number in range(rules)
    ]
    return {
        "scores": scores,
        "labels": labels,
        "baseline": {"scores": baseline, "labels": labels},
        "paired": True,
        "rules": wanted,
        "intervals": {"method": "bca", "resamples": resamples},
    }


def _message(operation: str, document: dict[str, Any], **headers: str) -> bytes:
    body = orjson.dumps(document)
    return request("POST", f"/v1/{operation}", body, Content_Type="application/json", **headers)


def _costly() -> list[bytes]:
    made = documents()
    assert all(len(orjson.dumps(document)) < SHORT for _, document in made)
    return [_message(*one) for one in made]


def _single_chunks() -> bytes:
    body = question(50).body
    padded = body.ljust(CHUNKS)
    head = request("POST", "/v1/curves", Content_Type="application/json", Transfer_Encoding="chunked")
    return head + chunked(*(padded[place : place + 1] for place in range(len(padded))))


MESSAGES: dict[str, Callable[[], list[bytes]]] = {
    "costly": _costly,
    "comparisons": lambda: [_message("comparisons", comparison())],
    "chunks": lambda: [_single_chunks()],
    "headers": lambda: [
        request("GET", "/health/live", **{f"X_{number}": "a" * HEADER_BYTES for number in range(HEADERS)})
    ],
    "gates": lambda: [_message("gates", gate())],
    "50-rows": lambda: [request("POST", "/v1/curves", question(50).body, Content_Type="application/json")],
    "1000-rows": lambda: [request("POST", "/v1/curves", question(1_000, "auc").body, Content_Type="application/json")],
}
"""{name: requests, which clients send in turns}."""


def messages(name: str, **headers: str) -> list[bytes]:
    """The requests of a name, with more headers."""
    lines = request("GET", "/", **headers).split(b"\r\n", 2)[2].removesuffix(b"\r\n")  # without Host
    return [first + b"\r\n" + lines + rest for first, _, rest in (one.partition(b"\r\n") for one in MESSAGES[name]())]
