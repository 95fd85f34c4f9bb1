"""`rocpr tradeoffs`: the same answers as the service, laid out for a reader, and errors that say what to do."""

import json
import re
from functools import partial
from pathlib import Path

import pytest

from service.cli.layout import MOST_ROWS
from tests.cli import running
from tests.cli.gate.gating import written
from tests.cli.running import DATA, flags, run

INDICES = ["kulczynski", "f_measure", "fowlkes_mallows", "jaccard"]


rocpr, answered = partial(run, "tradeoffs"), partial(running.answered, "tradeoffs")


@pytest.mark.parametrize("name", ["breast_cancer.csv", "digits_eight.csv", "davis_goadrich_table_1.csv"])
def test_the_summary_has_the_numbers_of_the_answer(name: str) -> None:
    run = rocpr(DATA / name)
    assert (run.exit_code, run.stderr) == (0, "")
    document = json.loads(answered((DATA / name).read_bytes()))
    assert re.search(rf"^  positives +{document['positives']}$", run.stdout, re.MULTILINE)
    sections = re.split(r"^Best (\w+) for each lambda: ", run.stdout, flags=re.MULTILINE)[1:]
    assert sections[::2] == INDICES == list(document["tradeoffs"])
    for index, section in zip(sections[::2], sections[1::2], strict=True):
        tradeoff = document["tradeoffs"][index]
        optimal = tradeoff["optimal"]
        head, columns, *lines = section.splitlines()
        assert head == f"{len(optimal['tp'])} intervals, area {tradeoff['area']:.6f}"
        assert columns.split() == [key for key in optimal if key != "threshold" or optimal[key][0] is not None]
        for row, line in enumerate(lines[: len(optimal["tp"])]):
            cells = dict(zip(columns.split(), line.split(), strict=True))
            for key in ("lambda_from", "lambda_to", "precision", "recall"):
                assert cells[key] == f"{optimal[key][row]:.6f}"
            assert (int(cells["tp"]), int(cells["fp"])) == (optimal["tp"][row], optimal["fp"][row])
            if "threshold" in cells:
                assert float(cells["threshold"]) == optimal["threshold"][row]
    assert max(map(len, run.stdout.splitlines()[1:])) <= 80
    assert not re.search(r"[ \t]$", run.stdout, re.MULTILINE)


def test_the_summary_as_a_whole(tmp_path: Path) -> None:
    """Half of 20 positives before any of 2000 negatives, so 1/f is 1 + lambda, or 101 - 100 lambda for all rows."""
    path = written(tmp_path, "threshold,tp,fp\n0.25,10,0\n", "counts.csv")
    run = rocpr(path, "--positives", 20, "--negatives", 2000, "--indices", "f_measure", "--at-lambda", "[0.5, 0, 1]")
    assert run.stdout.splitlines() == [
        str(path),
        "",
        "  positives           20",
        "  negatives         2000",
        "  prevalence  0.00990099",
        "",
        "Lambda is the weight of recall: at 0 only precision counts, at 1 only recall.",
        "",
        "Best f_measure for each lambda: 2 intervals, area 0.695066",
        "  lambda_from  lambda_to  threshold  tp    fp  precision    recall",
        "     0.000000   0.990099       0.25  10     0   1.000000  0.500000",
        "     0.990099   1.000000          -  20  2000   0.009901  1.000000",
        "  -  threshold: the data have none for this row",
        "  From lambda 0.990099 on, calling everything positive is best.",
        "",
        "  at_lambda     value  threshold",
        "        0.5  0.666667       0.25",
        "        0.0  1.000000       0.25",
        "        1.0  1.000000          -",
        "  -  threshold: the data have none for this row",
    ]


def test_the_line_about_calling_everything_positive() -> None:
    """Best at the end, everywhere (one score for all), or nowhere (no negative below the last positive)."""
    totals = ["--format", "csv", "--indices", "f_measure", "--positives", 20, "--negatives", 2000]
    assert "\n  From lambda 0.990099 on, calling" in rocpr("-", *totals, given="tp,fp\n10,0\n").stdout
    assert "\n  Calling everything positive is never best.\n" in rocpr("-", *totals, given="tp,fp\n20,9\n").stdout
    run = rocpr("-", "--format", "csv", "--indices", "jaccard", given="scores,labels\n1,1\n1,0\n")
    assert "1 interval, area" in run.stdout
    assert "\n  Calling everything positive is best everywhere: no threshold does better.\n" in run.stdout


