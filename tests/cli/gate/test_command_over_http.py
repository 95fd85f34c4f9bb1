"""`rocpr gate --server`: the same verdicts, statuses and errors as without one, from a server with keys."""

import csv
import io
import json
import re
from pathlib import Path
from typing import Any

import pyarrow as pa
import pytest
from click.testing import Result

from service.cli import over_http
from tests.cli.comparing import sample
from tests.cli.gate.gate_server import KEY
from tests.cli.gate.gating import ALL, DROP, FAILING, PASSING, STATUSES, TEN, rocpr, written
from tests.cli.running import refusal
from tests.cli.scripted_server import Scripted, problem, scripted
from tests.properties.bodies import arrow_file_body


def both(server: str, *words: object) -> Result:
    """Run the command with and without the server; the output must be the same."""
    here = rocpr(*words)
    there = asking(server, *words)
    assert (there.exit_code, there.stdout) == (here.exit_code, here.stdout), there.stderr
    assert there.stderr == here.stderr
    return there


def asking(server: str, *words: object, **variables: str) -> Result:
    return rocpr(*words, "--server", server, "--api-key-env", "TESTS_KEY", TESTS_KEY=KEY, **variables)


@pytest.mark.parametrize("form", [["--json"], []], ids=["json", "table"])
@pytest.mark.parametrize("text", STATUSES, ids=["passing", "failing", "undecided"])
def test_the_verdict_is_that_of_the_files_here(guarded: str, tmp_path: Path, text: str, form: list[str]) -> None:
    rules = written(tmp_path, text)
    for scores in (ALL, written(tmp_path, sample(ALL), "all.json")):
        run = both(guarded, rules, scores, *form)
        assert run.exit_code == STATUSES[text]


@pytest.mark.parametrize("text", STATUSES, ids=["passing", "failing", "undecided"])
def test_the_picture_is_that_of_the_files_here(guarded: str, tmp_path: Path, text: str) -> None:
    rules, pictures = written(tmp_path, text), [tmp_path / "here.svg", tmp_path / "there.svg"]
    runs = [rocpr(rules, ALL, "--plot", pictures[0]), asking(guarded, rules, ALL, "--plot", pictures[1])]
    assert [run.exit_code for run in runs] == [STATUSES[text]] * 2
    here, there = (picture.read_bytes() for picture in pictures)
    assert here == there
    assert here.startswith(b"<svg ")


def test_without_a_verdict_of_the_server_there_is_no_picture(guarded: str, tmp_path: Path) -> None:
    old = written(tmp_path, "of an earlier run", "old.svg")
    run = rocpr(written(tmp_path, PASSING), ALL, "--server", guarded, "--plot", old)  # without its key
    assert run.exit_code == 3
    assert old.read_text() == "of an earlier run"


def test_a_failed_gate_may_have_a_status_of_its_own(guarded: str, tmp_path: Path) -> None:
    assert both(guarded, written(tmp_path, f"fail_status = 409\n{FAILING}"), ALL).exit_code == 1


@pytest.mark.parametrize("suffixes", [("csv", "csv"), ("csv", "json"), ("json", "csv"), ("json", "json")])
def test_a_baseline_in_any_pair_of_formats_gets_the_same_verdict(
    guarded: str, tmp_path: Path, suffixes: tuple[str, str]
) -> None:
    rules = written(tmp_path, f"paired = true\n[intervals]\nresamples = 200\n{DROP}")
    files = [
        path if suffix == "csv" else written(tmp_path, sample(path), f"{path.stem}.json")
        for path, suffix in zip((TEN, ALL), suffixes, strict=True)
    ]
    both(guarded, rules, files[0], "--baseline", files[1], "--json")


