"""Several FILEs are read as one table, and exact groups of several workers are added up."""

import json
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.parquet
import pytest

from tests.cli.gate.gating import written
from tests.cli.running import refusal, run

ROWS = {"scores": [0.9, 0.4, 0.3, 0.1], "labels": [1, 0, 1, 0], "c": ["a", "a", "b", None]}
MORE = {"scores": [0.8, 0.2], "labels": [1, 0], "c": ["b", "a"]}
OPEN = "score_from,score_to,positives,negatives\n"


def areas(*words: object) -> Any:
    done = run("curves", *words, "--json", "--include", "auc")
    assert (done.exit_code, done.stderr) == (0, "")
    return json.loads(done.stdout)


@pytest.mark.parametrize("suffix", ["csv", "parquet", "arrow"])
def test_files_are_read_as_one_table(tmp_path: Path, suffix: str) -> None:
    paths = [tmp_path / f"{name}.{suffix}" for name in ("a", "b", "both")]
    tables = [pa.table(ROWS), pa.table(MORE), pa.concat_tables([pa.table(ROWS), pa.table(MORE)])]
    for path, table in zip(paths, tables, strict=True):
        if suffix == "csv":
            pa.csv.write_csv(table, path)
        elif suffix == "parquet":
            pa.parquet.write_table(table, path)
        else:
            with pa.ipc.new_file(path, table.schema) as file:
                file.write_table(table)
    assert areas(*paths[:2]) == areas(paths[2])
    sliced = [run("slices", *files, "--slices", "c", "--json") for files in (paths[:2], paths[2:])]
    assert sliced[0].exit_code == 0
    assert sliced[0].stdout == sliced[1].stdout


@pytest.mark.parametrize(
    ("text", "options"),
    [
        ("scores,labels\r\n0.8,1\r\n0.2,0\r\n\r\n", []),
        ("\ufeffscores,labels\n0.8,1\n0.2,0", []),
        ("sep=,\nscores,labels\n0.8,1\n0.2,0", []),
    ],
)
def test_ends_of_lines_and_first_lines_may_differ(tmp_path: Path, text: str, options: list[str]) -> None:
    first = written(tmp_path, "scores,labels\n0.9,1\n0.4,0\n\n", "a.csv")
    second = written(tmp_path, text, "b.csv")
    whole = written(tmp_path, "scores,labels\n0.9,1\n0.4,0\n0.8,1\n0.2,0\n", "c.csv")
    assert areas(first, second, *options) == areas(second, first, *options) == areas(whole, *options)


def test_without_headers_every_row_counts(tmp_path: Path) -> None:
    parts = [written(tmp_path, text, name) for name, text in (("a.csv", "0.9,1\n0.4,0\n"), ("b.csv", "0.8,1\n"))]
    found = areas(*parts, "--header", "absent", "--scores", "1", "--labels", "2")
    assert (found["positives"], found["negatives"]) == (2, 1)


def test_exact_groups_of_several_workers_are_added_up(tmp_path: Path) -> None:
    head = "score,positives,negatives\n"
    texts = {"a.csv": "0.9,2,0\n0.1,1,3\n", "b.csv": "0.9,1,1\n"}
    parts = [written(tmp_path, head + text, name) for name, text in texts.items()]
    assert areas(*parts) == areas(written(tmp_path, head + "0.9,3,1\n0.1,1,3\n", "c.csv"))


def test_open_groups_that_overlap_are_refused(tmp_path: Path) -> None:
    texts = {"a.csv": "0,0.5,1,2\n", "b.csv": "0.4,1,2,1\n"}
    parts = [written(tmp_path, OPEN + text, name) for name, text in texts.items()]
    assert "This group overlaps the one in row 0" in refusal(run("curves", *parts))
    same = [written(tmp_path, OPEN + "0,0.5,1,2\n0.6,1,2,0\n", name) for name in ("c.csv", "d.csv")]
    assert areas(*same)["positives"] == 6


@pytest.mark.parametrize(
    ("name", "text", "told"),
    [
        ("b.csv", "labels,scores\n1,0.9\n", "cannot be read as one table: their columns differ."),
        ("b.tsv", "scores\tlabels\n0.9\t1\n", "cannot be read as one table: give tables of one format."),
        ("b.json", "{}", "cannot be read as one table: give tables of one format."),
    ],
)
def test_other_files_are_refused(tmp_path: Path, name: str, text: str, told: str) -> None:
    first = written(tmp_path, "scores,labels\n0.9,1\n0.4,0\n", "a.csv")
    second = written(tmp_path, text, name)
    assert told in " ".join(refusal(run("curves", first, second)).split())


def test_a_damaged_file_is_named(tmp_path: Path) -> None:
    good, bad = tmp_path / "a.parquet", tmp_path / "b.parquet"
    pa.parquet.write_table(pa.table(ROWS), good)
    bad.write_bytes(good.read_bytes()[:-20])
    assert refusal(run("curves", good, bad)).startswith(f"Error: {bad}: This cannot be read.\n")
