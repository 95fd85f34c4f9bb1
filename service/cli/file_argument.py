"""The argument FILE of commands that --engine is for, which --table may replace."""

from collections.abc import Mapping
from typing import Any

import click


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
