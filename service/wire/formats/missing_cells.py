"""`missing=drop`: rows with an empty cell in a column that is used are left out, and counted in a warning.

Knows where a document has columns, and which of these may have empty cells. Columns of one evaluation lose the same
rows, as do a baseline's that is paired with it, and evaluations that share a column.
"""

from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, replace
from functools import reduce, singledispatch
from operator import getitem, or_
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
from pyarrow import types

from service.curves.arrays import BoolArray, IntArray
from service.curves.classes import MOST_CLASSES
from service.curves.comparison import MOST_EVALUATIONS
from service.curves.errors import counted_rows
from service.curves.evaluation import CurvesWarning
from service.wire.columns import NO_VALUE, SharedColumn
from service.wire.formats.arrow_columns import ArrayColumn, ArrowColumn
from service.wire.formats.json_columns import NumberList
from service.wire.formats.query_options import (
    COUNTS_COLUMNS,
    GROUP_ENDS,
    GROUP_MASSES,
    MISSING,
    SAMPLE_COLUMNS,
    SLICES,
    SOFT_LABELS,
    Decoded,
)
from service.wire.formats.table_columns import no_rows
from service.wire.formats.text_columns import TextColumn
from service.wire.problems import pointer_token

_INNER = ("baseline", "tuning")
_Path = tuple[str | int, ...]


@dataclass(slots=True)
class _Place:
    """A column within a document."""

    path: _Path
    column: object

    @property
    def may_be_empty(self) -> bool:
        """Whether a cell without a value has a meaning."""
        return self.path[0] == SLICES or self.path[-2:] == ("counts", "threshold")

    @property
    def is_labels(self) -> bool:
        """Whether the cells are labels; others are numbers."""
        return self.path[-1] == "labels" and self.path[-2:-1] != ("scores",)

    @property
    def pointer(self) -> str:
        """A pointer to it."""
        return "".join(f"/{pointer_token(str(key))}" for key in self.path)


def column_pointers(document: object) -> Iterator[str]:
    """The pointers to the columns of a document."""
    for places in _evaluations(document):
        yield from (place.pointer for place in places)


def without_missing(decoded: Decoded) -> Decoded:
    """Leave out rows with an empty cell, if the document says so. Raises Problem if there are no others."""
    document = decoded.document
    if not isinstance(document, dict) or document.get(MISSING) != "drop":
        return decoded
    changed: Any = {key: value for key, value in document.items() if key != MISSING}
    row_of, warnings = dict(decoded.row_of), []
    for places in _with_the_same_rows(document):
        if len({_length(place.column) for place in places}) != 1:
            continue  # there are none, or the schema refuses them
        kept, told = _kept(places, decoded)
        if told is None:
            continue
        warnings.append(told)
        taken = {id(place.column): _taken(place.column, kept) for place in places}
        for place in places:
            changed = _with(changed, place.path, taken[id(place.column)])
            row_of[place.pointer] = _through(kept, decoded.row_of.get(place.pointer))
    return replace(decoded, document=changed, warnings=(*decoded.warnings, *warnings), row_of=row_of)


def _evaluations(document: object) -> Iterator[list[_Place]]:
    """The columns of each evaluation of a document, which have a row for each of its rows."""
    if not isinstance(document, dict):
        return
    yield [*_of_evaluation(document, ())]
    for key in _INNER:
        yield [*_of_evaluation(document.get(key), (key,))]
    evaluations = document.get("evaluations")
    if not isinstance(evaluations, list) or len(evaluations) > MOST_EVALUATIONS:
        return
    for number, each in enumerate(evaluations):
        yield [*_of_evaluation(each, ("evaluations", number))]


def _of_evaluation(given: object, path: _Path) -> Iterator[_Place]:
    if not isinstance(given, dict):
        return
    for key in (*SAMPLE_COLUMNS, SOFT_LABELS):
        value = given.get(key)
        if isinstance(value, dict) and len(value) <= MOST_CLASSES:
            yield from (_Place((*path, key, name), column) for name, column in value.items())
        elif _length(value) is not None:
            yield _Place((*path, key), value)
    named = {"counts": COUNTS_COLUMNS, "groups": (*GROUP_ENDS, *GROUP_MASSES), SLICES: None}
    for key, names in named.items():
        inner = given.get(key)
        for name, column in inner.items() if isinstance(inner, dict) and len(inner) <= MOST_CLASSES else ():
            if (names is None or name in names) and _length(column) is not None:  # a total is no column
                yield _Place((*path, key, name), column)


def _with_the_same_rows(document: Mapping[str, Any]) -> Iterator[list[_Place]]:
    """The columns of evaluations, joined where a row of one must remain beside the same row of another."""
    first, baseline, *others = _evaluations(document)
    shared = {id(place.column) for place in first} & {id(place.column) for place in baseline}
    yield from [first + baseline] if shared or document.get("paired") is True else [first, baseline]
    tuning, *evaluations = others
    yield tuning
    every = [place for places in evaluations for place in places]
    if any(isinstance(place.column, SharedColumn) for place in every):
        yield every
    else:
        yield from evaluations