def test_labels_and_scores_mean_the_same_in_every_file(guarded: str, tmp_path: Path) -> None:
    rules = written(
        tmp_path, 'positive_label = "no"\nlower_is_positive = true\n[[rules]]\nmetric = "roc"\nmax_drop = 1\n'
    )
    files = [
        written(tmp_path, {"scores": [1, 2, 3], "labels": ["no", "yes", "no"]}, "a.json"),
        written(tmp_path, "scores,labels\n3,no\n2,yes\n1,yes\n", "b.csv"),
        written(
            tmp_path, {"scores": [1, 2], "labels": [0, 1], "positive_label": 1, "lower_is_positive": False}, "c.json"
        ),
        written(tmp_path, {"counts": {"tp": [1], "fp": [1], "positives": 2, "negatives": 2}}, "d.json"),
    ]
    for scores in files:
        for baseline in files:
            run = both(guarded, rules, scores, "--baseline", baseline, "--json")
            assert run.exit_code == 0, run.stderr


def test_columns_and_options_are_sent(guarded: str, tmp_path: Path) -> None:
    table = written(tmp_path, "prob é,old,truth & more,w\n0.9,1,no,2\n0.4,2,yes,1\n0.3,3,no,1\n0.1,0,yes,1\n", "t.csv")
    reading = (
        'scores = "prob é"\nbaseline_scores = "old"\nlabels = "truth & more"\npositive_label = "yes"\nweights = "w"\n'
    )
    rules = written(tmp_path, f'{reading}paired = true\n[[rules]]\nmetric = "roc"\nmax_drop = 0.25\n')
    run = both(guarded, rules, table, "--lower-is-positive", "--json")
    assert run.exit_code == 0, run.stderr
    both(guarded, rules, table, "--positive-label", "no")


def test_errors_are_reported_alike(guarded: str, tmp_path: Path) -> None:
    rules = written(tmp_path, f"{PASSING}[[rules]]\nmetric = 'rok'\nmin = 2\n")
    run = both(guarded, rules, ALL)
    assert "  line 5: /rules/1/metric: " in run.stderr
    bad = written(tmp_path, "scores,labels\n0.9,1\nabc,0\n", "bad.csv")
    right = written(tmp_path, f"paired = true\n{DROP}", "right.toml")
    assert f"Error: {bad}: " in both(guarded, written(tmp_path, PASSING, "p.toml"), bad).stderr
    assert "  column scores, row 3: " in both(guarded, right, ALL, "--baseline", bad).stderr
    wrong = written(tmp_path, {"scores": [1, "x"], "labels": [0, 1]}, "wrong.json")
    assert "  /scores/1: " in both(guarded, right, ALL, "--baseline", wrong).stderr
    both(guarded, right, ALL, "--baseline", written(tmp_path, {**sample(ALL), "weights": [2] * 569}, "weighted.json"))
    text = written(tmp_path, "scores,labels\n0.9,yes\n0.4,no\n", "text.csv")
    for words in ([written(tmp_path, PASSING, "p.toml"), text], [right, ALL, "--baseline", text]):
        assert "these are 'yes' and 'no'; name the positive one" in both(guarded, *words).stderr
    named = written(tmp_path, "score,y\n0.9,1\n0.4,0\n", "named.csv")
    assert "Did you mean --scores score --labels y?" in both(guarded, right, named, "--baseline", ALL).stderr


def test_many_rules_do_not_fit_a_query(guarded: str, tmp_path: Path) -> None:
    """A query has a maximum length: longer rules go into a JSON body."""
    text = "".join(f'[[rules]]\nmetric = "precision"\nat_threshold = 0.{n:03}\nmin = 0\n' for n in range(100))
    assert both(guarded, written(tmp_path, text), ALL).exit_code == 0


@pytest.mark.parametrize(("no", "yes", "maybe"), [("0", "1", "0"), ("no", "yes", "no"), ("no", "yes", "maybe")])
def test_many_rules_of_a_table_with_a_baseline(guarded: str, tmp_path: Path, no: str, yes: str, maybe: str) -> None:
    """The other column of scores goes into the JSON body, too."""
    rows = f"0.9,1,{no},2\n0.4,2,{yes},1\n0.3,3,{no},1\n0.1,0,{yes},1\n0.2,4,{maybe},1\n"
    table = written(tmp_path, f"scores,old,labels,weights\n{rows}", "t.csv")
    reading = f'baseline_scores = "old"\npositive_label = "{yes}"\n'
    text = "".join(f'[[rules]]\nmetric = "average_precision"\nmax_drop = 0.{n:03}\n' for n in range(100))
    run = both(guarded, written(tmp_path, reading + text), table, "--json")
    assert run.exit_code in {0, 1}, run.stderr


