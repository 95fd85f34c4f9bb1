"""Every command in the documents runs, and prints what is shown below it."""

import json
import math
import re
import shlex
from itertools import chain
from pathlib import Path

import click
import pytest
from click.testing import CliRunner

from service.cli.commands import rocpr as commands
from tests.readme.commands import ELSEWHERE, NOT_RUN, Example, draws, examples, has_curl, run
from tests.readme.documents import DOCUMENTS, README, blocks, prose_of, table, text_of
from tests.readme.test_languages import NOT_HERE, RUN
from tests.support.servers import Server

EXAMPLES = [example for document in DOCUMENTS for example in examples(document)]
ASKED = [example for example in EXAMPLES if example.kind == "curl"]
LOGARITHMS = frozenset({"pr", "pr_achievable", "area", "log_loss", "calibration_slope", "calibration_intercept"})
"""What is computed with logarithms, which another machine's mathematics library may round differently."""

RANDOM = re.compile(r"(?<=rocpr_)[A-Za-z0-9_-]{43}$|(?<= )[0-9a-f]{64}$", re.MULTILINE)
"""A new API key and its hash, which are shown as three dots."""

WRITE = "run python -m tests.readme.write, and read what it changed"

LAST_BITS = 1e-12
"""How much these may differ."""


def assert_same(actual: object, shown: object, off: float = 0.0) -> None:
    """Whether two JSON values are the same: the order of keys, integers and doubles, doubles to the last bit."""
    assert type(actual) is type(shown)
    if isinstance(shown, dict):
        assert list(actual) == list(shown), WRITE
        for key in shown:
            assert_same(actual[key], shown[key], LAST_BITS if key in LOGARITHMS else off)
    elif isinstance(shown, list):
        assert len(actual) == len(shown)
        for pair in zip(actual, shown, strict=True):
            assert_same(*pair, off)
    elif isinstance(shown, float):
        assert actual == pytest.approx(shown, rel=off, abs=0)
    else:
        assert actual == shown


def test_only_logarithms_may_differ_in_their_last_bits() -> None:
    near = math.nextafter(0.5, 1)
    assert_same({"auc": {"pr": [near]}}, {"auc": {"pr": [0.5]}})
    for name, off in (("roc", near), ("pr", 0.5 + 1e-11)):
        with pytest.raises(AssertionError):
            assert_same({"auc": {name: [off]}}, {"auc": {name: [0.5]}})


def check(example: Example, printed: str) -> None:
    if example.language == "json":
        assert_same(json.loads(printed), json.loads(example.output))
    else:
        assert RANDOM.sub("...", printed) == example.output, WRITE


@pytest.mark.parametrize("example", EXAMPLES, ids=str)
def test_a_command_prints_what_is_shown(example: Example, server: Server, programs: Path) -> None:
    if example.kind == "curl" and not has_curl():
        pytest.skip("there is no curl on this machine")
    check(example, run(example.command, server.port, programs, curl=True))


@pytest.mark.parametrize("example", ASKED, ids=str)
def test_what_curl_sends_is_answered_without_curl_too(example: Example, server: Server, programs: Path) -> None:
    check(example, run(example.command, server.port, programs, curl=False))


@pytest.mark.parametrize("document", DOCUMENTS)
def test_commands_stand_in_blocks_of_known_languages(document: str) -> None:
    text = text_of(document)
    assert {block[1] for block in blocks(text)} <= {"sh", "json", "csv", "text", *RUN, *NOT_HERE}
    assert text.count("\n```") == 2 * len(blocks(text))


def test_no_command_escapes() -> None:
    commands = {block[2].strip() for name in DOCUMENTS for block in blocks(text_of(name)) if block[1] == "sh"}
    elsewhere = {command for command in commands if command.split()[0] in ELSEWHERE}
    assert {command for command in commands - elsewhere if not draws(command)} == NOT_RUN.keys() | {
        example.command for example in EXAMPLES
    }
    assert {example.kind for example in examples(README)} == {"curl", ".venv/bin/rocpr"}


@pytest.mark.parametrize("document", DOCUMENTS)
def test_commands_within_sentences_exist(document: str) -> None:
    """They name only existing commands and options of rocpr."""
    prose = prose_of(document)
    assert not re.search(r"`(curl|python3?|\.venv/[^\s`]+) [^`]+`", prose)
    for words in map(shlex.split, re.findall(r"`rocpr ([^`]+)`", prose)):
        command: click.Command = commands
        while words and isinstance(command, click.Group):
            command = command.commands[words.pop(0)]
        options = {option for parameter in command.params for option in parameter.opts}
        assert {word for word in words if word.startswith("--")} <= options


def test_the_options_for_own_files_fit_such_a_file(tmp_path: Path) -> None:
    """Each row of README's table has them in its last cell; here they go together, but for another engine."""
    cells = [re.findall(r"`(--[^`]+)`", row[-1]) for row in table(README, "Evaluate a file")]
    words = [shlex.split(option) for options in cells for option in options]
    assert len(words) == 5
    path = tmp_path / "mail.csv"
    path.write_text("mail;p spam;is spam\nA;0,1;yes\nB;0,2;no\nC;0,3;yes\nD;0,8;no\n", encoding="utf-8")
    done = CliRunner().invoke(commands, ["curves", str(path), *chain.from_iterable(words[:4])])
    assert (done.exit_code, "  roc                0.750000" in done.stdout) == (0, True)
    assert words[4] == ["--engine", "duckdb"]
    done = CliRunner().invoke(commands, ["curves", str(tmp_path / "*.csv"), *chain.from_iterable(words)])
    assert (done.exit_code, "  roc                0.750000" in done.stdout) == (0, True)
