"""`rocpr sql`: prints the SQL that groups the rows of a table by score, for a database to run.

Knows the command's options; service/engines/sql.py writes the text.
"""

import math

import click

from service.cli.command_error import fail, needs_extra
from service.cli.options import NAME_LIST
from service.curves.histogram import GROUP_COLUMN_NAMES
from service.engines.dialects import DIALECTS, MOST_DECIMALS, WITHOUT_DECIMALS
from service.wire.formats.json_format import StrictJsonError
from service.wire.formats.query_options import json_or_truth
from service.wire.formats.table_columns import listed_names


@click.command(short_help="Print SQL that groups the rows of a table by score.")
@click.option("--dialect", type=click.Choice(DIALECTS), required=True, help="The database's SQL.")
@click.option("--table", metavar="A.B.C", required=True, help="The table, with its database if needed.")
@click.option("--scores", metavar="NAME", default="scores", show_default=True, help="Column of the scores.")
@click.option("--labels", metavar="NAME", default="labels", show_default=True, help="Column of the labels.")
@click.option("--weights", metavar="NAME", help="Column of the weights.")
@click.option(
    "--positive-label",
    metavar="JSON",
    help="The positive label, such as true, 2 or spam; all others are negative.  [default: 1, and 0 is negative]",
)
@click.option("--slices", "slices_", metavar=NAME_LIST, help="Columns that define slices: country,model.")
@click.option("--bins", type=click.IntRange(min=1), metavar="N", help="Group into N bins instead of by score.")
@click.option(
    "--weight-decimals",
    type=click.IntRange(0, MOST_DECIMALS),
    metavar="N",
    help="Round weights to N decimals, so that every run has the same sums.",
)
def sql(
    *,
    dialect: str,
    table: str,
    scores: str,
    labels: str,
    weights: str | None,
    positive_label: str | None,
    slices_: str | None,
    bins: int | None,
    weight_decimals: int | None,
) -> None:
    """Print SQL that turns the rows of a table into groups of scores, for rocpr curves and other commands.

    \b
        rocpr sql --dialect postgres --table shop.orders --scores p --labels fraud --positive-label true >groups.sql
        psql --csv -f groups.sql >groups.csv
        rocpr curves groups.csv

    Groups of equal scores lose nothing. With --bins there are fewer groups, and the areas are known only within bounds.
    If a group has a row that cannot be used, such as one without a label, its count of negatives is null, and rocpr
    refuses the group.
    """  # noqa: D301  # \b keeps click from wrapping the lines below
    if weight_decimals is not None and weights is None:
        raise click.UsageError("--weight-decimals needs --weights.")
    if weight_decimals is not None and dialect in WITHOUT_DECIMALS:
        raise click.UsageError(f"--weight-decimals cannot be combined with --dialect {dialect}, which has no decimals.")
    try:
        from sqlglot.errors import SqlglotError  # noqa: PLC0415  # an extra

        from service.engines.sql import RowSource, exact_text, free_bins_text  # noqa: PLC0415  # needs it
    except ImportError:
        fail([f"Error: rocpr sql {needs_extra('sql')}"])
    by = tuple(listed_names(slices_ or "[]", []))
    if by and bins is not None:
        raise click.UsageError("--bins cannot be combined with --slices: slices need groups of one score each.")
    for name in GROUP_COLUMN_NAMES.intersection(by):
        raise click.UsageError(f"--slices {name}: groups have a column of this name; rename yours, as in a view.")
    positive, negative = ((1,), (0,)) if positive_label is None else ((_label(positive_label),), None)
    rows = RowSource(
        table,
        scores,
        labels,
        weights,
        positive=positive,
        negative=negative,
        by=by,
        weight_decimals=weight_decimals,
        dialect=dialect,
    )
    try:
        text = exact_text(rows, checked=True) if bins is None else free_bins_text(rows, bins)
    except SqlglotError:
        raise click.BadParameter(f"{table!r} is not the name of a table.", param_hint="--table") from None
    click.echo(f"{text};")


def _label(text: str) -> bool | float | str:
    """Read a label: JSON, or else the text itself."""
    try:
        value = json_or_truth(text)
    except StrictJsonError:
        return text
    if isinstance(value, float) and not math.isfinite(value):
        return text
    return value if isinstance(value, (bool, int, float, str)) else text
