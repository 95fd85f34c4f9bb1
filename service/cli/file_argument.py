"""The argument FILE of commands that --engine is for: a file, names of files, or --table in its place."""

from collections.abc import Iterable, Mapping
from typing import Any

import click


def refuse_two_of_standard_input(paths: Iterable[str]) -> None:
    """Refuse - if it is given more than once. Raises UsageError."""
    if [*paths].count("-") > 1:
        raise click.UsageError("Standard input can be read only once, but - is given more than once.")


class FileArgument(click.Argument):
    """The argument FILE, which --table may replace."""

    def consume_value(self, ctx: click.Context, opts: Mapping[str, Any]) -> tuple[Any, Any]:
        """Take the table unless there is a file. Raises UsageError."""
        value, source = super().consume_value(ctx, opts)
        table = ctx.params.get("table")
        if not isinstance(table, str):  # None, or click's own mark of what is missing
            return value, source
        both = isinstance(value, (tuple, list)) and len(value) > 0
        if both or ctx.params.get("engine") != "spark":
            raise click.UsageError("--table takes the place of FILE." if both else "--table needs --engine spark.")
        return (table,), source


class FileOrGlob(click.ParamType[Any]):
    """A file that is opened, or with --engine the names of files, as text."""

    name = "filename"

    def convert(self, value: Any, param: click.Parameter | None, ctx: click.Context | None) -> Any:  # noqa: ANN401  # click's
        """Open the file unless an engine reads it. Raises BadParameter."""
        if not isinstance(value, str) or (ctx is not None and isinstance(ctx.params.get("engine"), str)):
            return value
        return click.File("rb").convert(value, param, ctx)
