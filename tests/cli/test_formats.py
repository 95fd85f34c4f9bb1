"""Every command reads a table in Arrow or Parquet like the same table in CSV."""

import json
import re
from functools import partial
from pathlib import Path

import pyarrow as pa
import pytest
from pyarrow import csv

from service.wire.formats.codings import compress
from tests.cli.running import error_status, refusal
from tests.cli.running import run as rocpr
from tests.properties.bodies import arrow_body, arrow_file_body, csv_body, parquet_body

CSV = Path(__file__).parents[1] / "data" / "breast_cancer.csv"
TEXT = pa.table({"p": [0.9, 0.8, 0.7, 0.7, 0.4, 0.2], "y": ["yes", "no", "yes", "yes", "no", "no"]})
BODIES = {
    "csv": csv_body,
    "arrow": arrow_file_body,
    "arrows": arrow_body,
    "feather": partial(arrow_file_body, compression="lz4"),
    "parquet": parquet_body,
}
COMMANDS = [["curves"], ["curves", "--json"], ["tradeoffs", "--indices", "jaccard"]]


def written(directory: Path, table: pa.Table, suffix: str) -> Path:
    path = directory / f"table.{suffix}"
    path.write_bytes(BODIES[suffix](table))
    return path


@pytest.mark.parametrize("suffix", ["arrow", "arrows", "feather", "parquet"])
@pytest.mark.parametrize("command", COMMANDS, ids=" ".join)
def test_a_file_is_evaluated_as_its_csv_is(tmp_path: Path, command: list[str], suffix: str) -> None:
    path = written(tmp_path, csv.read_csv(CSV), suffix)
    expected, found = rocpr(*command, CSV), rocpr(*command, path)
    assert found.exit_code == expected.exit_code == 0, found.output
    assert found.stdout.replace(str(path), str(CSV)) == expected.stdout


@pytest.mark.parametrize("suffix", ["arrows", "parquet"])
def test_files_of_several_formats_are_compared(tmp_path: Path, suffix: str) -> None:
    paths = [written(tmp_path, TEXT, "csv"), written(tmp_path, TEXT, suffix)]
    columns = ["--scores", "p", "--labels", "y", "--positive-label", "yes"]
    run = rocpr("compare", *(f"{path.suffix}={path}" for path in paths), *columns)
    assert run.exit_code == 0, run.output
    assert f"dominates .{suffix} (the same curve)" in run.stdout


@pytest.mark.parametrize("name", ["arrow", "parquet"])
def test_standard_input_is_of_the_format_that_is_named(name: str) -> None:
    run = rocpr("curves", "-", "--format", name, given=BODIES[name](csv.read_csv(CSV)))
    assert run.exit_code == 0, run.output
    assert "  roc                0.994821" in run.stdout


def test_errors_are_reported_with_their_row(tmp_path: Path) -> None:
    path = written(tmp_path, TEXT.set_column(0, "p", pa.array([0.9, None, 0.7, 0.7, 0.4, 0.2])), "parquet")
    for run in (
        rocpr("curves", path, "--scores", "p", "--labels", "y", "--positive-label", "yes"),
        rocpr("compare", f"a={path}", f"b={path}", "--scores", "p", "--labels", "y", "--positive-label", "yes"),
    ):
        assert run.exit_code == 2
        assert (
            "column p, row 1: This is null; it must be a number. Leave out rows without one, or set --missing drop."
            in run.stderr
        )
    assert "the columns are: 'p', 'y'" in rocpr("curves", path).stderr


