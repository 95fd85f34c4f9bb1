"""`rocpr gate` with rules over slices: the rules name columns of the file, also of one with the truth."""

from pathlib import Path

import pytest

from tests.cli.gate.gating import TEN, written
from tests.cli.running import refusal, run

RULES = '[[rules]]\nmetric = "roc"\nmin = 0.94\nconfidence = 0.95\nslices = ["hospital"]\n'


def with_hospitals(folder: Path, *, name: str = "new.csv", scores: bool = True, labels: bool = True) -> Path:
    """The ten features' scores, labels or both, of rows in three hospitals."""
    header, *rows = TEN.read_text().split()
    lines = [f"id,{header if scores and labels else 'scores' if scores else 'labels,hospital'}"]
    if labels and scores:
        lines = [f"id,{header},hospital"]
    for number, row in enumerate(rows):
        score, label = row.split(",")
        cells = [f"t{number}", *([score] if scores else []), *([label] if labels else [])]
        lines.append(",".join([*cells, "ABC"[number % 3]] if labels else cells))
    return written(folder, "\n".join(lines) + "\n", name)


@pytest.fixture
def rules(tmp_path: Path) -> Path:
    return written(tmp_path, RULES, "rules.toml")


def test_the_slices_that_are_not_met_are_listed(tmp_path: Path, rules: Path) -> None:
    result = run("gate", str(rules), str(with_hospitals(tmp_path)))
    assert result.exit_code == 1
    assert "roc of hospital C is 0.9897, but with 95 % confidence it may be as low as" in result.stdout
    assert "Slices: roc in every hospital >= 0.94 (95 %)" in result.stdout
    assert "C          189  0.9897  0.9342 to 0.9991  inconclusive" in result.stdout
    assert "and 2 others" in result.stdout


def test_the_truth_may_have_them(tmp_path: Path, rules: Path) -> None:
    truth = with_hospitals(tmp_path, name="truth.csv", scores=False)
    scores = with_hospitals(tmp_path, name="scores.csv", labels=False)
    result = run("gate", str(rules), str(scores), "--truth", str(truth), "--ids", "id")
    assert "C          189  0.9897  0.9342 to 0.9991  inconclusive" in result.stdout


def test_reports_list_them(tmp_path: Path, rules: Path) -> None:
    junit, markdown = tmp_path / "junit.xml", tmp_path / "report.md"
    run("gate", str(rules), str(with_hospitals(tmp_path)), "--junit", str(junit), "--markdown", str(markdown))
    assert "C | 189 | 0.9897 | 0.9342 to 0.9991 | inconclusive" in junit.read_text()
    assert "| C | 189 | 0.9897 | 0.9342 to 0.9991 | inconclusive |" in markdown.read_text()


def test_a_column_that_is_not_there(tmp_path: Path) -> None:
    rules = written(tmp_path, RULES.replace("hospital", "hopsital"), "rules.toml")
    told = refusal(run("gate", str(rules), str(with_hospitals(tmp_path))))
    assert "There is no column 'hopsital'" in told
    assert "Did you mean 'hospital'?" in told


def test_a_baseline_has_its_own_unless_rows_are_paired(tmp_path: Path) -> None:
    drop = 'paired = true\n[[rules]]\nmetric = "roc"\nmax_drop = 0.05\nslices = ["hospital"]\n'
    rules, new = written(tmp_path, drop, "rules.toml"), with_hospitals(tmp_path)
    assert "Gate passed" in run("gate", str(rules), str(new), "--baseline", str(TEN)).stdout
    unpaired = written(tmp_path, drop.replace("paired = true\n", ""), "unpaired.toml")
    told = refusal(run("gate", str(unpaired), str(new), "--baseline", str(TEN)))
    assert "max_drop over slices needs the column 'hospital' of the baseline, too" in told
    old = with_hospitals(tmp_path, name="old.csv")
    assert "Gate passed" in run("gate", str(unpaired), str(new), "--baseline", str(old)).stdout
