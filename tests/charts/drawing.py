"""Requests for the tests of pictures, and functions that read a picture: as XML, its texts, its lines."""

from __future__ import annotations

import random
import xml.etree.ElementTree as ET
from collections.abc import Iterator
from typing import Any

import numpy as np
from numpy.typing import NDArray

from service.wire.media_types import SVG
from tests.support.asking import ask

NAMESPACE = "{http://www.w3.org/2000/svg}"

SAMPLE = {"scores": [0.9, 0.8, 0.7, 0.7, 0.4, 0.2], "labels": [1, 0, 1, 1, 0, 0]}
NO_SWEEP = {"counts": {"tp": [6, 9, 8], "fp": [1, 4, 6], "fn": [4, 1, 2], "tn": [9, 6, 4]}}


def sample(rows: int, lift: float, share: float = 0.3) -> dict[str, Any]:
    """Normal scores of both classes."""
    draw = random.Random(rows)
    labels = [int(draw.random() < share) for _ in range(rows)]
    return {"scores": [draw.gauss(lift * label, 1) for label in labels], "labels": labels}


CLASS_SHIFTS = {"cat": 0.5, "a class that has a rather long name, as some do": 1.0, "owl": 2.0}
"""{name of a class: the distance of its scores from those of the others}"""


def class_scores(labels: list[str]) -> dict[str, list[float]]:
    """Normal scores for each class."""
    draw = random.Random(3)
    return {name: [draw.gauss(shift * (label == name), 1) for label in labels] for name, shift in CLASS_SHIFTS.items()}


def comparison(*names: str, rows: int = 200) -> dict[str, Any]:
    """A comparison of increasingly good models."""
    return {"evaluations": [sample(rows, 0.5 + place / 5) | {"name": name} for place, name in enumerate(names)]}


BODIES = {
    "curves": sample(300, 1.5)
    | {
        "intervals": {},
        "operating_points": [{"metric": "precision_at_recall", "at": 0.9}, {"metric": "recall_at_precision", "at": 1}],
    },
    "tradeoffs": sample(300, 1.5),
    "comparisons": comparison("the model of last year that has a rather long name", "new"),
    "gates": sample(300, 1.5)
    | {
        "rules": [
            {"metric": "roc", "min": 0.8, "confidence": 0.95},
            {"metric": "f_measure", "at": 0.5, "at_threshold": 0.5, "min": 0.99},
            {"metric": "precision", "at_threshold": 99, "min": 0.5},
        ]
    },
    "slices": sample(300, 1.5)
    | {
        "slices": {
            "country": [("DE", "a slice that has a rather long name, as some do", None)[row % 3] for row in range(300)]
        },
        "intervals": {},
    },
    "classes": {
        "scores": class_scores([*CLASS_SHIFTS] * 100),
        "labels": [*CLASS_SHIFTS] * 100,
    },
}
"""{operation: a request for it}"""


def svg_of(operation: str, body: Any, **options: str) -> str:
    result = ask(operation, body, accept=SVG, **options)
    assert (result.status, result.media_type) == (200, SVG), result.body
    return result.body.decode()


def drawn(operation: str, body: Any, **options: str) -> ET.Element:
    return ET.fromstring(svg_of(operation, body, **options))


def texts(picture: ET.Element) -> list[str]:
    return [element.text or "" for element in picture.iter(f"{NAMESPACE}text")]


def described(picture: ET.Element) -> str:
    return picture.findtext(f"{NAMESPACE}desc") or ""


def lines(picture: ET.Element, name: str) -> Iterator[NDArray[np.float64]]:
    """The points of the polylines of a class, (n, 2) each, in pixels of the picture."""
    for element in picture.iter(f"{NAMESPACE}polyline"):
        if element.get("class") == name:
            yield np.array(
                [[float(number) for number in pair.split(",")] for pair in element.get("points", "").split()]
            )
