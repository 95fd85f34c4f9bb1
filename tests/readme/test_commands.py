"""Every command in README.md is run, and prints what README.md shows."""

import json
import math
import re

import pytest

from tests.e2e.conftest import Server
from tests.readme.commands import ELSEWHERE, README, SET_UP, Example, blocks, examples, has_curl, run

TEXT = README.read_text(encoding="utf-8")
EXAMPLES = examples(TEXT)
LOGARITHMS = frozenset({"pr", "pr_achievable", "area"})
"""What is computed with logarithms, which the mathematics library of another machine may round another way."""

RANDOM = re.compile(r"(?<=rocpr_)[A-Za-z0-9_-]{43}$|(?<= )[0-9a-f]{64}$", re.MULTILINE)
"""A new API key and its hash, which README.md shows as three dots."""

LAST_BITS = 1e-12
"""How far these may be off."""


def assert_same(actual: object, shown: object, off: float = 0.0) -> None:
    """Two JSON values are the same, keys in the same order, an integer never for a double, doubles to the last bit."""
    assert type(actual) is type(shown)
    if isinstance(shown, dict):
        assert list(actual) == list(shown)
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


@pytest.mark.parametrize("curl", [True, False], ids=["curl", "no_curl"])
@pytest.mark.parametrize("example", EXAMPLES, ids=lambda example: example.kind)
def test_a_command_prints_what_is_shown(example: Example, server: Server, *, curl: bool) -> None:
    if example.kind == "curl" and curl and not has_curl():
        pytest.skip("there is no curl on this machine")
    printed = run(example.command, server.port, curl=curl)
    if example.language == "json":
        assert_same(json.loads(printed), json.loads(example.output))
    else:
        assert RANDOM.sub("...", printed) == example.output


def test_no_command_escapes() -> None:
    """Commands stand in sh blocks: one for each kind of request, and those that are not run here."""
    kinds = [example.kind for example in EXAMPLES]
    assert kinds.count("curl") >= 4
    assert kinds.count(".venv/bin/rocpr") >= 1
    sh = {block[2].strip() for block in blocks(TEXT) if block[1] == "sh"}
    elsewhere = {command for command in sh if command.split()[0] in ELSEWHERE}
    assert sh - elsewhere == SET_UP | {example.command for example in EXAMPLES}
    assert {block[1] for block in blocks(TEXT)} <= {"sh", "json", "csv", "text"}
    assert TEXT.count("\n```") == 2 * len(blocks(TEXT))
    prose = re.sub(r"^```.*?^```$", "", TEXT, flags=re.MULTILINE | re.DOTALL)
    assert not re.search(r"`(curl|sh|python3?|\.venv/\S+|rocpr) [^`]*`", prose)
