"""The command line reads CSV as spreadsheets write it, and speaks of the file and its rows as they do."""

import json
from pathlib import Path

import pytest

from tests.cli.gate.gating import written
from tests.cli.running import refusal, run

GERMAN = "Größe;scores;labels\nä;0,9;1\n;;\nö;0,4;0\nü;;1\nß;0,3;1\n;;\n"
OPTIONS = ("--delimiter", "semicolon", "--decimal", "comma")
READ_AS = "is not UTF-8; it was read as Windows-1252."


@pytest.fixture
def german(tmp_path: Path) -> Path:
    path = tmp_path / "export.csv"
    path.write_bytes(GERMAN.replace("\n", "\r\n").encode("windows-1252"))
    return path


def test_windows_1252_is_read_and_said(german: Path) -> None:
    done = run("curves", german, *OPTIONS, "--missing", "drop", "--include", "auc", "--json")
    assert done.exit_code == 0, done.stderr
    assert done.stderr == f"Warning: {german} {READ_AS}\n"
    answer = json.loads(done.stdout)
    assert (answer["positives"], answer["negatives"], answer["auc"]["roc"]) == (2, 1, 0.5)
    assert [told["detail"] for told in answer["warnings"]] == [
        "1 of 4 rows is left out because a cell is empty: scores in 1."
    ]


def test_a_wrong_cell_has_the_row_of_the_spreadsheet(german: Path) -> None:
    said = refusal(run("curves", german, *OPTIONS))
    assert "\n  column scores, row 5: This is blank; " in said
    assert "Leave out rows without one, or set --missing drop. (not_a_number)\n" in said
    assert said.endswith("  Rows are numbered as a spreadsheet shows them: a header is row 1.\n")
    done = run("curves", german, *OPTIONS, "--header", "absent", "--scores", "2", "--labels", "3")
    assert "\n  column 2, row 1: 'scores' is not a decimal number" in done.stderr


def test_every_command_reads_them(german: Path, tmp_path: Path) -> None:
    rules = tmp_path / "rules.toml"
    reading = 'delimiter = "semicolon"\ndecimal = "comma"\nmissing = "drop"\n'
    rules.write_text(f'{reading}[[rules]]\nmetric = "roc"\nmin = 0.4\n')
    done = run("gate", rules, german, GITHUB_STEP_SUMMARY=None)
    assert (done.exit_code, READ_AS in done.stderr) == (0, True), done.stderr
    for words in (
        ["tradeoffs", german],
        ["compare", f"a={german}", f"b={german}"],
        ["compare", f"a={german}", f"b={german}", "--paired"],
        ["slices", german, "--slices", "Größe"],
    ):
        done = run(*words, *OPTIONS, "--missing", "drop")
        assert done.exit_code == 0, done.stderr
        assert "left out" in done.stdout or words[0] == "slices"


def test_a_line_for_excel_gives_the_delimiter(tmp_path: Path) -> None:
    path = written(tmp_path, "sep=;\nscores;labels\n0,9;1\n0,2;x\n", "excel.csv")
    done = run("curves", path, "--decimal", "comma")
    assert "\n  column labels, row 3: " in done.stderr


def test_a_list_of_numbers_with_a_decimal_comma_is_refused(german: Path) -> None:
    for words in (["curves", german, "--thresholds", "0,5"], ["tradeoffs", german, "--at-lambda", "0,5"]):
        said = refusal(run(*words, *OPTIONS, "--missing", "drop"))
        assert f"{words[2]}: With --decimal comma, 0,5 may be one number or several: write 0.5" in said


def test_numbers_are_no_names() -> None:
    rows = "0.9,1\n0.8,0\n0.7,1\n"
    for words in ([], ["--scores", "0.9", "--labels", "1"]):
        said = refusal(run("curves", "-", "--format", "csv", *words, given=rows))
        assert "add the line scores,labels above, or set --header absent" in said
    done = run("curves", "-", "--format", "csv", "--header", "absent", "--include", "auc", "--json", given=rows)
    assert json.loads(done.stdout)["auc"]["roc"] == 0.5


@pytest.mark.parametrize(
    "given", ["[a],scores,labels\n1,0.9\n", "scores,labels\n0.9\n", '"\n', "", "\n", "a\0,b\n1,2\n"]
)
def test_a_problem_speaks_of_the_file(given: str) -> None:
    said = refusal(run("curves", "-", "--format", "csv", given=given))
    assert "body" not in said
    assert "looks like" not in said


def test_counts_under_other_names() -> None:
    table = "threshold,TP,FP,FN,TN\n0.9,1,0,2,3\n0.7,3,1,0,2\n"
    done = run("curves", "-", "--format", "csv", given=table)
    assert "Did you mean --tp TP --fp FP --fn FN --tn TN?" in done.stderr
    names = ["--tp", "TP", "--fp", "FP", "--fn", "FN", "--tn", "TN"]
    done = run("curves", "-", "--format", "csv", *names, "--include", "auc", "--json", given=table)
    assert json.loads(done.stdout)["auc"]["roc"] == pytest.approx(8 / 9)
    done = run("curves", "-", "--format", "csv", *names[:-1], "x", given=table)
    assert "--tn: There is no column 'x'" in done.stderr


@pytest.mark.parametrize(
    "words",
    [["--missing", "drop"], ["--escape", "backslash"], ["--header", "absent"], ["--tp", "T"], ["--score", "s"]],
)
def test_an_engine_refuses_what_it_does_not_do(words: list[str], tmp_path: Path) -> None:
    path = written(tmp_path, "scores,labels\n0.9,1\n0.2,0\n", "t.csv")
    assert f"{words[0]} cannot be combined with --engine." in refusal(run("curves", path, "--engine", "duckdb", *words))


def test_an_engine_knows_that_numbers_are_no_names(tmp_path: Path) -> None:
    pytest.importorskip("duckdb")
    path = written(tmp_path, "0.9,1\n0.8,0\n0.7,1\n", "t.csv")
    done = run("curves", path, "--engine", "duckdb", "--scores", "0.9", "--labels", "1")
    assert (done.exit_code, "add a line such as scores,labels above it" in done.stderr) == (2, True), done.stderr
    path.write_text("scores labels\n0.9 1\n0.8 0\n")
    assert run("curves", path, "--engine", "duckdb", "--delimiter", "space").exit_code == 0
