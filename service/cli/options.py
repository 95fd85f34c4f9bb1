"""Options that commands share: how a file is read, and which columns to use.

They have the names of the service's query parameters, and their texts are passed on unchanged.
"""

import os
import sys
from collections.abc import Callable, Iterable
from contextlib import suppress
from typing import Any, TypeVar

import click

from service.cli.command_error import end
from service.cli.files import FORMATS
from service.wire.formats.query_options import COUNTS_COLUMNS, GROUPS_COLUMNS, TOTALS

_Command = TypeVar("_Command", bound=Callable[..., Any])

INTERRUPTED = 130
"""The exit status after Ctrl-C."""


class Commands(click.Group):
    """A group whose commands refuse an option given more than once, where click would keep the last one.

    Ctrl-C ends them with status 130, as shells report it; what the system refuses, such as a full disk, with 2.
    """

    def main(self, *args: Any, **kwargs: Any) -> Any:  # noqa: ANN401  # click's
        """Run the command that the process was started with, and end the process."""
        try:
            return super().main(*args, **kwargs)
        except MemoryError:
            end("This needs more memory than the process may use. --engine duckdb reads files of any size.")
        except OSError as refused:
            with suppress(AttributeError, OSError):  # Python would try to write the rest at exit, and complain
                os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
            place = "" if refused.filename is None else f"{refused.filename}: "
            end(f"{place}{refused.strerror or refused}.")

    def invoke(self, ctx: click.Context) -> object:
        """Run the command."""
        try:
            return super().invoke(ctx)
        except KeyboardInterrupt:
            click.echo("Aborted!", err=True)
            ctx.exit(INTERRUPTED)

    def resolve_command(
        self, ctx: click.Context, args: list[str]
    ) -> tuple[str | None, click.Command | None, list[str]]:
        """Find the command, and look through its options. Raises UsageError."""
        name, command, rest = super().resolve_command(ctx, args)
        if command is not None and not ctx.resilient_parsing:
            own = click.Context(command, parent=ctx, info_name=name)
            _, _, given = command.make_parser(own).parse_args([*rest])
            for option in given:
                if (
                    isinstance(option, click.Option)
                    and not (option.is_flag or option.multiple)
                    and given.count(option) > 1
                ):
                    typed = option.opts[-1]
                    commas = f"; separate names by commas: {typed} a,b" if option.metavar == NAME_LIST else ""
                    raise click.UsageError(f"{typed} is given more than once{commas}.", own)
        return name, command, rest


def flag(name: str) -> str:
    """Write an option as typed."""
    return f"--{name.replace('_', '-')}"


NAME_LIST = "NAMES"
"""What the help calls the value of an option that takes several names, separated by commas."""


def _reading_options(
    scores: str = "Column of the scores.  [default: scores]", metavar: str = "NAME"
) -> Iterable[Callable[[Any], Any]]:
    return (
        click.option(
            "--format", "format_name", type=click.Choice(tuple(FORMATS)), help="File format.  [default: by suffix]"
        ),
        click.option("--json", "as_json", is_flag=True, help="Print the whole answer, as the service sends it."),
        click.option("--scores", metavar=metavar, help=scores),
        click.option("--labels", metavar="NAME", help="Column of the labels.  [default: labels]"),
        click.option("--weights", metavar="NAME", help="Column of the weights.  [default: weights, if there is one]"),
        click.option("--lower-is-positive", is_flag=True, help="Low scores mean positive."),
        click.option(
            "--delimiter",
            metavar="MARK",
            help="Separator in CSV: comma, semicolon, tab, pipe or space.  [default: comma; tab in .tsv]",
        ),
        click.option("--decimal", metavar="MARK", help="Decimal mark in CSV: point or comma.  [default: point]"),
        click.option(
            "--escape",
            metavar="NAME",
            help="What is before a quote within quotes in CSV: quote, or backslash as Spark writes.  [default: quote]",
        ),
        click.option(
            "--header",
            metavar="NAME",
            help="With absent, CSV has no header, and its columns are called 1, 2 and so on.  [default: present]",
        ),
        click.option(
            "--missing",
            metavar="NAME",
            help="With drop, rows with an empty cell in a column that is used are left out.  [default: refuse]",
        ),
    )


_TWO_CLASSES_OPTIONS = (
    click.option("--positive-label", metavar="TEXT", help="The positive label, unless labels are 0/1 or the like."),
    click.option(
        "--closed", metavar="NAME", help="Ends that an open group includes: both, left or right.  [default: both]"
    ),
)
_COUNTS_OPTIONS = (
    *(click.option(f"--{key}", metavar="NAME", help=f"Column {key} of counts.") for key in COUNTS_COLUMNS),
    click.option(
        "--positives",
        metavar="NUMBER|NAME",
        help="Total positives, for counts without column fn; for groups, its column.",
    ),
    click.option(
        "--negatives",
        metavar="NUMBER|NAME",
        help="Total negatives, for counts without column tn; for groups, its column.",
    ),
)
_GROUPS_OPTIONS = tuple(
    click.option(flag(key), metavar="NAME", help=f"Column {key} of groups.") for key in GROUPS_COLUMNS
)
_GROUPS_MASSES_OPTIONS = tuple(
    click.option(flag(key), metavar="NAME", help=f"Column {key} of groups.") for key in TOTALS
)

indices_option = click.option(
    "--indices",
    metavar=NAME_LIST,
    help="Some of kulczynski, f_measure, fowlkes_mallows and jaccard, separated by commas.  [default: all]",
)


def evaluation_options(command: _Command) -> _Command:
    """Add the options for reading an evaluation, and --json."""
    return _with(command, *_reading_options(), *_TWO_CLASSES_OPTIONS, *_COUNTS_OPTIONS, *_GROUPS_OPTIONS)


def compared_options(command: _Command) -> _Command:
    """Add the options for reading several evaluations, and --json."""
    scores = "Column of the scores; in a single FILE, one for each classifier: old,new.  [default: scores]"
    return _with(
        command, *_reading_options(scores, NAME_LIST), *_TWO_CLASSES_OPTIONS, *_COUNTS_OPTIONS, *_GROUPS_OPTIONS
    )


def sliced_options(command: _Command) -> _Command:
    """Add the options for reading a sample or groups in slices: counts cannot be sliced."""
    return _with(command, *_reading_options(), *_TWO_CLASSES_OPTIONS, *_GROUPS_OPTIONS, *_GROUPS_MASSES_OPTIONS)


def classes_options(command: _Command) -> _Command:
    """Add the options for reading a sample with several classes."""
    return _with(
        command, *_reading_options("Columns of the scores for each class: cat,dog, or cat=p1,dog=p2.", NAME_LIST)
    )


def _with(command: _Command, *options: Callable[[_Command], _Command]) -> _Command:
    for option in reversed(options):
        command = option(command)
    return command


def given_texts(options: dict[str, str | bool | None]) -> dict[str, str]:
    """The options that were given, as the texts of a query."""
    texts = {name: "true" if value is True else value for name, value in options.items()}
    return {name: text for name, text in texts.items() if isinstance(text, str)}
