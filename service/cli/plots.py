"""`--plot FILE` and `--show`: the picture of an answer in a file, and the curves in characters on a terminal.

Knows files and terminals; answer.py draws the pictures.
"""

import sys
from collections.abc import Callable
from pathlib import Path

import click

from service.charts.picture import CHARTS
from service.charts.terminal import in_ascii
from service.cli.command_error import fail
from service.cli.written_files import WRITTEN_FILE, in_a_directory, write_file
from service.extras import how_to_install, installed_extras
from service.wire.answers import png
from service.wire.media_types import PNG, SVG

_MEDIA_TYPES = {".svg": SVG, ".png": PNG}


def _picture_file(context: click.Context, parameter: click.Parameter, path: Path | None) -> Path | None:
    media_type = None if path is None else _MEDIA_TYPES.get(path.suffix.lower())
    if path is not None and media_type is None:
        raise click.BadParameter(f"The picture's name must end in .svg or .png; {path.name} does not.")
    if media_type == PNG and not png.is_drawn():
        install = "" if "png" in installed_extras() else f" To install the extra: {how_to_install('png')}"
        raise click.BadParameter(f"{png.NEEDS}{install}")
    return in_a_directory(context, parameter, path)


PLOT_OPTION = click.Option(
    ["--plot"],
    type=WRITTEN_FILE,
    callback=_picture_file,
    metavar="F.svg",
    is_eager=True,
    help="Write a picture: F.svg or F.png.",
)
SHOW_OPTION = click.Option(["--show"], is_flag=True, help="Also draw the curves as text.")


def chart_options(operation: str) -> list[click.Option]:
    """The option that chooses the picture, if an operation has several."""
    names = CHARTS.get(operation, ())
    what = "--plot or --show" if operation == "curves" else "--plot"
    text = f"The picture of {what}: {', '.join(names)}.  [default: {names[0]}]" if names else ""
    return [click.Option(["--chart"], type=click.Choice(names), metavar="NAME", help=text)] if len(names) > 1 else []


def write_plot(path: Path | None, picture: Callable[[str], bytes]) -> None:
    """Write a picture, if a file is given; `picture` makes one of a media type.

    A picture that cannot be written is reported and ends the command.
    """
    if path is None:
        return
    content = picture(_MEDIA_TYPES[path.suffix.lower()])
    try:
        write_file(path, content)
    except OSError as error:
        fail([f"Error: {path}: The picture cannot be written: {error.strerror}."])


def print_curves(text: str) -> None:
    """Print curves in characters, in ASCII if the terminal's encoding has no others."""
    try:
        text.encode(sys.stdout.encoding or "ascii")
    except UnicodeEncodeError:
        text = in_ascii(text)
    click.echo(text, nl=False)
