"""What an answer has, said once: parts with names, kinds and meanings. JSON, CSV, Arrow and the contract are read off.

A part reads its cells off a result by the names of its columns. What was not asked for is ABSENT; what does not exist
is None. Knows no operation.
"""

from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, field
from functools import partial
from typing import Any, Literal

import numpy as np

from service.curves.arrays import LARGEST_EXACT_INTEGER
from service.curves.evaluation import CurvesWarning
from service.wire.answers.infinite import FiniteScores
from service.wire.answers.json_pieces import written_once

ABSENT: Any = object()
"""In place of a part that was not asked for."""

CellKind = Literal["number", "exact", "score", "count", "whole", "text", "flag", "names", "values"]
"""What a cell is.

number   a double; NaN is a cell without a value.
exact    a number that is used elsewhere, such as a level; a terminal shows all its digits.
score    the same, which may be infinite.
count    an integer, if all counts of its column are whole; else a double.
whole    an integer.
names    a list of texts.
values   a list of texts, numbers and truth values.
"""

Document = dict[str, Any]
Columns = dict[str, Any]
"""Columns of equal length by name: arrays or sequences."""


@dataclass(frozen=True, slots=True)
class Cells:
    """A column of a table: its name, the kind of its cells, and what they mean.

    null        whether a cell may have no value.
    sometimes   whether the column may be left out.
    """

    name: str
    kind: CellKind
    about: str
    null: bool = False
    sometimes: bool = False

    @classmethod
    def number(cls, name: str, about: str, *, null: bool = False, sometimes: bool = False) -> "Cells":
        """Declare a column of numbers."""
        return cls(name, "number", about, null, sometimes)

    @classmethod
    def exact(cls, name: str, about: str, *, null: bool = False) -> "Cells":
        """Declare a column of numbers that are used elsewhere."""
        return cls(name, "exact", about, null)

    @classmethod
    def score(cls, name: str, about: str, *, null: bool = False) -> "Cells":
        """Declare a column of scores."""
        return cls(name, "score", about, null)

    @classmethod
    def count(cls, name: str, about: str, *, null: bool = False, sometimes: bool = False) -> "Cells":
        """Declare a column of counts."""
        return cls(name, "count", about, null, sometimes)

    @classmethod
    def whole(cls, name: str, about: str, *, null: bool = False) -> "Cells":
        """Declare a column of integers."""
        return cls(name, "whole", about, null)

    @classmethod
    def text(cls, name: str, about: str, *, null: bool = False) -> "Cells":
        """Declare a column of texts."""
        return cls(name, "text", about, null)

    @classmethod
    def flag(cls, name: str, about: str) -> "Cells":
        """Declare a column of truth values."""
        return cls(name, "flag", about)

    @classmethod
    def names(cls, name: str, about: str) -> "Cells":
        """Declare a column of lists of names."""
        return cls(name, "names", about)


@dataclass(frozen=True)
class Part:
    """A member of a JSON answer: its name, what it is, and where a result has it.

    null        whether it may be null.
    sometimes   whether it may be absent.
    component   what the contract calls its schema; by default its own name, in the contract's spelling.
    leading     of a table, the columns before its own, whose names the request chose.
    """

    name: str
    about: str
    of: Callable[[Any], Any]
    null: bool = False
    sometimes: bool = False
    component: str = ""
    leading: Callable[[Any], Mapping[str, Any]] | None = None

    def json(self, found: Any, scores: FiniteScores) -> Any:  # noqa: ANN401  # any JSON value
        """What JSON has in its place."""
        raise NotImplementedError


@dataclass(frozen=True)
class AnswerValue(Part):
    """One value, or a list of them; without a kind, an object that the contract describes as `component`."""

    kind: CellKind | None = None
    many: bool = False

    def json(self, found: Any, scores: FiniteScores) -> Any:  # noqa: ANN401  # any JSON value
        """The value itself."""
        return _json_cells(found, self.kind, scores) if self.kind else found


@dataclass(frozen=True)
class Nested(Part):
    """An object made of parts; with `keys`, an object for each key, which the contract calls `inner`."""

    parts: tuple[Part, ...] = ()
    keys: tuple[str, ...] = ()
    inner: str = ""

    def json(self, found: Any, scores: FiniteScores) -> Any:  # noqa: ANN401  # any JSON value
        """Its object or objects."""
        if self.keys:
            return {key: _object(self.parts, each, scores) for key, each in found.items()}
        return _object(self.parts, found, scores)


@dataclass(frozen=True)
class AnswerTable(Part):
    """Columns of equal length.

    needs     what a request must have to get it, in a sentence after "This table needs"; None if `include` names it.
    """

    columns: tuple[Cells, ...] = ()
    needs: str | None = None

    def json(self, found: Any, scores: FiniteScores) -> Document:  # noqa: ANN401  # any part of a result
        """Its columns by name."""
        return written_once(
            {each.name: _json_cells(cells, each.kind, scores) for each, cells in _cells(found, self.columns)}
        )

    def one_table(self, result: Any) -> Columns:  # noqa: ANN401  # of any operation
        """Its columns for a format that holds one table; without rows if it does not exist."""
        found = self.of(result)
        if found is ABSENT or found is None:
            return {each.name: () for each in self.header if not each.sometimes}
        return {**(self.leading(result) if self.leading else {}), **self.cells(found)}

    @property
    def header(self) -> tuple[Cells, ...]:
        """The columns of a single table, besides those whose names the request chose."""
        return self.columns

    def cells(self, found: Any) -> Columns:  # noqa: ANN401  # any part of a result
        """Its columns by name."""
        return {
            each.name: _whole(cells) if each.kind == "count" else cells for each, cells in _cells(found, self.columns)
        }


