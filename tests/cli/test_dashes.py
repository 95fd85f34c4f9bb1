"""A dash that a command prints has a note below its table, or a warning that names what is missing."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.cli.running import run
from tests.test_nulls import CURVES

COLUMNS = {
    "classifiers": ("tp,fp\n5,5\n10,10\n8,20\n", {"positives": "20", "negatives": "30"}),
    "fractions": ("tp,fp\n0.5,0\n2,1\n", {"positives": "4", "negatives": "4"}),
    "thresholds": ("threshold,tp,fp\n0.9,1,0\n,2,1\n0.1,3,3\n", {"positives": "4", "negatives": "4"}),
    "no probabilities": ("scores,labels\n3,1\n2,0\n2,1\n-1,0\n", {}),
    "two rows": ("scores,labels\n0.9,1\n0.2,0\n", {}),
    "sums": ("score,positives,negatives\n0.2,0.5,2.5\n0.6,1.5,1.5\n0.8,2.5,0.5\n", {}),
    "open": ("score_from,score_to,positives,negatives\n0,0.4,1,5\n0.5,1,5,1\n", {}),
}
SLICES = "scores,labels,country\n3,1,DE\n2,0,\n2,1,FR\n-1,0,DE\n3,1,FR\n"
TOML = """
paired = true
[[rules]]
metric = "roc"
min = 0.9
confidence = 0.9
[[rules]]
metric = "precision"
at_threshold = 5
min = 0.1
[[rules]]
metric = "f_measure"
at = 0.5
max_drop = 0.1
[[rules]]
metric = "roc"
max_drop = 0.1
confidence = 0.9
"""
WITHOUT = TOML[TOML.index("[[rules]]") : TOML.index('[[rules]]\nmetric = "f_measure"')]


def _commands(tmp_path: Path, name: str) -> Iterator[list[str]]:
    """Commands that print tables about a file with gaps."""
    text, totals = COLUMNS[name]
    file, rules, alone = (tmp_path / each for each in ("scores.csv", "rules.toml", "alone.toml"))
    file.write_text(text)
    more = [word for key, value in totals.items() for word in (f"--{key}", value)]
    header = "".join(f"{key} = {value}\n" for key, value in totals.items())
    rules.write_text(header + TOML.replace("paired = true\n", ""))
    alone.write_text(header + WITHOUT)
    every = {key: json.dumps(CURVES[key]) for key in ("operating_points", "partial", "costs", "intervals")}
    every["include"] = "calibration,statistics"
    if name == "open":
        del every["costs"], every["include"]
    yield [
        "curves",
        str(file),
        *more,
        *(word for key, value in every.items() for word in (f"--{key.replace('_', '-')}", value)),
    ]
    yield ["tradeoffs", str(file), *more, "--at-lambda", "[0, 0.5, 1]"]
    yield ["gate", str(alone), str(file)]
    yield ["gate", str(rules), str(file), "--baseline", str(file)]
    if name != "open":
        yield ["compare", f"a={file}", f"b={file}", *more]


def dashes(lines: list[str]) -> Iterator[set[str]]:
    """Find the cells that are dashes, each with the names that may stand for it: its row's and its column's."""
    head: list[str] = []
    for line in lines:
        cells = re.split(r"\s{2,}", line.strip())
        if not line.startswith(" "):
            head = []
        elif not head:
            head = cells
        if "-" in cells and cells[0] != "-":
            yield {cells[0], *(name for name, cell in zip(head[::-1], cells[::-1], strict=False) if cell == "-")}


@pytest.mark.parametrize("name", COLUMNS)
def test_a_dash_of_a_command_has_a_note(name: str, tmp_path: Path) -> None:
    for words in _commands(tmp_path, name):
        done = run(*words)
        assert done.exit_code in {0, 1, 2}, done.output
        assert "Error" not in done.output, done.output
        lines = done.stdout.splitlines()
        told = "\n".join(line for line in lines if line.startswith("  -  "))
        told += " ".join("\n".join(lines).partition("\nWarnings\n")[2].split())
        told += "Reasons: value" * ("Reasons" in lines)
        for names in dashes(lines):
            found = names | {"Intervals"} if names & {"roc", "pr", "average_precision"} else names
            # The names of areas are broken after their last underscore.
            assert any(re.search(rf"\b{re.escape(each)}" + r"\b" * (each[-1] != "_"), told) for each in found), (
                words[0],
                names,
                done.stdout,
            )


def test_dashes_of_slices_have_notes(tmp_path: Path) -> None:
    (tmp_path / "slices.csv").write_text(SLICES)
    points = '[{"metric": "recall_at_precision", "at": 1}, {"metric": "recall_at_precision", "at": 0.1}]'
    done = run("slices", tmp_path / "slices.csv", "--slices", "country", "--operating-points", points)
    assert "2 without areas, one_class: FR, -\n  -  country: rows without a value\n" in done.stdout
