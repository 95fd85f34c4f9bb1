"""From a table, or a JSON body that is one, to a document of all its columns' names and contents.

Knows which columns there are, not which column an operation wants.
"""

from collections import Counter
from collections.abc import Iterable, Mapping

from service.wire.columns import unreadable_column
from service.wire.formats.inputs import CSV_PARAMETERS
from service.wire.formats.query_options import Decoded
from service.wire.formats.table_columns import MOST_COLUMNS, Table, too_many_columns
from service.wire.formats.tables import TableForm

_DUPLICATE = unreadable_column("duplicate")
"""A column that no operation reads, because its name is not unique."""


class EveryColumn(TableForm):
    """The form of a table all of whose columns are listed."""

    parameters = CSV_PARAMETERS

    def decode(self, table: Table, parameters: Mapping[str, str]) -> Decoded:
        """Check the parameters, and read all columns."""
        self.check(parameters)
        names = [name for name, times in Counter(table.header).items() if times == 1]
        columns = table.read(names)
        return _decoded(((name, columns.get(name, _DUPLICATE)) for name in table.header), table.rows)

    def complete(self, document: object, parameters: Mapping[str, str]) -> Decoded:  # noqa: ARG002  # none is for JSON
        """Treat each member of an object as a column; null and [] count as absent."""
        members = document.items() if isinstance(document, dict) else ()
        given = [(name, column) for name, column in members if column is not None and column != []]
        if len(given) > MOST_COLUMNS:
            raise too_many_columns()
        return _decoded(given, None)


def _decoded(columns: Iterable[tuple[str, object]], rows: int | None) -> Decoded:
    return Decoded({"columns": list(columns), "rows": rows}, {"/columns": ""})
