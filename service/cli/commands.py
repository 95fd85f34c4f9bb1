"""The list of commands of `rocpr`; knows nothing of what they do."""

import click

from service.cli.classes import classes
from service.cli.compare import compare
from service.cli.curves import curves
from service.cli.gate.command import gate
from service.cli.guide import guide
from service.cli.key import key
from service.cli.merge import merge
from service.cli.options import Commands
from service.cli.serve import serve
from service.cli.slices import slices
from service.cli.sql import sql
from service.cli.tradeoffs import tradeoffs


@click.group(cls=Commands, context_settings={"help_option_names": ["-h", "--help"]})
@click.version_option(package_name="rocpr")
def rocpr() -> None:
    """Evaluate classifiers: curves, areas, trade-offs, comparisons, slices, classes, and a gate for CI."""


for command in (curves, tradeoffs, compare, slices, classes, gate, sql, merge, serve, key, guide):
    rocpr.add_command(command)
