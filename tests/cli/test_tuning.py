"""`rocpr curves FILE --tuning OTHER`: thresholds are chosen on OTHER and judged on FILE, here or by a server."""

from __future__ import annotations

import json
from functools import partial
from pathlib import Path
from typing import Any

import pytest

from tests.cli.gate.gate_server import KEY
from tests.cli.gate.gating import written
from tests.cli.running import answered, refusal, run

TEST = "p;y\n0,95;yes\n0,9;yes\n0,8;no\n0,7;yes\n0,7;no\n0,6;yes\n0,55;no\n0,4;no\n0,35;yes\n0,3;no\n0,2;no\n0,1;no\n"
VALIDATION = "id;p;y\n1;0,9;yes\n2;0,58;yes\n3;0,3;no\n4;0,1;no\n"
READ = ["--scores", "p", "--labels", "y", "--positive-label", "yes", "--delimiter", "semicolon", "--decimal", "comma"]
SAMPLE = {"scores": [0.95, 0.9, 0.8, 0.7, 0.7, 0.6, 0.55, 0.4, 0.35, 0.3, 0.2, 0.1]}
SAMPLE |= {"labels": [1, 1, 0, 1, 0, 1, 0, 0, 1, 0, 0, 0]}
TUNING = {"scores": [0.9, 0.58, 0.3, 0.1], "labels": [1, 1, 0, 0]}

curves = partial(run, "curves")


@pytest.fixture
def files(tmp_path: Path) -> list[Path]:
    return [written(tmp_path, TEST, "test.csv"), written(tmp_path, VALIDATION, "validation.csv")]


def expected(**options: Any) -> Any:
    body = json.dumps(SAMPLE | {"tuning": TUNING} | options).encode()
    return json.loads(answered("curves", body, "application/json"))


@pytest.mark.parametrize("server", [False, True])
def test_both_are_read_alike(files: list[Path], guarded: str, *, server: bool) -> None:
    test, validation = files
    words = [test, *READ, "--best", "f1", "--tuning", validation, "--level", "0.95", "--json"]
    there = ["--server", guarded] if server else []
    done = curves(*words, *there, ROCPR_API_KEY=KEY)
    assert (done.exit_code, done.stderr) == (0, "")
    found = expected(decisions=[{"best": "f1"}], intervals={"level": 0.95})
    assert json.loads(done.stdout) == found
    assert found["decisions"]["f1_lower"] != [None]


def test_the_screen_says_where_rows_were_chosen(files: list[Path]) -> None:
    test, validation = files
    shown = curves(test, *READ, "--tuning", validation).stdout
    assert "\n  best f1             0.58   4   2   1   5   0.666667  0.800000  0.727273\n" in shown
    assert "\n  The best rows were chosen on the tuning sample.\n" in shown
    alone = curves(test, *READ, "--best", "f1", "--tuning", validation, "--level", "0.95").stdout
    assert "\nDecision: best f1, at threshold 0.58\n" in alone
    assert "interval_omitted" not in alone


def test_json_files(tmp_path: Path, files: list[Path]) -> None:
    """A JSON file has the meaning of labels of the other, unless it has its own."""
    other = written(tmp_path, {"scores": TUNING["scores"], "labels": ["yes", "yes", "no", "no"]}, "tuning.json")
    done = curves(files[0], *READ, "--best", "f1", "--tuning", other, "--json")
    assert json.loads(done.stdout) == expected(decisions=[{"best": "f1"}])
    request = written(tmp_path, SAMPLE | {"decisions": [{"best": "f1"}]}, "request.json")
    table = written(tmp_path, "scores,labels\n0.9,1\n0.58,1\n0.3,0\n0.1,0\n", "other.csv")
    assert json.loads(curves(request, "--tuning", table, "--json").stdout) == expected(decisions=[{"best": "f1"}])
    both = written(tmp_path, SAMPLE | {"tuning": TUNING}, "both.json")
    assert "both.json has the field tuning" in refusal(curves(both, "--tuning", table))


def test_rows_with_empty_cells_are_left_out_of_each(tmp_path: Path, files: list[Path]) -> None:
    gap = written(tmp_path, f"{VALIDATION}5;;no\n", "gap.csv")
    said = refusal(curves(files[0], *READ, "--tuning", gap))
    assert said.startswith(f"Error: {gap}: This cannot be used.\n  column p, row 6: ")
    done = curves(files[0], *READ, "--best", "f1", "--tuning", gap, "--missing", "drop", "--json")
    found = json.loads(done.stdout)
    assert found["decisions"] == expected(decisions=[{"best": "f1"}])["decisions"]
    assert [each["code"] for each in found["warnings"]] == ["rows_left_out", "reduced_table"]


@pytest.mark.parametrize(
    ("text", "name", "said"),
    [
        ("q;y\n1;yes\n", "other.csv", "There is no column 'p'"),
        ("p;y\n1;yes\n", "one.csv", "All 1 labels are positive"),
        ("tp;fp\n1;2\n", "counts.csv", "There is no column 'p'"),
    ],
)
def test_a_problem_names_its_file(tmp_path: Path, files: list[Path], text: str, name: str, said: str) -> None:
    path = written(tmp_path, text, name)
    told = refusal(curves(files[0], *READ, "--tuning", path))
    assert told.startswith(f"Error: {path}: ")
    assert said in told


def test_what_is_refused(tmp_path: Path, files: list[Path]) -> None:
    test, validation = files
    assert "No such file" in refusal(curves(test, *READ, "--tuning", tmp_path / "nothing.csv"))
    assert "cannot be combined with --engine" in refusal(
        curves(test, "--tuning", validation, "--engine", "duckdb", "--scores", "p")
    )
    assert "can be read only once" in refusal(curves("-", "--format", "csv", "--tuning", "-", given=TEST))
    counts = written(tmp_path, "tp,fp\n1,0\n", "counts.csv")
    table = written(tmp_path, "scores,labels\n0.9,1\n0.1,0\n", "other.csv")
    told = refusal(curves(counts, "--positives", "2", "--negatives", "2", "--tuning", table))
    assert "This is for a sample, but counts are given too." in told
