"""What is wrong with rules, files and options of `rocpr gate`, and where."""

import json
import re
from pathlib import Path

import pytest

from service.cli.commands import rocpr as commands
from service.operations import OPERATIONS
from tests.cli.comparing import sample
from tests.cli.gate.gating import (
    ALL,
    DATA,
    DROP,
    PASSING,
    TEN,
    rocpr,
    written,
)
from tests.cli.running import refusal

FILE = DATA / "rules.toml"


def test_a_wrong_rule_is_reported_with_its_line(tmp_path: Path) -> None:
    rules = written(tmp_path, PASSING + '\n[[rules]]\nmetric = "rok"\nconfidence = 2\n\n[intervals]\nseed = 0.5\n')
    for words in ([ALL], [ALL, "--baseline", TEN]):
        title, *lines = refusal(rocpr(rules, *words)).splitlines()
        assert title == f"Error: {rules}: This cannot be used."
        places = [re.match(r"  line (\d+): (/[\w/]+): ", line) for line in lines]
        assert {(match[1], match[2]) for match in places if match} == {
            ("6", "/rules/1/metric"),
            ("7", "/rules/1/confidence"),
            ("10", "/intervals/seed"),
        }
    run = rocpr(written(tmp_path, "rules = [3]"), ALL)
    assert run.stderr.splitlines()[1:] == [
        '  line 1: /rules/0: Must be an object, such as {"metric": "roc", "min": 0.9}. (not_an_object)'
    ]
    run = rocpr(written(tmp_path, DROP), ALL)
    assert run.stderr.startswith(f"Error: {tmp_path / 'rules.toml'}: ")
    assert "  line 3: /rules/0/max_drop: max_drop needs a baseline" in run.stderr
    assert run.stderr.endswith(
        "  The option --baseline OLD names its file.\n"
        "  If there is none yet, --without-baseline skip leaves out the rules that need one.\n"
    )


def test_a_wrong_file_is_reported_by_its_name(tmp_path: Path) -> None:
    rules = written(tmp_path, f"paired = true\n{DROP}")
    bad = written(tmp_path, "scores,labels\n0.9,1\nabc,0\n", "bad.csv")
    worse = written(tmp_path, {"scores": [1, "x"], "labels": [0, 1]}, "worse.json")
    for words, told in (
        ([bad, "--baseline", ALL], {bad: "column scores, row 3"}),
        ([ALL, "--baseline", bad], {bad: "column scores, row 3"}),
        ([worse, "--baseline", bad], {bad: "column scores, row 3", worse: "/scores/1"}),
        ([bad, "--baseline", worse], {bad: "column scores, row 3", worse: "/scores/1"}),
    ):
        said = refusal(rocpr(rules, *words))
        assert dict(re.findall(r"^Error: (.*?): .*\n  ([\w/, ]+): ", said, re.MULTILINE)) == {
            str(path): pointer for path, pointer in told.items()
        }
        assert "\n  Rows are numbered as a spreadsheet shows them: a header is row 1.\n" in said
        assert said.endswith("\n  Rows are counted from 0, starting below any header.\n") == (worse in told)
    said = refusal(rocpr(rules, ALL, "--baseline", DATA / "digits_eight.csv"))
    assert re.fullmatch(
        rf"Error: {ALL}, {DATA / 'digits_eight.csv'}: This cannot be used[.]\n"
        r"  The evaluation has \d+ rows and the baseline \d+, so they cannot be paired[.] \(\w+\)\n",
        said,
    )
    run = rocpr(written(tmp_path, f"paired = 3\n{DROP}", "three.toml"), ALL, "--baseline", ALL)
    assert f"Error: {tmp_path / 'three.toml'}: " in run.stderr
    assert "/paired: " in run.stderr
    other = written(tmp_path, ALL.read_text().replace(",1\n", ",0\n", 1), "other.csv")
    run = rocpr(rules, ALL, "--baseline", other)
    assert "counting from 0, has different labels" in run.stderr
    assert run.stderr.count("from 0") == 1