def test_a_file_of_another_format_is_recognised(tmp_path: Path) -> None:
    path = tmp_path / "table.csv"
    for body, advice in (
        (compress("gzip", csv_body(TEXT)), "This looks like gzip; unpack it first."),
        (compress("zstd", csv_body(TEXT)), "This looks like Zstandard; unpack it first."),
        (parquet_body(TEXT), "This looks like a Parquet file; use --format parquet."),
        (arrow_body(TEXT), "This looks like an Arrow stream; use --format arrow."),
        (arrow_file_body(TEXT), "This looks like an Arrow file; use --format arrow."),
        ("scores,labels\n1,1\n".encode("utf-16"), "This looks like text in UTF-16: send it in UTF-8."),
    ):
        path.write_bytes(body)
        for arguments in (["tradeoffs", path], ["compare", f"a={path}", f"b={path}"]):
            said = refusal(rocpr(*arguments))
            assert said.startswith(f"Error: {path}: This cannot be read.\n  The file is not UTF-8: byte ")
            assert said.endswith(f" is invalid. Save it as CSV UTF-8.\n  {advice}\n")


@pytest.mark.parametrize(("suffix", "program"), [("gz", "gzip"), ("zst", "zstd")])
def test_a_compressed_file_is_to_be_unpacked(tmp_path: Path, suffix: str, program: str) -> None:
    path = tmp_path / f"table.csv.{suffix}"
    path.write_bytes(compress(program, csv_body(csv.read_csv(CSV))))
    said = refusal(rocpr("curves", path))
    assert f"table.csv.{suffix} is compressed; unpack it first" in said
    assert f"{program} -dc FILE | rocpr ... --format csv -" in said


@pytest.mark.parametrize("suffix", ["csv", "arrow", "parquet"])
def test_labels_that_need_to_be_named_are_reported_with_the_option(tmp_path: Path, suffix: str) -> None:
    path = written(tmp_path, TEXT, suffix)
    columns = ["--scores", "p", "--labels", "y"]
    for arguments in (["curves", path], ["compare", f"a={path}", f"b={path}"]):
        said = refusal(rocpr(*arguments, *columns))
        assert "name the positive one with --positive-label. (not_a_label)" in said
        assert "; these are 'yes' and 'no'; name the positive one" in said
        assert said.count("--positive-label") == len(arguments) - 1  # once for each file
    assert "--positive-label" not in rocpr("curves", path, "--scores", "p", "--labels", "q").stderr
    run = rocpr("curves", path, *columns, "--positive-label", "Yes")
    assert (
        run.exit_code,
        run.stderr.count("No label equals --positive-label, 'Yes'; the labels are 'yes' and 'no'."),
    ) == (2, 1)
    run = rocpr("curves", path, "--scores", "p")
    assert "  There is no column labels" in run.stderr
    assert run.stderr.count("give it with --labels; ") == 1


LISTED = """
  column  type    values
  id      text    a, b
  prob    number  {}
  y       text    yes, no
"""


@pytest.mark.parametrize("suffix", ["csv", "arrow", "parquet"])
def test_columns_are_listed_where_none_has_the_usual_name(tmp_path: Path, suffix: str) -> None:
    table = pa.table({"id": ["a", "b"], "prob": [0.9, 0.2], "y": ["yes", "no"]})
    path = written(tmp_path, table, suffix)
    (tmp_path / "rules.toml").write_text('[[rules]]\nmetric = "roc"\nmin = 0.5\n')
    listed = LISTED.format("0.9, 0.2")
    for arguments in (
        ["curves", path],
        ["tradeoffs", path],
        ["compare", f"a={path}", f"b={path}"],
        ["gate", tmp_path / "rules.toml", path],
        ["gate", "--init", path],
    ):
        said = refusal(rocpr(*arguments))
        assert said.endswith(f"Did you mean --scores prob --labels y? (missing)\n{listed}"), said
        assert listed not in rocpr(*arguments, "--scores", "prob", "--labels", "y").stderr


def test_columns_are_listed_as_they_are_read(tmp_path: Path) -> None:
    path = tmp_path / "local.csv"
    path.write_text("id;prob;y\na;0,9;yes\nb;0,2;no\n")
    run = rocpr("curves", path, "--delimiter", "semicolon", "--decimal", "comma")
    assert run.stderr.endswith(LISTED.format("0,9, 0,2"))


