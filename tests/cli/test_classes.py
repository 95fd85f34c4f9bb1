"""`rocpr classes`: the averages, then the worst class and the worst pair first."""

from __future__ import annotations

import json
from functools import partial
from pathlib import Path

import pytest
from click.testing import Result

from service.wire.media_types import CSV, SVG
from tests.cli.gate.gating import written
from tests.cli.running import run
from tests.support.asking import ask

TABLE = """animal,cat,dog,owl
cat,.8,.1,.1
cat,.4,.5,.1
dog,.2,.7,.1
dog,.5,.3,.2
owl,.1,.3,.6
"""
QUERY = {"scores": "cat,dog,owl", "labels": "animal"}
COLUMNS = ("--scores", "cat,dog,owl", "--labels", "animal")


@pytest.fixture
def file(tmp_path: Path) -> Path:
    return written(tmp_path, TABLE, "a.csv")


rocpr = partial(run, "classes")


def first_words(run: Result, heading: str) -> list[str]:
    """What the lines below a heading and the names of columns begin with."""
    assert run.exit_code == 0, run.output
    lines = run.stdout.splitlines()
    start = next(row for row, line in enumerate(lines) if line.startswith(heading))
    return [line.split()[0] for line in lines[start + 2 : lines.index("", start) if "" in lines[start:] else None]]


def test_the_worst_come_first(file: Path) -> None:
    run = rocpr(file, *COLUMNS)
    answer = json.loads(ask("classes", TABLE, CSV, **QUERY).body)
    assert first_words(run, "Averages") == ["macro", "weighted", "micro", "Hand"]
    assert f"{answer['hand_till']:.6f}" in run.stdout
    table = answer["classes"]
    assert first_words(run, "3 classes") == sorted(
        table["name"], key=lambda name: table["roc"][table["name"].index(name)]
    )
    assert len(first_words(run, "6 pairs")) == 6


def test_classes_without_areas_say_why(file: Path) -> None:
    file.write_text(TABLE.replace("owl,.1", "dog,.1"))
    run = rocpr(file, *COLUMNS)
    assert first_words(run, "3 classes")[-1] == "owl"
    assert "one_class" in run.stdout
    assert "undefined_classes" in run.stdout


def test_json_is_the_answer(file: Path) -> None:
    run = rocpr(file, *COLUMNS, "--json")
    assert run.stdout.encode() == bytes(ask("classes", TABLE, CSV, **QUERY).body)


def test_several_labels_have_no_pairs(tmp_path: Path) -> None:
    body = {"scores": {"a": [1, 2, 3], "b": [3, 1, 2]}, "labels": {"a": [0, 1, 1], "b": [1, 0, 1]}}
    (tmp_path / "a.json").write_text(json.dumps(body))
    run = rocpr(tmp_path / "a.json")
    assert run.exit_code == 0, run.output
    assert "pairs" not in run.stdout
    assert "2 classes against the rest" in run.stdout


def test_the_plot_is_the_picture_of_the_answer(file: Path, tmp_path: Path) -> None:
    run = rocpr(file, *COLUMNS, "--plot", tmp_path / "a.svg")
    assert run.exit_code == 0, run.output
    assert (tmp_path / "a.svg").read_bytes() == bytes(ask("classes", TABLE, CSV, SVG, **QUERY).body)


def test_errors_are_reported(file: Path) -> None:
    run = rocpr(file, "--scores", "cat,dog", "--labels", "animal")
    assert run.exit_code == 2
    assert "There are no scores for the class 'owl'" in run.stderr


def test_intervals_of_averages_and_classes(tmp_path: Path) -> None:
    path = written(tmp_path, TABLE + "owl,.3,.4,.3\n", "a.csv")
    run = rocpr(path, *COLUMNS, "--level", "0.9")
    found = json.loads(rocpr(path, *COLUMNS, "--intervals", '{"level": 0.9}', "--json").stdout)
    lines = run.stdout[run.stdout.index("\nIntervals\n") :].splitlines()[2:]
    assert lines[0].split() == ["roc", "pr", "average_precision"]
    assert [line.split()[0] for line in lines[1:7]] == [
        *("macro", "weighted", "micro"),
        *sorted(
            found["classes"]["name"], key=lambda name: found["classes"]["roc"][found["classes"]["name"].index(name)]
        ),
    ]
    ends = [found["averages"][f"roc_{end}"][0] for end in ("lower", "upper")]
    assert f"macro     {ends[0]:.6f} to {ends[1]:.6f}" in run.stdout
    assert max(map(len, run.stdout.partition("\n\n")[2].splitlines())) <= 80
    assert first_words(run, "Averages") == ["macro", "weighted", "micro", "Hand"]
