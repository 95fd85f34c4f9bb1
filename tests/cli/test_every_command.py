"""What all evaluating commands have in common: options, files, limits, and messages."""

import re
import subprocess
import sys
from pathlib import Path

import pytest

from service.cli.commands import rocpr as commands
from service.cli.explaining import as_typed, of_every_file
from service.curves.decisions import LIMITS_OF_BEST, WAYS_TO_CHOOSE
from service.operations import OPERATIONS
from service.wire.formats.tables import one_evaluation
from service.wire.requests.query_fields import READING_FIELDS
from tests.cli.gate.gating import written
from tests.cli.running import DATA, NAMED, answered, flags, refusal, run

COMMANDS = ["curves", "tradeoffs", "compare"]
ONE_FILE = COMMANDS[:2]
ALL, TEN = DATA / "breast_cancer.csv", DATA / "breast_cancer_ten.csv"
DIGITS = DATA / "digits_eight.csv"
ROOT = DATA.parent.parent
OF_SERVERS = {"server", "api_key_env", "insecure"}
OF_DECISIONS = {"level", *WAYS_TO_CHOOSE, *LIMITS_OF_BEST}
OF_ENGINES = {"engine", "tolerance", "memory", "spill", "weight_decimals", "remote", "table"}


def words(command: str, *files: object) -> list[str]:
    """The arguments of a command with its files; compare has names for them, and takes two where others take one."""
    if command != "compare":
        return [command, *map(str, files)]
    return [command, *(f"{name}={file}" for name, file in zip("ab", [*files, *files][:2], strict=True))]


def fed(command: str) -> list[str]:
    """A command that reads standard input."""
    return ["compare", "a=-", f"b={DIGITS}"] if command == "compare" else [command, "-"]


@pytest.mark.parametrize(
    ("command", "parameters", "others"),
    [
        ("curves", OPERATIONS["curves"].parameters, {"file", "show", "tuning", "truth", *OF_DECISIONS}),
        ("tradeoffs", OPERATIONS["tradeoffs"].parameters, {"file", "truth"}),
        (
            "compare",
            [*one_evaluation(READING_FIELDS).parameters, "indices", "decisions", "metrics", "prevalence"],
            {"files", "paired", "all_pairs", "holm", "own", "truth", *OF_DECISIONS},
        ),
        ("slices", OPERATIONS["slices"].parameters, {"file", "sort", "truth", *OF_DECISIONS}),
        ("classes", OPERATIONS["classes"].parameters, {"file", "level"}),
        ("columns", OPERATIONS["columns"].parameters, {"file"}),
    ],
)
def test_the_options_are_the_query_parameters(command: str, parameters: set[str], others: set[str]) -> None:
    names = {parameter.name for parameter in commands.commands[command].params}
    assert names - {"format_name", "as_json", "plot", "chart", *OF_ENGINES, *OF_SERVERS, *others} == set(parameters)


def test_no_summary_of_a_command_is_cut_off() -> None:
    listed = run("--help").stdout.partition("Commands:")[2].splitlines()[1:]
    assert len(listed) == len(commands.commands)
    assert not [line for line in listed if line.endswith("...")]


@pytest.mark.parametrize(
    ("command", "options"),
    [
        ("curves", {}),
        ("curves", {"include": "points,interpolated_pr", "keep": "corners", "interpolation": '{"every": 50}'}),
        ("curves", {"intervals": "{}", "operating_points": '[{"metric": "jaccard", "at": 0.5}]', "include": "auc"}),
        ("curves", {"partial": '[{"over": "fpr", "to": 0.1}, {"over": "recall", "from": 0.5}]', "include": "auc"}),
        ("curves", {"costs": '{"prevalence": [0.01, 0.5], "fn_cost": 5}', "include": "auc"}),
        ("curves", {"include": "calibration,statistics"}),
        ("tradeoffs", {}),
        ("tradeoffs", {"indices": "jaccard,kulczynski"}),
        (
            "tradeoffs",
            {"indices": '["f_measure"]', "lambda_range": "[0.25, 0.75]", "lambda_density": '{"a": 2, "b": 3.5}'},
        ),
        ("tradeoffs", {"min_precision": "0.5", "min_recall": "0.25", "at_lambda": "[0.5, 0]"}),
    ],
)
def test_json_prints_the_answer_as_the_service_gives_it(command: str, options: dict[str, str]) -> None:
    done = run(command, DIGITS, "--json", *flags(options))
    assert (done.exit_code, done.stderr) == (0, "")
    assert done.stdout_bytes == answered(command, DIGITS.read_bytes(), **options)


