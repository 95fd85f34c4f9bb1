"""deploy/ci/gate.sh and gate.mjs: the gate in a job without Python, by curl and by Node."""

import json
import re
import textwrap
from itertools import product
from pathlib import Path
from typing import Any
from xml.etree import ElementTree as ET

import pytest
from pyarrow import csv

from service.cli.files import SUFFIXES
from tests.cli.comparing import sample
from tests.cli.gate.gate_server import KEY, guarded
from tests.cli.gate.gating import ALL, FAILING, STATUSES, TEN
from tests.cli.scripted_server import VERDICT, Scripted, problem, scripted
from tests.deploy.ci_jobs import (
    CURL,
    ENDINGS,
    MARKDOWN,
    SCRIPTS,
    VERDICTS,
    check_script,
    gate_mjs,
    gate_sh,
    name_of,
    needs_curl,
    needs_node,
    place,
)
from tests.properties.bodies import arrow_body, arrow_file_body, csv_body, parquet_body
from tests.support.junit_facts import check_junit
from tests.support.servers import free_port

__all__ = ["guarded", "place"]


def test_the_script_has_no_complaint_of_shellcheck(root: Path) -> None:
    check_script((root / "deploy/ci/gate.sh").read_text(), "sh")


MAKERS = {
    "tsv": lambda table: csv_body(table).replace(b",", b"\t"),
    "parquet": parquet_body,
    "arrow": arrow_body,
    "feather": arrow_file_body,
}


@SCRIPTS
@pytest.mark.parametrize(
    ("suffix", "text"),
    [*product(["csv"], STATUSES), *product(["tsv", "json", "parquet", "arrow", "feather"], [FAILING])],
    ids=lambda value: value if value in SUFFIXES else name_of(value),
)
def test_a_script_stops_a_job(script: Any, place: Path, root: Path, guarded: str, *, text: str, suffix: str) -> None:
    scores = f"{ALL.stem}.{suffix}"
    if suffix in MAKERS:
        make = MAKERS[suffix]
        (place / scores).write_bytes(make(csv.read_csv(ALL)))
    ran = script(place, root, f"{name_of(text)}.json", scores, ROCPR_SERVER=guarded, ROCPR_API_KEY=KEY)
    assert (ran.status, ran.complaints) == (STATUSES[text], "")
    assert "roc" in ran.printed
    assert f"Gate {VERDICTS[STATUSES[text]]}" in ran.printed
    assert ("below min 0.999." in ran.printed) is (text == FAILING)


@SCRIPTS
def test_a_separator_that_is_given_is_that_of_a_tsv_file(script: Any, place: Path, root: Path, guarded: str) -> None:
    (place / "t.tsv").write_text(ALL.read_text().replace(",", "|"))
    words = ["passing.json", "t.tsv", "delimiter=pipe"]
    assert script(place, root, *words, ROCPR_SERVER=guarded, ROCPR_API_KEY=KEY).status == 0


@SCRIPTS
def test_options_of_a_table(script: Any, place: Path, root: Path, guarded: str) -> None:
    """Any name and any label arrives unchanged, as UTF-8, whatever a URL would make of it."""
    (place / "t.csv").write_text('"p & ""q"" é %41+",y,old\n0.9,no=1,3\n0.4,yes #?,1\n0.3,no=1,2\n0.1,yes #?,0\n')
    words = ['scores=p & "q" é %41+', "labels=y", "positive_label=no=1", "baseline_scores=old", "paired=true"]
    (place / "rules.json").write_text('[{"metric": "roc",\n "max_drop": 0, "confidence": 0.5}]\n')
    words.append('intervals={"seed": 7, "level": 0.9}')
    ran = script(place, root, "rules.json", "t.csv", *words, ROCPR_SERVER=f"{guarded}/", ROCPR_API_KEY=KEY)
    assert "baseline 1" in ran.printed or "| 1.0000 |" in ran.printed, ran.complaints
    assert (ran.status, ran.complaints) == (1, "")


