"""`--engine spark`: a table in Spark gets the same answer as its rows."""

import json
from pathlib import Path

import numpy as np
import pyarrow as pa
import pytest
from pyarrow import parquet

from tests.cli.running import error_status, run

SIZE = 50_000
RANDOM = np.random.default_rng(5)
LABELS = RANDOM.random(SIZE) < 0.2
SCORES = 1 / (1 + np.exp(-RANDOM.normal(size=SIZE) - LABELS))
TO_NOBODY = ["--engine", "spark", "--remote", "sc://localhost:1"]


@pytest.fixture(scope="module")
def rows(tmp_path_factory: pytest.TempPathFactory) -> Path:
    file = tmp_path_factory.mktemp("spark") / "rows.parquet"
    countries = np.array(["DE", "FR", "IT"])[RANDOM.integers(0, 3, SIZE)]
    parquet.write_table(pa.table({"p": SCORES, "y": LABELS, "country": countries}), file)
    return file


@pytest.mark.all
@pytest.mark.parametrize("words", [["curves", "--include", "auc"], ["tradeoffs"], ["slices", "--slices", "country"]])
def test_exact_answers_are_those_of_the_rows(words: list[str], rows: Path, remote: str) -> None:
    names = ["--scores", "p", "--labels", "y", "--json"]
    wanted = run(*words, rows, *names)
    assert wanted.exit_code == 0, wanted.stderr
    done = run(*words, *names, "--engine", "spark", "--remote", remote, "--table", f"parquet.`{rows}`")
    assert (done.exit_code, done.stderr) == (0, ""), done.stderr
    assert done.stdout_bytes == wanted.stdout_bytes


@pytest.mark.all
def test_bounds_hold_the_exact_areas(rows: Path, remote: str) -> None:
    names = ["--scores", "p", "--labels", "y", "--json"]
    exact = json.loads(run("curves", rows, *names).stdout)["auc"]
    done = run("curves", f"parquet.`{rows}`", *names, "--engine", "spark", "--remote", remote, "--tolerance", "1e-5")
    assert done.exit_code == 0, done.stderr
    bounds = json.loads(done.stdout)["bounds"]
    for area, found in bounds.items():
        assert found["lower"] <= exact[area] <= found["upper"]
        assert found["upper"] - found["lower"] <= 1e-5


@pytest.mark.all
def test_two_tables_are_compared(rows: Path, remote: str) -> None:
    names = ["--scores", "p", "--labels", "y", "--json"]
    pair = [f"new=parquet.`{rows}`", f"same=parquet.`{rows}`"]
    done = run("compare", *pair, *names, "--engine", "spark", "--remote", remote)
    assert done.exit_code == 0, done.stderr
    assert done.stdout == run("compare", f"new={rows}", f"same={rows}", *names).stdout


@pytest.mark.all
def test_a_wrong_column_and_a_wrong_table(rows: Path, remote: str) -> None:
    to_spark = ["--engine", "spark", "--remote", remote]
    done = run("curves", *to_spark, "--table", f"parquet.`{rows}`", "--scores", "q", "--labels", "y")
    assert done.exit_code == 2
    assert "There is no column 'q'" in done.stderr
    done = run("curves", *to_spark, "--table", "nowhere", "--scores", "p", "--labels", "y")
    assert done.exit_code == 2
    assert done.stderr.startswith(
        "Error: nowhere: Spark could not read or group the rows.\n  [TABLE_OR_VIEW_NOT_FOUND] "
    )


def test_no_server_and_no_token_in_what_is_said() -> None:
    done = run("curves", "--engine", "spark", "--remote", "sc://localhost:1/;token=geheim", "--table", "scores")
    assert done.exit_code == 2
    reason = "No Spark Connect server answers at localhost:1."
    assert done.stderr == f"Error: scores: Spark could not read or group the rows.\n  {reason}\n"


@pytest.mark.parametrize(
    ("words", "reason"),
    [
        (["curves", "t", "--engine", "spark"], "--engine spark needs --remote, as in sc://HOST:15002."),
        (["curves", "--remote", "sc://a", "--table", "t"], "--table needs --engine spark."),
        (["curves", "t", "--engine", "duckdb", "--remote", "sc://a"], "--remote needs --engine spark."),
        (["curves", "--engine", "duckdb", "--table", "t"], "--table needs --engine spark."),
        (["curves", "t", "--memory", "1GB", *TO_NOBODY], "--memory needs --engine duckdb."),
        (["slices", "t", "--spill", "/tmp", *TO_NOBODY], "--spill needs --engine duckdb."),
        (["curves", "t", "--table", "t", *TO_NOBODY], "--table takes the place of FILE."),
        (["tradeoffs", *TO_NOBODY], "Missing argument 'FILE...'."),
        (
            ["compare", "a=t", "b=t", "--table", "t", *TO_NOBODY],
            "this command has none; name tables where it takes files.",
        ),
        (
            ["gate", "rules.toml", "t", "--table", "t", *TO_NOBODY],
            "this command has none; name tables where it takes files.",
        ),
    ],
)
def test_options_that_do_not_go_together(words: list[str], reason: str) -> None:
    done = run(*words)
    assert done.exit_code == error_status(words[0])
    assert reason in done.stderr
