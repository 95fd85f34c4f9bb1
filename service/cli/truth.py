"""`--truth FILE`: the labels in one file, the scores in another, joined by id before anything is evaluated or sent.

Each id of either file must be in the other. Knows files and tables; nothing of what the columns mean.
"""

from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace

import click
import numpy as np

from service.cli.engine_rows import EngineRows
from service.cli.explaining import Source
from service.cli.files import InputFile
from service.curves.arrays import IntArray
from service.wire.columns import Column, Ids, ids, partners
from service.wire.formats.csv_format import CsvTable
from service.wire.formats.inputs import IDS
from service.wire.formats.missing_cells import column_pointers
from service.wire.formats.query_options import Decoded
from service.wire.formats.table_columns import Table, check_column
from service.wire.formats.tables import TableForm
from service.wire.limits import Limits
from service.wire.problems import invalid_value, pointer_token
from service.wire.wrong import Wrong

TRUTH_OPTION = click.Option(
    ["--truth"],
    metavar="FILE",
    help="A table with the labels, and whatever else the FILE with the scores lacks; --ids names the column that joins "
    "them.",
)


@dataclass(frozen=True)
class WithTruth(InputFile):
    """A table of scores, whose labels are in another table."""

    truth: InputFile

    @property
    def is_whole(self) -> bool:
        """Not this file alone is the table."""
        return False

    def decoded(self, given: Mapping[str, str], form: TableForm, most: Limits) -> Decoded:
        """Both files as one table. Raises Problem."""
        if IDS not in given:
            raise click.UsageError("--truth needs --ids NAME, the column that both files have.")
        form.check(self.taken(given))
        joined = _Joined(self.table(given, most), self.truth.table(given, most), given[IDS], self.truth.name)
        decoded = form.decode(joined, self.taken(given))
        return replace(
            decoded, row_of={each: joined.row_of(decoded.pointer(each)) for each in column_pointers(decoded.document)}
        )


class _Joined:
    """Two tables as one, with the rows in the order of the first."""

    header_is = "the columns of both files are"

    def __init__(self, scores: Table, truth: Table, name: str, of_truth: str) -> None:
        for table in (scores, truth):
            check_column(table, IDS, name)
        self._scores = scores
        self._truth = truth
        self._ids = name
        self._of_truth = of_truth
        self.header = [*dict.fromkeys([*scores.header, *truth.header])]
        self.rows = 0
        self._rows_of_truth = np.empty(0, np.int64)

    def read(self, names: list[str]) -> dict[str, Column]:
        """Read each column from the file that has it. Raises Problem."""
        for name in names:
            if name != self._ids and name in self._scores.header and name in self._truth.header:
                detail = (
                    f"Both files have this column; leave it out of one, or name another. The other is {self._of_truth}."
                )
                raise invalid_value(f"/{pointer_token(name)}", "exclusive", detail)
        ours = self._read(self._scores, names)
        theirs = self._read(self._truth, names)
        order = self._rows_of_truth = self._order(ours[self._ids], theirs[self._ids])
        self.rows = self._scores.rows
        return {name: column.take(order) for name, column in theirs.items()} | ours

    def row_of(self, pointer: str) -> Callable[[int], int]:
        """From a row of a column to that of the file that has it."""
        table = self._scores
        if any(pointer == f"/{pointer_token(name)}" for name in self._truth.header if name not in table.header):
            table = self._truth
        number_of = table.number_of if isinstance(table, CsvTable) else int
        return number_of if table is self._scores else lambda row: number_of(self._rows_of_truth[row])

    def _read(self, table: Table, names: list[str]) -> dict[str, Column]:
        found = table.read([self._ids, *(name for name in names if name != self._ids and name in table.header)])
        return {name: Column.of(column) for name, column in found.items()}

    def _order(self, ours: Column, theirs: Column) -> IntArray:
        pointer = f"/{pointer_token(self._ids)}"
        try:
            return partners(ids(ours), _ids_of_truth(theirs, self._of_truth), self._of_truth)
        except Wrong as error:
            row = "" if error.row is None else f"/{error.row}"
            raise invalid_value(f"{pointer}{row}", error.code, error.detail) from None


def _ids_of_truth(column: Column, name: str) -> Ids:
    """Read the ids of the truth, whose rows have no place among those of the scores."""
    try:
        return ids(column)
    except Wrong as error:
        raise Wrong(error.code, f"In {name}: {error.detail}") from None


def with_truth(source: Source, truth: Source) -> Source:
    """A source of scores with the labels of another. Raises UsageError."""
    if isinstance(source, EngineRows) or isinstance(truth, EngineRows):
        raise click.UsageError("--truth cannot be combined with --engine.")
    if not (source.is_table and truth.is_table):
        raise click.UsageError("--truth joins two tables; a JSON file has its own labels.")
    return WithTruth(f"{source.name} and {truth.name}", source.media_type, source.stream, source.of_suffix, truth)