@SCRIPTS
def test_a_json_body_carries_its_options_and_keeps_its_digits(
    script: Any, place: Path, root: Path, guarded: str
) -> None:
    """2^53 + 1 is not a double, and must not be rounded to one on the way."""
    body = '\n  {"scores": [9007199254740993, 1], "labels": [1, 0]}'
    (place / "digits.json").write_text(body)
    ran = script(place, root, "passing.json", "digits.json", ROCPR_SERVER=guarded, ROCPR_API_KEY=KEY)
    assert ran.status == 3
    assert "This integer has no exact double" in ran.complaints
    document = sample(TEN) | {"baseline": sample(ALL), "paired": True}
    (place / "both.json").write_text(json.dumps(document, indent=1))
    ran = script(place, root, "drop.json", "both.json", ROCPR_SERVER=guarded, ROCPR_API_KEY=KEY)
    assert (ran.status, ran.complaints) == (0, "")


@SCRIPTS
def test_a_script_reads_the_files_that_the_command_reads(script: Any, place: Path, root: Path) -> None:
    (place / "gate.txt").write_text("")
    ran = script(place, root, "passing.json", "gate.txt", ROCPR_SERVER="http://127.0.0.1:9")
    named = re.findall(r"\.(\w+)", ran.complaints.partition("does not end in")[2])
    assert set(named) == set(SUFFIXES), "deploy/ci/gate.sh and gate.mjs have the suffixes of service/cli/files.py"


@SCRIPTS
@pytest.mark.parametrize(
    ("words", "variables", "message"),
    [
        ((), {}, "give RULES.json and SCORES"),
        (("passing.json", "breast_cancer.csv"), {"ROCPR_SERVER": ""}, "set ROCPR_SERVER"),
        (("passing.json", "breast_cancer.csv"), {"ROCPR_SERVER": "127.0.0.1:9"}, "http://... or https://..."),
        (("nothing.json", "breast_cancer.csv"), {}, "nothing.json"),
        (("passing.json", "nothing.csv"), {}, "nothing.csv"),
        (
            ("breast_cancer.csv", "passing.json"),
            {},
            "RULES.json comes first, then SCORES; breast_cancer.csv is a table",
        ),
        (("passing.json", "gate.txt"), {}, "gate.txt does not end in .csv"),
        (("passing.json", "breast_cancer.csv", "scores"), {}, "scores is not NAME=VALUE"),
        (("passing.json", "breast_cancer.csv", "=p"), {}, "=p is not NAME=VALUE"),
        (("passing.json", "breast_cancer.json", "scores=p"), {}, "options are for tables"),
        (("passing.json", "passing.json"), {}, "does not start with {"),
        (
            ("passing.json", "breast_cancer.csv"),
            {"ROCPR_API_KEY": "two words"},
            "holds characters that are not allowed in a key",
        ),
        (
            ("passing.json", "breast_cancer.csv"),
            {"ROCPR_API_KEY": 'a"\nb'},
            "holds characters that are not allowed in a key",
        ),
        (("passing.json", "breast_cancer.csv"), {"ROCPR_API_KEY": "wrong"}, "401"),
        (
            ("passing.json", "breast_cancer.csv"),
            {"ROCPR_API_KEY": ""},
            "Put a key that the server knows into ROCPR_API_KEY.",
        ),
        (("passing.json", "breast_cancer.csv", "keep=all"), {}, "422"),
        (("passing.json", "breast_cancer.csv"), {"ROCPR_SERVER": "too far"}, "the address without /v1/gates"),
        (("passing.json", "breast_cancer.csv"), {"ROCPR_SERVER": "nobody"}, "connect"),
    ],
)
def test_without_a_verdict_a_script_says_why(
    script: Any,
    place: Path,
    root: Path,
    guarded: str,
    *,
    words: tuple[str, ...],
    variables: dict[str, str],
    message: str,
) -> None:
    (place / "gate.txt").write_text("")
    variables = {"ROCPR_SERVER": guarded, "ROCPR_API_KEY": KEY, "ROCPR_SECONDS": "1"} | variables
    if variables["ROCPR_SERVER"] == "too far":
        variables["ROCPR_SERVER"] = f"{guarded}/v1"
    if variables["ROCPR_SERVER"] == "nobody":
        variables["ROCPR_SERVER"] = f"http://127.0.0.1:{free_port()}"
    ran = script(place, root, *words, **variables, GITHUB_STEP_SUMMARY="summary")
    assert (ran.status, ran.printed) == (3, "")
    assert message in ran.complaints.lower() + ran.complaints
    told = re.sub(r"^gate\.\w+: ", "", ran.complaints).rstrip("\n")
    assert (place / "summary").read_text() == f"### Gate not decided ❔\n\n{textwrap.indent(told, '    ')}\n\n"
    assert "two words" not in ran.complaints
    assert "wrong" not in ran.complaints.replace("has wrong values", "")


