"""Runs `rocpr compare`, and asks the service the same; evaluations to compare, and files that hold them."""

import csv
import json
from pathlib import Path

from click.testing import CliRunner, Result

from service.answer import Request, answer
from service.cli.commands import rocpr as commands
from service.wire.limits import Limits

DATA = Path(__file__).resolve().parent.parent / "data"
ALL, TEN = f"all={DATA / 'breast_cancer.csv'}", f"ten={DATA / 'breast_cancer_ten.csv'}"

FIRST = {"counts": {"tp": [10, 20], "fp": [0, 1500], "positives": 20, "negatives": 2000}}
SECOND = {"counts": {"tp": [20], "fp": [500], "positives": 20, "negatives": 2000}}
"""The second is curve II of figure 7 of Davis and Goadrich (2006), the first a curve such as its curve I."""

CLASSIFIERS = {"counts": {"tp": [16, 12], "fp": [500, 600], "positives": 20, "negatives": 2000}}


def rocpr(*arguments: object, given: str | bytes | None = None, **variables: str) -> Result:
    return CliRunner().invoke(commands, ["compare", *map(str, arguments)], input=given, env=variables)


def answered(evaluations: dict[str, dict], **options: object) -> bytes:
    document = {"evaluations": [{"name": name, **fields} for name, fields in evaluations.items()], **options}
    body = json.dumps(document).encode()
    request = Request("comparisons", "/v1/comparisons", "application/json", "application/json", (), body)
    result = answer(request, Limits(5_000_000, 100_000))
    assert result.status == 200, result.body
    return result.body


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
