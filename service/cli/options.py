"""Options made from what an operation declares, and how a command begins and ends.

They have the names of the service's query parameters, and their texts are passed on unchanged.
"""

import json
import os
import re
import sys
from collections.abc import Mapping
from contextlib import suppress
from typing import Any, Self, cast

import click

from service.cli.command_error import end
from service.cli.files import FORMATS
from service.wire.formats.inputs import CLUSTERS, COUNTS_COLUMNS, GROUPS_COLUMNS, IDS, SAMPLE_COLUMNS, TOTALS
from service.wire.formats.tables import TableForm
from service.wire.requests.fields import ChoiceSet, Field, Flag
from service.wire.requests.object_schemas import ObjectField

INTERRUPTED = 130
"""The exit status after Ctrl-C."""


class Commands(click.Group):
    """A group whose commands refuse an option given more than once, where click would keep the last one.

    Ctrl-C ends them with status 130, as shells report it; what the system refuses, such as a full disk, with 2, as any
    other error, unless the command has an `error_status` of its own.
    """

    def main(self, *args: Any, **kwargs: Any) -> Any:  # noqa: ANN401  # click's
        """Run the command that the process was started with, and end the process."""
        try:
            return super().main(*args, **kwargs)
        except (MemoryError, OSError) as refused:
            end(what_is_refused(refused))

    def invoke(self, ctx: click.Context) -> object:
        """Run the command."""
        try:
            return super().invoke(ctx)
        except KeyboardInterrupt:
            click.echo("Aborted!", err=True)
            ctx.exit(INTERRUPTED)
        except click.ClickException as error:
            command = self.commands.get(ctx.invoked_subcommand or "")
            error.exit_code = getattr(command, "error_status", error.exit_code)  # type: ignore[misc]  # not one for all
            raise

    def resolve_command(
        self, ctx: click.Context, args: list[str]
    ) -> tuple[str | None, click.Command | None, list[str]]:
        """Find the command, and look through its options. Raises UsageError."""
        name, command, rest = super().resolve_command(ctx, args)
        ctx.invoked_subcommand = name  # click sets it later, but an error below belongs to the command, too
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


def what_is_refused(refused: MemoryError | OSError) -> str:
    """Say what the system refuses. Nothing more is printed: Python would try to at exit, and complain."""
    if isinstance(refused, MemoryError):
        return "This needs more memory than the process may use. --engine duckdb reads files of any size."
    with suppress(AttributeError, OSError):
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
    place = "" if refused.filename is None else f"{refused.filename}: "
    return f"{place}{refused.strerror or refused}."


Texts = dict[str, str]
"""Options as the texts of a query."""


class OptionsText(str):
    """The text of a field that several options make.

    options   {where a value is in the field: the option that gave it}
    """

    __slots__ = ("options",)
    options: Mapping[str, str]

    def __new__(cls, text: str, options: Mapping[str, str]) -> Self:
        """Keep both."""
        made = super().__new__(cls, text)
        made.options = options
        return made


def query_text(value: object) -> str:
    """Write a value as in a query: text unchanged, anything else as JSON."""
    return value if isinstance(value, str) else json.dumps(value)


def flag(name: str) -> str:
    """Write an option as typed."""
    return f"--{name.replace('_', '-')}"


NAME_LIST = "NAMES"
"""What the help calls the value of an option that takes several names, separated by commas."""

Help = tuple[str, str]
"""What help says of an option: the name of its value, and a text."""

_OF_CSV: dict[str, Help] = {
    "delimiter": ("MARK", "Separator in CSV: comma, semicolon, tab, pipe or space.  [default: comma; tab in .tsv]"),
    "decimal": ("MARK", "Decimal mark in CSV: point or comma.  [default: point]"),
    "escape": (
        "NAME",
        "What is before a quote within quotes in CSV: quote, or backslash as Spark writes.  [default: quote]",
    ),
    "header": (
        "NAME",
        "With absent, CSV has no header, and its columns are called 1, 2 and so on.  [default: present]",
    ),
}
_CODE_MARKS = re.compile("[`*]")
_READING_OPTIONS = (
    click.Option(
        ["--format", "format_name"], type=click.Choice(tuple(FORMATS)), help="File format.  [default: by suffix]"
    ),
    click.Option(["--json", "as_json"], is_flag=True, help="Print the whole answer, as the service sends it."),
)


def form_options(form: TableForm, told: Mapping[str, Help] | None = None) -> list[click.Option]:
    """The options for reading a table of this form, one for each query parameter, and --json.

    `told` is the help of those that mean something else on the command line than in a query.
    """
    own = told or {}
    return [*_READING_OPTIONS, *(_option(name, form, own.get(name)) for name in form.parameters)]


def _option(name: str, form: TableForm, told: Help | None) -> click.Option:
    field = cast("Field | None", form.fields.get(name))
    if isinstance(field, Flag):
        return click.Option([flag(name)], is_flag=True, help=_meaning(field))
    metavar, text = told or _OF_CSV.get(name) or _of_column(name, form) or _of_field(cast("Field", field))
    return click.Option([flag(name)], metavar=metavar, help=text)


def _of_column(name: str, form: TableForm) -> Help | None:
    """The help of an option that names a column; a total of counts may be a number, too."""
    if name == IDS:
        return "NAME", "Column that names each row, to pair two files whatever their order."
    if name in SAMPLE_COLUMNS:
        return "NAME", f"Column of the {name}.  [default: {name}{', if there is one' * (name == 'weights')}]"
    if name == CLUSTERS:
        return "NAME", "Column that says which rows belong together, such as patient; for intervals."
    if name in COUNTS_COLUMNS:
        return "NAME", f"Column {name} of counts."
    if name in TOTALS and COUNTS_COLUMNS[0] in form.parameters:
        other = {"positives": "fn", "negatives": "tn"}[name]
        return "NUMBER|NAME", f"Total {name}, for counts without column {other}; for groups, its column."
    return ("NAME", f"Column {name} of groups.") if name in {*GROUPS_COLUMNS, *TOTALS} else None


def _of_field(field: Field) -> Help:
    """The help of an option whose text a field reads."""
    text = _meaning(field)
    if isinstance(field, ChoiceSet):
        text += f" Any of {', '.join(field.choices)}, separated by commas."
    elif field.metavar in {"JSON", "NUMBERS"}:
        quote = "'" * (field.metavar == "JSON")
        short = f"{field.shorthand}, or " if isinstance(field, ObjectField) and field.shorthand else ""
        text += f" For example {short}{quote}{field.example_text}{quote}."
    return field.metavar, text


def _meaning(field: Field) -> str:
    """The first sentence about a field, without the marks of Markdown, and in ASCII."""
    text = _CODE_MARKS.sub("", field.first_sentence).replace("λ", "lambda").removeprefix("If true, ")
    return text[:1].upper() + text[1:]


def given_texts(options: Mapping[str, str | bool | None]) -> Texts:
    """The options that were given, as the texts of a query."""
    texts = {name: "true" if value is True else value for name, value in options.items()}
    return {name: text for name, text in texts.items() if isinstance(text, str)}
