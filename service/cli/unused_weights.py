"""Warns of a column that looks like weights but is not called `weights`, so that nothing uses it.

Other columns of a table are ignored on purpose; this one changes every number.
"""

import shlex
from collections.abc import Mapping

import click

from service.cli.asking import limits
from service.cli.files import InputFile
from service.cli.layout import terminal_safe
from service.cli.options import flag
from service.wire.formats.decoders import DECODERS
from service.wire.formats.likely_columns import likely
from service.wire.formats.query_options import CSV_PARAMETERS, Decoded
from service.wire.formats.tables import TableForm

_SOUGHT = "weights"
"""The option, and the column that is used without it."""

_OF_OTHER_TABLES = ({"tp", "fp"}, {"score", "positives", "negatives"})
"""The columns of tables that take no weights."""

_HEADER = TableForm(CSV_PARAMETERS, lambda table, _: Decoded(table.header))


def warn_of_unused_weights(file: InputFile, given: Mapping[str, str]) -> None:
    """Warn if the table seems to have weights that are not used; it has been read without a problem."""
    if _SOUGHT in given or not file.is_table:
        return
    body = file.content
    reading = {key: text for key, text in given.items() if key in CSV_PARAMETERS}
    header = DECODERS[file.media_type_of(body)](body, reading, _HEADER, limits()).document
    if not isinstance(header, list) or _SOUGHT in header:
        return
    name = likely(header, [_SOUGHT]).get(_SOUGHT)
    if name is None or name in given.values() or any(columns <= {*header} for columns in _OF_OTHER_TABLES):
        return
    advice = f"the column {name!r} is not used. If it holds weights, add {flag(_SOUGHT)} {shlex.quote(name)}."
    click.echo(f"Warning: {terminal_safe(f'{file.name}: {advice}')}", err=True)
