"""RULES.toml: what it may contain, and that every error names its line."""

import io
import re

import pytest
from click import ClickException

from service.cli.gate.rules_file import GATE_OPTIONS, KEYS, RULE_KEYS, Rules
from service.operations import OPERATIONS
from service.wire.formats.inputs import COUNTS_COLUMNS, CSV_PARAMETERS, GROUP_ENDS, GROUP_MASSES
from service.wire.requests.gates_schemas import GatesRequestSchema
from service.wire.requests.interval_schemas import IntervalsSchema
from service.wire.requests.rule_schemas import RuleSchema

WHOLE = """\
# A comment
scores = "prob of yes"
labels = "y"
positive_label = 1
lower_is_positive = true
paired = true

[intervals]
level = 0.9
method = "bca"

[[rules]]  # the first
metric = "roc"
min = 0.9

[[rules]]
metric = "precision"
at_threshold = 0.5
max_drop = 1e-2
"""


def read(text: str | bytes) -> Rules:
    return Rules.read(io.BytesIO(text.encode() if isinstance(text, str) else text))


def complaint(text: str | bytes) -> str:
    with pytest.raises(ClickException) as caught:
        read(text)
    assert caught.value.exit_code == 2
    return caught.value.message


def test_a_file_with_every_kind_of_key_is_read() -> None:
    rules = read(WHOLE)
    assert rules.options == {
        "paired": True,
        "intervals": {"level": 0.9, "method": "bca"},
        "rules": [
            {"metric": "roc", "min": 0.9},
            {"metric": "precision", "at_threshold": 0.5, "max_drop": 0.01},
        ],
    }
    assert rules.texts == {
        "scores": "prob of yes",
        "labels": "y",
        "positive_label": "1",
        "lower_is_positive": "true",
    }
    assert rules.meaning == {"positive_label": 1, "lower_is_positive": True}
    assert (rules.name, rules.place("")) == ("standard input", "")


@pytest.mark.parametrize("newline", ["\n", "\r\n"])
def test_every_key_has_its_line(newline: str) -> None:
    rules = read(WHOLE.replace("\n", newline))
    lines = WHOLE.splitlines()
    for pointer, start in {
        "/scores": "scores",
        "/paired": "paired",
        "/intervals": "[intervals]",
        "/intervals/level": "level",
        "/rules": "[[rules]]  #",
        "/rules/0": "[[rules]]  #",
        "/rules/0/min": "min",
        "/rules/1/at_threshold": "at_threshold",
        "/rules/1/max_drop/deeper": "max_drop",
    }.items():
        number = int(re.fullmatch(r"line (\d+): ", rules.place(pointer))[1])
        assert lines[number - 1].startswith(start), pointer


def test_other_ways_to_write_it() -> None:
    """A byte-order mark, quoted keys, rules on one line."""
    rules = read('\ufeff"scores" = "p"\nintervals.level = 0.9\nrules = [{metric = "roc", min = 0.5}]\n')
    assert rules.options == {"intervals": {"level": 0.9}, "rules": [{"metric": "roc", "min": 0.5}]}
    assert rules.place("/rules/0/min") == "line 3: "
    assert rules.place("/scores") == "line 1: "


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("scroes = 'p'\n" + WHOLE, "line 1: 'scroes' is unknown; did you mean scores?"),
        (
            "baseline = 'old.csv'\n" + WHOLE,
            "line 1: [baseline] says how its file is read; --baseline OLD names",
        ),
        (WHOLE + "mni = 1", "line 20: 'mni' is unknown; did you mean min?"),
        (
            WHOLE + "weights = 'w'",
            "line 20: 'weights' is unknown; keys for the whole file go above the first",
        ),
        ("metric = 'roc'\n" + WHOLE, "line 1: 'metric' is unknown; it belongs below a [[rules]] line."),
        (WHOLE + "[intervals2]", "line 20: 'intervals2' is unknown; did you mean intervals?"),
        (WHOLE.replace("level", "lvl"), "line 9: 'lvl' is unknown; did you mean level?"),
        (WHOLE + "q = 1", f"line 20: 'q' is unknown; the known names are {', '.join(RULE_KEYS)}."),
        (WHOLE.replace('"y"', "3"), 'line 3: labels is the name of a column, in quotes: labels = "..."'),
        (WHOLE.replace("1e-2", "nan"), "line 19: nan is not a finite number."),
        (WHOLE.replace("1e-2", "[1, -inf]"), "line 19: -inf is not a finite number."),
        (WHOLE.replace("1e-2", "1979-05-27"), "line 19: This must not be a date or a time"),
        ("paired = true", "There are no rules."),
        ("rules = []", "line 1: There are no rules."),
        ("[rules]\nmetric = 'roc'", "line 1: Rules are written [[rules]]"),
        ("rules = 3", "line 1: Rules are written [[rules]]"),
    ],
)
def test_mistakes_are_reported_with_their_line(text: str, message: str) -> None:
    title, told = complaint(text).split("\n")
    assert title == "Error: standard input: These rules cannot be used."
    assert told.startswith(f"  {message}")


def test_several_mistakes_are_reported_at_once() -> None:
    assert len(complaint("scroes = 1\nlabels = 2\n[[rules]]\nmtric = 'roc'").splitlines()) == 4


@pytest.mark.parametrize(
    ("text", "message"),
    [
        (b"a = ", "This is not valid TOML.\n  Invalid value (at "),
        (b"scores = 'p'\nscores = 'q'", "This is not valid TOML.\n  Cannot overwrite a value (at "),
        (b"\xff", "This is not UTF-8: byte 0 is invalid."),
        (b"a = " + b"[" * 100_000, "This is nested too deeply."),
        (b'{"rules": []}', "This is not valid TOML."),
    ],
)
def test_a_file_that_is_not_toml(text: bytes, message: str) -> None:
    assert complaint(text).startswith(f"Error: standard input: {message}")


def test_what_a_reader_cannot_judge_is_left_to_the_service() -> None:
    rules = read("intervals = 3\nrules = [4, {metric = 5}]")
    assert rules.options == {"intervals": 3, "rules": [4, {"metric": 5}]}


def test_the_keys_are_those_of_the_contract() -> None:
    """Every field of the service must be known here."""
    assert GATE_OPTIONS == ("paired", "intervals", "rules", "prevalence", "fail_status")
    of_tables = {"baseline_scores", *COUNTS_COLUMNS, *GROUP_ENDS, *GROUP_MASSES, *CSV_PARAMETERS, "closed"}
    assert set(KEYS) - of_tables == set(GatesRequestSchema().fields) - {
        "baseline",
        "counts",
        "groups",
        "dataset",
        "where",
        "tolerance",
        "slices",
        *OPERATIONS["gates"].form.drawn,
    }
    assert set(RULE_KEYS) == set(RuleSchema().fields)
    from service.cli.gate.rules_file import INTERVALS_KEYS

    assert set(INTERVALS_KEYS) == set(IntervalsSchema().fields)
