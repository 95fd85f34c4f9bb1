"""The commands take infinite scores and thresholds, and show them as such."""

from __future__ import annotations

import json
import sys
from pathlib import Path

import pyarrow as pa
import pytest
from pyarrow import parquet

from tests.cli.gate.gate_server import KEY
from tests.cli.running import refusal, run

ROWS = "scores,labels\ninf,1\n2.5,0\n0.5,1\n-inf,0\n-inf,1\n"
ROC = 3.5 / 6
RULES = '[[rules]]\nmetric = "recall"\nat_threshold = {}\nmin = 0.1\n'


@pytest.fixture
def scores(tmp_path: Path) -> Path:
    (tmp_path / "scores.csv").write_text(ROWS)
    return tmp_path / "scores.csv"


@pytest.fixture
def rules(tmp_path: Path) -> Path:
    return tmp_path / "rules.toml"


def test_a_summary_shows_them(scores: Path) -> None:
    shown = run("curves", scores, "--include", "hull").stdout
    assert [line.split()[0] for line in shown.splitlines() if "rows" not in line and "inf" in line] == ["inf", "-inf"]
    assert "1.797" not in shown
    assert "infinite_scores" in run("curves", scores, "--json").stdout


def test_thresholds_are_listed_with_commas(scores: Path) -> None:
    answer = json.loads(run("curves", scores, "--thresholds", "inf,0.5", "--json").stdout)
    assert answer["points"]["tp"] == [0, 1, 2, 3]


@pytest.mark.parametrize(("threshold", "recall"), [("inf", 1 / 3), ("-inf", 1), ("1", 1 / 3)])
def test_a_rule_may_be_at_one(scores: Path, rules: Path, threshold: str, recall: float) -> None:
    rules.write_text(RULES.format(threshold))
    done = run("gate", rules, scores)
    assert f"{recall:.6f}" in done.stdout
    assert f"recall at threshold {threshold}" in done.stdout
    assert done.exit_code == 0
    document = json.loads(run("gate", rules, scores, "--json").stdout)
    told = [warning["code"] for warning in document["warnings"]]
    assert told == ([] if threshold == "1" else ["infinite_scores"])
    given = document["checks"][0]["rule"]["at_threshold"]
    assert given == (1 if threshold == "1" else float(threshold.replace("inf", str(sys.float_info.max))))


@pytest.mark.parametrize("value", ["nan", "inf"])
def test_other_numbers_of_rules_are_finite(scores: Path, rules: Path, value: str) -> None:
    rules.write_text(f'[[rules]]\nmetric = "roc"\nmin = {value}\n')
    assert f"line 3: {value} is not a finite number." in refusal(run("gate", rules, scores))


def test_a_server_gets_numbers_in_the_same_order(guarded: str, scores: Path, rules: Path) -> None:
    rules.write_text('paired = true\n[[rules]]\nmetric = "roc"\nmin = 0.1\n[[rules]]\nmetric = "roc"\nmax_drop = 0.1\n')
    asked = ["gate", rules, scores, "--baseline", scores]
    there = run(*asked, "--server", guarded, "--api-key-env", "TESTS_KEY", TESTS_KEY=KEY)
    assert (there.exit_code, there.stdout) == (0, run(*asked).stdout)
    assert f"{ROC:.6f}" in there.stdout


def test_engines_take_them(scores: Path, tmp_path: Path) -> None:
    rows = [line.split(",") for line in ROWS.split()[1:]]
    columns = {"scores": [float(row[0]) for row in rows] * 20_000, "labels": [int(row[1]) for row in rows] * 20_000}
    columns["scores"] = [score + row * 1e-7 for row, score in enumerate(columns["scores"])]
    parquet.write_table(pa.table(columns), tmp_path / "rows.parquet")
    for file, options in ((scores, []), (tmp_path / "rows.parquet", ["--tolerance", "1e-4"])):
        engine = json.loads(run("curves", file, "--engine", "duckdb", *options, "--json", "--include", "auc").stdout)
        plain = json.loads(run("curves", file, "--json", "--include", "auc").stdout)
        assert engine["auc"]["roc"] == pytest.approx(plain["auc"]["roc"], abs=1e-4 if options else 0)


@pytest.mark.parametrize("cell", ["1e999", "nan"])
def test_engines_refuse_what_a_body_must_not_have(tmp_path: Path, cell: str) -> None:
    (tmp_path / "rows.csv").write_text(f"scores,labels\n{cell},1\n0.5,0\n")
    for options in ([], ["--engine", "duckdb"]):
        assert run("curves", tmp_path / "rows.csv", *options).exit_code == 2


def test_groups_with_infinite_ends_are_added_up(tmp_path: Path) -> None:
    for number in range(2):
        text = "score_from,score_to,positives,negatives\n-inf,0.2,1,2\n0.5,inf,2,1\n"
        (tmp_path / f"{number}.csv").write_text(text)
    joined = run("curves", tmp_path / "0.csv", tmp_path / "1.csv").stdout
    assert joined.split("\n\n")[1].split()[:4] == ["positives", "6", "negatives", "6"]
