"""The benchmark runs, measures every row and compares numbers; tests/README.md has its report. Asserts no times."""

import json
import math
import subprocess
import sys
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

from service.curves.confusion import ConfusionTable
from service.curves.evaluation import evaluate_curves
from service.curves.hull import roc_convex_hull
from service.curves.sample import Sample
from service.curves.sweep.sweep import LIBRARY
from tests.tools.bench import agreement, report, rivals
from tests.tools.bench.__main__ import _in_process, main
from tests.tools.bench.cases import ALL_OUTPUTS, CASES, make
from tests.tools.bench.machine import machine
from tests.tools.bench.measure import Scale, medians
from tests.tools.bench.report import Result
from tests.tools.bench.rows import CURVES, OURS, ROWS, TORCHMETRICS, Rate, Row, Served, Timed, Worst, quick_rows

pytestmark = pytest.mark.all

WHATS = [row.what for row in ROWS]
SLOWER = Row("slower", "<=", 2.0)
FASTER = Row("faster", ">=", 2.0)


@pytest.fixture
def sample() -> tuple[np.ndarray, np.ndarray]:
    random = np.random.default_rng(0)
    scores = random.integers(0, 50, 200) / 50
    return scores, random.random(200) < scores


@pytest.mark.all
def test_every_row_is_measured_and_compared(root: Path) -> None:
    done = subprocess.run(
        [sys.executable, "-m", "tests.tools.bench", "--quick", "--json", "-"],
        cwd=root,
        capture_output=True,
        text=True,
        timeout=300,
        check=False,
    )
    assert done.returncode == 0, done.stderr
    told = json.loads(done.stdout)
    assert told["quick"] is True
    is_compiled = LIBRARY.is_file()
    rows = told["rows"]
    tried = quick_rows(ROWS)
    assert [row["what"] for row in rows] == [row.what for row in tried]
    assert {getattr(row, "case", None) for row in tried} == {getattr(row, "case", None) for row in ROWS}
    assert {type(row) for row in tried} == {type(row) for row in ROWS}
    for row, declared in zip(rows, tried, strict=True):
        assert row["rows"] == [*declared.inputs]
        if isinstance(declared, Timed) and declared.theirs == TORCHMETRICS and not rivals.has_torchmetrics():
            assert row["note"] == "torchmetrics is not installed"
            continue
        assert row["ratio"] > 0, row
        assert math.isfinite(row["ratio"])
        if isinstance(declared, Timed | Served | Rate):
            assert row["ours"] > 0
            assert row["theirs"] > 0
            assert row["compared"] > 0
        if isinstance(declared, Rate):
            for load in row["loads"].values():
                assert load["answers"] >= declared.connections
                assert 0 < load["least"] <= load["rate"] <= load["most"]
                assert 0 < load["p50"] <= load["p99"]
        else:
            assert row["loads"] is None
        has_both = getattr(declared, "ours", OURS) == OURS and getattr(declared, "theirs", "") != CURVES
        if not isinstance(declared, Rate | Worst):
            assert ("without compiled loops" in row["note"]) == (is_compiled and has_both), row
        assert declared.what in done.stderr


@pytest.mark.parametrize(
    ("words", "message"),
    [
        (["--only", "no such row"], "no row contains 'no such row'"),
        (["--repeats", "0"], "must be 1 or more"),
        (["--readme", "--repeats", "1"], "tests/README.md shows all rows"),
    ],
)
def test_what_cannot_be_measured_is_refused(words: list[str], message: str, refused: Callable[..., str]) -> None:
    assert message in refused(main, *words)


def test_packages_that_are_missing_are_named(monkeypatch: pytest.MonkeyPatch, refused: Callable[..., str]) -> None:
    monkeypatch.setitem(sys.modules, "sklearn", None)
    expected = "python -m tests.tools.bench: not installed: scikit-learn; run sh deploy/setup.sh dev\n"
    assert refused(main) == expected


