"""Ids: what names a row, so that the rows of two evaluations are put together whatever their order.

    ids       a column of texts or integers, each once
    partners  for each id of one column, its row in another; both have the same ids

Texts and integers are compared as decimal texts: CSV has no integers. Knows columns only.
"""

from dataclasses import dataclass

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
from pyarrow import types

from service.curves.arrays import IntArray
from service.curves.clock import still_time
from service.wire.columns.categorical import Naming, cells_of
from service.wire.columns.column import Column, encoded, is_attackable, is_text
from service.wire.columns.sentences import shown
from service.wire.spellings import BLANKS
from service.wire.wrong import Wrong

_IDS = Naming("An id", "ids", "not_an_id", "text or an integer")
_EXAMPLES = 3
"""The ids that a problem names, of each kind."""


@dataclass(frozen=True, slots=True, eq=False)
class Ids:
    """The ids of the rows of a sample: distinct texts, or integers, of which none is missing."""

    cells: pa.Array

    def __len__(self) -> int:
        return len(self.cells)

    def counted(self, rows: IntArray, what: str) -> str:
        """Say how many ids are this, and name the first of them; empty if none is."""
        first = ", ".join(map(shown, self.cells.take(pa.array(rows[:_EXAMPLES])).to_pylist()))
        are, such = ("is", ":") if rows.size == 1 else ("are", ", such as")
        return f"{rows.size} of {len(self)} ids {are} {what}{such} {first}" if rows.size else ""


def ids(value: object) -> Ids:
    """Read a column of ids. Raises Wrong at a row without one, and at one that occurred before."""
    column = Column.of(value, ' of strings or integers, such as ["a1", "a2"]')
    return column.remembered("ids", _ids)


def _ids(column: Column) -> Ids:
    cells = cells_of(column, _IDS)
    if types.is_dictionary(cells.type):
        cells = cells.dictionary_decode()
    if not (types.is_integer(cells.type) or is_text(cells.type)):
        raise _IDS.wrong("this column has truth values.")
    if column.source == "csv":
        cells = pc.ascii_trim(cells, BLANKS)
    absent = cells.is_null() if types.is_integer(cells.type) else pc.fill_null(pc.equal(cells, ""), fill_value=True)
    if (row := absent.index(True).as_py()) >= 0:
        raise Wrong("missing", "This row has no id.", row)
    found = encoded(cells)
    if len(found.dictionary) < len(cells):
        raise _repeated(found)
    return Ids(cells)


def partners(ours: Ids, theirs: Ids, there: str) -> IntArray:
    """For each of ours, the row of the same id among theirs, (n,). Raises Wrong if either has an id alone.

    `there` says in problems where theirs are.
    """
    one, other = _alike(ours.cells, theirs.cells)
    if one.equals(other):
        return np.arange(len(one))
    still_time()
    at = _places(one, other)
    if len(one) != len(other) or (at < 0).any():
        raise _unmatched(ours, theirs, at, there)
    return at


def _alike(one: pa.Array, other: pa.Array) -> tuple[pa.Array, pa.Array]:
    """Both as integers, or both as texts."""
    if types.is_integer(one.type) and types.is_integer(other.type):
        return one.cast(pa.int64()), other.cast(pa.int64())
    return one.cast(pa.large_string()), other.cast(pa.large_string())


def _places(one: pa.Array, other: pa.Array) -> IntArray:
    """For each of one, its place in the other, or -1, (n,)."""
    if is_attackable(other):
        place_of = {value: place for place, value in enumerate(other.to_pylist())}
        return np.array([place_of.get(value, -1) for value in one.to_pylist()], np.int64)
    found = pc.index_in(one, value_set=other).fill_null(-1)
    places: IntArray = found.to_numpy(zero_copy_only=False).astype(np.int64)
    return places


def _repeated(found: pa.DictionaryArray) -> Wrong:
    """Make the error of ids that occur twice."""
    numbers = found.indices.to_numpy()
    times = np.bincount(numbers)
    repeated = np.flatnonzero(times > 1)
    told = []
    for number in repeated[:_EXAMPLES]:
        rows = np.flatnonzero(numbers == number)
        more = ", .." if rows.size > 2 else ""  # noqa: PLR2004  # two are named
        told.append(f"{shown(found.dictionary[int(number)].as_py())} (rows {rows[0]} and {rows[1]}{more})")
    again = int(np.flatnonzero(numbers == repeated[0])[1])
    many = f"{repeated.size} ids occur" if repeated.size > 1 else "1 id occurs"
    return Wrong("duplicate", f"{many} more than once, in {times[repeated].sum()} rows: {', '.join(told)}.", again)


def _unmatched(ours: Ids, theirs: Ids, at: IntArray, there: str) -> Wrong:
    """Make the error of ids that only one of two columns has."""
    known = np.zeros(len(theirs), np.bool_)
    known[at[at >= 0]] = True
    told = [
        ours.counted(np.flatnonzero(at < 0), f"not in {there}"),
        theirs.counted(np.flatnonzero(~known), f"only in {there}"),
    ]
    return Wrong("not_paired", f"{'; '.join(filter(None, told))}. Both need the same ids.")
