"""Columns that define slices, as requests have them: read, and combined.

Knows columns and slices; nothing of what is evaluated in a slice.
"""

from collections.abc import Collection, Mapping
from typing import Any

import numpy as np
from marshmallow import ValidationError

from service.curves.arrays import IntArray
from service.curves.clock import in_time
from service.curves.errors import counted_rows
from service.curves.slicing import MOST_SLICE_COLUMNS
from service.inference.sliced import Slicing
from service.wire.columns import Categories, categories, is_unicode, items
from service.wire.requests.fields import Field, JsonSchema
from service.wire.wrong import Wrong

MOST_SLICES = 100_000
LONGEST_VALUE = 1_000
"""The most characters in a text that defines a slice, which the answer repeats."""

ALREADY_THERE = "The answer already has a column of this name; rename yours."

_DENSE = 1 << 22
"""The most combinations of values that are counted in a table; more are sorted."""

_SPARSE = 16
"""With more possible combinations than this for each row, sorting the rows is faster than counting."""


class CategoryColumns(Field):
    """Columns by name, all of one length; none may have a name that is `taken` in the answer."""

    fewest = 0
    """Clients made from the contract may send an empty object for one that is absent."""

    def __init__(self, taken: Collection[str], about: str, *, component: str = "") -> None:
        super().__init__(about, component=component)
        self._taken = frozenset(taken)

    def read(self, value: object) -> Any:  # noqa: ANN401  # a subclass makes something else of them
        """Read all columns."""
        return self.columns(value)

    def columns(self, value: object) -> dict[str, Categories]:
        """Read all columns. Raises Wrong and ValidationError."""
        if not isinstance(value, dict):
            message = 'Must be an object of columns, such as {"country": ["DE", "FR"]}.'
            raise Wrong("not_an_object", message)
        if not self.fewest <= len(value) <= MOST_SLICE_COLUMNS:
            message = f"Must have {self.fewest} to {MOST_SLICE_COLUMNS} columns, not {len(value)}."
            raise Wrong("wrong_length", message)
        read: dict[str, Categories] = {}
        errors: dict[str, list[Wrong]] = {}
        for name, column in in_time(value.items()):
            try:
                if name in self._taken:
                    raise Wrong("duplicate", ALREADY_THERE)  # noqa: TRY301  # like an error of the column itself
                if not is_unicode(name):
                    message = "The name of this column has half of a surrogate pair; the answer could not repeat it."
                    raise Wrong("not_text", message)  # noqa: TRY301  # as above
                read[name] = _short_enough(categories(column))
            except Wrong as error:
                errors[name] = [error]
        if errors:
            raise ValidationError(errors)
        rows = next((each.numbers.size for each in read.values()), 0)
        for name, found in read.items():
            if found.numbers.size != rows:
                message = f"This column has {counted_rows(found.numbers.size)}; the first one has {rows}."
                raise ValidationError({name: [Wrong("lengths_differ", message)]})
        return read

    def shape(self) -> JsonSchema:
        """An object of lists."""
        of_columns = {"type": "array", "items": {}}
        least = {"minProperties": self.fewest} if self.fewest else {}
        return {"type": "object", **least, "maxProperties": MOST_SLICE_COLUMNS, "additionalProperties": of_columns}


class ColumnNames(Field):
    """A list of the names of 1 to 10 columns, each once."""

    def read(self, value: object) -> tuple[str, ...]:
        """Check all names."""
        names = items(value)
        if names is None:
            raise Wrong("not_a_list", 'Must be a list of the names of columns, such as ["country"].')
        if len(names) > MOST_SLICE_COLUMNS:
            raise Wrong("wrong_length", f"At most {MOST_SLICE_COLUMNS} columns can be named, not {len(names)}.")
        for row, name in enumerate(names):
            if not isinstance(name, str):
                raise Wrong("not_a_string", "Must be the name of a column, a string.", row)
            if name in names[:row]:
                raise Wrong("duplicate", "A column is named twice.", row)
        return tuple(names)

    def shape(self) -> JsonSchema:
        """A list of strings."""
        return {"type": "array", "items": {"type": "string"}, "maxItems": MOST_SLICE_COLUMNS, "uniqueItems": True}


class SliceColumns(CategoryColumns):
    """Such columns, at least one, read as the slices that they define together."""

    fewest = 1

    def read(self, value: object) -> Slicing:
        """Read all columns."""
        return combined(self.columns(value))


def _short_enough(found: Categories) -> Categories:
    """Return the values of a column, unless one is too long. Raises Wrong at its first row."""
    for place, value in enumerate(found.values):
        if isinstance(value, str) and len(value) > LONGEST_VALUE:
            message = f"A slice's value has at most {LONGEST_VALUE} characters; this one has {len(value)}."
            raise Wrong("wrong_length", message, int((found.numbers == place).argmax()))
    return found


def combined(read: Mapping[str, Categories], most: int | None = None) -> Slicing:
    """Number the combinations of values that occur, in the order of the columns and their values. Raises Wrong."""
    most = MOST_SLICES if most is None else most
    numbers: IntArray = np.zeros(next(iter(read.values())).numbers.size, np.int64)
    places = np.zeros((1, 1), np.int64)
    for found in read.values():
        size = len(found.values)
        numbers = numbers * size + found.numbers
        used, numbers = _compact(numbers, len(places) * size)
        places = np.column_stack((places[used // size], used % size))
        if len(places) > most:
            message = f"These columns define at least {len(places)} slices; the limit is {most}."
            raise Wrong("too_many_slices", message)
    return Slicing(
        numbers,
        {
            name: [found.values[place] for place in column]
            for (name, found), column in zip(read.items(), places.T[1:].tolist(), strict=True)
        },
    )


def _compact(numbers: IntArray, most: int) -> tuple[IntArray, IntArray]:
    """The numbers below `most` that occur, ascending, and each row's index among them."""
    if most > min(_DENSE, _SPARSE * numbers.size):
        return np.unique(numbers, return_inverse=True)
    used = np.flatnonzero(np.bincount(numbers, minlength=most))
    if used.size == most:
        return used, numbers
    places = np.empty(most, np.int64)
    places[used] = np.arange(used.size)
    return used, places[numbers]
