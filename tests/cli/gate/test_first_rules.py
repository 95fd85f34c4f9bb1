"""`rocpr gate --init`: rules that the same scores meet, with today's numbers next to them."""

import json
import math
import re
import tomllib
from pathlib import Path

import pytest

from service.cli.gate.first_rules import PROBE, rules_text
from service.cli.gate.rules_file import Rules
from tests.cli.comparing import sample
from tests.cli.gate.gating import ALL, DATA, TEN, answered, rocpr, written
from tests.cli.running import refusal

TABLES = ["breast_cancer.csv", "breast_cancer_ten.csv", "digits_eight.csv"]


def first_rules(folder: Path, *words: object, given: str | None = None) -> Path:
    run = rocpr("--init", *words, given=given)
    assert run.exit_code == 0
    assert all(line.startswith("Warning: ") for line in run.stderr.splitlines()), run.stderr
    return written(folder, run.stdout)


@pytest.mark.parametrize("name", TABLES)
def test_the_scores_meet_their_own_rules(tmp_path: Path, name: str) -> None:
    rules = first_rules(tmp_path, DATA / name)
    assert rocpr(rules, DATA / name).exit_code == 0
    document = tomllib.loads(rules.read_text())
    assert [rule["metric"] for rule in document["rules"]] == ["roc", "average_precision", "tpr_at_fpr"]
    with rules.open("rb") as stream:
        assert Rules.read(stream).document == document


def test_the_numbers_are_todays(tmp_path: Path) -> None:
    text = first_rules(tmp_path, ALL).read_text()
    told = re.findall(r"^# Today ([\d.]+), 95 % interval ([\d.]+) to ([\d.]+)\.\n\[\[rules\]\]$", text, re.MULTILINE)
    rules = tomllib.loads(text)["rules"]
    document = json.loads(answered(sample(ALL) | {"rules": rules, "intervals": PROBE["intervals"]}))
    assert len(told) == 3
    for check, numbers in zip(document["checks"], told, strict=True):
        ends = check["interval"]
        assert list(numbers) == [f"{number:.6f}" for number in (check["value"], ends["lower"], ends["upper"])]
        lowest = check["value"] - math.sqrt(2) * (check["value"] - ends["lower"])
        assert 0 <= lowest - check["rule"]["min"] < 0.001


def test_a_minimum_is_never_above_todays_value() -> None:
    """1000 times the double below 0.117 is 117 in doubles."""
    value = math.nextafter(0.117, 0)
    check = {"rule": {"metric": "roc_hull", "min": 0}, "value": value, "interval": None}
    assert tomllib.loads(rules_text({"checks": [check], "paired": False}, "scores.csv", {}))["rules"][0]["min"] == 0.116


def test_what_is_commented_out_can_be_used(tmp_path: Path) -> None:
    """Each optional rule is valid once its # is removed; the rule on a drop needs a baseline."""
    text = first_rules(tmp_path, ALL).read_text()
    text = re.sub(r"^#(?! )(?=\S)", "", text, flags=re.MULTILINE)
    rules = written(tmp_path, text.replace("[[rules]]", "paired = true\n[[rules]]", 1), "all.toml")
    assert len(tomllib.loads(rules.read_text())["rules"]) == 5
    assert rocpr(rules, ALL, "--baseline", DATA / "breast_cancer_ten.csv").exit_code == 0
    assert "max_drop needs a baseline" in refusal(rocpr(rules, ALL))


def test_the_same_rules_as_json(tmp_path: Path) -> None:
    document = tomllib.loads(first_rules(tmp_path, ALL).read_text())
    run = rocpr("--init", "--json", ALL)
    assert (run.exit_code, run.stderr) == (0, "")
    assert json.loads(run.stdout) == document["rules"]
    answered(sample(ALL) | {"rules": json.loads(run.stdout)})
    assert len(run.stdout.splitlines()) == 2 + len(document["rules"])


