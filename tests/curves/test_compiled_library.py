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
from service.curves import compiled
from service.curves.sweep.sweep import COMPILED
from tests.support.compiled_library import compiler, library, library_in, used

__all__ = ["library"]


def test_what_was_compiled_with_the_package_is_used(
    library: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(compiled, "LIBRARY", tmp_path / "sweep.library")
    kernel = Kernel()
    kernel.use_installed()
    assert kernel.path is None
    shutil.copy(library, compiled.LIBRARY)
    kernel.use_installed()
    assert kernel.path == compiled.LIBRARY
    kernel.use(None)
    assert kernel.path is None


@pytest.mark.parametrize("content", [b"\x7fELF of another processor", b"", None])
def test_a_library_that_cannot_be_used_is_reported(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, content: bytes | None
) -> None:
    """A library of another machine, an empty file, and a library that lacks a function."""
    monkeypatch.setattr(compiled, "LIBRARY", tmp_path / "sweep.library")
    if content is None:
        sources = tmp_path / "kernel"
        sources.mkdir()
        (sources / "other.c").write_text("int rocpr_keys(void) { return 0; }\n", encoding="ascii")
        build_hook.compile_library(compiler(), sources, compiled.LIBRARY)
    else:
        compiled.LIBRARY.write_bytes(content)
    kernel = Kernel()
    with pytest.raises(OSError, match=r"kernel\.so.*install rocpr again" if content is None else r"kernel\.so"):
        kernel.use_installed()
    assert kernel.path is None


@pytest.mark.parametrize("command", ["curves", "gate"])
def test_commands_use_it_unless_it_is_off(
    library: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, command: str
) -> None:
    table, rules = tmp_path / "scores.csv", tmp_path / "rules.toml"
    table.write_text("scores,labels\n0.9,1\n0.4,0\n")
    rules.write_text("[[rules]]\nmetric = 'roc'\nmin = 0\n")
    words = list(map(str, [command, *([rules] if command == "gate" else []), table]))
    monkeypatch.setattr(compiled, "LIBRARY", library)
    for word, path in (("auto", library), ("off", None)):
        with used(None):
            run = CliRunner(env={"ROCPR_COMPILED": word}).invoke(commands, words)
            assert (run.exit_code, run.stderr, COMPILED.path) == (0, "", path)
    monkeypatch.setattr(compiled, "LIBRARY", tmp_path / "rules.toml")
    with used(None):
        wrong = CliRunner(env={"ROCPR_COMPILED": "auto"}).invoke(commands, words)
    assert (wrong.exit_code, wrong.stdout) == (0, run.stdout)
    assert wrong.stderr.startswith("Warning: the compiled loops cannot be used: ")


STRICT = ("-Wall", "-Wextra", "-Wpedantic", "-Wshadow", "-Wvla", "-Werror", "-Wno-unknown-pragmas")


def test_the_sources_are_clean(root: Path) -> None:
    """They are C11, without a warning."""
    sources = map(str, sorted((root / build_hook.SOURCES).glob("*.c")))
    subprocess.run([*compiler(), *build_hook.OPTIONS, *STRICT, "-fsyntax-only", *sources], check=True)


def test_it_stays_within_its_arrays(tmp_path: Path, root: Path) -> None:
    """Compiled with checks for access outside arrays and for undefined behaviour."""
    runtime = _sanitizer()
    library = library_in(tmp_path, *STRICT, "-fsanitize=address,undefined", "-fno-sanitize-recover=all", "-g")
    program = """
import sys
import numpy as np
from pathlib import Path
from service.curves.sweep.sweep import COMPILED
from service.curves.sample import Sample
from service.curves.evaluation import CurvesOptions, evaluate_curves
from service.curves.counts import Counts
COMPILED.use(Path(sys.argv[1]))
random = np.random.default_rng(0)
for rows in [*range(2, 40), 511, 512, 513, 514, 1_024, 1_025, 5_000]:
    for scores in (random.random(rows), random.normal(size=rows), np.sqrt(random.integers(1, 9, rows)), np.ones(rows)):
        labels = random.random(rows) < 0.5
        labels[:2] = False, True
        evaluate_curves(Sample(scores, labels))
for rows in (1, 2, 511, 512, 513, 3_000):
    for largest in (1, 2, 300, 10**6, 2**52 // rows):
        steps = random.integers(0, largest, (2, rows), endpoint=True).astype(float)
        tp, fp = steps.cumsum(axis=1)
        evaluate_curves(Counts(tp, fp, float(tp[-1]) + 1, float(fp[-1]) + 1))
        no_sweep = Counts(*steps, float(largest), float(largest))
        evaluate_curves(no_sweep, CurvesOptions(include=frozenset({"auc", "points"})))
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