@pytest.mark.parametrize("command", ONE_FILE)
def test_columns_and_labels_are_named_as_in_the_query(named: Path, command: str) -> None:
    options = {"scores": "score", "labels": "y", "positive_label": "ham"}
    done = run(command, named, "--json", "--lower-is-positive", *flags(options))
    assert done.exit_code == 0
    assert done.stdout_bytes == answered(command, NAMED.encode(), **options, lower_is_positive="true")


@pytest.mark.parametrize("command", ONE_FILE)
def test_a_wrong_value_is_pointed_to(command: str) -> None:
    said = refusal(run(command, "-", "--format", "csv", given="scores,labels\n0.9,1\nabc,0\n0.3,yes\n"))
    assert said.splitlines()[0] == "Error: standard input: This cannot be used."
    assert re.search(r"\n  column scores, row 3: .*\(not_a_number\)\n", said)
    assert "\n  column labels, row 4: " in said
    assert said.count("--positive-label") == 1
    assert said.endswith("\n  Rows are numbered as a spreadsheet shows them: a header is row 1.\n")


@pytest.mark.parametrize("command", COMMANDS)
@pytest.mark.parametrize("json", [[], ["--json"]])
def test_a_file_that_cannot_be_parsed(tmp_path: Path, command: str, json: list[str]) -> None:
    path = written(tmp_path, '{"scores": [1, 2', "cut.json")
    assert refusal(run(*words(command, path), *json)).startswith(f"Error: {path}: This cannot be read.\n  ")


@pytest.mark.parametrize("command", COMMANDS)
def test_a_table_with_other_columns_gets_advice_how_to_name_them(named: Path, command: str) -> None:
    said = refusal(run(*words(command, named)))
    assert said.startswith(f"Error: {named}: ")
    assert "(missing)" in said
    assert "Did you mean --scores score --labels y? (missing)" in said
    assert said.count("--labels") == 1
    unlike = run(*fed(command), "--format", "csv", given="a,b\n1,1\n").stderr
    assert unlike.count("give them with --scores and --labels. (missing)") == unlike.count("--labels") == 1
    half = run(*fed(command), "--format", "csv", given="p,b\n1,1\n").stderr
    assert "give them with --scores and --labels. Did you mean --scores p? (missing)" in half
    assert "--labels" not in run(*words(command, named), "--scores", "nothing").stderr
    done = run(*fed(command), "--format", "csv", given="tp,fp\n1,1\n")
    assert "Give fn or positives" in done.stderr
    assert "--labels" not in done.stderr


def test_an_empty_setting_counts_as_unset() -> None:
    assert run("curves", ALL, ROCPR_COMPILED="", ROCPR_MAX_ROWS="").exit_code == 0


@pytest.mark.parametrize("command", COMMANDS)
def test_limits_come_from_the_settings(command: str) -> None:
    given = words(command, ALL, *[TEN] * (command == "compare"))
    assert "The table has too many rows.\n  " in refusal(run(*given, ROCPR_MAX_ROWS="568"))
    assert run(*given, ROCPR_MAX_ROWS="569").exit_code == 0
    assert refusal(run(*given, ROCPR_MAX_ROWS="many")).startswith("Error: ROCPR_MAX_ROWS must be ")