def test_scores_in_the_other_direction_get_a_hint(tmp_path: Path) -> None:
    """A rule whose minimum would be 0 is left out, and a comment says so."""
    doubt = "# Below 0.5: did you mean lower_is_positive?\n"
    assert doubt not in first_rules(tmp_path, ALL).read_text()
    text = first_rules(tmp_path, ALL, "--lower-is-positive").read_text()
    assert [rule["metric"] for rule in tomllib.loads(text)["rules"]] == ["average_precision"]
    nothing = "# No rule: its minimum would be 0, which every model meets.\n"
    assert text.count(nothing) == 2
    assert f"\n{doubt}{nothing}" in text
    rows = {"scores": [1, 1, 0, 0], "labels": [1, 0, 0, 1]}
    assert doubt not in first_rules(tmp_path, written(tmp_path, rows, "chance.json")).read_text()
    check = {"rule": {"metric": "roc", "min": 0}, "value": 0.25, "interval": {"lower": 0.0, "upper": 1.0}}
    text = rules_text({"checks": [check], "paired": False}, "few.csv", {})
    assert f'{doubt}# Every model meets a minimum of 0: raise it.\n[[rules]]\nmetric = "roc"\nmin = 0.0\n' in text


def test_how_the_file_is_read_is_kept(tmp_path: Path) -> None:
    name = 'a "b" \\ é \x7f😀'
    table = tmp_path / "named.csv"
    quoted = name.replace('"', '""')
    table.write_text(
        f'"{quoted}",y,w\n' + "".join(f"{n % 7},{'no' if n % 3 else 'yes'},{n % 2 + 1}\n" for n in range(60))
    )
    flags = ["--scores", name, "--labels", "y", "--weights", "w", "--positive-label", "yes", "--lower-is-positive"]
    rules = first_rules(tmp_path, table, *flags)
    assert rocpr(rules, table).exit_code == 0
    document = tomllib.loads(rules.read_text())
    document.pop("rules")
    assert document == {
        "scores": name,
        "labels": "y",
        "weights": "w",
        "positive_label": "yes",
        "lower_is_positive": True,
    }


def test_totals_are_kept(tmp_path: Path) -> None:
    table = written(tmp_path, "tp,fp\n5,5\n10,30\n", "counts.csv")
    rules = first_rules(tmp_path, table, "--positives", "20", "--negatives", "2e3")
    assert rocpr(rules, table).exit_code == 0
    document = tomllib.loads(rules.read_text())
    assert (document["positives"], document["negatives"]) == (20, 2000)


@pytest.mark.parametrize(
    "document",
    [
        {"scores": [3, 2, 1, 0], "labels": [1, 1, 0, 0]},  # a perfect one
        {"scores": [1, 1, 1, 1], "labels": [1, 1, 0, 0]},  # all tied
        {"scores": [0, 1, 2, 3], "labels": [1, 1, 0, 0]},  # the worst
        {"scores": [1, 0], "labels": [1, 0]},  # too few for an interval
        {"counts": {"tp": [6, 9, 8], "fp": [1, 4, 6], "positives": 10, "negatives": 10}},  # no sweep
        {"scores": [3, 2, 1, 0], "labels": [1, 0, 1, 0], "weights": [0.5, 1, 0.25, 2]},
    ],
    ids=["perfect", "tied", "worst", "few", "no_sweep", "weighted"],
)
def test_every_evaluation_has_rules_that_it_meets(tmp_path: Path, document: dict) -> None:
    scores = written(tmp_path, document, "scores.json")
    rules = first_rules(tmp_path, scores)
    run = rocpr(rules, scores)
    assert run.exit_code == 0, run.output
    assert tomllib.loads(rules.read_text())["rules"]


def test_a_name_does_not_leave_its_comment(tmp_path: Path) -> None:
    table = tmp_path / "a\nscores = 3.csv"
    table.write_bytes(ALL.read_bytes())
    assert rocpr(first_rules(tmp_path, table), table).exit_code == 0


