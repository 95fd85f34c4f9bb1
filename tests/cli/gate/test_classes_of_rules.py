"""`rocpr gate` with rules about several classes, from a table with a column of scores for each."""

from pathlib import Path

import pytest

from tests.cli.gate.gating import written
from tests.cli.running import refusal, run

TABLE = "animal,p1,p2\n" + "".join(
    f"{'cat' if row % 2 else 'dog'},{row * 37 % 23 + 9 * (row % 2)},{row * 53 % 23 + 9 * (row % 2 == 0)}\n"
    for row in range(60)
)
RULES = """\
scores = "cat=p1,dog=p2"
labels = "animal"
[[rules]]
metric = "roc"
classes = "all"
min = 0.9
confidence = 0.9
[[rules]]
metric = "roc"
average = "macro"
min = 0.5
confidence = 0.9
[[rules]]
metric = "recall"
classes = ["cat"]
decide = "highest"
min = 0.1
"""


@pytest.fixture
def files(tmp_path: Path) -> list[str]:
    return [str(written(tmp_path, RULES, "rules.toml")), str(written(tmp_path, TABLE, "new.csv"))]


def test_classes_and_averages(files: list[str]) -> None:
    result = run("gate", *files)
    assert result.exit_code == 1
    for told in ("roc in every class", "macro roc", "recall by highest score in cat", "It holds in 0 of 2 classes."):
        assert told in result.stdout
    assert "Classes: roc in every class >= 0.9 (90 %)" in result.stdout


def test_a_baseline_may_name_its_columns_otherwise(tmp_path: Path, files: list[str]) -> None:
    old = written(tmp_path, TABLE.replace("p1,p2", "q1,q2"), "old.csv")
    drop = RULES.replace("min = 0.5", "max_drop = 0.1") + '[baseline]\nscores = "cat=q1,dog=q2"\n'
    rules = written(tmp_path, "paired = true\n" + drop, "drop.toml")
    result = run("gate", str(rules), files[1], "--baseline", str(old))
    assert "macro roc" in result.stdout
    assert "difference 0.000000 to 0.000000" in result.stdout or "+0.000000" in result.stdout


def test_reports(tmp_path: Path, files: list[str]) -> None:
    junit, markdown, plot = (tmp_path / name for name in ("junit.xml", "report.md", "plot.svg"))
    run("gate", *files, "--junit", str(junit), "--markdown", str(markdown), "--plot", str(plot))
    assert "Classes of roc in every class:" in markdown.read_text()
    assert "cat | 30 |" in junit.read_text()
    assert "class cat" in plot.read_text()


def test_a_class_that_is_not_there(tmp_path: Path, files: list[str]) -> None:
    rules = written(tmp_path, RULES.replace('["cat"]', '["cow"]'), "rules.toml")
    assert "There are no scores for the class 'cow'; there are for 'cat' and 'dog'." in refusal(
        run("gate", str(rules), files[1])
    )


def test_a_gap_has_an_interval_on_the_screen(tmp_path: Path, files: list[str]) -> None:
    gap = 'scores = "cat=p1,dog=p2"\nlabels = "animal"\n[[rules]]\nmetric = "roc"\nclasses = "all"\nmax_gap = {}\n'
    rules = written(tmp_path, gap.format("0.5\nconfidence = 0.95"), "gap.toml")
    result = run("gate", str(rules), files[1])
    assert result.exit_code == 0
    assert "gap <= 0.5 (95 %)" in result.stdout
    assert "0.000000 to 0." in result.stdout
    small = written(tmp_path, gap.format("0.001\nconfidence = 0.95"), "small.toml")
    result = run("gate", str(small), files[1])
    assert result.exit_code == 1
    assert "a gap of" in result.stdout