def _kept(places: list[_Place], decoded: Decoded) -> tuple[IntArray, CurvesWarning | None]:
    """The rows without an empty cell, and a warning about the others; None if there are none."""
    absent: dict[str, BoolArray] = {}
    for place in places:
        named = _names_of_labels(decoded.document, place) if place.is_labels else None
        if place.may_be_empty or named == "":
            continue
        found = _is_missing(_unshared(place.column), named is None)
        if found is not None and found.any():
            absent[decoded.pointer(place.pointer)] = found
    if not absent:
        return np.empty(0, np.int64), None
    any_absent = reduce(or_, absent.values())
    rows, left = any_absent.size, int(np.count_nonzero(any_absent))
    parts = ", ".join(f"{name.removeprefix('/')} in {np.count_nonzero(found)}" for name, found in absent.items())
    if left == rows:
        raise no_rows(f"Every row has an empty cell in a column that is used: {parts}.")
    detail = f"{left} of {counted_rows(rows)} {'is' if left == 1 else 'are'} left out because a cell is empty: {parts}."
    return np.flatnonzero(~any_absent), CurvesWarning("rows_left_out", detail)


def _names_of_labels(document: Any, place: _Place) -> object:  # noqa: ANN401  # any JSON value
    """What names the labels, so that NA may be one: a positive label, or the classes; None if they are 0 and 1."""
    inner = reduce(getitem, place.path[:-1], document)
    classes = inner.get("scores") if isinstance(inner.get("scores"), dict) else None
    return inner.get("positive_label", document.get("positive_label", classes))


def _through(kept: IntArray, before: Callable[[int], int] | None) -> Callable[[int], int]:
    return lambda row: int(kept[row]) if before is None else before(int(kept[row]))


def _with(given: Any, path: _Path, value: object) -> Any:  # noqa: ANN401  # any JSON value
    """A copy with another value at this path."""
    if not path:
        return value
    key, *rest = path
    copy: Any = list(given) if isinstance(given, list) else dict(given)
    copy[key] = _with(given[key], (*rest,), value)
    return copy


def _unshared(column: object) -> object:
    return column.column if isinstance(column, SharedColumn) else column


def _length(column: object) -> int | None:
    """The rows of a column; None for anything else."""
    column = _unshared(column)
    if isinstance(column, list):
        return len(column)
    if isinstance(column, NumberList):
        return column.values.size
    cells = getattr(column, "cells", None)
    return None if cells is None else len(cells)


def _taken(column: object, rows: IntArray) -> object:
    """A column with these rows."""
    if isinstance(column, SharedColumn):
        return SharedColumn(_taken(column.column, rows))
    if isinstance(column, list):
        return [column[row] for row in rows.tolist()]
    if isinstance(column, NumberList):
        values = column.values[rows]
        return NumberList(values, float(values.min()), float(values.max()))
    cells: Any = column.cells  # type: ignore[attr-defined]  # every other kind has them
    return replace(column, cells=cells[rows] if isinstance(cells, np.ndarray) else cells.take(pa.array(rows)))  # type: ignore[type-var]  # a dataclass


@singledispatch
def _is_missing(_column: object, _has_no_words: bool) -> BoolArray | None:  # noqa: FBT001  # singledispatch has no keywords
    """Which cells have no value; None if all have one."""
    return None


@_is_missing.register
def _(column: list, _has_no_words: bool) -> BoolArray | None:  # type: ignore[type-arg]  # noqa: FBT001  # as above
    return np.fromiter((cell is None for cell in column), np.bool_, len(column)) if None in column else None


@_is_missing.register
def _(column: TextColumn, has_no_words: bool) -> BoolArray | None:  # noqa: FBT001  # as above
    """Blank cells, and where no word is a value also words such as NA."""
    cells = pc.ascii_trim(column.cells, " \t")
    words = NO_VALUE if has_no_words else ("",)
    found: BoolArray = pc.is_in(cells, pa.array(words, cells.type)).to_numpy()
    return found


@_is_missing.register
def _(column: ArrowColumn, _has_no_words: bool) -> BoolArray | None:  # noqa: FBT001  # as above
    """Nulls, also within a dictionary, and NaN."""
    cells = column.cells
    if cells is None:
        return None
    if types.is_dictionary(cells.type):
        chunks = [pc.invert(chunk.dictionary.is_valid().take(chunk.indices).fill_null(False)) for chunk in cells.chunks]  # noqa: FBT003  # pyarrow's signature
        return pa.chunked_array(chunks, pa.bool_()).to_numpy()  # type: ignore[no-any-return]  # pyarrow has no types
    return cells.is_null(nan_is_null=types.is_floating(cells.type)).to_numpy()  # type: ignore[no-any-return]  # likewise


@_is_missing.register
def _(column: ArrayColumn, _has_no_words: bool) -> BoolArray | None:  # noqa: FBT001  # as above
    return np.isnan(column.cells) if column.cells.dtype.kind == "f" else None
