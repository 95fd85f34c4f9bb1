"""Runs `rocpr compare`, and sends the service the same request; evaluations to compare, and their files."""

import csv
import json
from functools import partial
from pathlib import Path

from tests.cli import running
from tests.cli.running import DATA

rocpr = partial(running.run, "compare")
ALL, TEN = f"all={DATA / 'breast_cancer.csv'}", f"ten={DATA / 'breast_cancer_ten.csv'}"

FIRST = {"counts": {"tp": [10, 20], "fp": [0, 1500], "positives": 20, "negatives": 2000}}
SECOND = {"counts": {"tp": [20], "fp": [500], "positives": 20, "negatives": 2000}}
"""The second is curve II of figure 7 of Davis and Goadrich (2006), the first a curve like its curve I."""

CLASSIFIERS = {"counts": {"tp": [16, 12], "fp": [500, 600], "positives": 20, "negatives": 2000}}


def answered(evaluations: dict[str, dict], **options: object) -> bytes:
    document = {"evaluations": [{"name": name, **fields} for name, fields in evaluations.items()], **options}
    return running.answered("comparisons", json.dumps(document).encode(), "application/json")


def sample(path: Path) -> dict[str, list]:
    """Read a file without the service."""
    with path.open(newline="", encoding="ascii") as stream:
        rows = list(csv.DictReader(stream))
    return {"scores": [float(row["scores"]) for row in rows], "labels": [int(row["labels"]) for row in rows]}


def written(folder: Path, **evaluations: object) -> list[str]:
    """Write JSON files and return them as NAME=FILE."""
    words = []
    for name, document in evaluations.items():
        path = folder / f"{name}.json"
        path.write_text(json.dumps(document))
        words.append(f"{name}={path}")
    return words