def test_what_is_wrong_in_a_file_is_told_and_gives_no_rules() -> None:
    said = refusal(rocpr("--init", "-", "--format", "csv", given="scores,labels\n1,x\n"))
    assert said.startswith("Error: standard input: ")


@pytest.mark.parametrize("closed", ["left", "right"])
def test_the_ends_of_groups_are_kept(tmp_path: Path, closed: str) -> None:
    groups = "score_from,score_to,positives,negatives\n0.8,0.9,3,1\n0.5,0.8,2,2\n0.1,0.5,1,5\n"
    table = written(tmp_path, groups, "groups.csv")
    rules = first_rules(tmp_path, table, "--closed", closed)
    assert tomllib.loads(rules.read_text())["closed"] == closed
    assert rocpr(rules, table).exit_code == 0


class TestAgainstABaseline:
    def test_files_with_the_same_labels_are_paired(self, tmp_path: Path) -> None:
        rules = first_rules(tmp_path, TEN, "--baseline", ALL)
        document = tomllib.loads(rules.read_text())
        assert document["paired"] is True
        drops = [rule for rule in document["rules"] if "max_drop" in rule]
        assert [rule["metric"] for rule in drops] == ["roc", "average_precision"]
        run = rocpr(rules, TEN, "--baseline", ALL)
        assert (run.exit_code, "Gate passed: 5 passed." in run.stdout) == (0, True)
        for rule in drops:  # a thousandth less is not met
            rule["max_drop"] -= 0.001
            keys = "".join(f"{key} = {json.dumps(value)}\n" for key, value in rule.items())
            lower = written(tmp_path, f"paired = true\n[[rules]]\n{keys}", "lower.toml")
            assert rocpr(lower, TEN, "--baseline", ALL).exit_code == 1

    def test_files_with_other_labels_are_not(self, tmp_path: Path) -> None:
        lines = ALL.read_text().splitlines(keepends=True)
        old = written(tmp_path, "".join([lines[0], *reversed(lines[1:])]), "old.csv")
        rules = first_rules(tmp_path, TEN, "--baseline", old)
        assert "paired" not in tomllib.loads(rules.read_text())
        assert rocpr(rules, TEN, "--baseline", old).exit_code == 0

    def test_json_has_the_rules_on_drops_too(self) -> None:
        rules = json.loads(rocpr("--init", TEN, "--baseline", ALL, "--json").stdout)
        assert [rule["metric"] for rule in rules if "max_drop" in rule] == ["roc", "average_precision"]

    @pytest.mark.parametrize(("lower", "drops"), [(-1.0, []), (-0.75, [0.75])])
    def test_a_drop_of_which_nothing_is_excluded_is_no_rule(self, lower: float, drops: list[float]) -> None:
        ends = {"lower": lower, "upper": 0.5}
        check = {"rule": {"metric": "roc", "max_drop": 0}, "value": 0.75, "baseline": 0.75, "interval": ends}
        document = tomllib.loads(rules_text({"checks": [check], "paired": False}, "few.csv", {}))
        assert [rule["max_drop"] for rule in document.get("rules", [])] == drops

    def test_a_baseline_that_cannot_be_used_is_named(self, tmp_path: Path) -> None:
        said = refusal(rocpr("--init", ALL, "--baseline", written(tmp_path, "scores,labels\n1,x\n", "old.csv")))
        assert "old.csv: This cannot be used." in said


def test_rules_at_the_threshold_in_use(tmp_path: Path) -> None:
    """They are met, and take the place of the advice to write some."""
    rules = first_rules(tmp_path, "--at", "0.5", ALL)
    found = [rule for rule in tomllib.loads(rules.read_text())["rules"] if "at_threshold" in rule]
    assert [(rule["metric"], rule["at_threshold"]) for rule in found] == [("recall", 0.5), ("precision", 0.5)]
    assert "#at_threshold" not in rules.read_text()
    assert rocpr(rules, ALL).exit_code == 0
    assert "--at T" in refusal(rocpr("--at", "0.5", rules, ALL))
