"""`rocpr gate --html`: one file with the verdict, its pictures and how to repeat it; it loads nothing."""

import hashlib
import re
import shutil
from html.parser import HTMLParser
from pathlib import Path

import pytest

from tests.cli.gate.gating import ALL, DROP, FAILING, PASSING, TEN, rocpr, written

HOSTILE = "<img src=x onerror=alert(1)>`&amp;.csv"
VOID = {"meta"}


class Page(HTMLParser):
    """Checks that tags are closed in order, and keeps the text, and what is loaded."""

    def __init__(self, text: str) -> None:
        super().__init__()
        self.open: list[str] = []
        self.tags: set[str] = set()
        self.loaded: list[str] = []
        self.text = ""
        self.feed(text)
        assert not self.open

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.tags.add(tag)
        self.loaded += [str(value) for name, value in attrs if name in {"src", "href", "xlink:href", "style"}]
        if tag not in VOID:
            self.open.append(tag)

    def handle_endtag(self, tag: str) -> None:
        assert self.open.pop() == tag

    def handle_data(self, data: str) -> None:
        self.text += data.replace("\N{NO-BREAK SPACE}", " ")


def page_of(tmp_path: Path, *words: object) -> Page:
    report = tmp_path / "gate.html"
    run = rocpr(*words, "--html", report)
    assert report.exists(), run.stderr
    return Page(report.read_text(encoding="utf-8"))


def test_it_has_the_report_both_pictures_and_how_to_repeat_it(tmp_path: Path) -> None:
    rules = written(tmp_path, "paired = true\n" + DROP)
    page = page_of(tmp_path, rules, TEN, "--baseline", ALL)
    assert {"script", "link", "img"}.isdisjoint(page.tags)
    assert page.loaded == []
    assert "Gate passed ✓" in page.text
    assert "roc drop at most 0.017, with 95 % confidence" in page.text
    assert "Precision-recall" in page.text
    assert "model, ROC 0.9920" in page.text
    assert "baseline, ROC 0.9948" in page.text
    assert f"rocpr gate {rules} {TEN} --baseline {ALL} --html {tmp_path}/gate.html" in page.text
    for path in (rules, TEN, ALL):
        assert re.search(rf"{path.name} +{hashlib.sha256(path.read_bytes()).hexdigest()}", page.text)


def test_without_a_baseline_it_has_one_curve(tmp_path: Path) -> None:
    page = page_of(tmp_path, written(tmp_path, FAILING), ALL)
    assert "Gate failed ✗" in page.text
    assert "ROC" in page.text
    assert "baseline, ROC" not in page.text


def test_a_baseline_in_the_same_table(tmp_path: Path) -> None:
    table = written(tmp_path, "scores,labels,old\n0.9,1,0.8\n0.4,0,0.5\n0.7,1,0.3\n0.1,0,0.2\n", "both.csv")
    rules = written(tmp_path, 'baseline_scores = "old"\n[[rules]]\nmetric = "roc"\nmax_drop = 0.1\n')
    assert "baseline, ROC 0.7500" in page_of(tmp_path, rules, table).text


@pytest.mark.parametrize("name", [HOSTILE, "a\nb.csv", "h3.csv"])
def test_a_name_is_text(tmp_path: Path, name: str) -> None:
    shutil.copy(ALL, tmp_path / name)
    page = page_of(tmp_path, written(tmp_path, PASSING), tmp_path / name)
    assert {"img", "script"}.isdisjoint(page.tags)
    assert name.replace("\n", " ") in page.text.replace("\n", " ")


def test_it_is_refused_where_it_would_replace_rules(tmp_path: Path) -> None:
    rules = written(tmp_path, PASSING)
    assert rocpr(rules, ALL, "--html", rules).exit_code == 3
    assert rules.read_text() == PASSING


def test_a_gate_of_no_rules_has_no_verdict_to_draw(tmp_path: Path) -> None:
    page = page_of(tmp_path, written(tmp_path, DROP), TEN, "--without-baseline", "skip")
    assert "There is no baseline, so 1 rule is not checked." in page.text
