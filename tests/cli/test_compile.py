"""`rocpr compile`: what it makes is used only when it answers as NumPy does, and what stops it is told."""

from __future__ import annotations

import os
import platform
import shutil
import stat
from pathlib import Path

import pytest
from click.testing import CliRunner, Result

from service.cli import compile as command
from service.cli.commands import rocpr as commands
from service.curves import compiled
from service.curves.compiled import KERNEL, library_path
from tests.compiled_library import library_in, used

pytestmark = pytest.mark.skipif(
    not any(map(shutil.which, command.COMPILERS)), reason=f"there is none of {', '.join(command.COMPILERS)}"
)


@pytest.fixture(autouse=True)
def sources(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A copy of the sources, beside which the library is put; nothing is used before or after."""
    copy = shutil.copytree(compiled.SOURCES, tmp_path / "kernel")
    monkeypatch.setattr(compiled, "SOURCES", copy)
    monkeypatch.delenv("CC", raising=False)
    return copy


def compile_(*arguments: str, **variables: str) -> Result:
    with used(None):
        run = CliRunner(env=variables).invoke(commands, ["compile", *arguments])
        assert KERNEL.path is None
    return run


def made(sources: Path) -> list[str]:
    return [path.name for path in sources.parent.iterdir() if path != sources]


def test_it_makes_a_library_that_is_found(sources: Path) -> None:
    run = compile_()
    assert (run.exit_code, run.stderr) == (0, "")
    assert run.stdout == (
        f"cc made {library_path().name} in {sources.parent}.\n"
        "It answers 98 samples of up to 100,000 rows as NumPy does, to the last bit.\n"
    )
    assert made(sources) == [library_path().name]
    with used(None):
        KERNEL.use_built()
        assert KERNEL.path == library_path()


def test_it_takes_the_place_of_what_is_broken_and_leaves_other_versions(sources: Path) -> None:
    """A server of another version may still use its own."""
    (sources.parent / "kernel-0123456789abcdef.so").write_bytes(b"other")
    library_path().write_bytes(b"broken")
    assert compile_().exit_code == 0
    assert sorted(made(sources)) == sorted([library_path().name, "kernel-0123456789abcdef.so"])
    assert library_path().read_bytes() != b"broken"


def test_everybody_may_load_it(sources: Path) -> None:
    before = os.umask(0o077)
    try:
        assert compile_().exit_code == 0
    finally:
        os.umask(before)
    assert stat.S_IMODE(library_path().stat().st_mode) == 0o755
    assert made(sources) == [library_path().name]


def test_it_removes_all_that_was_made(sources: Path) -> None:
    compile_()
    (sources.parent / "kernel-0123456789abcdef.so").write_bytes(b"other")
    (sources.parent / "kernel-stopped").mkdir()
    (sources.parent / "kernel-stopped" / "part").write_bytes(b"")
    run = compile_("--remove")
    assert (run.exit_code, run.output, made(sources)) == (0, "", [])


@pytest.mark.parametrize("how", ["option", "variable"])
def test_a_compiler_may_be_named_with_its_options(sources: Path, how: str) -> None:
    compiler = f"{next(filter(shutil.which, command.COMPILERS))} -O1"
    run = compile_("--compiler", compiler) if how == "option" else compile_(CC=compiler)
    assert run.exit_code == 0
    assert run.stdout.startswith(f"{compiler} made ")
    assert made(sources) == [library_path().name]


@pytest.mark.parametrize(
    ("compiler", "message"),
    [
        (
            "no-such-compiler -O2",
            "there is no C compiler 'no-such-compiler -O2'; install one, or name one with --compiler.",
        ),
        ("   ", "there is no C compiler '   '; install one, or name one with --compiler."),
        ("'", 'the compiler "\'" is no command: No closing quotation.'),
    ],
)
def test_a_compiler_that_is_not_there_is_told(sources: Path, compiler: str, message: str) -> None:
    run = compile_("--compiler", compiler)
    assert (run.exit_code, run.stderr, made(sources)) == (2, f"Error: {message}\n", [])


def test_no_compiler_at_all_is_told(sources: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("PATH", str(sources.parent))
    run = compile_()
    assert run.exit_code == 2
    assert run.stderr == "Error: there is no C compiler cc or gcc or clang; install one, or name one with --compiler.\n"


def test_a_file_that_is_no_program_is_told(sources: Path) -> None:
    header = sources / "kernel.h"
    header.chmod(0o700)
    run = compile_("--compiler", str(header))
    assert run.exit_code == 2
    assert run.stderr == f"Error: {header} could not compile the loops in {sources}.\nExec format error\n"


def test_a_library_that_cannot_be_loaded_is_told(sources: Path) -> None:
    """One is none at all, and one lacks the functions."""
    script = sources.parent / "script"
    script.write_text("#!/bin/sh\nwhile [ $1 != -o ]; do shift; done; echo >$2\n", encoding="ascii")
    script.chmod(0o700)
    for compiler in (str(script), "cc -fvisibility=hidden"):
        run = compile_("--compiler", compiler)
        assert (run.exit_code, made(sources)) == (2, ["script"])
        assert run.stderr.startswith("Error: the library cannot be loaded here; it is not put in place.\n")


def test_a_library_that_ends_its_process_is_told(sources: Path) -> None:
    source = sources / "groups.c"
    text = source.read_text(encoding="ascii")
    start = text.index("{", text.index("bool rocpr_keys(")) + 1
    source.write_text(f"{text[:start]}\n__builtin_trap();{text[start:]}", encoding="ascii")
    run = compile_()
    assert (run.exit_code, made(sources)) == (2, [])
    assert run.stderr == "Error: the library ends the process that uses it; it is not put in place.\n"


def test_a_library_that_changes_how_its_process_calculates_is_not_used(sources: Path) -> None:
    """So that the least doubles become 0, as some options of gcc make a library do when it is loaded."""
    flush = "__attribute__((constructor)) static void flush(void) { __builtin_ia32_ldmxcsr(0x9fc0); }"
    if platform.machine() != "x86_64":
        pytest.skip("written for x86-64")
    (sources / "flush.c").write_text(f"{flush}\n", encoding="ascii")
    run = compile_()
    assert (run.exit_code, made(sources)) == (2, [])
    assert "the library does not answer as NumPy does" in run.stderr


def test_what_the_compiler_says_is_told(sources: Path) -> None:
    (sources / "hull.c").write_text("this is not C\n", encoding="ascii")
    run = compile_()
    assert (run.exit_code, made(sources)) == (2, [])
    assert run.stderr.startswith(f"Error: cc could not compile the loops in {sources}.\n")
    assert "hull.c:1" in run.stderr
    assert "Traceback" not in run.output


def test_a_compiler_that_makes_nothing_is_told(sources: Path) -> None:
    run = compile_("--compiler", "true")
    assert (run.exit_code, run.stderr) == (2, f"Error: true could not compile the loops in {sources}.\n")
    assert made(sources) == []


def test_a_compiler_that_takes_too_long_is_ended(sources: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(command, "SECONDS", 0.2)
    slow = sources.parent / "slow"
    slow.write_text("#!/bin/sh\nexec sleep 60\n", encoding="ascii")
    slow.chmod(0o700)
    run = compile_("--compiler", str(slow))
    assert run.exit_code == 2
    assert run.stderr == f"Error: {slow} could not compile the loops in {sources}.\nIt took more than 0.2 seconds.\n"


@pytest.mark.parametrize(
    ("right", "wrong"),
    [
        ("row == vertices[edge] || side(", "row == vertices[edge] && side("),  # rows on the hull
        ("1.0 / 7", "1.0 / 9"),  # the integral's last digits
        ("fp[row] / negatives", "fp[row] * (1 / negatives)"),
        ("fp[group] = (double)(start + at + 1 - hits)", "fp[group] = (double)(start + at - hits)"),
        ("fp[group + at] = (double)(start + at + 1 - hits)", "fp[group + at] = (double)(start + at - hits)"),
        ("repeated |= scores[at] == scores[at + 1]", "repeated |= 0"),
        ("start + size < rows ? score_of(keys[start + size], kept, turned) : NAN", "NAN"),  # ties between two pieces
        ("lost |= ", "lost &= "),  # scores too far apart for one scale
        ("leaning |= ", "leaning &= "),
        ("2 * (tp[steps] * fp[steps]", "2 * (tp[steps] * tp[steps]"),
    ],
)
def test_a_library_that_answers_otherwise_is_not_used(sources: Path, right: str, wrong: str) -> None:
    (source,) = [path for path in sources.iterdir() if right in path.read_text(encoding="ascii")]
    source.write_text(source.read_text(encoding="ascii").replace(right, wrong, 1), encoding="ascii")
    run = compile_()
    assert (run.exit_code, made(sources)) == (2, [])
    assert "the library does not answer as NumPy does" in run.stderr


@pytest.mark.skipif(os.geteuid() == 0, reason="root may write everywhere")
def test_a_directory_that_is_not_ours_is_told(sources: Path) -> None:
    sources.parent.chmod(0o500)
    run = compile_()
    sources.parent.chmod(0o700)
    assert (run.exit_code, run.stderr) == (2, f"Error: {sources.parent}: Permission denied\n")


def test_a_directory_that_takes_no_file_is_told(sources: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def refuse(**_: object) -> None:
        raise PermissionError(13, "Permission denied")

    monkeypatch.setattr(command.tempfile, "TemporaryDirectory", refuse)
    run = compile_()
    assert (run.exit_code, run.stderr) == (2, f"Error: {sources.parent}: Permission denied\n")


def test_every_compiler_here_makes_the_same_numbers(tmp_path: Path) -> None:
    found = [compiler for compiler in command.COMPILERS if shutil.which(compiler)]
    for number, compiler in enumerate(found):
        directory = tmp_path / str(number)
        directory.mkdir()
        assert compile_("--compiler", compiler).exit_code == 0


def test_it_warns_of_nothing(tmp_path: Path) -> None:
    """The sources are clean C11."""
    strict = ("-Wall", "-Wextra", "-Wpedantic", "-Wshadow", "-Wvla", "-Werror", "-Wno-unknown-pragmas")
    assert library_in(tmp_path, *strict).is_file()


def test_commands_use_it_unless_it_is_off(tmp_path: Path) -> None:
    table = tmp_path / "scores.csv"
    table.write_text("scores,labels\n0.9,1\n0.2,0\n", encoding="ascii")
    compile_()
    for word, path in (("auto", library_path()), ("off", None)):
        with used(None):
            run = CliRunner(env={"ROCPR_COMPILED": word}).invoke(commands, ["curves", str(table)])
            assert (run.exit_code, KERNEL.path) == (0, path)


@pytest.mark.parametrize("command", ["curves", "gate"])
def test_a_library_of_another_version_is_told_by_commands_that_would_use_it(
    sources: Path, tmp_path: Path, command: str
) -> None:
    (sources.parent / "kernel-0123456789abcdef.so").write_bytes(b"other")
    table, rules = tmp_path / "scores.csv", tmp_path / "rules.toml"
    table.write_text("scores,labels\n0.9,1\n0.4,0\n")
    rules.write_text("[[rules]]\nmetric = 'roc'\nmin = 0\n")
    words = [command, *([rules] if command == "gate" else []), table]
    with used(None):
        run, off = (
            CliRunner(env={"ROCPR_COMPILED": word}).invoke(commands, list(map(str, words))) for word in ("auto", "off")
        )
    assert (run.exit_code, off.exit_code, run.stdout) == (0, 0, off.stdout)
    assert run.stderr == (
        "Warning: what rocpr compile made cannot be used: "
        "it was made for another version of rocpr; compile again, or --remove it\n"
    )
    assert off.stderr == ""