@SCRIPTS
def test_a_byte_order_mark_is_left_out(script: Any, place: Path, root: Path, guarded: str) -> None:
    """PowerShell writes one, and so do some editors."""
    mark = b"\xef\xbb\xbf"
    (place / "marked.json").write_bytes(mark + (place / "passing.json").read_bytes())
    (place / "scores.json").write_bytes(mark + (place / "breast_cancer.json").read_bytes())
    for scores in (ALL.name, "scores.json"):
        ran = script(place, root, "marked.json", scores, ROCPR_SERVER=guarded, ROCPR_API_KEY=KEY)
        assert ran.status == 0, ran.complaints


@SCRIPTS
def test_a_summary_that_cannot_be_written_changes_no_status(script: Any, place: Path, root: Path, guarded: str) -> None:
    """That is, to 1, which means a failed gate."""
    variables = {"ROCPR_SERVER": guarded, "ROCPR_API_KEY": KEY, "GITHUB_STEP_SUMMARY": "no/such/place"}
    for words in (("passing.json", ALL.name), ("passing.json", "nothing.csv")):
        assert script(place, root, *words, **variables).status == 3


@pytest.mark.all
@needs_node
def test_the_script_for_node_tells_a_detail_once(place: Path, root: Path, guarded: str) -> None:
    """A problem with one error has its text twice; one with none or several has another detail."""
    (place / "named.csv").write_text("p,y\n1,1\n0,0\n")
    ran = gate_mjs(place, root, "passing.json", "named.csv", ROCPR_SERVER=guarded, ROCPR_API_KEY=KEY)
    assert (ran.status, ran.complaints.count("no columns scores and labels")) == (3, 1)
    with scripted(problem(400)) as server:
        ran = gate_mjs(place, root, "passing.json", ALL.name, ROCPR_SERVER=server.url)
    assert "the server answers 400: No. Not so.\n" in ran.complaints


@pytest.mark.all
@needs_node
def test_the_script_for_node_escapes_what_a_terminal_interprets(place: Path, root: Path) -> None:
    hostile = "\x1b[2J\x07\r\n::error::owned\u202e"
    escaped = r"\u{1b}[2J\u{7}\u{d}\u{a}::error::owned\u{202e}"
    refusal = {"title": hostile, "detail": hostile, "errors": [{"pointer": hostile, "detail": hostile}] * 2}
    with scripted(Scripted(422, json.dumps(refusal).encode(), "application/problem+json")) as server:
        ran = gate_mjs(place, root, "passing.json", ALL.name, ROCPR_SERVER=server.url)
    assert ran.complaints.count(escaped) == 6
    check = json.loads(VERDICT)["checks"][0] | {"status": "failed", "reason": hostile}
    warned = {"status": "failed", "checks": [check], "warnings": [{"code": "x", "detail": hostile}]}
    with scripted(Scripted(200, json.dumps(json.loads(VERDICT) | warned).encode())) as server:
        ran = gate_mjs(place, root, "passing.json", ALL.name, ROCPR_SERVER=server.url)
    assert (ran.status, ran.printed.count(escaped)) == (1, 2)
    assert not re.search(r"[\x00-\x09\x0b-\x1f\u202e]", ran.printed)


