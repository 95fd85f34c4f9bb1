"""`rocpr gate` without a server: the service's verdict and its exit status."""

import json
import os
import subprocess
from pathlib import Path

import click
import pytest

from service.cli.gate import command
from service.cli.gate.verdict_layout import verdict_lines
from tests.cli.comparing import sample
from tests.cli.gate.gating import (
    ALL,
    COMMAND,
    DATA,
    DROP,
    FAILING,
    PASSING,
    ROOT,
    RULES,
    STATUSES,
    TEN,
    UNDECIDED,
    answered,
    rocpr,
    written,
)
from tests.cli.running import refusal

FILE = DATA / "rules.toml"


@pytest.mark.parametrize("text", STATUSES, ids=["passing", "failing", "undecided"])
def test_the_verdict_is_the_services_and_the_status_tells_it(tmp_path: Path, text: str) -> None:
    rules = written(tmp_path, text)
    run = rocpr(rules, ALL, "--json")
    assert (run.exit_code, run.stderr) == (STATUSES[text], "")
    assert run.stdout_bytes == answered(sample(ALL) | {"rules": RULES[text]})
    run = rocpr(rules, ALL)
    assert (run.exit_code, run.stderr) == (STATUSES[text], "")
    document = json.loads(answered(sample(ALL) | {"rules": RULES[text]}))
    assert run.stdout == "".join(f"{click.unstyle(line)}\n" for line in verdict_lines(document, str(ALL), None))


@pytest.mark.parametrize("paired", [True, False])
@pytest.mark.parametrize("suffixes", [("csv", "csv"), ("csv", "json"), ("json", "csv"), ("json", "json")])
def test_a_baseline_in_a_file_of_its_own(tmp_path: Path, suffixes: tuple[str, str], *, paired: bool) -> None:
    rules = written(tmp_path, f"paired = {str(paired).lower()}\n{DROP}")
    files = [
        path if suffix == "csv" else written(tmp_path, sample(path), f"{path.stem}.json")
        for path, suffix in zip((TEN, ALL), suffixes, strict=True)
    ]
    run = rocpr(rules, files[0], "--baseline", files[1], "--json")
    assert run.stderr == ""
    expected = answered(sample(TEN) | {"baseline": sample(ALL), "rules": RULES[DROP], "paired": paired})
    assert run.stdout_bytes == expected
    run = rocpr(rules, files[0], "--baseline", files[1])
    assert run.stdout.startswith(f"{files[0]}\nagainst {files[1]}{', paired' if paired else ', not paired'}\n\n")


def test_a_baseline_in_a_column(tmp_path: Path) -> None:
    """Two models in one table, named in the rules."""
    table = written(tmp_path, "new,old,y\n0.9,0.7,1\n0.8,0.9,1\n0.7,0.8,0\n0.4,0.3,1\n0.2,0.6,0\n", "two.csv")
    reading = 'scores = "new"\nbaseline_scores = "old"\nlabels = "y"\npaired = true\n'
    rules = written(tmp_path, reading + '[[rules]]\nmetric = "roc"\nmax_drop = 0\n')
    assert rocpr(rules, table).stdout.startswith(f"{table}\nagainst a baseline, paired\n\n")
    run = rocpr(rules, table, "--json")
    assert (run.exit_code, run.stderr) == (0, "")
    labels = [1, 1, 0, 1, 0]
    request = {
        "scores": [0.9, 0.8, 0.7, 0.4, 0.2],
        "labels": labels,
        "baseline": {"scores": [0.7, 0.9, 0.8, 0.3, 0.6], "labels": labels},
        "paired": True,
        "rules": [{"metric": "roc", "max_drop": 0}],
    }
    assert run.stdout_bytes == answered(request)
    said = refusal(rocpr(rules, table, "--baseline", ALL))
    assert "baseline_scores names a column, and --baseline names a file" in said


def test_options_of_columns_go_before_the_rules(tmp_path: Path) -> None:
    table = written(tmp_path, "p,q,truth,w\n0.1,1,spam,1\n0.25,2,ham,2\n0,3,spam,1\n", "named.csv")
    reading = 'scores = "q"\nlabels = "truth"\npositive_label = "ham"\nweights = "w"\n'
    rules = written(tmp_path, reading + '[[rules]]\nmetric = "roc"\nmin = 0\n')
    request = {"labels": [0, 1, 0], "weights": [1, 2, 1], "rules": [{"metric": "roc", "min": 0}]}
    run = rocpr(rules, table, "--json")
    assert run.stdout_bytes == answered(request | {"scores": [1, 2, 3]})
    flags = ["--scores", "p", "--positive-label", "spam", "--lower-is-positive", "--json"]
    run = rocpr(rules, table, *flags)
    assert run.stdout_bytes == answered(
        request | {"scores": [0.1, 0.25, 0], "labels": [1, 0, 1], "lower_is_positive": True}
    )


