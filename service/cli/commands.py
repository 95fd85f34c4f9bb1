"""The list of commands of `rocpr`; knows nothing of what they do."""

import click

from service.cli import classes, columns, curves, slices, tradeoffs
from service.cli.compare import compare
from service.cli.gate.command import gate
from service.cli.guide import guide
from service.cli.key import key
from service.cli.operation_command import Screen, operation_command
from service.cli.options import Commands
from service.cli.serve import serve
from service.cli.sql import sql
from service.operations import OPERATIONS


@click.group(cls=Commands, context_settings={"help_option_names": ["-h", "--help"]})
@click.version_option(package_name="rocpr")
def rocpr() -> None:
    """Evaluate classifiers: curves, areas, trade-offs, comparisons, slices, classes, and a gate for CI."""


_SCREENS: dict[str, Screen] = {
    "curves": curves.SCREEN,
    "tradeoffs": tradeoffs.SCREEN,
    "slices": slices.SCREEN,
    "classes": classes.SCREEN,
    "columns": columns.SCREEN,
}

for name, screen in _SCREENS.items():
    rocpr.add_command(operation_command(OPERATIONS[name], screen))
for command in (compare, gate, sql, serve, key, guide):
    rocpr.add_command(command)