COMPARED = [f"all={ALL}", f"ten={TEN}"]


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        *((words(command, "nothing.csv"), "No such file") for command in COMMANDS),
        *((words(command, "."), "directory") for command in COMMANDS),
        *((fed(command), "Give the format of standard input: --format csv,") for command in COMMANDS),
        *(([command], "Missing argument") for command in COMMANDS),
        *(([*fed(command), "--format", "xml"], "not one of") for command in COMMANDS),
        (["curves", "-", "--format", "json", "--lower-is-positive"], "--lower-is-positive is for tables"),
        (["curves", "-", "--format", "csv", "--keep", "hull"], "--keep needs --json"),
        (["tradeoffs", "-", "--format", "json", "--indices", "jaccard"], "--indices is for tables"),
        (["tradeoffs", "-", "--format", "csv", "--keep", "hull"], "No such option"),
        (
            ["compare", COMPARED[0], "-", "--format", "csv"],
            "'-' is not NAME=FILE; put a name first, as in new=-.",
        ),
        (
            ["compare", COMPARED[0], "=scores.csv"],
            "'=scores.csv' is not NAME=FILE; put a name first, as in scores=scores.csv.",
        ),
        (["compare", COMPARED[0], "a="], "'a=' is not NAME=FILE; put a name first, as in a=a."),
        (["compare", COMPARED[0], COMPARED[0]], "More than one file has the name 'all'; name them, as in old="),
        (["compare", "a=-", "b=-", "--format", "csv"], "Standard input can be read only once"),
        (["compare", *COMPARED, "--include", "auc"], "No such option"),
        (["compare", "-", "--format", "csv", "--scores", "a"], "--scores a is one classifier; name the columns of all"),
        (["curves", str(ALL), str(TEN), "--engine", "duckdb"], f"{TEN} is another: put the pattern in quotes."),
    ],
)
def test_wrong_usage_is_told_and_exits_with_2(arguments: list[str], message: str) -> None:
    assert message in refusal(run(*arguments, given="{}"))


PROGRAM = [sys.executable, "-c", "from service.cli.main import main; main()"]


@pytest.mark.all
@pytest.mark.parametrize("command", ["curves", "compare"])
def test_standard_output_is_plain_bytes(command: str) -> None:
    given = [*fed(command), "--format", "csv", "--json"]
    found = subprocess.run([*PROGRAM, *given], cwd=ROOT, input=DIGITS.read_bytes(), stdout=subprocess.PIPE, check=True)
    assert found.stdout == run(*given, given=DIGITS.read_bytes()).stdout_bytes


@pytest.mark.parametrize("command", ["curves", pytest.param("compare", marks=pytest.mark.all)])
def test_a_pipe_to_a_process_that_closes_early(command: str) -> None:
    """There is no traceback if the reader of standard output leaves."""
    program = [*PROGRAM, *fed(command), "--format", "csv", "--json"]
    with (
        DIGITS.open("rb") as stream,
        subprocess.Popen(program, cwd=ROOT, stdin=stream, stdout=subprocess.PIPE, stderr=subprocess.PIPE) as process,
    ):
        process.stdout.close()
        assert b"Traceback" not in process.stderr.read()


@pytest.mark.parametrize(
    ("detail", "typed"),
    [
        ("Did you mean labels=outcome?", "Did you mean --labels outcome?"),
        ("Did you mean scores=p&labels=label?", "Did you mean --scores p --labels label?"),
        ("Did you mean scores=Y+Score?", "Did you mean --scores 'Y Score'?"),
        ("give them with scores= and labels=.", "give them with --scores and --labels."),
        ("as in slices=country,model; the header", "as in --slices country,model; the header"),
        ("as in scores=cat,dog; the header", "as in --scores cat,dog; the header"),
        (
            "set delimiter=semicolon, and decimal=comma if its",
            "set --delimiter semicolon, and --decimal comma if its",
        ),
        ("'0,5' has a decimal comma: set decimal=comma.", "'0,5' has a decimal comma: set --decimal comma."),
        ("or set decimal=comma if this is", "or set --decimal comma if this is"),
        ("'labels=x' is not a decimal number.", "'labels=x' is not a decimal number."),
    ],
)
def test_parameters_in_a_detail_are_written_as_typed(detail: str, typed: str) -> None:
    assert as_typed(detail, of_every_file) == typed
    assert as_typed(detail) == detail


