"""deploy/ci/gate.sh and gate.mjs and servers that are busy, not up yet, or not rocpr."""

from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from tests.cli.gate.gating import ALL
from tests.cli.scripted_server import Scripted, problem, scripted
from tests.deploy.ci_jobs import MARKDOWN, SCRIPTS, gate_sh, place

__all__ = ["place"]

pytestmark = pytest.mark.all


@SCRIPTS
def test_a_script_waits_for_a_busy_server(script: Any, place: Path, root: Path) -> None:
    verdict = MARKDOWN if script is gate_sh else Scripted()
    with scripted(problem(503, Retry_After="1"), problem(429, Retry_After="1"), verdict) as server:
        ran = script(place, root, "passing.json", ALL.name, ROCPR_SERVER=server.url)
    assert (ran.status, len(server.asked)) == (0, 3), ran.complaints
    assert "Gate passed" in ran.printed
    assert "Not so." not in ran.printed
    assert {asked.body for asked in server.asked} == {ALL.read_bytes()}


@SCRIPTS
@pytest.mark.parametrize(
    "first", [Scripted(None), Scripted(502, b"<html>", "text/html"), Scripted(504, b"<html>", "text/html")], ids=str
)
def test_a_script_asks_again_if_the_connection_or_a_proxy_fails(
    script: Any, place: Path, root: Path, first: Scripted
) -> None:
    with scripted(first, MARKDOWN if script is gate_sh else Scripted()) as server:
        ran = script(place, root, "passing.json", ALL.name, ROCPR_SERVER=server.url)
    assert (ran.status, len(server.asked)) == (0, 2), ran.complaints


@SCRIPTS
def test_an_answer_that_breaks_off_is_not_a_verdict(script: Any, place: Path, root: Path) -> None:
    whole = MARKDOWN if script is gate_sh else Scripted()
    cut = replace(whole, missing=100)
    with scripted(cut) as server:
        ran = script(place, root, "passing.json", ALL.name, ROCPR_SERVER=server.url, ROCPR_SECONDS="2")
    assert (ran.status, ran.printed) == (3, "")
    with scripted(cut, whole) as server:
        ran = script(place, root, "passing.json", ALL.name, ROCPR_SERVER=server.url)
    assert (ran.status, len(server.asked)) == (0, 2), ran.complaints


@SCRIPTS
def test_a_script_waits_no_longer_than_allowed(script: Any, place: Path, root: Path) -> None:
    with scripted(problem(503, Retry_After="1")) as server:
        ran = script(place, root, "passing.json", ALL.name, ROCPR_SERVER=server.url, ROCPR_SECONDS="2")
    assert (ran.status, ran.printed) == (3, "")
    assert 1 <= len(server.asked) <= 4
    assert "503" in ran.complaints


@SCRIPTS
@pytest.mark.parametrize(
    "answer",
    [
        Scripted(200, b"<html>", "text/html"),
        Scripted(200, b'{"ok": true}'),
        Scripted(409, b"<html>", "text/html"),
        Scripted(200, b"", ""),
        Scripted(302, b"", "text/html", {"Location": "/elsewhere"}),
        Scripted(200, b'{"status": "toString", "checks": [], "warnings": []}'),
        Scripted(200, b"### Gate failed\n", "text/markdown"),
        Scripted(409, b"### Gate passed\n", "text/markdown"),
    ],
    ids=["html", "json", "conflict", "empty", "redirect", "other status", "failed", "passed"],
)
def test_another_servers_answer_is_not_a_verdict(script: Any, place: Path, root: Path, answer: Scripted) -> None:
    with scripted(answer) as server:
        ran = script(place, root, "passing.json", ALL.name, ROCPR_SERVER=server.url)
    assert (ran.status, ran.printed) == (3, "")
    assert str(answer.status) in ran.complaints