def test_all_rows_of_readme_are_those_of_the_report() -> None:
    section = report.README.read_text(encoding="utf-8").partition(report.BEGIN)[2].partition(report.END)[0]
    lines = [line.strip("| ").split(" | ") for line in section.splitlines() if line.startswith("|")]
    assert lines[0] == list(report.HEADER)
    assert {line.count("|") for line in section.splitlines() if line.startswith("|")} == {len(report.HEADER) + 1}
    assert [line[0] for line in lines[2:]] == WHATS


def test_one_area_that_is_off_is_noticed(sample: tuple[np.ndarray, np.ndarray]) -> None:
    theirs = rivals.scikit_learn(*sample, None)
    curves = evaluate_curves(Sample(*sample), ALL_OUTPUTS)
    assert agreement.with_scikit_learn(curves, theirs, counted=True) == 2 + 5 * curves.points.tp.size - 2
    for wrong in (
        replace(theirs, roc=theirs.roc + 1e-11),
        replace(theirs, average_precision=theirs.average_precision - 1e-11),
        replace(theirs, fpr=np.nextafter(theirs.fpr, 2)),
        replace(theirs, precision=theirs.precision * 0.999),
    ):
        with pytest.raises(AssertionError):
            agreement.with_scikit_learn(curves, wrong, counted=True)


def test_one_column_that_is_off_is_noticed() -> None:
    theirs = {"positives": 1, "negatives": 1, "points": {"threshold": [None, 0.5], "tp": [0, 1]}}
    assert agreement.answers({**theirs, "warnings": []}, theirs) == 6
    for points in ({"threshold": [None, 0.5], "tp": [0, 2]}, {"threshold": [0.1, 0.5], "tp": [0, 1]}, {"tp": [0, 1]}):
        with pytest.raises(AssertionError):
            agreement.answers({**theirs, "points": points, "warnings": []}, theirs)


@pytest.mark.parametrize("name", [name for name in CASES if name.startswith("hull")])
def test_the_hulls_are_right(name: str) -> None:
    case = make(name, 200)
    assert case.check() in {200, 201}
    assert case.calls[OURS]().size >= 2


def test_a_vertex_too_few_or_too_many_is_noticed(sample: tuple[np.ndarray, np.ndarray]) -> None:
    table = ConfusionTable.of(Sample(*sample))
    vertices = roc_convex_hull(table)
    assert vertices.size > 3
    assert agreement.hull_is(table.fp, table.tp, vertices) == table.tp.size
    with pytest.raises(AssertionError):
        agreement.hull_is(table.fp, table.tp, np.delete(vertices, 1))
    with pytest.raises(AssertionError):
        agreement.hull_is(table.fp, table.tp, np.arange(table.tp.size))


def test_every_row_of_the_staircases_is_a_vertex() -> None:
    for name in ("hull: concave staircase", "hull: concave staircase of counts above 2^31"):
        assert make(name, 500).calls[OURS]().tolist() == list(range(500))


def test_the_two_sides_take_turns() -> None:
    asked = []
    clock = {"ours": iter((9.0, 1.0, 5.0, 2.0)), "theirs": iter((9.0, 8.0, 6.0, 7.0))}

    def timing(name: str, loops: int) -> float:
        asked.append((name, loops))
        return next(clock[name])

    sides = {name: lambda loops, name=name: timing(name, loops) for name in clock}
    assert medians(sides, Scale(repeats=3, seconds=20.0, load_seconds=0.0, settle_seconds=0.0)) == {
        "ours": 2.0,
        "theirs": 7.0,
    }
    assert asked == [("ours", 1), ("theirs", 1)] + [("ours", 2), ("theirs", 2)] * 3


def test_what_is_reached() -> None:
    assert Result.of_seconds(FASTER, 1, ours=1.0, theirs=2.0).reached
    assert not Result.of_seconds(FASTER, 1, ours=1.01, theirs=2.0).reached
    assert Result.of_seconds(SLOWER, 1, ours=2.0, theirs=1.0).reached
    assert not Result.of_seconds(SLOWER, 1, ours=2.01, theirs=1.0).reached
    assert Result.of_seconds(replace(SLOWER, reach=None), 1, ours=2.0, theirs=1.0).reached is None


