"""`rocpr slices`: the worst slice first."""

from __future__ import annotations

import json
from functools import partial
from pathlib import Path

import pytest
from click.testing import CliRunner, Result

from service.cli.commands import rocpr as commands
from service.wire.media_types import CSV, SVG
from tests.cli.gate.gating import written
from tests.cli.running import refusal, run
from tests.support.asking import ask

TABLE = """country,adult,scores,labels
DE,true,0.9,1
DE,true,0.7,0
DE,false,0.4,1
DE,false,0.2,0
FR,true,0.8,1
FR,true,0.1,0
,false,0.5,1
,false,0.6,0
"""


@pytest.fixture
def file(tmp_path: Path) -> Path:
    return written(tmp_path, TABLE, "a.csv")


rocpr = partial(run, "slices")

AREAS = ("roc", "pr", "average_precision")


def first_columns(run: Result) -> list[str]:
    assert run.exit_code == 0, run.output
    lines = run.stdout.splitlines()
    start = next(row for row, line in enumerate(lines) if "rows" in line and "positives" in line)
    table = lines[start + 1 : lines.index("", start) if "" in lines[start:] else None]
    return [line.split()[0] for line in table if line != "  -  country: rows without a value"]


def test_the_worst_slice_comes_first(file: Path) -> None:
    run = rocpr(file, "--slices", "country")
    assert first_columns(run) == ["-", "DE", "FR", "all"]
    assert "3 slices, lowest roc first" in run.stdout


def test_another_column_sorts_too(file: Path) -> None:
    assert first_columns(rocpr(file, "--slices", "country", "--sort", "rows")) == ["FR", "-", "DE", "all"]
    assert first_columns(rocpr(file, "--slices", "country", "--sort", "country")) == ["DE", "FR", "-", "all"]


def test_no_name_affects_a_terminal(file: Path) -> None:
    file.write_text(TABLE.replace("FR", "\x1b[31mFR"))
    run = CliRunner().invoke(commands, ["slices", str(file), "--slices", "country"], color=True)
    assert run.exit_code == 0, run.output
    assert "\x1b" not in run.stdout
    assert r"\x1b[31mFR" in run.stdout


def test_slices_without_areas_are_named_in_one_line_with_the_reason(file: Path) -> None:
    file.write_text(TABLE + "IT,true,0.5,1\n")
    run = rocpr(file, "--slices", "country")
    assert first_columns(run)[:4] == ["-", "DE", "FR", "all"]
    assert "\n3 slices, lowest roc first\n" in run.stdout
    assert "\n  1 without areas, one_class: IT\n" in run.stdout
    assert "undefined_slices: 1 of 4 slices has no areas" in run.stdout
    file.write_text(TABLE + "".join(f"x{number},true,0.5,1\n" for number in range(30)))
    point = '[{"metric": "tpr_at_fpr", "at": 0.5}]'
    run = rocpr(file, "--slices", "country,adult", "--operating-points", point)
    assert " 30 without areas, one_class: x0 true, x1 true, x10 true, x11 true, x12 true, ... " in " ".join(
        run.stdout.split()
    )
    assert run.stdout.count("tpr_at_fpr") == 4


def test_intervals_and_operating_points_are_shown(file: Path) -> None:
    points = '[{"metric": "tpr_at_fpr", "at": 0.5}, {"metric": "f_measure", "at": 0.5}]'
    run = rocpr(file, "--slices", "country,adult", "--intervals", "{}", "--operating-points", points)
    rows = run.stdout[run.stdout.index("Operating points") :].splitlines()[2:10]
    assert [row.split()[2] for row in rows] == ["tpr_at_fpr", "f_measure"] * 4
    assert [row.split()[:2] for row in rows[:2]] == [["-", "false"]] * 2


def test_intervals_follow_the_areas_within_80_characters(tmp_path: Path) -> None:
    path = tmp_path / "a.csv"
    rows = [f"{score},{score % 3 % 2},{name}" for name in ("DE", "FR") for score in range(9)]
    path.write_text("\n".join(["scores,labels,country", *rows, "1,1,IT"]))
    answer = json.loads(rocpr(path, "--slices", "country", "--intervals", "{}", "--json").stdout)
    lines = rocpr(path, "--slices", "country", "--intervals", "{}").stdout.splitlines()
    assert max(map(len, lines)) <= 80
    names, de, fr, every = (line.split() for line in lines[lines.index("Intervals") + 1 :][:4])
    assert (names, de[0], fr, every[0]) == (["country", *AREAS], "DE", ["FR", *de[1:]], "all")
    ends = [answer["slices"][f"{area}_{end}"][0] for area in AREAS for end in ("lower", "upper")]
    assert (
        de[1:] == " ".join(f"{low:.6f} to {high:.6f}" for low, high in zip(ends[::2], ends[1::2], strict=True)).split()
    )
    whole = [answer["overall"]["intervals"][area] for area in AREAS]
    assert every[1:] == " ".join(f"{each['lower']:.6f} to {each['upper']:.6f}" for each in whole).split()


