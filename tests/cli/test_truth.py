"""`--truth FILE`: labels in one file, scores in another, joined by id; rows may be in any order."""

from __future__ import annotations

import csv
import random
from pathlib import Path

import pyarrow as pa
import pyarrow.parquet
import pytest

from tests.cli.gate.gate_server import KEY
from tests.cli.gate.gating import ALL, TEN, written
from tests.cli.running import refusal, run

RULES = 'ids = "id"\n[[rules]]\nmetric = "roc"\nmax_drop = 0.02\nconfidence = 0.9\n'


def rows_of(path: Path) -> list[dict[str, str]]:
    with path.open(newline="") as file:
        return [*csv.DictReader(file)]


def shuffled(folder: Path, name: str, columns: dict[str, list[str]], seed: int) -> Path:
    """A file with these columns and ids, its rows in an order of its own."""
    rows = [*zip(*columns.values(), strict=True)]
    rows = [(f"t{row}", *cells) for row, cells in enumerate(rows)]
    random.Random(seed).shuffle(rows)
    lines = [",".join(cells) for cells in (("id", *columns), *rows)]
    return written(folder, "\n".join(lines) + "\n", name)


@pytest.fixture
def files(tmp_path: Path) -> dict[str, Path]:
    of_all, ten = rows_of(ALL), rows_of(TEN)
    labels = [row["labels"] for row in of_all]
    return {
        "truth": shuffled(tmp_path, "truth.csv", {"labels": labels, "side": ["l", "r"] * 284 + ["l"]}, 1),
        "new": shuffled(tmp_path, "new.csv", {"scores": [row["scores"] for row in of_all]}, 2),
        "old": shuffled(tmp_path, "old.csv", {"scores": [row["scores"] for row in ten]}, 3),
    }


def below(text: str, first: str) -> list[str]:
    """The lines from this one on."""
    lines = text.splitlines()
    return lines[lines.index(first) :]


@pytest.mark.parametrize("server", [False, True])
def test_a_gate_of_three_files_is_that_of_two_in_one_order(
    tmp_path: Path, files: dict[str, Path], guarded: str, *, server: bool
) -> None:
    rules = written(tmp_path, RULES, "rules.toml")
    paired = written(tmp_path, RULES.replace('ids = "id"', "paired = true"), "paired.toml")
    there = ["--server", guarded] if server else []
    found = run(
        "gate", rules, files["new"], "--baseline", files["old"], "--truth", files["truth"], *there, ROCPR_API_KEY=KEY
    )
    assert (found.exit_code, found.stderr) == (0, "")
    expected = run("gate", paired, ALL, "--baseline", TEN)
    assert found.stdout.splitlines()[2:] == expected.stdout.splitlines()[2:]
    assert ", paired\n" in found.stdout


def test_curves_slices_and_comparisons_take_it(files: dict[str, Path], guarded: str) -> None:
    there = ([], ["--server", guarded])
    words = ["--truth", files["truth"], "--ids", "id"]
    found = run("curves", files["new"], *words)
    assert found.stdout.startswith(f"{files['new']} and {files['truth']}\n")
    assert below(found.stdout, "Areas") == below(run("curves", ALL).stdout, "Areas")
    sliced = [
        run("slices", files["new"], *words, "--slices", "side", *each, ROCPR_API_KEY=KEY).stdout for each in there
    ]
    assert "\n2 slices, lowest roc first\n" in sliced[0]
    assert sliced[0] == sliced[1]
    compared = run("compare", files["new"], files["old"], *words)
    assert (compared.exit_code, compared.stderr) == (0, "")
    expected = run("compare", f"new={ALL}", f"old={TEN}", "--paired").stdout
    first = "Differences from the first, with 95 % intervals, paired"
    assert below(compared.stdout, first) == below(expected, first)


def test_parquet_joins_csv(tmp_path: Path, files: dict[str, Path]) -> None:
    rows = rows_of(files["truth"])
    table = pa.table({"id": [row["id"] for row in rows], "labels": [int(row["labels"]) for row in rows]})
    pa.parquet.write_table(table, tmp_path / "truth.parquet")
    found = run("curves", files["new"], "--truth", tmp_path / "truth.parquet", "--ids", "id")
    assert below(found.stdout, "Areas") == below(run("curves", ALL).stdout, "Areas")


def test_what_cannot_be_joined_is_told_by_file(tmp_path: Path, files: dict[str, Path]) -> None:
    words = ["--truth", files["truth"], "--ids", "id"]
    assert "--truth needs --ids NAME" in refusal(run("curves", files["new"], "--truth", files["truth"]))
    assert "is the file with the scores, too" in refusal(run("curves", files["new"], "--truth", files["new"]))
    short = written(tmp_path, "\n".join(files["new"].read_text().splitlines()[:-2]) + "\n", "short.csv")
    assert f"2 of 569 ids are only in {files['truth']}, such as" in refusal(run("curves", short, *words))
    both = written(tmp_path, "id,scores,labels\nt1,0.5,1\n", "both.csv")
    assert "column labels: Both files have this column" in refusal(run("curves", both, *words))
    twice = written(tmp_path, "id,labels\nt1,1\nt2,0\nt1,1\n", "twice.csv")
    told = refusal(run("curves", files["new"], "--truth", twice, "--ids", "id"))
    assert f"column id: In {twice}: 1 id occurs more than once, in 2 rows: 't1' (rows 0 and 2)." in told
    assert "There is no column 'key'" in refusal(run("curves", files["new"], *words[:3], "key"))
    json_file = written(tmp_path, {"scores": [1, 0], "labels": [1, 0]}, "sample.json")
    assert "--truth joins two tables" in refusal(run("curves", json_file, *words[:2]))
    assert "--tuning cannot be combined with --truth" in refusal(run("curves", files["new"], *words, "--tuning", ALL))
    told = refusal(run("curves", files["new"], *words, "--engine", "duckdb"))
    assert "--truth cannot be combined with --engine" in told


def test_a_wrong_label_is_found_in_the_file_that_has_it(tmp_path: Path) -> None:
    """In row 4 of the truth, with the header as row 1; its score is in row 2 of the other file."""
    truth = written(tmp_path, "id,labels\na,1\nb,0\nc,perhaps\n", "truth.csv")
    scores = written(tmp_path, "id,scores\nc,0.5\nb,0.1\na,0.9\n", "scores.csv")
    assert "column labels, row 4: " in refusal(run("curves", scores, "--truth", truth, "--ids", "id"))
    wrong = written(tmp_path, "id,scores\nc,x\nb,0.1\na,0.9\n", "wrong.csv")
    assert "column scores, row 2: " in refusal(run("curves", wrong, "--truth", truth, "--ids", "id"))


def test_no_report_may_take_the_place_of_the_truth(tmp_path: Path, files: dict[str, Path]) -> None:
    rules = written(tmp_path, RULES, "rules.toml")
    before = files["truth"].read_text()
    words = [rules, files["new"], "--baseline", files["old"], "--truth", files["truth"], "--junit", files["truth"]]
    assert run("gate", *words).exit_code == 3
    assert files["truth"].read_text() == before
