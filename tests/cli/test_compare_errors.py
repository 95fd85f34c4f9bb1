"""`rocpr compare`: errors name their file, with exit status 2 and nothing on standard output."""

import re
from pathlib import Path

from tests.cli.comparing import ALL, FIRST, SECOND, TEN, rocpr, written
from tests.cli.running import DATA, refusal


def test_a_wrong_cell_is_pointed_to_in_its_file(tmp_path: Path) -> None:
    path = tmp_path / "bad.csv"
    path.write_text("prob,labels\n0.9,1\nabc,0\n0.3,yes\n")
    run = rocpr(ALL, f"bad={path}", "--scores", "prob")
    assert run.stderr.startswith(f"Error: {DATA / 'breast_cancer.csv'}: ")
    lines = refusal(rocpr(f"bad={path}", f"same={path}", "--scores", "prob")).splitlines()
    assert lines[0] == f"Error: {path}: This cannot be used."
    assert re.fullmatch(r"  column labels, row 4: .* \(not_a_label\)", lines[1])
    assert re.fullmatch(r"  column prob, row 3: .* \(not_a_number\)", lines[2])
    assert lines[3:] == [*lines[:3], "  Rows are numbered as a spreadsheet shows them: a header is row 1."]


def test_errors_of_the_service_name_the_file(tmp_path: Path) -> None:
    """A negative weight in a CSV column, a string in a JSON column, totals that differ, a file that holds no object."""
    path = tmp_path / "weights.csv"
    path.write_text("scores,labels,load\n2,1,1\n1,0,-1\n")
    said = refusal(
        rocpr(*written(tmp_path, one={"scores": [1, "2"], "labels": [0, 1]}), f"two={path}", "--weights", "load")
    )
    assert f"Error: {tmp_path / 'one.json'}: This cannot be used.\n  /scores/1: " in said
    assert f"Error: {path}: This cannot be used.\n  column load, row 3: " in said
    assert "(negative)\n" in said
    assert said.count("Rows are counted from 0, starting below any header.") == 1
    run = rocpr(ALL, *written(tmp_path, one=FIRST))
    assert re.fullmatch(rf"Error: {tmp_path / 'one.json'}: [\w ]+\.\n  \S.* \(totals_differ\)\n", run.stderr)
    run = rocpr(ALL, *written(tmp_path, one=[1, 2]))
    assert re.search(r"one\.json: .*\n  .* \(not_an_object\)\n", run.stderr)
    run = rocpr(ALL, TEN, "--indices", "f1")
    assert re.fullmatch(
        r"Error: these files: These options cannot be used\.\n  --indices/0: .* \(not_one_of\)\n", run.stderr
    )
    run = rocpr(ALL, TEN, "--scores", "prob")
    assert re.match(
        r"Error: \S+csv: These options cannot be used\.\n  --scores: There is no column 'prob'; ", run.stderr
    )


def test_options_of_columns_need_a_table(tmp_path: Path) -> None:
    assert "--labels is for tables" in refusal(rocpr(*written(tmp_path, one=FIRST, two=SECOND), "--labels", "y"))


def test_one_file_is_too_few_and_51_too_many() -> None:
    words = [f"{number}={DATA / 'davis_goadrich_table_1.csv'}" for number in range(51)]
    assert rocpr(*words[:50]).exit_code == rocpr(*words[:2]).exit_code == 0
    for wrong in (words, words[:1]):
        assert f"The command takes 2 to 50 files, not {len(wrong)}." in refusal(rocpr(*wrong))