def test_the_whole_answer_and_its_picture(file: Path, tmp_path: Path) -> None:
    run = rocpr(file, "--slices", "country", "--json", "--plot", tmp_path / "a.svg")
    assert run.stdout.encode() == ask("slices", TABLE, content_type=CSV, slices="country").body
    assert (tmp_path / "a.svg").read_bytes() == ask("slices", TABLE, CSV, SVG, slices="country").body


def test_a_json_file_defines_its_own_slices(tmp_path: Path) -> None:
    path = written(tmp_path, {"scores": [1, 2, 3, 4], "labels": [1, 0, 0, 1], "slices": {"a": [1, 1, 2, 2]}}, "a.json")
    assert first_columns(rocpr(path)) == ["1", "2", "all"]


@pytest.mark.parametrize(
    ("words", "message"),
    [
        (["--slices", "land"], "There is no column 'land'"),
        ([], "Name the columns that define the slices"),
        (["--slices", "country", "--sort", "area"], "it has country, rows, positives, negatives, roc"),
        (["--slices", "country", "--sort", "reason"], "no such column"),
    ],
)
def test_errors_are_reported(file: Path, words: list[str], message: str) -> None:
    assert message in " ".join(refusal(rocpr(file, *words)).split())


def test_of_many_slices_the_worst_are_shown(tmp_path: Path) -> None:
    path = tmp_path / "a.csv"
    rows = "".join(f"{number},{0.1 * (number % 7)},1\n{number},0.3,0\n" for number in range(50))
    path.write_text("a,scores,labels\n" + rows)
    run = rocpr(path, "--slices", "a")
    assert "20 of 50 slices (--json has all), lowest roc first" in run.stdout
    assert len(first_columns(run)) == 21


def block(text: str, title: str) -> list[str]:
    """The lines from a title on, up to the next empty one, without repeated blanks."""
    return [" ".join(line.split()) for line in text[text.index(f"\n{title}\n") + 1 :].partition("\n\n")[0].splitlines()]


def test_decisions_are_shown_for_each_slice(file: Path) -> None:
    file.write_text(TABLE + "IT,true,0.5,1\n")
    run = rocpr(file, "--slices", "country", "--at", "0.55", "--metrics", "recall,precision,specificity,npv,f1")
    assert block(run.stdout, "threshold 0.55") == [
        "threshold 0.55",
        "country tp fp fn tn",
        "- 0 1 1 0",
        "DE 1 1 1 1",
        "FR 1 0 0 1",
        "all 2 2 3 2",
        "- country: rows without a value",
    ]
    shown = run.stdout.splitlines()
    assert "  country  precision    recall  specificity       npv" in shown
    assert "  DE        0.500000  0.500000     0.500000  0.500000" in shown
    assert max(map(len, shown)) <= 80


def test_intervals_of_decisions_stand_beside_their_values(tmp_path: Path) -> None:
    path = tmp_path / "a.csv"
    rows = [f"{score},{score % 3 % 2},{name}" for name in ("DE", "FR") for score in range(9)]
    path.write_text("\n".join(["scores,labels,country", *rows]))
    options = ("--slices", "country", "--at-share", "0.4", "--best", "f1", "--metrics", "recall,fpr,f1")
    run = rocpr(path, *options, "--level", "0.9")
    found = json.loads(rocpr(path, *options, "--level", "0.9", "--json").stdout)["decisions"]
    lower, upper = found["recall_lower"][0], found["recall_upper"][0]
    assert f"{found['recall'][0]:.6f}  {lower:.6f} to {upper:.6f}" in run.stdout
    assert "\nshare 0.4: threshold 6.0\n" in run.stdout
    assert found["f1_lower"][1] is None
    assert "fix the threshold with at_threshold" in " ".join(run.stdout.split())


def test_what_calls_nothing_positive_says_so(file: Path) -> None:
    run = rocpr(file, "--slices", "country", "--at-share", "0", "--metrics", "precision")
    assert "\nshare 0: nothing is called positive\n" in run.stdout
    assert "  -  undefined: a denominator is 0" in run.stdout
    none = rocpr(file, "--slices", "country", "--best", "recall", "--min-precision", "1", "--min-recall", "1")
    assert "\nbest recall, precision >= 1, recall >= 1: no row meets it" in none.stdout