def test_few_columns_and_values_are_listed_and_none_affects_a_terminal(tmp_path: Path) -> None:
    path = tmp_path / "wide.csv"
    names = ["\x1b[31m", "n" * 100, *(f"c{number}" for number in range(40))]
    path.write_text("\n".join([",".join(names), *(",".join([str(row)] * 42) for row in range(5))]) + "\n")
    run = rocpr("curves", path)
    _, listed = run.stderr.split("--labels. (missing)\n\n")
    assert "\x1b" not in run.stderr
    lines = listed.splitlines()
    assert lines[1].split() == ["\\x1b[31m", "number", "0,", "1,", "2,", "..."]
    assert lines[2].split()[0] == "n" * 40
    assert (len(lines), lines[-1]) == (22, "  and 22 more")


def test_a_table_whose_columns_cannot_be_read_is_not_listed(tmp_path: Path) -> None:
    path = tmp_path / "ragged.csv"
    path.write_text("id,prob,y\na,0.9\n")
    run = rocpr("curves", path)
    assert (run.exit_code, run.stderr.count("column  type")) == (2, 0)


@pytest.mark.parametrize(
    ("delimiter", "decimal", "marks"),
    [("semicolon", ",", ";,"), (";", "comma", ";,"), ("tab", ".", "\t."), ("\\t", "point", "\t."), ("|", ",", "|,")],
)
def test_a_csv_file_says_how_it_is_written(tmp_path: Path, delimiter: str, decimal: str, marks: str) -> None:
    text = CSV.read_text().replace(",", marks[0]).replace(".", marks[1])
    path, right = tmp_path / "local.csv", tmp_path / "right.csv"
    path.write_text("\ufeff" + text.replace("\n", "\r\n"))
    right.write_bytes(CSV.read_bytes())
    how = ("--delimiter", delimiter, "--decimal", decimal)
    expected, found = rocpr("curves", right), rocpr("curves", path, *how)
    assert (found.exit_code, found.stdout.replace(str(path), str(right))) == (0, expected.stdout)
    run = rocpr("compare", f"a={path}", f"b={written(tmp_path, csv.read_csv(CSV), 'feather')}", *how)
    assert run.exit_code == 0, run.output
    rules = tmp_path / "rules.toml"
    rules.write_text(f"delimiter = '{delimiter}'\ndecimal = '{decimal}'\n[[rules]]\nmetric = 'roc'\nmin = 0.9\n")
    assert rocpr("gate", rules, path).exit_code == 0
    assert rocpr("gate", "--init", path, *how).exit_code == 0
    run = rocpr("curves", tmp_path / "table.feather", *how)
    assert (run.exit_code, "--delimiter is for CSV files." in run.stderr) == (2, True)


def test_more_than_two_labels_are_reported_by_every_command(tmp_path: Path) -> None:
    table = pa.table({"scores": [0.9, 0.8, 0.7, 0.6], "labels": ["a", "b", "c", "a"]})
    rules = tmp_path / "rules.toml"
    rules.write_text('[[rules]]\nmetric = "roc"\nmin = 0.1\n')
    for suffix in BODIES:
        path = written(tmp_path, table, suffix)
        for words in (
            ["curves", path],
            ["tradeoffs", path],
            ["compare", f"a={path}", f"b={path}"],
            ["gate", rules, path],
        ):
            run = rocpr(*words, "--positive-label", "a", "--json")
            assert run.exit_code == 0, run.output
            told = "'a', in 2 rows, is positive; all other labels are negative: 'b' in 1 and 'c' in 1."
            assert json.loads(run.stdout)["warnings"][0] == {"code": "one_vs_rest", "detail": told}
            assert "these are 3 values, 'a', 'b' and 'c'; name the positive one" in refusal(rocpr(*words))


