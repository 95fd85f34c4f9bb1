"""`rocpr gate` on GitHub marks the rules that are not met at their lines."""

from pathlib import Path

import pytest

from service.cli.gate.annotations import annotation
from tests.cli.gate.gating import ALL, DROP, FAILING, TEN, UNDECIDED, rocpr, written

ON_GITHUB = {"GITHUB_ACTIONS": "true"}


def marks(said: str) -> list[str]:
    return [line for line in said.splitlines() if line.startswith("::")]


@pytest.fixture(autouse=True)
def at_the_root(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("GITHUB_WORKSPACE", str(tmp_path))
    monkeypatch.chdir(tmp_path)


def test_a_failed_rule_is_an_error_at_its_line(tmp_path: Path) -> None:
    (tmp_path / "ci").mkdir()
    run = rocpr(written(tmp_path / "ci", FAILING), ALL, **ON_GITHUB)
    (mark,) = marks(run.stderr)
    assert FAILING.split("\n")[3] == "[[rules]]"
    assert mark.startswith("::error file=ci/rules.toml,line=4,title=average_precision::average_precision is 0.99")
    assert "::error" not in run.stdout


@pytest.mark.parametrize("warned", [UNDECIDED, FAILING + 'severity = "warn"\n'])
def test_an_undecided_rule_and_one_that_only_warns_are_warnings(tmp_path: Path, warned: str) -> None:
    (mark,) = marks(rocpr(written(tmp_path, warned), ALL, **ON_GITHUB).stderr)
    assert mark.startswith("::warning file=rules.toml,line=4,title=")


def test_a_rule_has_its_name(tmp_path: Path) -> None:
    (mark,) = marks(rocpr(written(tmp_path, FAILING + 'name = "a, b: 5 %"\n'), ALL, **ON_GITHUB).stderr)
    assert "title=a%2C b%3A 5 %25::" in mark


def test_rules_in_one_list_are_at_its_line(tmp_path: Path) -> None:
    rules = 'rules = [\n  {metric = "roc", min = 1}\n]'
    (mark,) = marks(rocpr(written(tmp_path, rules), ALL, **ON_GITHUB).stderr)
    assert mark.startswith("::error file=rules.toml,line=1,title=roc::")


def test_a_file_outside_of_the_repository_keeps_its_name(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("GITHUB_WORKSPACE", str(tmp_path / "elsewhere"))
    path = written(tmp_path, FAILING)
    (mark,) = marks(rocpr(path, ALL, **ON_GITHUB).stderr)
    assert f"file={path},line=4" in mark


def test_no_more_marks_than_github_shows(tmp_path: Path) -> None:
    rules = "".join(f'[[rules]]\nmetric = "roc"\nmin = {1 - 1e-5 * number}\n' for number in range(12))
    assert len(marks(rocpr(written(tmp_path, rules), ALL, **ON_GITHUB).stderr)) == 10


def test_why_there_is_no_verdict_is_one(tmp_path: Path) -> None:
    (mark,) = marks(rocpr(written(tmp_path, "rules = 1"), ALL, **ON_GITHUB).stderr)
    assert mark.startswith("::error title=No verdict::Error: ")
    assert mark.count("%0A") == 1


@pytest.mark.parametrize("environment", [{}, {"GITHUB_ACTIONS": "false"}])
def test_none_elsewhere(tmp_path: Path, environment: dict[str, str]) -> None:
    assert not marks(rocpr(written(tmp_path, FAILING), ALL, **environment).stderr)


def test_no_text_ends_its_line() -> None:
    assert annotation("error", "a\n::b", "c\r\n::d") == "::error title=a%0A%3A%3Ab::c%0D%0A::d"


class TestWithoutABaseline:
    def test_rules_that_need_one_are_refused(self, tmp_path: Path) -> None:
        assert rocpr(written(tmp_path, DROP), TEN).exit_code == 3

    def test_they_can_be_skipped(self, tmp_path: Path) -> None:
        words = (written(tmp_path, DROP + FAILING), ALL, "--without-baseline", "skip")
        run = rocpr(*words, **ON_GITHUB)
        assert run.exit_code == 1
        assert "skipped_rules: There is no baseline, so 1 rule is not checked." in " ".join(run.stdout.split())
        assert "Gate failed: 1 passed, 1 failed." in run.stdout
        (mark,) = marks(run.stderr)
        assert "file=rules.toml,line=8," in mark

    def test_paired_is_left_out_with_them(self, tmp_path: Path) -> None:
        words = (written(tmp_path, "paired = true\n" + DROP + FAILING), ALL, "--without-baseline", "skip")
        assert "Gate failed: 1 passed, 1 failed." in rocpr(*words).stdout

    def test_a_gate_of_nothing_else_passes(self, tmp_path: Path) -> None:
        junit = tmp_path / "gate.xml"
        run = rocpr(written(tmp_path, DROP), TEN, "--without-baseline", "skip", "--junit", junit)
        assert (run.exit_code, run.stdout.splitlines()[-1]) == (0, "Gate passed: no rule was checked.")
        assert 'tests="0"' in junit.read_text()

    def test_with_a_baseline_nothing_is_skipped(self, tmp_path: Path) -> None:
        words = (written(tmp_path, "paired = true\n" + DROP), TEN, "--baseline", ALL)
        assert rocpr(*words, "--without-baseline", "skip").stdout == rocpr(*words).stdout

    def test_nor_with_one_in_the_same_table(self, tmp_path: Path) -> None:
        table = written(tmp_path, "scores,labels,old\n1,1,1\n0,0,0\n", "both.csv")
        words = (written(tmp_path, 'baseline_scores = "old"\n' + DROP.replace("confidence = 0.95\n", "")), table)
        run = rocpr(*words, "--without-baseline", "skip")
        assert (run.exit_code, run.stdout) == (0, rocpr(*words).stdout)
