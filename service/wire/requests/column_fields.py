"""Fields that hold a column: one of numbers, and one of labels."""

import json
import re
from collections.abc import Mapping
from typing import Any

import numpy as np
from marshmallow import ValidationError

from service.curves.arrays import FloatArray
from service.curves.clock import still_time
from service.curves.clusters import Clusters
from service.wire import columns
from service.wire.formats.json_format import StrictJsonError, parse_json
from service.wire.requests.fields import (
    SHOWN_TEXT,
    Field,
    JsonSchema,
    beyond,
    bounds_of,
    given,
    infinite_number,
    is_scalar,
    not_within,
)
from service.wire.wrong import Wrong

_NEGATIVE_ZERO = np.float64(-0.0).view(np.int64)
"""The bits of -0.0, which no other double has."""

_WITHOUT_0 = re.compile(r"(?<![0-9.])\.(?=[0-9])")
"""A decimal point without a 0 before it, which JSON does not take: .5."""

_NULL = "This is null; it must be a {}."
_OF_ROWS = frozenset(
    (
        *("scores", "weights", "soft_labels", "tp", "fp", "fn", "tn"),
        *("score", "score_from", "score_to", "positives", "negatives"),
    )
)
"""Lists of numbers with an item for each row, which may be left out if it is null."""


class NumberColumn(Field):
    """A list of numbers, read as float64 without rounding integers. Items may be null, or infinite.

    They lie from `minimum` to `maximum`, or above `exclusive_minimum` and below `exclusive_maximum`. `length` is the
    required number of items, if fixed.
    """

    metavar = "NUMBERS"

    def __init__(
        self,
        about: str,
        *,
        minimum: float | None = None,
        maximum: float | None = None,
        exclusive_minimum: float | None = None,
        exclusive_maximum: float | None = None,
        nullable: bool = False,
        infinite: bool = False,
        length: int | None = None,
        example: object = (0.2, 0.8),
    ) -> None:
        super().__init__(about, example=example)
        self.minimum = minimum
        self.maximum = maximum
        self.exclusive_minimum = exclusive_minimum
        self.exclusive_maximum = exclusive_maximum
        self.nullable = nullable
        self.infinite = infinite
        self.length = length

    def read(self, value: object) -> FloatArray:
        """Check all items."""
        still_time()
        try:
            column = columns.numbers(value, nullable=self.nullable)
        except Wrong as error:
            advice = f" {columns.LEAVE_OUT}" if self.name in _OF_ROWS and error.detail == _NULL.format("number") else ""
            raise Wrong(error.code, error.detail + advice, error.row) from None
        least, most = (np.fmin, np.fmax) if self.nullable else (np.minimum, np.maximum)  # NaN is a missing value
        lowest = least.reduce(column, initial=np.inf)
        if not lowest > 0 and (column.view(np.int64) == _NEGATIVE_ZERO).any():
            column = column + 0.0  # turns -0.0 into 0.0, in a copy: the column is the caller's
        if not self.infinite and (infinite := np.isinf(column)).any():
            raise infinite_number(int(infinite.argmax()))
        if self.length is not None and column.size != self.length:
            raise Wrong("wrong_length", f"Must have {self.length} numbers, not {column.size}.")
        if self.minimum is not None and lowest < self.minimum:
            raise beyond(self.minimum, "below", int(np.argmax(column < self.minimum)))
        highest = most.reduce(column, initial=-np.inf)
        if self.maximum is not None and highest > self.maximum:
            raise beyond(self.maximum, "above", int(np.argmax(column > self.maximum)))
        if (bound := self.exclusive_minimum) is not None and lowest <= bound:
            raise not_within(bound, "above", int(np.argmax(column <= bound)))
        if (bound := self.exclusive_maximum) is not None and highest >= bound:
            raise not_within(bound, "below", int(np.argmax(column >= bound)))
        return column

    def shape(self) -> JsonSchema:
        """A list of numbers."""
        number = {"type": ["number", "null"] if self.nullable else "number", "format": "double"}
        items = number | bounds_of(self)
        return {"type": "array", "items": items} | given(maxItems=self.length)

    @property
    def example_text(self) -> str:
        """Numbers with commas between."""
        return ",".join(map(json.dumps, self.example))  # type: ignore[call-overload]  # a sequence

    def from_text(self, text: str, *, decimal_comma: bool = False) -> object:
        """Read a JSON list of numbers, or numbers separated by commas. Raises Wrong, and StrictJsonError."""
        if decimal_comma and "," in text and "[" not in text and not all("." in item for item in text.split(",")):
            shown = f"With decimal=comma, {text[:SHOWN_TEXT]} may be one number or several"
            raise Wrong("not_a_number", f"{shown}: write 0.5, or a list, [0.2, 0.8].")
        if text.lstrip().startswith(("[", "{", "n")):  # only null begins with n, and counts as absent
            return self._json(text)
        items = _WITHOUT_0.sub("0.", text).split(",")
        infinite = [columns.INFINITE_TEXTS.get(item.strip().lower()) for item in items]
        finite = [item if value is None else "0" for item, value in zip(items, infinite, strict=True)]
        read = self._json(f"[{','.join(finite)}]")
        if not isinstance(read, list) or len(read) != len(items):  # an item began a list or an object
            return read
        return [each if value is None else value for each, value in zip(read, infinite, strict=True)]

    def _json(self, text: str) -> object:
        try:
            return parse_json(text)
        except StrictJsonError as error:
            if error.pointer is not None:
                raise
            detail = f"Must be numbers separated by commas, such as {self.example_text}."
            raise Wrong("not_json", detail) from None


