"""`rocpr compile`: makes the library of service/curves/compiled.py with the machine's C compiler.

Nothing is put in place whose answers are not those of NumPy, to the last bit. That is tried in a process of its own,
which such a library may change or end.
"""

import multiprocessing
import os
import shlex
import shutil
import subprocess
import tempfile
from collections.abc import Iterator
from concurrent.futures import ProcessPoolExecutor
from concurrent.futures.process import BrokenProcessPool
from dataclasses import astuple
from pathlib import Path

import click
import numpy as np

from service.cli.command_error import fail
from service.curves import compiled
from service.curves.compiled import COMPILER_OPTIONS, KERNEL, library_path
from service.curves.evaluation import CurvesOptions, evaluate_curves
from service.curves.sample import Sample

COMPILERS = ("cc", "gcc", "clang")
SECONDS = 120.0
"""How long a compiler may take."""

_SIZES = (2, 3, 10, 100, 1_000, 10_000, 100_000)
_ASKED = CurvesOptions(include=frozenset({"auc", "points"}))


@click.command("compile")
@click.option(
    "--compiler", metavar="COMMAND", envvar="CC", show_envvar=True, help="A C compiler.  [default: cc, gcc or clang]"
)
@click.option("--remove", is_flag=True, help="Remove what was compiled, for every version, and compile nothing.")
def compile_(compiler: str | None, *, remove: bool) -> None:
    """Make evaluations faster on this machine, with its C compiler.

    The loops of an evaluation without weights that take the most time in NumPy are compiled for this version of rocpr.
    A million rows then take some 60 % of the time, a thousand less than a third; no number changes, which is tried
    before the library is used. Servers and commands that start from now on use it, unless ROCPR_COMPILED is off.
    """
    directory = compiled.SOURCES.parent
    try:
        if remove:
            _remove_from(directory)
        else:
            _put_into(directory, compiler_command(compiler))
    except OSError as error:
        fail([f"Error: {directory}: {error.strerror or error}"])


def _remove_from(directory: Path) -> None:
    for made in directory.glob("kernel-*"):
        if made.is_dir():  # where a compiler was stopped
            shutil.rmtree(made)
        else:
            made.unlink(missing_ok=True)


def _put_into(directory: Path, command: list[str]) -> None:
    """Compile beside the place, try, and move into it at once: others may use what lies there."""
    target = library_path()
    with tempfile.TemporaryDirectory(dir=directory, prefix="kernel-") as workplace:
        library = Path(workplace, target.name)
        compile_library(command, library)
        tried = _try(library)
        library.chmod(0o755)  # for whoever serves
        library.replace(target)
    click.echo(f"{shlex.join(command)} made {target.name} in {directory}.")
    click.echo(f"It answers {tried} samples of up to {max(_SIZES):,} rows as NumPy does, to the last bit.")


def compiler_command(compiler: str | None) -> list[str]:
    """The command of a compiler that is there; that there is none is told and ends the command."""
    names = [compiler] if compiler else COMPILERS
    try:
        commands = [shlex.split(name) for name in names]
    except ValueError as error:
        fail([f"Error: the compiler {compiler!r} is no command: {error}."])
    found = [command for command in commands if command and shutil.which(command[0])]
    if not found:
        names = [repr(compiler)] if compiler else COMPILERS
        fail([f"Error: there is no C compiler {' or '.join(names)}; install one, or name one with --compiler."])
    return found[0]


def compile_library(command: list[str], library: Path) -> None:
    """Compile; what the compiler says when it cannot is told and ends the command."""
    sources = sorted(map(str, compiled.SOURCES.glob("*.c")))
    try:
        done = subprocess.run(  # noqa: S603  # a compiler that the caller named
            [*command, *COMPILER_OPTIONS, "-o", str(library), *sources, "-lm"],
            capture_output=True,
            text=True,
            errors="replace",
            env=os.environ | {"LC_ALL": "C"},
            timeout=SECONDS,
            check=False,
        )
        made, said = done.returncode == 0 and library.is_file(), done.stderr
    except subprocess.TimeoutExpired:
        made, said = False, f"It took more than {SECONDS:g} seconds."
    except OSError as error:
        made, said = False, f"{error.strerror or error}"
    if not made:
        fail([f"Error: {shlex.join(command)} could not compile the loops in {compiled.SOURCES}.", *said.splitlines()])


def _try(library: Path) -> int:
    """Have its answers compared with NumPy's; returns how many. That one differs is told and ends the command."""
    with ProcessPoolExecutor(1, multiprocessing.get_context("spawn")) as process:
        try:
            wrong, tried = process.submit(compare, library).result()
        except BrokenProcessPool:
            fail(["Error: the library ends the process that uses it; it is not put in place."])
        except (OSError, AttributeError) as error:  # or it lacks a function
            fail([f"Error: the library cannot be loaded here; it is not put in place.\n{error}"])
    if wrong:
        fail([f"Error: the library does not answer as NumPy does, for {wrong:,} rows; it is not put in place."])
    return tried


def compare(library: Path) -> tuple[int, int]:
    """How many rows the first sample has that a library answers otherwise, or 0, and how many samples were tried."""
    samples = list(_samples())
    expected = [_bits(sample) for sample in samples]  # before: it may change how this process calculates
    KERNEL.use(library)
    for sample, bits in zip(samples, expected, strict=True):
        try:
            same = _bits(sample) == bits
        except Exception:  # noqa: BLE001  # whatever comes of wrong tables
            same = False
        if not same:
            return sample.rows, len(samples)
    return 0, len(samples)


def _samples() -> Iterator[Sample]:
    random = np.random.default_rng(1)
    for rows in _SIZES:
        labels = random.random(rows) < 1 / 3
        labels[:2] = False, True
        normal = random.normal(labels, 1.0)
        tied = normal.astype(np.float32).astype(np.float64)
        apart = np.ldexp(1.0, random.integers(-1074, 1023, rows))
        groups = np.repeat(normal, 7)[:rows]
        rounded = np.round(normal, 1)
        huge, tiny = np.ldexp(tied, 900), np.ldexp(tied, -1050)
        for scores in (normal, random.random(rows), rounded, huge, tiny, apart, groups):
            for lower_is_positive in (False, True):
                yield Sample(scores, labels, None, lower_is_positive)


def _bits(sample: Sample) -> list[bytes | str]:
    """An answer, so that two are equal only when all their bits are."""
    answer = evaluate_curves(sample, _ASKED)
    columns = astuple(answer.points) if answer.points else ()
    return [*(column.tobytes() for column in columns), repr(answer.auc)]
