"""`rocpr compile`: makes the library of service/curves/compiled.py with the machine's C compiler.

Nothing is put in place whose answers are not those of NumPy, to the last bit.
"""

import os
import shlex
import shutil
import subprocess
import tempfile
from collections.abc import Iterator
from dataclasses import astuple
from pathlib import Path

import click
import numpy as np

from service.cli.complaints import fail
from service.curves.compiled import KERNEL, OPTIONS, SOURCE, library_path
from service.curves.evaluation import CurvesOptions, evaluate_curves
from service.curves.sample import Sample

COMPILERS = ("cc", "gcc", "clang")
_SIZES = (2, 3, 10, 100, 1_000, 10_000, 100_000)
SECONDS = 120.0
"""How long a compiler may take."""
_ASKED = CurvesOptions(include=frozenset({"auc", "points"}))


@click.command("compile")
@click.option(
    "--compiler", metavar="COMMAND", envvar="CC", show_envvar=True, help="A C compiler.  [default: cc, gcc or clang]"
)
@click.option("--remove", is_flag=True, help="Remove what was compiled, and compile nothing.")
def compile_(compiler: str | None, *, remove: bool) -> None:
    """Make evaluations faster on this machine, with its C compiler.

    The loops of an evaluation without weights that take the most time in NumPy are compiled for this version of rocpr.
    A million rows then take about half of the time; no number changes, which is tried before the library is used.
    Servers and commands that start from now on use it, unless ROCPR_COMPILED is off.
    """
    target = library_path()
    try:
        for made in target.parent.glob("kernel-*.so"):
            if remove or made != target:
                made.unlink()
        if remove:
            return
        with tempfile.TemporaryDirectory(dir=target.parent, prefix="kernel-") as directory:
            library = Path(directory, target.name)
            command = compiler_command(compiler)
            compile_library(command, library)
            tried = _try(library)
            library.replace(target)
    except OSError as error:
        fail([f"Error: {target.parent}: {error.strerror}"])
    click.echo(f"{shlex.join(command)} made {target.name} in {target.parent}.")
    click.echo(f"It answers {tried} samples of up to {max(_SIZES):,} rows as NumPy does, to the last bit.")


def compiler_command(compiler: str | None) -> list[str]:
    """The command of a compiler that is there; that there is none is told and ends the command."""
    names = [compiler] if compiler else COMPILERS
    found = [command for command in map(shlex.split, names) if command and shutil.which(command[0])]
    if not found:
        fail([f"Error: there is no C compiler named {' or '.join(names)}; install one, or name one with --compiler."])
    return found[0]


def compile_library(command: list[str], library: Path) -> None:
    """Compile; what the compiler says when it cannot is told and ends the command."""
    try:
        done = subprocess.run(  # noqa: S603  # a compiler that the caller named
            [*command, *OPTIONS, "-o", str(library), str(SOURCE), "-lm"],
            capture_output=True,
            text=True,
            errors="replace",
            env=os.environ | {"LC_ALL": "C"},
            timeout=SECONDS,
            check=False,
        )
        said = done.stderr
        made = done.returncode == 0 and library.is_file()
    except subprocess.TimeoutExpired:
        said = f"It took more than {SECONDS:g} seconds."
        made = False
    if not made:
        fail([f"Error: {shlex.join(command)} could not compile {SOURCE.name}.", *said.splitlines()])


def _try(library: Path) -> int:
    """Compare its answers with NumPy's; returns how many. A difference is told and ends the command."""
    KERNEL.use(library)
    try:
        samples = list(_samples())
        for sample in samples:
            if not _answers_like_numpy(sample):
                fail([f"Error: the library does not answer as NumPy does, for {sample.rows:,} rows; it is not used."])
        return len(samples)
    finally:
        KERNEL.leave()


def _answers_like_numpy(sample: Sample) -> bool:
    with KERNEL.set_aside():
        expected = _bits(sample)
    try:
        return _bits(sample) == expected
    except Exception:  # noqa: BLE001  # whatever comes of wrong tables
        return False


def _samples() -> Iterator[Sample]:
    random = np.random.default_rng(1)
    for rows in _SIZES:
        labels = random.random(rows) < 1 / 3
        labels[:2] = False, True
        normal = random.normal(labels, 1.0)
        for scores in (
            normal,
            random.random(rows),
            np.round(normal, 1),
            np.ldexp(normal.astype(np.float32).astype(np.float64), 900),
        ):
            for lower_is_positive in (False, True):
                yield Sample(scores, labels, None, lower_is_positive)


def _bits(sample: Sample) -> list[bytes | str]:
    """An answer, so that two are equal only when all their bits are."""
    answer = evaluate_curves(sample, _ASKED)
    columns = astuple(answer.points) if answer.points else ()
    return [*(column.tobytes() for column in columns), repr(answer.auc)]
