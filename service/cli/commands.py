"""The list of commands of `rocpr`; knows nothing of what they do."""

import click

from service.cli import classes, columns, compare, curves, slices, tradeoffs
from service.cli.gate.command import gate
from service.cli.gate.plan_command import plan
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


_SCREENS: dict[str, tuple[str, Screen]] = {
    "curves": ("curves", curves.SCREEN),
    "tradeoffs": ("tradeoffs", tradeoffs.SCREEN),
    "compare": ("comparisons", compare.SCREEN),
    "slices": ("slices", slices.SCREEN),
    "classes": ("classes", classes.SCREEN),
    "columns": ("columns", columns.SCREEN),
}
"""{command: its operation, and its screen}"""

for name, (operation, screen) in _SCREENS.items():
    rocpr.add_command(operation_command(name, OPERATIONS[operation], screen))
for command in (gate, plan, sql, serve, key, guide):
    rocpr.add_command(command)
