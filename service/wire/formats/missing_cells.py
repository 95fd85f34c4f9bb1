"""`missing=drop`: rows with an empty cell in a column that is used are left out, and counted in a warning.

Knows where a document has columns, and which of these may have empty cells. Columns of one evaluation lose the same
rows, as do a baseline's that is paired with it, and evaluations that share a column.
"""

from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, replace
from functools import reduce
from operator import getitem, or_
from typing import Any

import numpy as np

from service.curves.arrays import BoolArray, IntArray
from service.curves.classes import MOST_CLASSES
from service.curves.comparison import MOST_EVALUATIONS
from service.curves.errors import counted_rows
from service.curves.evaluation import CurvesWarning
from service.wire.columns import Column
from service.wire.formats.inputs import (
    CLUSTERS,
    COUNTS_COLUMNS,
    GROUP_ENDS,
    GROUP_MASSES,
    IDS,
    MISSING,
    SAMPLE_COLUMNS,
    SLICES,
    SOFT_LABELS,
)
from service.wire.formats.query_options import Decoded
from service.wire.formats.table_columns import no_rows
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
        return SLICES in self.path[:2] or self.path[-2:] == ("counts", "threshold")

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
        taken = {id(place.column): Column.of(place.column).take(kept) for place in places}
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
    for key in (*SAMPLE_COLUMNS, CLUSTERS, SOFT_LABELS):
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
    if len({id(place.column) for place in every}) < len(every) or document.get("paired") is True:
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
        found = Column.of(place.column).is_missing(words=named is None and place.path[-1] not in {IDS, CLUSTERS})
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


def _length(column: object) -> int | None:
    """The rows of a column; None for anything else."""
    if isinstance(column, Column):
        return None if column.cells is None else len(column)
    return len(column) if isinstance(column, (list, np.ndarray)) else None