@needs_curl
def test_the_key_is_in_no_command_line_and_no_file(place: Path, root: Path, guarded: str) -> None:
    """A fake curl records its arguments, and the content of the script's directory."""
    spy = place / "bin" / "curl"
    spy.write_text(
        f'#!/bin/sh\nprintf "%s\\n" "$@" >>"{place}/words"\ncat "$TMPDIR"/*/* >>"{place}/files"\nexec {CURL} "$@"\n'
    )
    spy.chmod(0o755)
    (place / "temporary").mkdir()
    variables = {"ROCPR_SERVER": guarded, "ROCPR_API_KEY": KEY, "TMPDIR": str(place / "temporary")}
    ran = gate_sh(place, root, "passing.json", f"{ALL.stem}.json", **variables)
    assert ran.status == 0, ran.complaints
    assert guarded in (place / "words").read_text()
    assert '"fail_status": 409' in (place / "files").read_text()
    assert KEY not in (place / "words").read_text() + (place / "files").read_text()
    assert list((place / "temporary").iterdir()) == []


@needs_node
def test_the_script_for_node_adds_to_the_summary(place: Path, root: Path, guarded: str) -> None:
    (place / "summary").write_text("# Before\n")
    variables = {"ROCPR_SERVER": guarded, "ROCPR_API_KEY": KEY, "GITHUB_STEP_SUMMARY": "summary"}
    ran = gate_mjs(place, root, "failing.json", ALL.name, **variables)
    assert (ran.status, ran.complaints) == (1, "")
    before, heading, *rest = (place / "summary").read_text().splitlines()
    assert (before, heading) == ("# Before", "### Gate failed ❌")
    assert len([line for line in rest if line.startswith("| ")]) == 4
    with scripted(Scripted()) as server:
        ran = gate_mjs(place, root, "passing.json", ALL.name, ROCPR_SERVER=server.url, GITHUB_STEP_SUMMARY="summary")
    assert (ran.status, "no Markdown from" in ran.complaints) == (3, True)


@needs_curl
def test_the_script_adds_to_the_summary_and_writes_junit(place: Path, root: Path, guarded: str) -> None:
    (place / "summary").write_text("# Before\n")
    variables = {"GITHUB_STEP_SUMMARY": "summary", "ROCPR_JUNIT": "gate.xml"}
    ran = gate_sh(place, root, "failing.json", ALL.name, ROCPR_SERVER=guarded, ROCPR_API_KEY=KEY, **variables)
    assert (ran.status, ran.complaints) == (1, "")
    assert (place / "summary").read_text() == f"# Before\n{ran.printed}"
    assert check_junit(place / "gate.xml") == ENDINGS[FAILING]


@SCRIPTS
def test_a_script_writes_the_picture(script: Any, place: Path, root: Path, guarded: str) -> None:
    variables = {"ROCPR_SERVER": guarded, "ROCPR_API_KEY": KEY, "ROCPR_PLOT": "the gate.svg"}
    for scores in (ALL.name, f"{ALL.stem}.json"):
        assert script(place, root, "failing.json", scores, **variables).status == 1
        picture = ET.parse(place / "the gate.svg").getroot()
        assert picture.findtext("{http://www.w3.org/2000/svg}title") == "Gate failed"
        (place / "the gate.svg").unlink()


@SCRIPTS
def test_a_script_without_a_picture_says_so(script: Any, place: Path, root: Path) -> None:
    """The server sends the verdict, and then something else."""
    verdict = MARKDOWN if script is gate_sh else Scripted()
    with scripted(verdict) as server:
        ran = script(place, root, "passing.json", ALL.name, ROCPR_SERVER=server.url, ROCPR_PLOT="gate.svg")
    assert (ran.status, "no picture from" in ran.complaints) == (3, True)
    assert not (place / "gate.svg").exists()
