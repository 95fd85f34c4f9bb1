"""`rocpr merge`: the counts of several workers, as one file for every command."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from tests.cli.running import refusal, run

SQUARES = "score,positives,negatives,positives_squared,negatives_squared"
EXACT = "score,positives,negatives\n0.9,2,0\n0.1,1,3\n"
OPEN = "score_from,score_to,positives,negatives\n0.5,1.0,2,0\n0.0,0.5,1,3\n"


@pytest.fixture
def write(tmp_path: Path):
    def written(name: str, text: str) -> str:
        path = tmp_path / name
        path.write_text(text)
        return str(path)

    return written


@pytest.mark.parametrize("suffix", [".csv", ".arrow", ".parquet"])
def test_groups_of_equal_scores_add_up(write, tmp_path: Path, suffix: str) -> None:
    parts = [write("a.csv", EXACT), write("b.csv", "score,positives,negatives\n0.5,0,4\n0.9,0,1\n")]
    output = tmp_path / f"groups{suffix}"
    assert run("merge", *parts, "--output", str(output)).stdout == ""
    whole = write(
        "c.json", json.dumps({"groups": {"score": [0.9, 0.5, 0.1], "positives": [2, 0, 1], "negatives": [1, 4, 3]}})
    )
    found, expected = (json.loads(run("curves", path, "--json").stdout) for path in (str(output), whole))
    assert found == expected


def test_open_groups_with_a_common_score_are_united(write) -> None:
    parts = [write("a.csv", OPEN), write("b.csv", "score_from,score_to,positives,negatives\n0.6,0.7,1,1\n2,3,1,0\n")]
    united = '"score_from","score_to","positives","negatives"\n0,1,4,4\n2,3,1,0\n'
    assert run("merge", *parts).stdout == united
    closed = (
        '"score_from","score_to","positives","negatives"\n0,0.49999999999999994,1,3\n0.5,0.9999999999999999,3,1\n'
        "2,2.9999999999999996,1,0\n"
    )
    assert run("merge", *parts, "--closed", "left").stdout == closed
    # Merged files may be merged again, in any order.
    again = [write("d.csv", united), parts[0]]
    assert run("merge", *again).stdout == run("merge", *again[::-1]).stdout == united.replace("4,4", "7,7")


def test_which_ends_are_closed_is_an_option_for_tables(write) -> None:
    """A JSON file says it itself; the option would be lost, and groups that touch would become one."""
    groups = {"score_from": [0, 0.5], "score_to": [0.5, 1], "positives": [1, 2], "negatives": [3, 0]}
    bare = write("a.json", json.dumps({"groups": groups}))
    said = refusal(run("merge", bare, "--closed", "left"))
    assert "--closed is for tables; in a JSON file, options are fields." in said
    closed = write("b.json", json.dumps({"groups": {**groups, "closed": "left"}}))
    table = write("c.csv", OPEN)
    twice = '"score_from","score_to","positives","negatives"\n0,0.49999999999999994,2,6\n0.5,0.9999999999999999,4,0\n'
    assert run("merge", closed, table, "--closed", "left").stdout == twice


def test_sums_of_weights_keep_their_squares(write) -> None:
    text = "score,positives,negatives,positives_squared,negatives_squared\n1,0.1,0,0.01,0\n0,0,2.5,0,6.25\n"
    found = run("merge", write("a.csv", text), write("b.csv", text)).stdout
    assert found == (
        '"score","positives","negatives","positives_squared","negatives_squared"\n0,0,5,0,12.5\n1,0.2,0,0.02,0\n'
    )


@pytest.mark.parametrize(
    ("name", "text", "says"),
    [
        ("b.csv", "scores,labels\n1,1\n0,0\n", "There are no groups; they need the columns score"),
        ("b.csv", "a,outcome\n1,1\n", "b.csv: This cannot be used. There are no groups; they need the columns score"),
        ("b.csv", "score,positives,negatives\n1,1,x\n", "column negatives, row 2: 'x' is not a decimal number."),
        ("b.csv", "score,positives,negatives\n1,-1,0\n", "column positives, row 2: This is below 0. (negative)"),
        ("b.csv", "score_from,score_to,positives,negatives\n2,1,1,1\n", "column score_to, row 2: score_to is 1 here"),
        ("b.csv", f"{SQUARES}\n1,2,1,9,1\n", "column positives_squared, row 2: Weights that add up to 2"),
        ("b.json", "{}", "There are no groups"),
        ("b.txt", "", "b.txt does not end in"),
    ],
)  # fmt: skip
def test_another_file_is_refused_by_its_name(write, name: str, text: str, says: str) -> None:
    result = run("merge", write("a.csv", EXACT), write(name, text))
    assert result.exit_code != 0
    assert says in " ".join(result.stderr.split())
    assert name in result.stderr
    assert "--scores" not in result.stderr


def test_weights_and_examples_are_not_added_up(write) -> None:
    said = refusal(run("merge", write("a.csv", EXACT), write("b.csv", f"{SQUARES}\n1,1,0,1,0\n")))
    assert "merge them separately" in said


def test_a_column_that_would_be_lost_is_refused(write) -> None:
    path = write("a.csv", "region,score,positives,negatives\nnorth,0.9,2,0\n")
    said = refusal(run("merge", path))
    assert said == f"Error: {path}: the column 'region' would be lost; merge each slice by itself.\n"


def test_a_sum_beyond_all_doubles_is_refused(write) -> None:
    result = run("merge", *(write(name, "score,positives,negatives\n1,1e308,1\n") for name in ("a.csv", "b.csv")))
    assert (result.exit_code, result.stderr) == (2, "Error: the sum of a group is too large for a double.\n")


def test_a_file_to_merge_is_not_written_over(write, tmp_path: Path) -> None:
    """It used to be removed, before it was read. A link is the same file."""
    part = write("a.csv", EXACT)
    (tmp_path / "link.csv").symlink_to(part)
    for output in (part, str(tmp_path / "link.csv")):
        for arguments in ((part, "-o", output), ("-o", output, part)):
            said = refusal(run("merge", *arguments))
            assert f"{output} is one of the files to merge; write another one." in said.replace("\n", " ")
    assert Path(part).read_text() == EXACT
    assert (tmp_path / "link.csv").is_symlink()


def test_an_old_file_of_another_format_is_kept(write) -> None:
    notes = write("notes.txt", "notes")
    found = run("merge", write("a.csv", EXACT), "-o", notes)
    assert "--output must end in .csv, .arrow, .parquet" in found.stderr
    assert Path(notes).read_text() == "notes"


def test_an_output_of_another_format_is_refused(write, tmp_path: Path) -> None:
    result = run("merge", write("a.csv", EXACT), "-o", str(tmp_path / "x.txt"))
    assert (result.exit_code, "--output must end in .csv" in result.stderr) == (2, True)