def test_what_it_takes_without_compiled_loops_is_a_note() -> None:
    result = Result.of_seconds(FASTER, 1, ours=0.5, theirs=1.5, without=1.0)
    assert (result.ratio, result.reached) == (3.0, True)
    assert report.cells(result)[2:] == ("500 ms", "1.5 s", "3 x faster", ">= 2", "yes")
    assert result.note == "1 s without compiled loops"


def test_the_worst_is_the_worst_of_them() -> None:
    rows = [Row(what, "<=", 1.0) for what in ("one", "two")]
    done = {
        row.what: Result.of_seconds(row, 1, ours=ours, theirs=1.0) for row, ours in zip(rows, (3.0, 2.0), strict=True)
    }
    worst = Worst("worst", "<=", 1.0, ("one", "two"))
    assert _in_process(worst, None, done).ratio == 3.0
    assert _in_process(worst, None, {"one": done["one"]}).note == "not all of them were measured"


def test_a_report_for_readme_has_compiled_loops(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str], tmp_path: Path
) -> None:
    monkeypatch.setattr("tests.tools.bench.__main__.LIBRARY", tmp_path / "none")
    monkeypatch.setattr(sys, "argv", ["tests.tools.bench", "--readme"])
    with pytest.raises(SystemExit):
        main()
    assert "it was installed without a C compiler" in capsys.readouterr().err


def test_the_table_says_ratios_and_failures() -> None:
    results = [
        Result.of_seconds(FASTER, 3, ours=0.01, theirs=0.035),
        Result(SLOWER, note="numbers differ", failed=True),
    ]
    table = report.text(results, {"python": "3"})
    assert table.splitlines()[1].split() == ["faster", "10", "ms", "35", "ms", "3.5", "x", "faster", ">=", "2", "yes"]
    assert table.splitlines()[2].split() == ["slower", "failed", "<=", "2", "no"]
    assert table.splitlines()[4:7] == [
        "slower: numbers differ",
        "1 of 2 rows failed: slower.",
        "3 numbers of the other rows were compared with those of the other side, or proved; they agree.",
    ]
    assert [row["reached"] for row in json.loads(report.as_json(results, {}))["rows"]] == [True, False]


def test_nothing_agrees_where_nothing_was_compared() -> None:
    assert report.notes([Result(SLOWER)]) == ["No numbers were compared and found to agree."]


def test_a_quick_report_begins_by_saying_so() -> None:
    result = Result.of_seconds(ROWS[0].quick(), 3, ours=0.01, theirs=0.035)
    quick = report.text([result], {}, quick=True).splitlines()
    assert quick[0] == report.QUICK
    assert quick[3].removeprefix(ROWS[0].what).split() == ["1,000", "10", "ms", "35", "ms", "3.5", "x", "faster"]
    assert report.QUICK not in report.text([result], {})


def test_readme_says_what_the_figures_depend_on() -> None:
    about = machine() | {"packages": {"numpy": "2.0", "uvicorn": "1.0", "uvloop": None}, "variables": {"NPY_A": "b"}}
    section = report.markdown([Result(SLOWER, note="the other is not installed")], about)
    assert "\n* slower: the other is not installed\n" in section
    assert "numpy 2.0, uvicorn 1.0 on" in section
    assert "`OPENBLAS_NUM_THREADS=1`" in section
    assert "`NPY_A=b`" in section


def test_readme_is_rewritten_between_its_markers(tmp_path: Path) -> None:
    path = tmp_path / "README.md"
    path.write_text(f"before\n{report.BEGIN}\nold\n{report.END}\nafter\n")
    report.rewrite(path, "new")
    assert path.read_text() == f"before\n{report.BEGIN}\nnew\n{report.END}\nafter\n"
    path.write_text("no markers\n")
    with pytest.raises(ValueError, match="markers"):
        report.rewrite(path, "new")