@pytest.mark.parametrize(
    ("content", "told"),
    [
        ("scores,labels\n85%,1\n0.2,0\n", "'85%' is not a decimal number: leave out the percent sign."),
        ("scores,labels\n1,0.9\n0,0.8\n1,0.7\n", "'0.9', '0.8' and '0.7' look like scores; if they are labels, name"),
        ("0.9,1\n0.8,0\n", "If it is data, add the line scores,labels above, or set --header absent, which"),
        ("scores,labels\n", "The table has a header and no rows. (no_rows)"),
        ("", "The file is empty; send a table, with columns such as scores and labels."),
    ],
)
def test_mistakes_in_a_file_are_explained_without_words_of_http(tmp_path: Path, content: str, told: str) -> None:
    path = tmp_path / "table.csv"
    path.write_text(content)
    said = refusal(rocpr("curves", path))
    assert told in said
    assert not re.search(r"curl|[Bb]ody|parameter|Content-Type", said)


@pytest.mark.parametrize(
    ("name", "told"),
    [
        ("rows.jsonl", "rows.jsonl: rows of JSON are not read; save them as CSV or Parquet, or as columns of JSON."),
        ("rows.xlsx", "rows.xlsx: save it as CSV UTF-8 first."),
        ("rows.txt", "rows.txt does not end in .json, .csv, .arrow, .parquet, .tsv, .arrows, .feather; use --format"),
        ("rows", "rows: --format csv, json, arrow or parquet."),
    ],
)
def test_a_file_whose_name_does_not_show_a_format_that_is_read(tmp_path: Path, name: str, told: str) -> None:
    said = refusal(
        rocpr(
            "curves", written(tmp_path, pa.table({"scores": [1, 0], "labels": [1, 0]}), "csv").rename(tmp_path / name)
        )
    )
    assert told in said


TABS = "p, new\tis spam\ta\n0.9\tyes\tx\n0.8\tno\tx\n0.7\tyes\tx\n0.7\tyes\tx\n0.4\tno\tx\n0.2\tno\tx\n"
OF_TABS = ["--scores", "p, new", "--labels", "is spam", "--positive-label", "yes"]


TABLE_COMMANDS = [*COMMANDS, ["slices", "--slices", "a"], ["gate", "--init"]]


@pytest.mark.parametrize(
    ("command", "engine"),
    [
        *((command, []) for command in TABLE_COMMANDS),
        (["curves"], ["--engine", "duckdb"]),
        *(pytest.param(command, ["--engine", "duckdb"], marks=pytest.mark.all) for command in TABLE_COMMANDS[1:]),
    ],
    ids=" ".join,
)
def test_a_tsv_file_has_tabs(tmp_path: Path, command: list[str], engine: list[str]) -> None:
    path, other = tmp_path / "table.tsv", tmp_path / "table.csv"
    for each in (path, other):
        each.write_text(TABS)
    run = rocpr(*command, path, *OF_TABS, *engine)
    expected = rocpr(*command, other, *OF_TABS, *engine, "--delimiter", "tab")
    assert run.exit_code == 0, run.output
    assert run.stdout.replace(".tsv", ".csv") == expected.stdout.replace('delimiter = "tab"\n', "")
    assert rocpr(*command, path, *OF_TABS, *engine, "--delimiter", "semicolon").exit_code == error_status(command[0])


def test_tsv_files_are_compared_and_joined(tmp_path: Path) -> None:
    path, groups = tmp_path / "table.tsv", tmp_path / "groups.tsv"
    path.write_text(TABS.replace("\tx\n", "\t0.5\n"))
    groups.write_text("score\tpositives\tnegatives\n0.9\t1\t2\n")
    run = rocpr("compare", path, "--scores", '["p, new", "a"]', *OF_TABS[2:])
    assert run.exit_code == 0, run.output
    run = rocpr("compare", path, f"again={path}", *OF_TABS)
    assert run.exit_code == 0, run.output
    run = rocpr("curves", groups, groups)
    assert run.stdout.split("\n\n")[1].split()[:4] == ["positives", "2", "negatives", "4"]


def test_the_columns_of_a_tsv_file_are_listed(tmp_path: Path) -> None:
    path = tmp_path / "table.tsv"
    path.write_text(TABS)
    error = rocpr("curves", path).stderr
    assert "  is spam  text    yes, no" in error
