"""The report says what missed and why; tests/README.md has a place for it. tests/e2e tries the rows, in short."""

import json
from collections.abc import Callable
from pathlib import Path

import pytest

from tests.support.attacks.found import Found
from tests.tools.soak import report
from tests.tools.soak.__main__ import found_by, main
from tests.tools.soak.report import Row
from tests.tools.soak.rows import ROWS
from tests.tools.soak.steady import slope

pytestmark = pytest.mark.all

ROW = Row("one", "a test", "nothing lost", lambda _: Found("twice", {"lost": "0"}))


def broken(_: float) -> Found:
    raise OSError("no server")


def test_a_row_that_holds_is_ok() -> None:
    found = found_by(ROW, 1)
    assert report.cells((ROW, found)) == ("a test", "twice", "lost 0", "nothing lost", "ok")


def test_a_row_that_misses_says_why() -> None:
    found = Found()
    found.require(holds=True, otherwise="never said")
    found.take(Found(figures={"lost": "1"}, missed=["1 | lost"]))
    assert report.verdict(found) == "MISSED"
    assert "why:     1 | lost" in report.text([(ROW, found)], {})
    assert report.markdown([(ROW, found)], {"date": "today"}).endswith("* a test: 1 | lost\n\nMachine: date today.")
    assert json.loads(report.as_json([(ROW, found)], {}))["rows"][0]["missed"] == ["1 | lost"]


def test_a_row_that_breaks_misses() -> None:
    assert found_by(Row("two", "", "", broken), 1).missed == ["it stopped: OSError('no server')"]


def test_a_row_that_is_left_out_is_not_a_miss() -> None:
    found = Found(left_out="nginx is not installed")
    assert report.verdict(found) == "left out"
    assert report.notes([(ROW, found)]) == ["a test: nginx is not installed"]
    assert "why:     nginx is not installed" in report.text([(ROW, found)], {})


def test_the_section_of_the_readme_is_put_in_its_place(tmp_path: Path) -> None:
    file = tmp_path / "README.md"
    file.write_text(f"a\n{report.BEGIN}\nold\n{report.END}\nb\n")
    report.rewrite(file, "new")
    assert file.read_text() == f"a\n{report.BEGIN}\nnew\n{report.END}\nb\n"
    file.write_text("no markers")
    with pytest.raises(ValueError, match="has no markers"):
        report.rewrite(file, "new")


def test_readme_shows_every_row() -> None:
    _, _, rest = report.README.read_text(encoding="utf-8").partition(report.BEGIN)
    section, end, _ = rest.partition(report.END)
    assert end
    assert [row.test for row in ROWS if f"| {row.test} |" not in section] == []


@pytest.mark.parametrize(
    ("words", "message"),
    [
        (["--only", "no such"], "no row is called no such"),
        (["--readme", "--only", "cuts"], "shows all rows"),
        (["--minutes", "0"], "above 0"),
    ],
)
def test_what_cannot_be_run_is_refused(words: list[str], message: str, refused: Callable[..., str]) -> None:
    assert message in refused(main, *words)


def test_the_slope_is_that_of_a_line() -> None:
    assert slope([10, 20, 30]) == pytest.approx(20)
    assert slope([5, 5, 5, 5]) == pytest.approx(0)
