"""Several files, each read in its own way: --baseline-... and [baseline] of a gate, --for of compare."""

import json
from pathlib import Path

import pytest

from tests.cli.running import refusal, run

DROP = '[[rules]]\nmetric = "roc"\nmax_drop = 0.1\n'
OLD = "p;y\n0,9;good\n0,3;bad\n;good\n"


@pytest.fixture(autouse=True)
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.chdir(tmp_path)
    monkeypatch.delenv("GITHUB_STEP_SUMMARY", raising=False)
    Path("r.toml").write_text(DROP)
    Path("a.csv").write_text("scores,labels\n0.9,1\n0.3,0\n")
    Path("b.csv").write_text("p,y\n0.9,1\n0.3,0\n")
    Path("old.csv").write_text(OLD)
    return tmp_path


def test_a_hint_is_for_the_file_that_it_is_about() -> None:
    done = run("gate", "r.toml", "a.csv", "--baseline", "b.csv")
    assert done.stderr.startswith("Error: b.csv: ")
    assert "Did you mean --baseline-columns scores=p,labels=y?" in done.stderr
    done = run("gate", "r.toml", "a.csv", "--baseline", "b.csv", "--baseline-columns", "scores=p,labels=y")
    assert done.exit_code == 0, done.stderr
    done = run("compare", "a.csv", "b.csv")
    assert "Did you mean --for b:scores=p,labels=y?" in done.stderr
    assert run("compare", "a.csv", "b.csv", "--for", "b:scores=p,labels=y").exit_code == 0
    done = run("gate", "r.toml", "a.csv", "--baseline", "old.csv")
    assert "set --baseline-delimiter semicolon, and --baseline-decimal comma" in done.stderr


def test_following_hints_from_options_for_both_files_ends() -> None:
    done = run("gate", "r.toml", "a.csv", "--baseline", "b.csv", "--scores", "p", "--labels", "y")
    assert done.stderr.startswith("Error: a.csv: ")
    assert "Did you mean --scores scores --labels labels?" in done.stderr
    done = run("gate", "r.toml", "a.csv", "--baseline", "b.csv", "--scores", "scores", "--labels", "labels")
    assert "Did you mean --baseline-columns scores=p,labels=y?" in done.stderr


READING = ["--baseline-delimiter", "semicolon", "--baseline-decimal", "comma", "--baseline-positive-label", "good"]


def test_a_baseline_is_read_in_its_own_way() -> None:
    words = ["gate", "r.toml", "a.csv", "--baseline", "old.csv", "--json", *READING]
    done = run(*words, "--baseline-columns", "scores=p,labels=y,missing=drop")
    assert done.exit_code == 0, done.stderr
    verdict = json.loads(done.stdout)
    assert verdict["checks"][0]["baseline"] == 1
    assert [told["detail"] for told in verdict["warnings"] if told["code"] == "rows_left_out"] == [
        "1 of 3 rows is left out because a cell is empty: p in 1."
    ]
    table = 'scores = "p"\nlabels = "y"\ndelimiter = ";"\ndecimal = ","\npositive_label = "good"\nmissing = "drop"\n'
    Path("own.toml").write_text(f"[baseline]\n{table}{DROP}")
    assert run("gate", "own.toml", "a.csv", "--baseline", "old.csv", "--json").stdout == done.stdout
    done = run(*words, "--baseline-columns", "scores=p,labels=y")
    assert "column p, row 4: " in done.stderr


def test_each_file_of_a_comparison_is_read_in_its_own_way() -> None:
    own = "new:scores=p,labels=y,delimiter=semicolon,decimal=comma,positive_label=good,missing=drop"
    for words in (["--for", own], ["--for", own[:21], "--for", f"new:{own[22:]}"]):
        done = run("compare", "a.csv", "new=old.csv", *words)
        assert done.exit_code == 0, done.stderr
        assert "1 of 3 rows is left out" in " ".join(done.stdout.split())
    names = json.dumps({"scores": "p", "labels": "y"})
    assert run("compare", "a.csv", "b.csv", "--for", f"b:{names}").exit_code == 0


@pytest.mark.parametrize(
    ("words", "told"),
    [
        (["compare", "a.csv", "b.csv", "--for", "c:scores=p"], "the names are a, b."),
        (["compare", "a.csv", "b.csv", "--for", "scores=p"], "the names are a, b."),
        (["compare", "a.csv", "b.csv", "--for", "b:p"], "takes pairs such as scores=p,labels=y"),
        (["compare", "a.csv", "b.csv", "--for", "b:score_=p"], "did you mean score?"),
        (["gate", "r.toml", "a.csv", "--baseline-decimal", "comma"], "need --baseline OLD"),
        (["gate", "r.toml", "a.csv", "--baseline", "b.csv", "--baseline-columns", "rules=p"], "does not say how"),
    ],
)
def test_what_cannot_be_meant_is_refused(words: list[str], told: str) -> None:
    assert told in refusal(run(*words))


def test_mistakes_below_baseline_have_their_line() -> None:
    Path("own.toml").write_text(f'[baseline]\nscroes = "p"\nlabels = 3\n{DROP}')
    done = run("gate", "own.toml", "a.csv", "--baseline", "b.csv")
    assert "  line 2: 'scroes' is unknown; did you mean scores?" in done.stderr
    assert "  line 3: labels is the name of a column" in done.stderr


def test_paired_rows_of_two_files_are_left_out_together() -> None:
    Path("r.toml").write_text(f"paired = true\n{DROP}")
    Path("a.csv").write_text("scores,labels\n0.9,1\n,0\n0.3,0\n0.5,1\n0.6,0\n")
    Path("b.csv").write_text("scores,labels\n0.8,1\n0.4,0\n,0\n0.7,1\n0.75,0\n")
    done = run("gate", "r.toml", "a.csv", "--baseline", "b.csv", "--missing", "drop", "--json")
    verdict = json.loads(done.stdout)
    assert verdict["checks"][0]["value"] == 0.5
    assert verdict["checks"][0]["baseline"] == 0.5
    assert [told["detail"][:24] for told in verdict["warnings"] if told["code"] == "rows_left_out"] == [
        "2 of 5 rows are left out"
    ]


def test_first_rules_say_how_the_baseline_is_read() -> None:
    scores = "".join(f"{score / 40},{int(score % 5 > 1)}\n" for score in range(40))
    Path("a.csv").write_text(f"scores,labels\n{scores}")
    Path("b.csv").write_text(f"p,y\n{scores}")
    done = run("gate", "--init", "a.csv", "--baseline", "b.csv", "--baseline-columns", "scores=p,labels=y")
    assert '\n[baseline]\nscores = "p"\nlabels = "y"\n' in done.stdout
    Path("first.toml").write_text(done.stdout)
    assert run("gate", "first.toml", "a.csv", "--baseline", "b.csv").exit_code == 0
    Path("groups.csv").write_text("bin,n_pos,n_neg\n0.9,20,4\n0.4,5,30\n")
    done = run("gate", "--init", "groups.csv", "--score", "bin", "--positives", "n_pos", "--negatives", "n_neg")
    assert 'positives = "n_pos"\n' in done.stdout, done.stderr
    Path("first.toml").write_text(done.stdout)
    assert run("gate", "first.toml", "groups.csv").exit_code == 0