def test_a_long_list_of_intervals_is_shown_from_end_to_end() -> None:
    tp = list(range(1, 60))
    counts = {"tp": tp, "fp": [row * row for row in tp], "positives": 59, "negatives": 59 * 59}
    request = json.dumps({"counts": counts, "indices": ["f_measure"]})
    optimal = json.loads(answered(request.encode(), "application/json"))["tradeoffs"]["f_measure"]["optimal"]
    assert len(optimal["tp"]) > MOST_ROWS
    run = rocpr("-", "--format", "json", given=request)
    head, _, *lines = run.stdout.partition("Best f_measure")[2].splitlines()
    assert head.startswith(f" for each lambda: {MOST_ROWS} of {len(optimal['tp'])} intervals (--json has all), ")
    assert lines[0].split()[2] == str(optimal["tp"][0])
    assert lines[MOST_ROWS - 1].split()[2] == str(optimal["tp"][-1])


def test_options_change_the_summary() -> None:
    path = DATA / "digits_eight.csv"
    run = rocpr(path, "--indices", "f_measure", "--min-precision", "0.4", "--lambda-range", "[0.2, 0.8]")
    assert "kulczynski" not in run.stdout
    rows = [line.split() for line in run.stdout.splitlines() if re.match(r" +0\.\d{6} +\d\.\d{6} ", line)]
    assert (rows[0][0], rows[-1][1]) == ("0.200000", "0.800000")
    assert min(float(row[5]) for row in rows) >= 0.4


def test_a_json_file_carries_its_own_options(tmp_path: Path) -> None:
    path = tmp_path / "request.JSON"
    request = {"scores": [3, 2, 1], "labels": [1, 0, 1], "indices": ["jaccard"], "at_lambda": [0.5]}
    path.write_text(json.dumps(request))
    assert "Best jaccard" in rocpr(path).stdout
    assert rocpr(path, "--json").stdout_bytes == answered(path.read_bytes(), "application/json")


@pytest.mark.parametrize(
    ("options", "place", "code"),
    [
        ({"min_precision": "1"}, "--min-precision", "no_row_meets"),
        ({"min_recall": "2"}, "--min-recall", "out_of_range"),
        ({"indices": "f1"}, "--indices/0", "not_one_of"),
        ({"lambda_range": "[0.5, 0.5]"}, "--lambda-range", "not_rising"),
        ({"at_lambda": "half"}, "--at-lambda", "not_json"),
    ],
)
def test_a_wrong_option_is_reported_as_it_was_typed(options: dict[str, str], place: str, code: str) -> None:
    """The file is valid; a place in a list is not a row."""
    run = rocpr("-", "--format", "csv", *flags(options), given="scores,labels\n2,0\n1,1\n")
    assert (run.exit_code, run.stdout) == (2, "")
    assert re.fullmatch(
        rf"Error: standard input: These options cannot be used\.\n  {place}: .* \({code}\)\n", run.stderr
    ), run.stderr


def test_the_name_that_others_have_for_an_index_is_known() -> None:
    meant = "Did you mean f_measure (f1 is f_measure at lambda 0.5)? Must be one of "
    told = f"{meant}kulczynski, f_measure, "
    assert told in rocpr(DATA / "breast_cancer.csv", "--indices", "F1").stderr
    points = '[{"metric": "f1_score", "at": 0.5}]'
    refused = run("curves", DATA / "breast_cancer.csv", "--operating-points", points)
    assert f"{meant}precision_at_recall, " in refused.stderr
    assert "mean" not in rocpr(DATA / "breast_cancer.csv", "--indices", "g1").stderr


def test_a_file_and_an_option_that_are_wrong_are_told_apart(tmp_path: Path) -> None:
    """Even if a column has the name of an option, or the file carries its own options."""
    options = {"scores": "indices", "indices": "jaccard", "at_lambda": "[2]"}
    run = rocpr("-", "--format", "csv", *flags(options), given="indices,labels\n2,0\nhigh,1\n")
    title, *lines = run.stderr.splitlines()
    assert title == "Error: standard input: This cannot be used."
    assert [line.split(":")[0] for line in lines] == [
        "  --at-lambda/0",
        "  column indices, row 3",
        "  Rows are numbered as a spreadsheet shows them",
    ]
    path = written(tmp_path, '{"scores": [2, 1], "labels": [0, 1], "indices": ["f1"]}', "request.json")
    run = rocpr(path)
    assert run.stderr.startswith(f"Error: {path}: This cannot be used.\n  /indices/0: ")