def test_a_table_that_only_fits_compressed(guarded: str, tmp_path: Path) -> None:
    """The server takes 1,000,000 bytes; the table has more."""
    text = io.StringIO()
    rows = csv.writer(text)
    rows.writerow(["scores", "labels", "remark"])
    rows.writerows([row % 1000 / 1000, int(row % 7 < 3), "nothing to remark " * 3] for row in range(20_000))
    table = written(tmp_path, text.getvalue(), "long.csv")
    assert table.stat().st_size > 1_000_000
    both(guarded, written(tmp_path, '[[rules]]\nmetric = "roc"\nmin = 0.1\n'), table)


def test_unused_weights_are_told_alike(guarded: str, tmp_path: Path) -> None:
    rules = written(tmp_path, PASSING.replace("0.99", "0.1"))
    old = written(tmp_path, "scores,labels,weight\n0.9,1,2\n0.7,0,1\n0.4,1,1\n0.2,0,5\n", "old.csv")
    new = written(tmp_path, old.read_text().replace("0.4", "0.8"), "new.csv")
    for words in ([], ["--baseline", old]):
        assert both(guarded, rules, new, *words, "--json").stdout.count("unused_weights") == 1


def test_paired_rows_of_two_files_are_left_out_together(guarded: str, tmp_path: Path) -> None:
    rules = written(tmp_path, f"paired = true\nmissing = 'drop'\n{DROP.replace('0.017', '0.5')}")
    new = written(tmp_path, "scores,labels\n0.9,1\n,0\n0.3,0\n0.5,1\n0.6,0\n", "new.csv")
    old = written(tmp_path, "scores,labels\n0.8,1\n0.4,0\n,0\n0.7,1\n0.75,0\n", "old.csv")
    assert "2 of 5 rows are left out" in both(guarded, rules, new, "--baseline", old, "--json").stdout
    worse = written(tmp_path, "scores,labels\n0.8,1\n0.4,0\n,0\nx,1\n0.75,0\n", "worse.csv")
    assert "column scores, row 5: " in both(guarded, rules, new, "--baseline", worse).stderr


def test_first_rules_from_a_server(guarded: str) -> None:
    assert both(guarded, "--init", ALL).exit_code == 0


def test_a_server_that_wants_a_key(guarded: str, tmp_path: Path) -> None:
    rules = written(tmp_path, PASSING)
    said = refusal(rocpr(rules, ALL, "--server", guarded))
    assert "The request carries no valid API key." in said
    assert "--api-key-env NAME" in said
    run = rocpr(rules, ALL, "--server", guarded, "--api-key-env", "WRONG", WRONG="secret-in-a-variable")
    assert run.exit_code == 3
    assert "The server does not accept the key in WRONG." in run.stderr
    assert "secret-in-a-variable" not in run.output
    said = refusal(rocpr(rules, ALL, "--server", guarded, "--api-key-env", "NO_SUCH_VARIABLE"))
    assert "The variable NO_SUCH_VARIABLE" in said


def test_a_wrong_address(guarded: str, tmp_path: Path) -> None:
    run = asking(f"{guarded}/v2", written(tmp_path, PASSING), ALL)
    assert (run.exit_code, run.stdout) == (3, "")
    assert "There is nothing at this path." in run.stderr
    assert "--server takes the address without /v1/" in run.stderr


