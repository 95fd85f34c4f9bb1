"""`--plot FILE` and `--show`: the picture of an answer in a file, and the curves in characters on a terminal.

Knows files and terminals; answer.py draws the pictures.
"""

import sys
from collections.abc import Callable
from contextlib import suppress
from pathlib import Path
from typing import Any, TypeVar

import click

from service.charts.terminal import in_ascii
from service.cli.command_error import fail
from service.extras import how_to_install, installed_extras
from service.wire.answers import png
from service.wire.media_types import PNG, SVG

_Command = TypeVar("_Command", bound=Callable[..., Any])


def new_file(_context: click.Context, _parameter: click.Parameter, path: Path | None) -> Path | None:
    """Before anything is evaluated, refuse a file in a missing directory, and remove an old one.

    An old file must not be taken for this run's, which may end before it writes anything.
    """
    if path is not None and not path.parent.is_dir():
        raise click.BadParameter(f"{path.parent} is not a directory.")
    try:
        if path is not None and path.is_file():
            path.unlink()
    except OSError as error:
        raise click.BadParameter(f"The old file cannot be removed: {error.strerror}.") from error
    return path


_MEDIA_TYPES = {".svg": SVG, ".png": PNG}


def _picture_file(context: click.Context, parameter: click.Parameter, path: Path | None) -> Path | None:
    media_type = None if path is None else _MEDIA_TYPES.get(path.suffix.lower())
    if path is not None and media_type is None:
        raise click.BadParameter(f"The picture's name must end in .svg or .png; {path.name} does not.")
    if media_type == PNG and not png.is_drawn():
        install = "" if "png" in installed_extras() else f" To install the extra: {how_to_install('png')}"
        raise click.BadParameter(f"{png.NEEDS}{install}")
    return new_file(context, parameter, path)


NEW_FILE = click.Path(dir_okay=False, writable=True, path_type=Path)


def plot_option(command: _Command) -> _Command:
    """Add --plot."""
    return click.option(
        "--plot",
        type=NEW_FILE,
        callback=_picture_file,
        metavar="F.svg",
        is_eager=True,
        help="Write a picture: F.svg or F.png.",
    )(command)


def show_option(command: _Command) -> _Command:
    """Add --show."""
    return click.option("--show", is_flag=True, help="Also draw the curves as text.")(command)


def write_plot(path: Path | None, picture: Callable[[str], bytes]) -> None:
    """Write a picture, if a file is given; `picture` makes one of a media type.

    A picture that cannot be written is reported and ends the command.
    """
    if path is None:
        return
    content = picture(_MEDIA_TYPES[path.suffix.lower()])
    try:
        path.write_bytes(content)
    except OSError as error:
        with suppress(OSError):  # what was written of it
            path.unlink()
        fail([f"Error: {path}: The picture cannot be written: {error.strerror}."])


def print_curves(text: str) -> None:
    """Print curves in characters, in ASCII if the terminal's encoding has no others."""
    try:
        text.encode(sys.stdout.encoding or "ascii")
    except UnicodeEncodeError:
        text = in_ascii(text)
    click.echo(text, nl=False)