def test_the_field_of_the_positive_label_is_an_option_where_options_are_typed() -> None:
    detail = "Labels need positive_label; the label 'positive_label' is in row 3."
    assert as_typed(detail) == detail
    assert as_typed(detail, of_every_file) == detail.replace("need positive_label", "need --positive-label")


@pytest.mark.parametrize("command", [["curves", "-", "--format", "csv"], ["gate", "-", str(ALL)], ["key", "new", "x"]])
def test_too_little_memory_ends_with_advice(command: list[str], monkeypatch: pytest.MonkeyPatch) -> None:
    def lack(*_: object, **__: object) -> None:
        raise MemoryError

    monkeypatch.setattr(commands.commands[command[0]], "parse_args", lack)
    assert refusal(run(*command)).startswith("Error: This needs more memory than the process may use.")


@pytest.mark.all
def test_a_stream_that_does_not_end_needs_too_much_memory(tmp_path: Path) -> None:
    rules = written(tmp_path, '[[rules]]\nmetric = "roc"\nmin = 0.5\n', "rules.toml")
    limited = (
        "import resource as r; r.setrlimit(r.RLIMIT_AS, (1 << 31, 1 << 31)); from service.cli.main import main; main()"
    )
    with Path("/dev/zero").open("rb") as endless:
        ended = subprocess.run(
            [sys.executable, "-c", limited, "gate", str(rules), "-", "--format", "csv"],
            stdin=endless,
            capture_output=True,
            check=False,
        )
    assert (ended.returncode, ended.stderr[:42]) == (3, b"Error: This needs more memory than the pro")


@pytest.mark.skipif(not Path("/dev/full").exists(), reason="there is no /dev/full")
@pytest.mark.parametrize(
    "words",
    [
        ["curves", str(ALL)],
        *(
            pytest.param(words, marks=pytest.mark.all)
            for words in (["--help"], ["curves", "-h"], ["curves", str(ALL), "--json"], ["guide", "formats"])
        ),
    ],
)
def test_output_without_room_ends_with_a_sentence(words: list[str]) -> None:
    with Path("/dev/full").open("wb") as full:
        ended = subprocess.run([*PROGRAM, *words], stdout=full, stderr=subprocess.PIPE, check=False)
    assert (ended.returncode, ended.stderr) == (2, b"Error: No space left on device.\n")


def test_closed_standard_input_is_empty() -> None:
    command = ["/bin/sh", "-c", '"$@" <&-', "sh", *PROGRAM, "curves", "-", "--format", "csv"]
    ended = subprocess.run(command, cwd=ROOT, capture_output=True, check=False)
    assert (ended.returncode, ended.stderr.splitlines()[0]) == (2, b"Error: standard input: This cannot be read.")


def test_a_file_that_cannot_be_read_ends_with_its_name(monkeypatch: pytest.MonkeyPatch) -> None:
    def broken(*_: object, **__: object) -> None:
        raise OSError(5, "Input/output error", "a.csv")

    monkeypatch.setattr(commands.commands["gate"], "parse_args", broken)
    ended = run("gate", "-", str(ALL))
    assert (ended.exit_code, ended.stderr) == (3, "Error: a.csv: Input/output error.\n")


@pytest.mark.parametrize("command", [["curves"], ["tradeoffs"], ["compare"], ["gate", "-"]])
def test_a_name_of_a_file_is_text(command: list[str], tmp_path: Path) -> None:
    path = tmp_path / "a\x1b[31m\n::error::b.csv"
    path.write_bytes(ALL.read_bytes())
    files = [f"a={path}", f"b={ALL}"] if command == ["compare"] else [str(path)]
    rules = '[[rules]]\nmetric = "roc"\nmin = 0.5\n' if "gate" in command else None
    ended = run(*command, *files, given=rules)
    assert ended.exit_code == 0
    assert r"a\x1b[31m\n::error::b.csv" in ended.stdout