def test_a_busy_server_is_waited_for_and_no_longer(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    rules = written(tmp_path, PASSING)
    with scripted(problem(503, Retry_After="1"), Scripted()) as server:
        run = rocpr(rules, ALL, "--server", server.url)
    assert (run.exit_code, run.stderr, len(server.asked)) == (0, "", 2)
    assert json.loads(re.search(r"\[.*\]", _query(server.asked[0].path)["rules"])[0]) == [
        {"metric": "roc", "min": 0.99}
    ]
    monkeypatch.setattr(over_http, "ASK_AGAIN_SECONDS", 0)
    with scripted(problem(503)) as server:
        run = rocpr(rules, ALL, "--server", server.url)
    assert (run.exit_code, run.stdout) == (3, "")
    assert "rocpr retried for up to 0 seconds." in run.stderr


def test_reports_say_when_no_server_answers(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("time.sleep", lambda _: None)
    markdown = tmp_path / "gate.md"
    said = refusal(rocpr(written(tmp_path, PASSING), ALL, "--server", "http://127.0.0.1:9", "--markdown", markdown))
    assert "does not answer: Connection refused." in said
    assert "Connection refused" in markdown.read_text()


def _query(path: str) -> dict[str, Any]:
    from urllib.parse import parse_qsl

    return dict(parse_qsl(path.partition("?")[2]))


def test_more_than_two_labels_are_reported_alike(guarded: str, tmp_path: Path) -> None:
    """This includes two files sent in one JSON body, and labels that are numbers there."""
    rules = written(tmp_path, DROP)
    rows = [(row / 10, "abc"[row % 3], row % 3 + 0.5) for row in range(12)]
    text = written(tmp_path, "scores,labels\n" + "".join(f"{score},{name}\n" for score, name, _ in rows), "text.csv")
    table = pa.table({"scores": [score for score, _, _ in rows], "labels": [number for _, _, number in rows]})
    numbers = tmp_path / "numbers.feather"
    numbers.write_bytes(arrow_file_body(table, compression="lz4"))
    for file, label, others in ((text, "b", "'a' in 4 and 'c' in 4"), (numbers, "1.5", "0.5 in 4 and 2.5 in 4")):
        run = both(guarded, rules, file, "--baseline", file, "--positive-label", label, "--json")
        assert run.exit_code not in {2, 3}
        assert others in " ".join(run.stdout.split())


@pytest.mark.parametrize("label", ["True", "1", "1.0"])
def test_spellings_of_labels_and_their_warnings_are_those_of_the_files_here(
    guarded: str, tmp_path: Path, label: str
) -> None:
    new = written(tmp_path, "scores,labels\n0.9,True\n0.7,FALSE\n0.5,TRUE\n0.3, false\n", "new.csv")
    old = written(tmp_path, "scores;labels\n0,9;1,0\n0,7;0,0\n0,5;1\n0,3;0\n", "old.csv")
    run = both(guarded, written(tmp_path, '[[rules]]\nmetric = "roc"\nmin = 0.8\n'), new, "--positive-label", label)
    assert run.exit_code == 1
    comma = ("--delimiter", "semicolon", "--decimal", "comma")
    rules = written(tmp_path, '[[rules]]\nmetric = "roc"\nmax_drop = 0\n')
    run = both(guarded, rules, old, "--baseline", old, *comma, "--positive-label", "1", "--json")
    assert json.loads(run.stdout)["checks"][0]["baseline"] == 0.75


def test_the_warning_about_other_labels_is_that_of_the_files_here(guarded: str, tmp_path: Path) -> None:
    three = "scores;labels\n0,9;1\n0,7;2,50\n0,5;1,0\n0,3;3\n"
    rules = written(tmp_path, '[[rules]]\nmetric = "roc"\nmax_drop = 0\n')
    new, old = written(tmp_path, three, "new.csv"), written(tmp_path, three.replace("3\n", "4\n"), "old.csv")
    comma = ("--delimiter", "semicolon", "--decimal", "comma")
    run = both(guarded, rules, new, "--baseline", old, *comma, "--positive-label", "1", "--json")
    document = json.loads(run.stdout)
    assert document["checks"][0]["baseline"] == 0.75
    assert [told["code"] for told in document["warnings"]][:2] == ["one_vs_rest"] * 2
