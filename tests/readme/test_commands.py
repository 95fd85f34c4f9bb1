"""Every command in README.md is run, and prints what README.md shows."""

import json
import re

import pytest

from tests.e2e.conftest import Server
from tests.readme.commands import README, SET_UP, Example, blocks, examples, has_curl, run

TEXT = README.read_text(encoding="utf-8")
EXAMPLES = examples(TEXT)
LAST_BITS = 1e-12
"""Of areas with logarithms, which the mathematics library of another machine may round another way."""


def assert_same(actual: object, shown: object) -> None:
    """Two JSON values are the same, keys in the same order, an integer never for a double."""
    assert type(actual) is type(shown)
    if isinstance(shown, dict):
        assert list(actual) == list(shown)
        for key in shown:
            assert_same(actual[key], shown[key])
    elif isinstance(shown, list):
        assert len(actual) == len(shown)
        for pair in zip(actual, shown, strict=True):
            assert_same(*pair)
    elif isinstance(shown, float):
        assert actual == pytest.approx(shown, rel=LAST_BITS, abs=0)
    else:
        assert actual == shown


@pytest.mark.parametrize("curl", [True, False], ids=["curl", "no_curl"])
@pytest.mark.parametrize("example", EXAMPLES, ids=lambda example: example.kind)
def test_a_command_prints_what_is_shown(example: Example, server: Server, *, curl: bool) -> None:
    if example.kind == "curl" and curl and not has_curl():
        pytest.skip("there is no curl on this machine")
    printed = run(example.command, server.port, curl=curl)
    if example.language == "json":
        assert_same(json.loads(printed), json.loads(example.output))
    else:
        assert printed == example.output


def test_no_command_escapes() -> None:
    """Commands stand in sh blocks: one for each kind of request, and the two that set up."""
    kinds = [example.kind for example in EXAMPLES]
    assert kinds.count("curl") >= 4
    assert kinds.count(".venv/bin/rocpr") >= 1
    sh = {block[2].strip() for block in blocks(TEXT) if block[1] == "sh"}
    assert sh == SET_UP | {example.command for example in EXAMPLES}
    assert {block[1] for block in blocks(TEXT)} <= {"sh", "json", "csv", "text"}
    assert TEXT.count("\n```") == 2 * len(blocks(TEXT))
    prose = re.sub(r"^```.*?^```$", "", TEXT, flags=re.MULTILINE | re.DOTALL)
    assert not re.search(r"`(curl|sh|python3?|\.venv/\S+|rocpr) [^`]*`", prose)
