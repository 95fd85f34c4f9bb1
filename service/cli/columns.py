"""The screen of `rocpr columns`: the columns of a table, to choose from."""

import sys
from collections.abc import Iterable

from service.cli.layout import listing_lines
from service.cli.operation_command import Screen
from service.wire.answers.parts import Document

_HELP = """List the columns of a table: names, types, and first values.

FILE is a CSV, Arrow or Parquet file, or JSON, a request body for POST /v1/columns. FILE can be - for standard input,
with --format.
"""


def _lines(document: Document) -> Iterable[str]:
    yield f"  rows  {document['rows']}"
    yield ""
    yield from listing_lines(document["columns"], sys.maxsize)


SCREEN = Screen(_HELP, _lines)