class IdColumn(Field):
    """A list of distinct texts or integers that name rows."""

    def read(self, value: object) -> columns.Ids:
        """Read all ids."""
        still_time()
        return columns.ids(value)

    def shape(self) -> JsonSchema:
        """A list of anything."""
        return {"type": "array", "items": {}}


class ClusterColumn(Field):
    """A list of values that say which rows belong together: text, integers or booleans, none missing."""

    def read(self, value: object) -> Clusters:
        """Check all items."""
        still_time()
        try:
            found = columns.categories(value)
        except Wrong as error:
            detail = error.detail.replace("A slice is", "A cluster is").replace("slices are", "clusters are")
            raise Wrong("not_a_cluster" if error.code == "not_a_slice" else error.code, detail, error.row) from None
        if found.values and found.values[-1] is None:
            row = int((found.numbers == len(found.values) - 1).argmax())
            raise Wrong("missing", f"This row has no cluster. {columns.LEAVE_OUT}", row)
        return Clusters.numbered(found.numbers, found.values)  # type: ignore[arg-type]  # none is None

    def shape(self) -> JsonSchema:
        """A list of anything."""
        return {"type": "array", "items": {}}


class LabelColumn(Field):
    """A list of labels, read as True for a positive; uses the sibling `positive_label` if given."""

    def _deserialize(
        self, value: object, attr: str | None, data: Mapping[str, Any] | None, **_: object
    ) -> columns.Labels:
        still_time()
        positive_label = (data or {}).get("positive_label")
        if not is_scalar(positive_label):
            # A wrong one is reported by its own field; here any label may stand in for it.
            first = None if positive_label is None else next(iter(columns.items(value) or ()), None)
            positive_label = first if is_scalar(first) else None
        try:
            return columns.labels(value, positive_label)
        except Wrong as error:
            advice = f" {columns.LEAVE_OUT}" if error.detail == _NULL.format("label") else ""
            raise ValidationError([Wrong(error.code, error.detail + advice, error.row)]) from None

    def shape(self) -> JsonSchema:
        """A list of anything."""
        return {"type": "array", "items": {}}