def test_labels_and_scores_mean_the_same_in_every_file(tmp_path: Path) -> None:
    """What the rules, or the scores, say about labels applies to a file that says nothing about them."""
    rules = written(
        tmp_path, 'positive_label = "no"\nlower_is_positive = true\n[[rules]]\nmetric = "roc"\nmax_drop = 1\n'
    )
    new = written(tmp_path, {"scores": [1, 2, 3], "labels": ["no", "yes", "no"]}, "new.json")
    old = written(tmp_path, "scores,labels\n3,no\n2,yes\n1,yes\n", "old.csv")
    own = written(
        tmp_path, {"scores": [1, 2], "labels": [0, 1], "positive_label": 1, "lower_is_positive": False}, "o.json"
    )
    for scores, baseline, values in (
        (new, old, (0.5, 0)),
        (old, new, (0, 0.5)),
        (own, new, (1, 0.5)),
        (new, own, (0.5, 1)),
    ):
        run = rocpr(rules, scores, "--baseline", baseline, "--json")
        assert run.exit_code == 0, run.stderr
        (check,) = json.loads(run.stdout)["checks"]
        assert (check["value"], check["baseline"]) == values


def test_totals_of_the_command_and_of_the_rules_complete_a_table_of_counts(tmp_path: Path) -> None:
    table = written(tmp_path, "threshold,tp,fp\n0.5,5,5\n0.25,10,30\n", "counts.csv")
    rules = written(tmp_path, 'negatives = 2000\n[[rules]]\nmetric = "recall"\nat_threshold = 0.25\nmin = 0.5\n')
    run = rocpr(rules, table, "--positives", "20", "--json")
    assert (run.exit_code, run.stderr) == (0, "")
    assert json.loads(run.stdout)["checks"][0]["value"] == 0.5


def test_scores_or_rules_but_only_one_file_come_from_standard_input(tmp_path: Path) -> None:
    rules = written(tmp_path, PASSING)
    run = rocpr(rules, "-", "--format", "csv", given=ALL.read_bytes())
    assert (run.exit_code, run.stdout.splitlines()[0]) == (0, "standard input")
    run = rocpr("-", ALL, given=FAILING)
    assert run.exit_code == 1
    for words in (["-", "-"], ["-", ALL, "--baseline", "-"], [rules, "-", "--baseline", "-", "--format", "csv"]):
        assert "- is given more than once" in refusal(rocpr(*words, given=""))


# What must not look like a failed gate.


@pytest.mark.parametrize("error", [ValueError("a defect"), KeyboardInterrupt(), click.Abort()])
def test_a_defect_is_not_a_verdict(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, error: BaseException) -> None:
    def broken(*_: object) -> None:
        raise error

    monkeypatch.setattr(command, "verdict_lines", broken)
    said = refusal(rocpr(written(tmp_path, FAILING), ALL))
    assert ("a defect" if isinstance(error, ValueError) else "Aborted!") in said


@pytest.mark.parametrize(
    "text", [pytest.param(PASSING, marks=pytest.mark.all, id="passing"), pytest.param(FAILING, id="failing")]
)
def test_the_verdict_holds_if_nobody_reads_it(tmp_path: Path, text: str) -> None:
    junit = tmp_path / "gate.xml"
    words = [written(tmp_path, text), ALL, "--junit", junit]
    read, write = os.pipe()
    os.close(read)
    run = subprocess.run(
        [*COMMAND, *map(str, words)], cwd=ROOT, stdout=write, stderr=subprocess.PIPE, timeout=120, check=False
    )
    os.close(write)
    assert (run.returncode, run.stderr) == (STATUSES[text], b"")
    assert junit.exists()


def test_a_file_of_every_format_is_read(tmp_path: Path) -> None:
    from pyarrow import csv

    from tests.properties.bodies import arrow_body, parquet_body

    rules = written(tmp_path, UNDECIDED)
    expected = rocpr(rules, ALL, "--json").stdout_bytes
    for name, make in (("a.arrow", arrow_body), ("a.parquet", parquet_body)):
        (tmp_path / name).write_bytes(make(csv.read_csv(ALL)))
        run = rocpr(rules, tmp_path / name, "--json")
        assert (run.exit_code, run.stdout_bytes) == (2, expected)
