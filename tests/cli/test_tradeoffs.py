"""`rocpr tradeoffs`: the same answers as the service, laid out for a reader, and complaints that tell what to do."""

import json
import re
from pathlib import Path

import pytest
from click.testing import CliRunner, Result

from service.answer import Request, answer
from service.cli.asking import NAME_LABEL
from service.cli.commands import rocpr as commands
from service.cli.layout import MOST_ROWS
from service.operations import OPERATIONS
from service.wire.limits import Limits

DATA = Path(__file__).resolve().parent.parent / "data"
NAMED = "score,y\n0.9,spam\n0.4,ham\n0.3,spam\n0.1,ham\n"
INDICES = ["kulczynski", "f_measure", "fowlkes_mallows", "jaccard"]


def rocpr(*arguments: object, given: str | bytes | None = None, **variables: str) -> Result:
    return CliRunner().invoke(commands, ["tradeoffs", *map(str, arguments)], input=given, env=variables)


def answered(body: bytes, media_type: str = "text/csv", **options: str) -> bytes:
    request = Request("tradeoffs", "/v1/tradeoffs", media_type, "application/json", tuple(options.items()), body)
    return answer(request, Limits(5_000_000, 100_000)).body


def flags(options: dict[str, str]) -> list[str]:
    return [word for name, text in options.items() for word in (f"--{name.replace('_', '-')}", text)]


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
    path = tmp_path / "counts.csv"
    path.write_text("threshold,tp,fp\n0.25,10,0\n")
    run = rocpr(path, "--positives", 20, "--negatives", 2000, "--indices", "f_measure", "--at-lambda", "[0.5, 0, 1]")
    assert run.stdout.splitlines() == [
        str(path),
        "",
        "  positives           20",
        "  negatives         2000",
        "  prevalence  0.00990099",
        "",
        "Best f_measure for each lambda: 2 intervals, area 0.695066",
        "  lambda_from  lambda_to  threshold  tp    fp  precision    recall",
        "     0.000000   0.990099       0.25  10     0   1.000000  0.500000",
        "     0.990099   1.000000          -  20  2000   0.009901  1.000000",
        "  From lambda 0.990099 on, calling everything positive is best.",
        "",
        "  at_lambda     value  threshold",
        "        0.5  0.666667       0.25",
        "        0.0  1.000000       0.25",
        "        1.0  1.000000          -",
    ]


def test_what_is_said_of_calling_everything_positive() -> None:
    """Best at the end, everywhere (one score for all), or nowhere (no negative below the last positive)."""
    totals = ["--format", "csv", "--indices", "f_measure", "--positives", 20, "--negatives", 2000]
    assert "\n  From lambda 0.990099 on, calling" in rocpr("-", *totals, given="tp,fp\n10,0\n").stdout
    assert "\n  Calling everything positive is best nowhere.\n" in rocpr("-", *totals, given="tp,fp\n20,9\n").stdout
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
    assert head.startswith(f" for each lambda: {MOST_ROWS} of {len(optimal['tp'])} intervals, ")
    assert lines[0].split()[2] == str(optimal["tp"][0])
    assert lines[MOST_ROWS - 1].split()[2] == str(optimal["tp"][-1])


def test_columns_and_labels_are_named_as_in_the_query(tmp_path: Path) -> None:
    path = tmp_path / "named.csv"
    path.write_text(NAMED)
    options = {"scores": "score", "labels": "y", "positive_label": "ham"}
    run = rocpr(path, "--json", "--lower-is-positive", *flags(options))
    assert run.exit_code == 0
    assert run.stdout_bytes == answered(NAMED.encode(), **options, lower_is_positive="true")


@pytest.mark.parametrize(
    "options",
    [
        {},
        {"indices": "jaccard,kulczynski"},
        {"indices": '["f_measure"]', "lambda_range": "[0.25, 0.75]", "lambda_density": '{"a": 2, "b": 3.5}'},
        {"min_precision": "0.5", "min_recall": "0.25", "at_lambda": "[0.5, 0]"},
    ],
)
def test_json_prints_the_answer_as_the_service_gives_it(options: dict[str, str]) -> None:
    path = DATA / "digits_eight.csv"
    run = rocpr(path, "--json", *flags(options))
    assert (run.exit_code, run.stderr) == (0, "")
    assert run.stdout_bytes == answered(path.read_bytes(), **options)


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


def test_the_options_are_the_query_parameters() -> None:
    names = {parameter.name for parameter in commands.commands["tradeoffs"].params}
    assert names - {"file", "format_name", "as_json", "plot"} == set(OPERATIONS["tradeoffs"].parameters)


def test_a_wrong_value_is_pointed_to() -> None:
    run = rocpr("-", "--format", "csv", given="scores,labels\n0.9,1\nabc,0\n0.3,yes\n")
    assert (run.exit_code, run.stdout) == (2, "")
    assert run.stderr.splitlines()[0] == "Error: standard input: This cannot be used."
    assert "\n  /scores/1: " in run.stderr
    assert run.stderr.endswith(f"\n  {NAME_LABEL}\n  Rows are counted from 0.\n")


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
def test_a_wrong_option_is_told_as_it_was_typed(options: dict[str, str], place: str, code: str) -> None:
    """The file is right; and a place in a list is no row."""
    run = rocpr("-", "--format", "csv", *flags(options), given="scores,labels\n2,0\n1,1\n")
    assert (run.exit_code, run.stdout) == (2, "")
    assert re.fullmatch(
        rf"Error: standard input: The request cannot be made\.\n  {place}: .* \({code}\)\n", run.stderr
    ), run.stderr


def test_a_file_and_an_option_that_are_wrong_are_told_apart(tmp_path: Path) -> None:
    """Also where a column has the name of an option, or the file carries its options itself."""
    options = {"scores": "indices", "indices": "jaccard", "at_lambda": "[2]"}
    run = rocpr("-", "--format", "csv", *flags(options), given="indices,labels\n2,0\nhigh,1\n")
    title, *lines = run.stderr.splitlines()
    assert title == "Error: standard input: This cannot be used."
    assert [line.split(":")[0] for line in lines] == [
        "  --at-lambda/0",
        "  /indices/1",
        "  Rows are counted from 0.",
    ]
    path = tmp_path / "request.json"
    path.write_text('{"scores": [2, 1], "labels": [0, 1], "indices": ["f1"]}')
    run = rocpr(path)
    assert run.stderr.startswith(f"Error: {path}: This cannot be used.\n  /indices/0: ")


def test_a_table_with_other_columns_is_told_how_to_name_them() -> None:
    run = rocpr("-", "--format", "csv", given=NAMED)
    assert run.exit_code == 2
    assert "--scores and --labels" in run.stderr


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["nothing.csv"], "No such file"),
        (["-"], "--format csv or another"),
        (["-", "--format", "json", "--indices", "jaccard"], "--indices is for tables"),
        (["-", "--format", "csv", "--keep", "hull"], "No such option"),
        ([], "Missing argument"),
    ],
)
def test_usage_errors(arguments: list[str], message: str) -> None:
    run = rocpr(*arguments, given="{}")
    assert (run.exit_code, run.stdout) == (2, "")
    assert message in run.stderr


def test_limits_come_from_the_settings() -> None:
    run = rocpr(DATA / "breast_cancer.csv", ROCPR_MAX_ROWS="568")
    assert run.exit_code == 2
    assert "The table has too many rows.\n  " in run.stderr