@pytest.mark.parametrize(
    ("document", "message"),
    [
        ({"scores": [1, 0], "labels": [1, 0], "rules": []}, "rules belongs in "),
        ({"scores": [1, 0], "labels": [1, 0], "paired": True}, "paired belongs in "),
        ({"scores": [1, 0], "labels": [1, 0], "baseline": {}}, "baseline belongs in the file that --baseline names"),
        ([1], "(not_an_object)"),
        ({"scores": [1, 0], "labels": [1, 0], "keep": "all"}, "/keep: "),
    ],
)
def test_a_json_file_is_an_evaluation(tmp_path: Path, document: object, message: str) -> None:
    path = tmp_path / "scores.json"
    path.write_text(json.dumps(document))
    said = refusal(rocpr(written(tmp_path, PASSING), path))
    assert said.startswith(f"Error: {path}: ")
    assert message in said


def test_columns_with_other_names(tmp_path: Path) -> None:
    table = written(tmp_path, "score,y\n0.9,1\n0.4,0\n", "named.csv")
    assert "Did you mean --scores score --labels y?" in refusal(rocpr(written(tmp_path, PASSING), table))


def test_another_separator_is_reported_with_its_remedy(tmp_path: Path) -> None:
    table = written(tmp_path, "scores;labels\n0,9;1\n0,4;0\n", "semicolons.csv")
    said = refusal(rocpr(written(tmp_path, PASSING), table))
    assert said == (
        f"Error: {table}: This cannot be read.\n"
        "  The values look separated by semicolons, but the delimiter is a comma: set --delimiter semicolon, "
        "and --decimal comma if its numbers have decimal commas.\n"
    )


def test_the_labels_found_are_reported(tmp_path: Path) -> None:
    """Wherever the table is read."""
    rules = written(tmp_path, PASSING)
    table = written(tmp_path, "scores,labels\n0.9,yes\n0.4,\x1b[1m\n", "named.csv")
    told = "; these are 'yes' and '\\x1b[1m'; name the positive one with --positive-label. (not_a_label)\n"
    for words in ([rules, table], [rules, ALL, "--baseline", table], ["--init", table]):
        said = refusal(rocpr(*words))
        assert said.startswith(f"Error: {table}: This cannot be used.\n")
        own = told.replace("--", "--baseline-") if "--baseline" in words else told
        assert said.endswith(f"{own}  Rows are numbered as a spreadsheet shows them: a header is row 1.\n")
    document = {"scores": [0.9, 0.4], "labels": ["yes", "\x1b[1m"]}
    assert (
        told.replace("--positive-label", "positive_label")
        in rocpr(rules, written(tmp_path, document, "named.json")).stderr
    )


def test_a_missing_column_is_reported_where_it_was_named(tmp_path: Path) -> None:
    """It is an option only for tables; the option overrides the rules."""
    told = "There is no column 'prob'; "
    run = rocpr(written(tmp_path, PASSING), ALL, "--scores", "prob")
    assert run.stderr.startswith(f"Error: {ALL}: These options cannot be used.\n  --scores: {told}")
    run = rocpr(written(tmp_path, f"scores = 'prob'\n{PASSING}"), ALL)
    assert run.stderr.startswith(f"Error: {ALL}: This cannot be used.\n  {told}")


def test_of_many_mistakes_the_first_are_listed(tmp_path: Path) -> None:
    rules = written(tmp_path, "[[rules]]\nmetric = 'rok'\nmin = 0\n" * 30)
    lines = rocpr(rules, ALL).stderr.splitlines()
    assert (len(lines), lines[-1]) == (22, "  At most 20 errors are listed.")


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ([], "The command takes RULES.toml and SCORES; 0 files given."),
        (["rules.toml"], "1 file given."),
        (["rules.toml", "a.csv", "b.csv"], "3 files given."),
        (["nothing.toml", ALL], "No such file"),
        ([FILE, "nothing.csv"], "No such file"),
        ([FILE, ALL, "--baseline", "nothing.csv"], "No such file"),
        ([FILE, "."], "directory"),
        ([FILE, ALL, "--junit", "."], "directory"),
        ([FILE, ALL, "--markdown", "no/such/place.md"], "is not a directory"),
        ([FILE, ALL, "--api-key-env", "KEY"], "--api-key-env needs --server"),
        ([FILE, ALL, "--server", "host"], "--server takes an address"),
        (["new.csv", "rules.toml"], "RULES.toml comes first, then SCORES; new.csv ends in .csv."),
        (["new.ARROWS", "old.parquet"], "RULES.toml comes first, then SCORES; new.ARROWS ends in .arrows."),
        (["rules.json", "new.csv"], "rules.json: the rules are TOML here; gate.sh and gate.mjs take RULES.json."),
        (["new.json", "rules.toml"], "RULES.toml comes first, then SCORES; new.json ends in .json."),
        (["rules", "rules.toml"], "RULES.toml comes first, then SCORES; rules.toml ends in .toml."),
        (["--init"], "--init takes SCORES, and perhaps --baseline OLD; 0 files given."),
        (["--init", ALL, ALL], "2 files given."),
        (["--init", ALL, "--junit", "x.xml"], "--init cannot be combined with"),
        ([FILE, ALL, "--insecure"], "--insecure needs --server."),
        ([FILE, ALL, "--rules", "x"], "No such option"),
        ([DATA / "README.md", ALL], 'A rule has three lines, such as [[rules]], metric = "roc", min = 0.8.\n'),
    ],
)
def test_wrong_usage_is_told_and_exits_with_2(arguments: list[object], message: str) -> None:
    assert message in refusal(rocpr(*arguments))


