"""`--plot` and `--show`: the service's picture in a file, and curves that any terminal can show."""

from __future__ import annotations

import resource
import subprocess
import sys
from pathlib import Path
from tempfile import TemporaryDirectory

import pytest
from click.testing import CliRunner

from service.cli.commands import rocpr as commands
from service.wire.answers import png
from service.wire.media_types import CSV, PNG, SVG, TEXT
from tests.cli.gate.gating import ALL, FAILING, TEN, written
from tests.cli.running import refusal
from tests.cli.running import run as rocpr
from tests.support.asking import ask

ROOT = Path(__file__).resolve().parents[2]
GATE = ROOT / "tests" / "data" / "rules.toml"
SCORES = ROOT / "tests" / "data" / "breast_cancer.csv"


@pytest.mark.parametrize(("command", "operation"), [("curves", "curves"), ("tradeoffs", "tradeoffs")])
def test_the_picture_is_that_of_the_answer(tmp_path: Path, command: str, operation: str) -> None:
    file = tmp_path / "a.svg"
    run = rocpr(command, SCORES, "--plot", file)
    assert (run.exit_code, run.stderr) == (0, "")
    assert run.stdout == rocpr(command, SCORES).stdout
    assert file.read_bytes() == ask(operation, SCORES.read_bytes(), content_type=CSV, accept=SVG).body


def test_a_png_is_that_of_the_answer(tmp_path: Path) -> None:
    _needs_png()
    file = tmp_path / "a.PNG"
    assert rocpr("curves", SCORES, "--plot", file).exit_code == 0
    assert file.read_bytes() == ask("curves", SCORES.read_bytes(), content_type=CSV, accept=PNG).body


@pytest.mark.parametrize(
    "words",
    [("tradeoffs", ALL), ("compare", f"ten={TEN}", f"all={ALL}"), ("gate", GATE, ALL, "--baseline", TEN)],
    ids=["tradeoffs", "compare", "gate"],
)
def test_every_command_draws_a_png(tmp_path: Path, words: tuple[object, ...]) -> None:
    _needs_png()
    file = tmp_path / "a.png"
    run = rocpr(*words, "--plot", file)
    assert file.read_bytes().startswith(b"\x89PNG"), run.output


