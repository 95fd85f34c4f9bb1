"""A request's document as JSON text, to be sent to a server: numbers, ids and slices as they are, labels as booleans.

Knows columns of tables; nothing of files.
"""

import json
import math
from typing import Any

from service.curves.evaluation import CurvesWarning
from service.wire.answers.infinite import finite_in_order
from service.wire.columns import Column, categories, ids, items, labels, numbers
from service.wire.problems import FieldError, invalid_request
from service.wire.wrong import Wrong


class JsonWriter:
    """Writes a document, and collects the warnings about its labels."""

    def __init__(self) -> None:
        self.warnings: list[CurvesWarning] = []
        self._errors: list[FieldError] = []

    def written(self, document: object) -> bytes:
        """Write it. Raises Problem with the first wrong row of each column."""
        plain = self._plain(document, "", None)
        if self._errors:
            raise invalid_request(sorted(self._errors, key=lambda error: error.pointer))
        # Not orjson, which refuses integers beyond 64 bits: the service should report them.
        return json.dumps(plain, default=items).encode()

    def _plain(self, value: Any, place: str, label: object) -> Any:  # noqa: ANN401  # any value of JSON
        """A value with lists in place of a table's columns; `label` is positive unless it says otherwise."""
        if isinstance(value, list):
            return [
                self._plain(each, f"{place}/{row}", label) if isinstance(each, dict) else each
                for row, each in enumerate(value)
            ]
        if not isinstance(value, dict):
            return value
        label = value.get("positive_label", label)
        plain: dict[str, Any] = {}
        for key, each in value.items():
            read = self._cells if _is_of_table(each) else self._plain
            plain[key] = read(each, f"{place}/{key}", label)
        if "labels" in value and label is not None:
            plain["positive_label"] = True if _is_of_table(value["labels"]) else label
        return plain

    def _cells(self, column: Column, place: str, label: object) -> list[Any]:
        try:
            if place.endswith("/labels"):
                found = labels(column, label)
                self.warnings += [CurvesWarning("one_vs_rest", found.rest)] if found.rest else []
                return list(found.positive.tolist())
            if place.endswith("/ids"):
                return list(ids(column).cells.to_pylist())
            if place.startswith(("/slices/", "/baseline/slices/")):
                found_slices = categories(column)
                return [found_slices.values[number] for number in found_slices.numbers.tolist()]
            cells = finite_in_order(numbers(column, nullable=place.endswith("/threshold"))).tolist()
        except Wrong as wrong:
            row = "" if wrong.row is None else f"/{wrong.row}"
            self._errors.append(FieldError(place + row, wrong.code, wrong.detail))
            return []
        return [None if math.isnan(cell) else cell for cell in cells]


def _is_of_table(value: object) -> bool:
    return isinstance(value, Column) and value.source != "json"
