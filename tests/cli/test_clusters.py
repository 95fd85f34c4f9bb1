"""`--clusters`: every command that has intervals takes it, and shows how many clusters there are."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from tests.cli.gate.gating import written
from tests.cli.running import run as rocpr

FILE = Path(__file__).parent.parent / "data" / "clusters.csv"
COUNTED = "40 clusters: 20 with positives, 20 with negatives; the largest has 5 rows"
RULES = '[[rules]]\nmetric = "roc"\nmax_drop = 0.1\nconfidence = 0.95\n'


def test_curves() -> None:
    shown = rocpr("curves", FILE, "--clusters", "patient", "--level", "0.95").stdout
    assert COUNTED in shown
    assert "0.786410  0.937726        0.035260   0.95  logit        2.373797" in shown
    assert "design_effect" not in rocpr("curves", FILE, "--level", "0.95").stdout


def test_compare_takes_one_file_and_several(tmp_path: Path) -> None:
    other = tmp_path / "candidate.csv"
    other.write_text(FILE.read_text().replace("scores,candidate", "others,scores", 1))
    several = (f"scores={FILE}", f"candidate={other}", "--paired")
    for words in ((FILE, "--scores", "scores,candidate"), several):
        shown = rocpr("compare", *words, "--clusters", "patient").stdout
        assert COUNTED in shown
        assert "-0.021400  -0.099674 to +0.056874  0.535  undecided" in shown
        assert "-0.071324 to +0.028524" in rocpr("compare", *words).stdout


def test_slices_and_classes() -> None:
    sliced = rocpr("slices", FILE, "--slices", "patient", "--clusters", "patient", "--intervals", "{}").stdout
    assert COUNTED in sliced
    words = ("classes", FILE, "--scores", "0=scores,1=candidate", "--clusters", "patient", "--level", "0.9", "--json")
    assert json.loads(rocpr(*words).stdout)["clusters"] == {"count": 40, "largest": 5}


@pytest.mark.parametrize("where", ["option", "rules"])
def test_a_gate(tmp_path: Path, where: str) -> None:
    old = written(tmp_path, FILE.read_text().replace("scores,candidate", "other,scores", 1), "old.csv")
    keys = 'paired = true\nclusters = "patient"\n' if where == "rules" else "paired = true\n"
    rules = written(tmp_path, keys + RULES, "rules.toml")
    words = ("gate", rules, FILE, "--baseline", old, *(["--clusters", "patient"] if where == "option" else []))
    shown = rocpr(*words).stdout
    assert COUNTED in shown
    assert "difference -0.056874 to 0.099674" in shown
    ignored = rocpr("gate", written(tmp_path, "paired = true\n" + RULES, "plain.toml"), FILE, "--baseline", old).stdout
    assert "difference -0.028524 to 0.071324" in ignored
    assert "unused_clusters" not in shown


def test_what_is_refused(tmp_path: Path) -> None:
    engine = rocpr("curves", FILE, "--clusters", "patient", "--engine", "duckdb")
    assert "--clusters cannot be combined with --engine." in engine.stderr
    rules = written(tmp_path, "clusters = 1\n" + RULES, "rules.toml")
    assert 'clusters is the name of a column, in quotes: clusters = "..."' in rocpr("gate", rules, FILE).stderr
    absent = rocpr("curves", FILE, "--clusters", "user")
    assert absent.exit_code == 2
    assert "There is no column 'user'" in " ".join(absent.stderr.split())
    assert "No such option" in rocpr("tradeoffs", FILE, "--clusters", "patient").stderr