def test_a_png_of_too_many_rules_is_refused(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    _needs_png()
    monkeypatch.setattr(png, "MOST_PIXELS", 1000)
    run = rocpr("gate", GATE, ALL, "--baseline", TEN, "--plot", tmp_path / "a.png")
    assert run.exit_code == 3
    assert "at most 1000 in all can be drawn" in run.stderr
    assert not (tmp_path / "a.png").exists()


def test_without_the_extra_or_a_font_a_png_is_refused_at_once(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(png, "is_drawn", lambda: False)
    said = refusal(rocpr("curves", SCORES, "--plot", tmp_path / "a.png"))
    assert png.NEEDS in " ".join(said.replace("│", "").split())


@pytest.mark.parametrize(("command", "chart"), [("curves", "gains"), ("curves", "costs"), ("compare", "det")])
def test_a_chart_is_chosen(tmp_path: Path, command: str, chart: str) -> None:
    file = tmp_path / "a.svg"
    words = {"curves": [SCORES], "compare": [f"ten={TEN}", f"all={ALL}"]}[command]
    run = rocpr(command, *words, "--chart", chart, "--plot", file)
    assert (run.exit_code, run.stderr) == (0, "")
    drawn = file.read_bytes()
    if command == "curves":
        assert drawn == ask("curves", SCORES.read_bytes(), content_type=CSV, accept=SVG, chart=chart).body
    assert drawn != (rocpr(command, *words, "--plot", file) and file.read_bytes())


def test_a_chart_is_shown_in_characters() -> None:
    run = rocpr("curves", SCORES, "--chart", "net_benefit", "--show")
    assert run.stdout.endswith(
        ask("curves", SCORES.read_bytes(), content_type=CSV, accept=TEXT, chart="net_benefit").body.decode()
    )


@pytest.mark.parametrize(
    ("words", "said"),
    [
        (["curves", SCORES, "--chart", "gains"], "--chart chooses the picture of --plot or --show; give one."),
        (["compare", TEN, ALL, "--chart", "det"], "--chart chooses the picture of --plot; give one."),
        (["curves", SCORES, "--chart", "gate", "--show"], "'gate' is not one of"),
    ],
)
def test_a_chart_needs_a_picture(words: list[object], said: str) -> None:
    assert said in " ".join(refusal(rocpr(*words)).replace("│", "").split())


def _needs_png() -> None:
    if not png.is_drawn():
        pytest.skip(png.NEEDS)


def test_it_is_allowed_with_the_options_and_with_json(tmp_path: Path) -> None:
    file = tmp_path / "a.svg"
    options = ["--json", "--include", "points", "--keep", "hull", "--intervals", "{}"]
    assert rocpr("curves", SCORES, *options, "--plot", file).exit_code == 0
    expected = ask("curves", SCORES.read_bytes(), content_type=CSV, accept=SVG, intervals="{}")
    assert file.read_bytes() == expected.body


def test_a_json_file_is_drawn_as_it_says(tmp_path: Path) -> None:
    body, file = tmp_path / "a.json", tmp_path / "a.svg"
    body.write_text('{"scores": [2, 1], "labels": [1, 0], "include": ["points"]}')
    assert rocpr("curves", body, "--plot", file).exit_code == 0
    assert file.read_bytes() == ask("curves", body.read_bytes(), accept=SVG).body


def test_a_comparison_has_one(tmp_path: Path) -> None:
    file = tmp_path / "a.svg"
    assert rocpr("compare", f"ten={TEN}", f"all={ALL}", "--plot", file).exit_code == 0
    assert "2\xa0\xa0all, ROC" in file.read_text(encoding="utf-8")


def test_a_gate_has_one_whatever_its_verdict(tmp_path: Path) -> None:
    file = tmp_path / "a.svg"
    assert rocpr("gate", written(tmp_path, FAILING), ALL, "--plot", file).exit_code == 1
    assert "✗ Gate failed" in file.read_text(encoding="utf-8")


@pytest.mark.parametrize("option", ["--plot", "--junit", "--markdown"])
@pytest.mark.parametrize(
    "words", [[], ["--no-such-option"], ["rules.toml"], ["none.toml", "none.csv"], ["a", "b", "c"]]
)
def test_a_command_that_is_refused_touches_no_file(tmp_path: Path, option: str, words: list[str]) -> None:
    """Without its value, an option takes the next word for it, such as a model's file."""
    file = tmp_path / ("model.svg" if option == "--plot" else "model.pkl")
    file.write_text("a model")
    for arguments in ([option, file, *words], [*words, option, file]):
        assert rocpr("gate", *arguments).exit_code == 3
        assert file.read_text() == "a model"
    assert list(tmp_path.iterdir()) == [file]


def test_an_old_picture_stays_until_there_is_a_new_one(tmp_path: Path) -> None:
    file = written(tmp_path, "old", "a.svg")
    assert rocpr("gate", written(tmp_path, "rules = 1"), ALL, "--plot", file).exit_code == 3
    assert file.read_text() == "old"
    assert rocpr("gate", written(tmp_path, FAILING), ALL, "--plot", file).exit_code == 1
    assert "Gate failed" in file.read_text(encoding="utf-8")


@pytest.mark.parametrize("exists", [True, False])
def test_a_picture_takes_the_place_of_a_link(tmp_path: Path, exists: bool) -> None:  # noqa: FBT001  # a case's
    """Nothing is written where it points to, whether or not there is something."""
    (tmp_path / "elsewhere").mkdir()
    target = tmp_path / "elsewhere" / "a.svg"
    if exists:
        target.write_text("not ours")
    link = tmp_path / "a.svg"
    link.symlink_to(target)
    assert rocpr("curves", SCORES, "--plot", link).exit_code == 0
    assert link.is_file()
    assert not link.is_symlink()
    assert (target.read_text() == "not ours") if exists else not target.exists()


def test_a_picture_has_the_usual_permissions(tmp_path: Path) -> None:
    ours = tmp_path / "ours"
    ours.touch()
    assert rocpr("curves", SCORES, "--plot", tmp_path / "a.svg").exit_code == 0
    assert (tmp_path / "a.svg").stat().st_mode == ours.stat().st_mode


def test_a_picture_may_go_to_standard_output() -> None:
    program = "from service.cli.main import main; main()"
    with TemporaryDirectory() as folder:
        (link := Path(folder) / "out.svg").symlink_to("/dev/stdout")
        words = [sys.executable, "-c", program, "curves", str(SCORES), "--plot", str(link)]
        run = subprocess.run(words, cwd=ROOT, capture_output=True, text=True, check=True, timeout=120)
    assert run.stdout.startswith("<svg")


def test_a_wrong_file_leaves_no_picture(tmp_path: Path) -> None:
    file, scores = tmp_path / "a.svg", tmp_path / "a.csv"
    scores.write_text("scores,labels\n1,1\n")
    assert rocpr("curves", scores, "--plot", file).exit_code == 2
    assert not file.exists()


@pytest.mark.parametrize(
    ("name", "message"), [("a.jpg", "must end in .svg or .png; a.jpg does not"), ("none/a.svg", "is not a directory")]
)
def test_other_files_are_refused(tmp_path: Path, name: str, message: str) -> None:
    assert message in " ".join(refusal(rocpr("curves", SCORES, "--plot", tmp_path / name)).split())


def test_no_half_picture_is_left(tmp_path: Path) -> None:
    picture = written(tmp_path, "old", "a.svg")
    before = resource.getrlimit(resource.RLIMIT_FSIZE)
    resource.setrlimit(resource.RLIMIT_FSIZE, (1000, before[1]))  # Python ignores the signal
    try:
        run = rocpr("curves", SCORES, "--plot", picture)
    finally:
        resource.setrlimit(resource.RLIMIT_FSIZE, before)
    assert run.exit_code == 2
    assert "a.svg: The picture cannot be written: File too large." in run.stderr
    assert [path.read_text() for path in tmp_path.iterdir()] == ["old"]


def test_a_full_disk_is_reported(tmp_path: Path) -> None:
    if not Path("/dev/full").exists():
        pytest.skip("there is no /dev/full")
    picture = tmp_path / "a.svg"
    picture.symlink_to("/dev/full")
    said = refusal(rocpr("curves", SCORES, "--plot", picture))
    assert "a.svg: The picture cannot be written: No space left on device." in said
    assert picture.is_symlink()


def shown(encoding: str) -> str:
    run = CliRunner(charset=encoding).invoke(commands, ["curves", str(SCORES), "--show"])
    assert run.exit_code == 0
    return run.stdout


def test_curves_are_shown_below_the_summary() -> None:
    text = shown("utf-8")
    assert text.startswith(rocpr("curves", SCORES).stdout)
    assert text.endswith("\n\n" + ask("curves", SCORES.read_bytes(), content_type=CSV, accept=TEXT).body.decode())


@pytest.mark.parametrize("encoding", ["ascii", "latin-1"])
def test_a_terminal_without_braille_gets_plain_characters(encoding: str) -> None:
    text = shown(encoding)
    assert "ROC curve, area 0.9948" in text
    assert text.isascii()
    top = next(line for line in text.splitlines() if line.startswith("  1 |"))
    assert set(top[5:]) <= set(":'. ")
    assert len(top) > 50


def test_it_is_allowed_without_json() -> None:
    assert "--show cannot be combined with --json" in refusal(rocpr("curves", SCORES, "--json", "--show"))
