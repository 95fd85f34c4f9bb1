"""Runs `rocpr gate`, and sends the service the same request; rules, and their files."""

import json
import sys
from pathlib import Path
from typing import Any

from service.cli.gate.outputs import STEP_SUMMARY
from tests.cli import running
from tests.cli.running import DATA, Ran, run

ROOT = DATA.parent.parent
COMMAND = [sys.executable, "-c", "from service.cli.main import main; main()", "gate"]
ALL, TEN = DATA / "breast_cancer.csv", DATA / "breast_cancer_ten.csv"

PASSING = '[[rules]]\nmetric = "roc"\nmin = 0.99\n'
FAILING = PASSING + '[[rules]]\nmetric = "average_precision"\nmin = 0.999\nconfidence = 0.9\n'
UNDECIDED = PASSING + '[[rules]]\nmetric = "precision"\nat_threshold = 2\nmin = 0.9\n'
DROP = '[[rules]]\nmetric = "roc"\nmax_drop = 0.017\nconfidence = 0.95\n'
RULES = {
    PASSING: [{"metric": "roc", "min": 0.99}],
    FAILING: [{"metric": "roc", "min": 0.99}, {"metric": "average_precision", "min": 0.999, "confidence": 0.9}],
    UNDECIDED: [{"metric": "roc", "min": 0.99}, {"metric": "precision", "at_threshold": 2, "min": 0.9}],
    DROP: [{"metric": "roc", "max_drop": 0.017, "confidence": 0.95}],
}
STATUSES = {PASSING: 0, FAILING: 1, UNDECIDED: 2}


def rocpr(*arguments: object, given: str | bytes | None = None, **variables: str) -> Ran:
    return run("gate", *arguments, given=given, **{STEP_SUMMARY: None, "NO_COLOR": None, **variables})


def answered(document: dict[str, Any]) -> bytes:
    """The service's answer to a JSON request."""
    return running.answered("gates", json.dumps(document).encode(), "application/json")


def written(folder: Path, text: str | dict[str, Any], name: str = "rules.toml") -> Path:
    path = folder / name
    path.write_text(text if isinstance(text, str) else json.dumps(text))
    return path
