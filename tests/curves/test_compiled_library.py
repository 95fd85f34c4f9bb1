"""Which compiled library is used, and that its sources are clean and stay within their arrays."""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
from pathlib import Path

import pytest
from click.testing import CliRunner

from deploy import build_hook
from service.cli.commands import rocpr as commands
from service.curves.sweep import sweep
from service.curves.sweep.sweep import COMPILED, Library
from tests.support.compiled_library import compiler, library_in, used
from tests.support.every_loop import every_loop


def test_what_was_compiled_with_the_package_is_used(
    library: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(sweep, "LIBRARY", tmp_path / "sweep.library")
    found = Library()
    found.use_installed()
    assert found.path is None
    shutil.copy(library, sweep.LIBRARY)
    found.use_installed()
    assert found.path == sweep.LIBRARY
    assert found.loops is not None
    found.use(None)
    assert (found.path, found.loops) == (None, None)


@pytest.mark.parametrize("content", [b"\x7fELF of another processor", b"", None])
def test_a_library_that_cannot_be_used_is_reported(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, content: bytes | None
) -> None:
    """A library of another machine, an empty file, and a library that lacks a function."""
    monkeypatch.setattr(sweep, "LIBRARY", tmp_path / "sweep.library")
    if content is None:
        sources = tmp_path / "sources"
        sources.mkdir()
        (sources / "other.c").write_text("int rocpr_table(void) { return 0; }\n", encoding="ascii")
        build_hook.compile_library(compiler(), sources, sweep.LIBRARY)
    else:
        sweep.LIBRARY.write_bytes(content)
    found = Library()
    with pytest.raises(OSError, match=r"sweep\.library.*install rocpr again" if content is None else r"sweep\.library"):
        found.use_installed()
    assert (found.path, found.loops) == (None, None)


class Calls:
    """A library that remembers which of its functions were called."""

    def __init__(self, loops: object) -> None:
        self.loops, self.names = loops, set[str]()

    def __getattr__(self, name: str) -> object:
        self.names.add(name)
        return getattr(self.loops, name)


def test_every_loop_is_that_of_the_library_in_use(library: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Otherwise tests of both loops would test one of them twice."""
    with used(library):
        calls = Calls(COMPILED.loops)
        monkeypatch.setattr(COMPILED, "loops", calls)
        list(every_loop((40,)))
    assert calls.names == set(sweep._TYPES)


@pytest.mark.parametrize("command", ["curves", "gate"])
def test_commands_use_it_unless_it_is_off(
    library: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, command: str
) -> None:
    table, rules = tmp_path / "scores.csv", tmp_path / "rules.toml"
    table.write_text("scores,labels\n0.9,1\n0.4,0\n")
    rules.write_text("[[rules]]\nmetric = 'roc'\nmin = 0\n")
    words = list(map(str, [command, *([rules] if command == "gate" else []), table]))
    monkeypatch.setattr(sweep, "LIBRARY", library)
    for word, path in (("auto", library), ("off", None)):
        with used(None):
            run = CliRunner(env={"ROCPR_COMPILED": word}).invoke(commands, words)
            assert (run.exit_code, run.stderr, COMPILED.path) == (0, "", path)
    monkeypatch.setattr(sweep, "LIBRARY", tmp_path / "rules.toml")
    with used(None):
        wrong = CliRunner(env={"ROCPR_COMPILED": "auto"}).invoke(commands, words)
    assert (wrong.exit_code, wrong.stdout) == (0, run.stdout)
    assert wrong.stderr.startswith("Warning: the compiled loops cannot be used: ")


STRICT = ("-Wall", "-Wextra", "-Wpedantic", "-Wshadow", "-Wvla", "-Werror", "-Wno-unknown-pragmas")


def test_the_sources_are_clean(root: Path) -> None:
    """They are C11, without a warning."""
    sources = map(str, sorted((root / build_hook.SOURCES).glob("*.c")))
    subprocess.run([*compiler(), *build_hook.OPTIONS, *STRICT, "-fsyntax-only", *sources], check=True)


@pytest.mark.all
@pytest.mark.parametrize("name", ["gcc", "clang"])
@pytest.mark.parametrize("speed", ["-O1", "-O3"])
def test_every_compiler_makes_the_same_numbers(
    library: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, name: str, speed: str
) -> None:
    if shutil.which(name) is None:
        pytest.skip(f"there is no {name}")
    assert "-O3" in build_hook.OPTIONS
    monkeypatch.setattr(build_hook, "OPTIONS", (*build_hook.OPTIONS, speed))
    monkeypatch.setenv("CC", name)
    both = []
    for path in (library, library_in(tmp_path)):
        with used(path):
            both.append(list(every_loop()))
    assert both[0] == both[1]


def test_it_stays_within_its_arrays(tmp_path: Path, root: Path) -> None:
    """Compiled with checks for access outside arrays and for undefined behaviour."""
    runtime = _sanitizer()
    library = library_in(tmp_path, *STRICT, "-fsanitize=address,undefined", "-fno-sanitize-recover=all", "-g")
    program = """
import sys
from pathlib import Path
from service.curves.sweep.sweep import COMPILED
from tests.support.every_loop import every_loop
COMPILED.use(Path(sys.argv[1]))
list(every_loop())
print("within")
"""
    done = subprocess.run(
        [sys.executable, "-c", program, str(library)],
        cwd=root,
        env={**os.environ, "LD_PRELOAD": runtime, "ASAN_OPTIONS": "detect_leaks=0"},
        capture_output=True,
        text=True,
        timeout=300,
        check=False,
    )
    assert (done.returncode, done.stdout) == (0, "within\n"), done.stderr


def _sanitizer() -> str:
    """gcc's library of checks, which must be loaded before the interpreter's own libraries."""
    try:
        done = subprocess.run(["gcc", "-print-file-name=libasan.so"], capture_output=True, text=True, check=True)
    except FileNotFoundError:
        pytest.skip("there is no gcc")
    path = Path(done.stdout.strip())
    if not path.is_absolute():
        pytest.skip("gcc has no sanitizer here")
    return str(path.resolve())
