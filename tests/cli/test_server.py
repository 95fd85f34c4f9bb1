"""`--server`: every command prints what it would print without, byte for byte."""

import json
from pathlib import Path

import pytest

from tests.cli.gate.gate_server import KEY
from tests.cli.gate.gating import written
from tests.cli.running import DATA, refusal, run
from tests.cli.scripted_server import Scripted, problem, scripted

ALL = DATA / "breast_cancer.csv"
SLICED = "scores,labels,c\n0.9,1,a\n0.4,0,a\n0.3,1,b\n0.1,0,b\n"
DIGITS = DATA / "digits_eight.csv"
TEN = DATA / "breast_cancer_ten.csv"
REQUEST = json.dumps(
    {
        "evaluations": [
            {"name": name, "scores": scores, "labels": ["yes", "no", "no"], "positive_label": "yes"}
            for name, scores in {"one": [0.9, 0.2, 0.4], "two": [3, 2**70, 1]}.items()
        ]
    }
)
CLASSES = "cat,dog,y\n0.9,0.1,cat\n0.4,0.8,dog\n0.3,0.2,cat\n0.1,0.7,dog\n"


@pytest.mark.parametrize("form", [[], ["--json"]])
@pytest.mark.parametrize(
    ("words", "text"),
    [
        (["curves", ALL], None),
        (["curves", ALL, "--include", "calibration", "--intervals", "{}"], None),
        (["tradeoffs", ALL, "--at-lambda", "0.5"], None),
        (["slices", "-", "--format", "csv", "--slices", "c"], SLICED),
        (["classes", "-", "--format", "csv", "--scores", "cat,dog", "--labels", "y"], CLASSES),
        (["columns", ALL], None),
        (["compare", ALL, TEN, "--paired", "--indices", "jaccard"], None),
        (["compare", f"all={ALL}", f"ten={TEN}", "--for", "ten:missing=drop"], None),
        (
            ["compare", "-", "--format", "csv", "--scores", "cat,dog", "--labels", "y", "--positive-label", "cat"],
            CLASSES,
        ),
        (["compare", "-", "--format", "json"], REQUEST),
        (["compare", "-", "--format", "json", "--indices", "jaccard"], REQUEST),
    ],
)
def test_a_server_gives_what_is_found_here(
    guarded: str, words: list[object], text: str | None, form: list[str]
) -> None:
    form = [option for option in form if "--paired" not in words]
    here = run(*words, *form, given=text)
    there = run(*words, *form, "--server", guarded, given=text, ROCPR_API_KEY=KEY)
    assert (there.exit_code, there.stderr) == (here.exit_code, here.stderr) == (0, "")
    assert there.stdout_bytes == here.stdout_bytes


def test_pictures_come_from_the_server_too(guarded: str, tmp_path: Path) -> None:
    here, there = tmp_path / "here.svg", tmp_path / "there.svg"
    words = ["compare", ALL, TEN, "--plot"]
    assert run(*words, here).exit_code == run(*words, there, "--server", guarded, ROCPR_API_KEY=KEY).exit_code == 0
    assert there.read_bytes() == here.read_bytes()
    shown = run("curves", ALL, "--plot", here, "--show")
    asked = run("curves", ALL, "--plot", there, "--show", "--server", guarded, ROCPR_API_KEY=KEY)
    assert (asked.exit_code, asked.stdout) == (0, shown.stdout)
    assert there.read_bytes() == here.read_bytes()


def test_problems_are_those_found_here(guarded: str, tmp_path: Path) -> None:
    path = written(tmp_path, "scores,labels\nx,1\n0.5,0\n", "scores.csv")
    said = refusal(run("curves", path))
    assert refusal(run("curves", path, "--server", guarded, ROCPR_API_KEY=KEY)) == said
    assert "Put the key into the variable ROCPR_API_KEY" in refusal(run("curves", path, "--server", guarded))
    for words in (
        [ALL, path],
        [f"a={path}", f"b={path}"],
        [ALL, TEN, "--indices", "f1"],
        [ALL, DIGITS],
        [path],
        [ALL, TEN, "--scores", "p"],
    ):
        said = refusal(run("compare", *words))
        assert refusal(run("compare", *words, "--server", guarded, ROCPR_API_KEY=KEY)) == said


def test_a_busy_server_is_asked_again(monkeypatch: pytest.MonkeyPatch) -> None:
    waits: list[float] = []
    monkeypatch.setattr("time.sleep", waits.append)
    with scripted(problem(503, Retry_After="1"), problem(429, Retry_After="2"), Scripted(200, b"{}")) as server:
        said = refusal(run("curves", ALL, "--server", server.url))
    assert "does not answer as rocpr does" in said
    assert (waits, len(server.asked)) == ([1, 2], 3)


def test_an_engine_needs_no_server() -> None:
    said = refusal(run("curves", ALL, "--engine", "duckdb", "--server", "http://127.0.0.1:1"))
    assert "--engine cannot be combined with --server." in said