def test_one_file_as_both_is_warned_of(tmp_path: Path) -> None:
    """With --scores new, someone may expect that the baseline is the column `scores` of the same file."""
    run = rocpr(written(tmp_path, PASSING), ALL, "--baseline", ALL)
    told = "For two of its columns, set baseline_scores in RULES.toml, and leave out --baseline."
    assert (run.exit_code, run.stderr) == (0, f"Warning: {ALL} is both SCORES and the baseline. {told}\n")


@pytest.mark.parametrize("option", ["--junit", "--markdown"])
@pytest.mark.parametrize("name", ["rules.toml", "new.csv", "new.PARQUET"])
def test_a_report_whose_name_was_left_out_removes_no_input(tmp_path: Path, option: str, name: str) -> None:
    path = tmp_path / name
    path.write_text("kept")
    assert f"{name} is named like rules or scores" in refusal(rocpr(option, path, ALL))
    assert path.read_text() == "kept"


MODEL = b"\x80\x05\x95model"


@pytest.mark.parametrize("option", ["--junit", "--markdown"])
@pytest.mark.parametrize("label", ["nobody", "1"])
@pytest.mark.parametrize("bytes_there", [MODEL, b"ONNX\0"])
def test_a_report_replaces_no_model(tmp_path: Path, option: str, label: str, bytes_there: bytes) -> None:
    """A report also says why there is no verdict, so even a command that is refused would write it."""
    model = tmp_path / "model"
    model.write_bytes(bytes_there)
    words = [written(tmp_path, PASSING), ALL, "--positive-label", label, option, model]
    assert "is not text, so it is no old report" in refusal(rocpr(*words))
    assert model.read_bytes() == bytes_there


@pytest.mark.parametrize("option", ["--junit", "--markdown", "--plot"])
@pytest.mark.parametrize("place", [0, 1, 2])
def test_nothing_is_written_over_what_is_read(tmp_path: Path, option: str, place: int) -> None:
    texts = (PASSING, ALL.read_text(), ALL.read_text())
    words = [written(tmp_path, text, f"{number}.svg") for number, text in enumerate(texts)]
    link = tmp_path / "link.svg"
    link.hardlink_to(words[place])
    asked = [words[0], words[1], "--baseline", words[2], "--format", "csv"]
    for name in (words[place], link):
        assert "is read, so nothing can be written to it" in refusal(rocpr(*asked, option, name))
    assert tuple(path.read_text() for path in words) == texts
    assert rocpr(*asked).exit_code == 0


def test_options_of_columns_need_a_table(tmp_path: Path) -> None:
    path = written(tmp_path, sample(ALL), "scores.json")
    assert "--labels is for tables" in refusal(rocpr(written(tmp_path, PASSING), path, "--labels", "y"))


def test_the_options_of_reading_are_the_query_parameters() -> None:
    names = {parameter.name for parameter in commands.commands["gate"].params}
    own = {
        "files",
        "format_name",
        "as_json",
        "baseline",
        "truth",
        "server",
        "api_key_env",
        "insecure",
        "junit",
        "markdown",
        "plot",
        "init",
        "schema",
        "in_use",
        "without_baseline",
        "page",
    }
    own |= {"engine", "tolerance", "memory", "spill", "weight_decimals", "remote", "table"}
    own |= {"baseline_columns", "baseline_delimiter", "baseline_decimal", "baseline_positive_label"}
    in_rules = {"prevalence", "baseline_scores", "paired", "intervals", "rules", "fail_status"}
    assert names - own == set(OPERATIONS["gates"].parameters) - in_rules