@dataclass(frozen=True)
class AnswerRow(AnswerTable):
    """A table of one row, which JSON has as an object."""

    def json(self, found: Any, scores: FiniteScores) -> Document:  # noqa: ANN401  # any part of a result
        """Its cells by name."""
        return {each.name: _json_cells(cell, each.kind, scores) for each, cell in _cells(found, self.columns)}

    def cells(self, found: Any) -> Columns:  # noqa: ANN401  # any part of a result
        """Its columns of one cell."""
        return {each.name: [_json_cells(cell, each.kind)] for each, cell in _cells(found, self.columns)}


@dataclass(frozen=True)
class AnswerObject(AnswerRow):
    """A row that only JSON has."""


@dataclass(frozen=True)
class Keyed(AnswerTable):
    """Cells for each of some keys: JSON has an object for each, a single table the column `key` before the others.

    inner   what the contract calls the schema of these objects.
    every   whether all keys are there.
    others  further keys, which may be absent.
    """

    key: Cells = field(kw_only=True)
    keys: tuple[str, ...] = ()
    inner: str = ""
    every: bool = True
    others: tuple[str, ...] = ()

    @property
    def header(self) -> tuple[Cells, ...]:
        """The columns of a single table."""
        return (self.key, *self.columns)


@dataclass(frozen=True)
class KeyedRows(Keyed):
    """A row for each key; None for a key without one."""

    def json(self, found: Any, scores: FiniteScores) -> Document:  # noqa: ANN401  # any part of a result
        """Its rows by key."""
        return {
            key: row and {each.name: _json_cells(cell, each.kind, scores) for each, cell in _cells(row, self.columns)}
            for key, row in found.items()
        }

    def cells(self, found: Any) -> Columns:  # noqa: ANN401  # any part of a result
        """Its columns, that of keys first."""
        rows = [{} if row is None else dict(_cells(row, self.columns)) for row in found.values()]
        there = [each for each in self.columns if not each.sometimes or any(each in row for row in rows)]
        return {self.key.name: [*found], **{each.name: [row.get(each) for row in rows] for each in there}}


@dataclass(frozen=True)
class StackedTable(Keyed):
    """A table for each key; a single table has the rows of all, one after another."""

    def json(self, found: Any, scores: FiniteScores) -> Document:  # noqa: ANN401  # any part of a result
        """Its tables by key."""
        return {key: super(StackedTable, self).json(each, scores) for key, each in found.items()}

    def cells(self, found: Any) -> Columns:  # noqa: ANN401  # any part of a result
        """Its columns, that of keys first."""
        tables = {key: super(StackedTable, self).cells(each) for key, each in found.items() if each is not None}
        keys = [key for key, table in tables.items() for _ in next(iter(table.values()))]
        stacked = {each.name: _joined([table[each.name] for table in tables.values()]) for each in self.columns}
        return {self.key.name: keys} | stacked


def json_document(parts: Iterable[Part], result: Any) -> tuple[Document, tuple[CurvesWarning, ...]]:  # noqa: ANN401  # of any operation
    """Read all parts off a result; warns if a score had to be changed."""
    scores = FiniteScores()
    return _object(parts, result, scores), scores.warnings


def _object(parts: Iterable[Part], result: Any, scores: FiniteScores) -> Document:  # noqa: ANN401  # any part of a result
    document: Document = {}
    for part in parts:
        found = part.of(result)
        if found is None:
            document[part.name] = None
        elif found is not ABSENT:
            json = part.json(found, scores)
            document[part.name] = json if part.leading is None else {**part.leading(result), **json}
    return document


def tables_of(parts: Iterable[Part]) -> tuple[AnswerTable, ...]:
    """The parts that are tables."""
    return tuple(part for part in parts if isinstance(part, AnswerTable) and not isinstance(part, AnswerObject))


def _cells(found: Any, columns: Iterable[Cells]) -> Iterable[tuple[Cells, Any]]:  # noqa: ANN401  # any part of a result
    """Read columns off an object or a mapping, without those that it does not have."""
    read = found.get if isinstance(found, Mapping) else partial(getattr, found)
    for each in columns:
        cells = read(each.name, ABSENT)
        if cells is not ABSENT:
            yield each, cells
        elif not each.sometimes:
            raise KeyError(each.name)


def _json_cells(cells: Any, kind: CellKind, scores: FiniteScores | None = None) -> Any:  # noqa: ANN401  # a cell or a column
    """The cells of a column, or one cell, as JSON has them."""
    if kind == "count":
        return integer_if_whole(cells) if isinstance(cells, (int, float)) else _whole(cells)
    return cells if kind != "score" or scores is None else scores.finite(cells)


def integer_if_whole(count: float) -> float | int:
    """A count as an integer if it is whole."""
    return int(count) if count <= LARGEST_EXACT_INTEGER and float(count).is_integer() else count


def _whole(column: Any) -> Any:  # noqa: ANN401  # an array or a sequence
    """Counts as integers if all of them are whole, else unchanged; NaN among integers becomes None."""
    if not isinstance(column, np.ndarray) or column.dtype != np.float64:
        return column
    known, greatest = column, np.maximum.reduce(column, initial=0.0)
    if np.isnan(greatest):
        known = column[~np.isnan(column)]
        greatest = np.maximum.reduce(known, initial=0.0)
    if greatest > LARGEST_EXACT_INTEGER or (known != (whole := known.astype(np.int64))).any():
        return column
    return whole if known is column else [None if np.isnan(cell) else int(cell) for cell in column]


def _joined(columns: list[Any]) -> Any:  # noqa: ANN401  # an array of arrays, a list of sequences
    if isinstance(columns[0], np.ndarray) and len({each.dtype for each in columns}) == 1:
        return np.concatenate(columns)
    return [cell for column in columns for cell in column]
