"""The files that commands write: pictures and reports. Each appears whole, or not at all.

Knows files; nothing of what is in them.
"""

import codecs
import os
import secrets
from collections.abc import Iterable
from contextlib import suppress
from pathlib import Path

import click

_BEGINNING = 1 << 12
"""The bytes of a file that tell whether it is text."""


def in_a_directory(_context: click.Context, _parameter: click.Parameter, path: Path | None) -> Path | None:
    """Refuse what cannot become a file before anything is evaluated; a file is not touched."""
    if path is not None and not path.parent.is_dir():
        raise click.BadParameter(f"{path.parent} is not a directory.")
    if path is not None and not path.name:
        raise click.BadParameter("Give the name of a file.")
    if path is not None and str(path) == "-":
        raise click.BadParameter("For standard output, give /dev/stdout.")
    return path


def refuse_one_file_twice(options: str, paths: Iterable[Path | None]) -> None:
    """Refuse options that would write over each other's file. Raises UsageError."""
    places = [path.parent.resolve() / path.name for path in paths if path is not None]
    if any(places.count(place) > 1 for place in places if place.is_file() or not place.exists()):
        raise click.UsageError(f"{options} need a file each: one would replace the other.")


def refuse_files_that_are_read(written: Iterable[Path | None], read: Iterable[str]) -> None:
    """Refuse to write over a file that the command reads, whatever its name. Raises UsageError."""
    there = [path for path in map(Path, read) if path.is_file()]
    for path in written:
        if path is not None and path.is_file() and any(path.samefile(each) for each in there):
            raise click.UsageError(f"{path} is read, so nothing can be written to it; give another name.")


def holds_bytes(path: Path) -> bool:
    """Whether a file exists and is no text, such as a model: no report of ours."""
    if not path.is_file():
        return False
    with path.open("rb") as file:
        beginning = file.read(_BEGINNING)
    try:
        codecs.getincrementaldecoder("utf-8")().decode(beginning)
    except UnicodeDecodeError:
        return True
    return b"\0" in beginning


WRITTEN_FILE = click.Path(dir_okay=False, writable=True, path_type=Path)


def write_file(path: Path, content: bytes) -> None:
    """Write a file beside its place and put it there once it is whole, in place of an old file or a symbolic link.

    Until then an old file stays as it is, whatever ends the command. What is no file, such as /dev/stdout, is written
    to. Raises OSError.
    """
    if path.exists() and not path.is_file():
        path.write_bytes(content)
        return
    beside = path.parent / f".rocpr-{secrets.token_hex(8)}"
    descriptor = os.open(beside, os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_CLOEXEC, 0o666)
    try:
        with os.fdopen(descriptor, "wb") as file:
            file.write(content)
        beside.replace(path)
    except BaseException:
        with suppress(OSError):
            beside.unlink()
        raise
