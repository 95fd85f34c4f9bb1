"""marshmallow fields that check a value or a whole column, and never coerce.

A wrong value is a ValidationError whose message is a Wrong, so that its code and row survive to the problem.
"""

import math
import unicodedata
from collections.abc import Mapping
from typing import Any

import numpy as np
from marshmallow import Schema, ValidationError, fields

from service.curves.arrays import FloatArray
from service.curves.clock import in_time, still_time
from service.wire import columns
from service.wire.problems import MAX_ERRORS
from service.wire.wrong import Wrong

_NEGATIVE_ZERO = np.float64(-0.0).view(np.int64)
"""The bits of -0.0, which no other double has."""

_NULL = "This is null; it must be a {}."
_OF_ROWS = frozenset(
    (
        *("scores", "weights", "soft_labels", "tp", "fp", "fn", "tn"),
        *("score", "score_from", "score_to", "positives", "negatives"),
    )
)
"""Lists of numbers with an item for each row, which may be left out if it is null."""

_NOT_TEXT = {"Cc", "Cs"}
"""Unicode's categories of control characters and surrogates."""


def invalid(code: str, detail: str, field: str = "_schema") -> ValidationError:
    """Make the error of one field, or of the whole object."""
    return ValidationError({field: [Wrong(code, detail)]})


class NumberColumn(fields.Field[FloatArray]):
    """A list of numbers, read as float64 without rounding integers. Items may have bounds, be null, or be infinite.

    `length` is the required number of items, if fixed.
    """

    def __init__(
        self,
        *,
        minimum: float | None = None,
        maximum: float | None = None,
        nullable: bool = False,
        infinite: bool = False,
        length: int | None = None,
    ) -> None:
        super().__init__()
        self.minimum = minimum
        self.maximum = maximum
        self.nullable = nullable
        self.infinite = infinite
        self.length = length

    def _deserialize(self, value: object, attr: str | None, data: Mapping[str, Any] | None, **_: object) -> FloatArray:
        still_time()
        try:
            column = columns.numbers(value, nullable=self.nullable)
        except Wrong as error:
            advice = f" {columns.LEAVE_OUT}" if attr in _OF_ROWS and error.detail == _NULL.format("number") else ""
            raise ValidationError([Wrong(error.code, error.detail + advice, error.row)]) from None
        least, most = (np.fmin, np.fmax) if self.nullable else (np.minimum, np.maximum)  # NaN is a missing value
        lowest = least.reduce(column, initial=np.inf)
        if not lowest > 0 and (column.view(np.int64) == _NEGATIVE_ZERO).any():
            column = column + 0.0  # turns -0.0 into 0.0, in a copy: the column is the caller's
        if not self.infinite and (infinite := np.isinf(column)).any():
            raise ValidationError([_infinite(int(infinite.argmax()))])
        if self.length is not None and column.size != self.length:
            raise ValidationError([Wrong("wrong_length", f"Must have {self.length} numbers, not {column.size}.")])
        if self.minimum is not None and lowest < self.minimum:
            raise ValidationError([_beyond(self.minimum, "below", int(np.argmax(column < self.minimum)))])
        if self.maximum is not None and most.reduce(column, initial=-np.inf) > self.maximum:
            raise ValidationError([_beyond(self.maximum, "above", int(np.argmax(column > self.maximum)))])
        return column


class LabelColumn(fields.Field[columns.Labels]):
    """A list of labels, read as True for a positive; uses the sibling `positive_label` if given."""

    def _deserialize(
        self, value: object, attr: str | None, data: Mapping[str, Any] | None, **_: object
    ) -> columns.Labels:
        still_time()
        positive_label = (data or {}).get("positive_label")
        if not _is_scalar(positive_label):
            # A wrong one is reported by its own field; here any label may stand in for it.
            first = None if positive_label is None else next(iter(columns.items(value) or ()), None)
            positive_label = first if _is_scalar(first) else None
        try:
            return columns.labels(value, positive_label)
        except Wrong as error:
            advice = f" {columns.LEAVE_OUT}" if error.detail == _NULL.format("label") else ""
            raise ValidationError([Wrong(error.code, error.detail + advice, error.row)]) from None


class Scalar(fields.Field[object]):
    """A boolean, a number or a string."""

    def _deserialize(self, value: object, attr: str | None, data: Mapping[str, Any] | None, **_: object) -> object:
        if not _is_scalar(value):
            raise ValidationError([Wrong("not_a_label", _must_be("a string, a number or a boolean", value))])
        return value


class Number(fields.Field[float]):
    """One number, from `minimum` to `maximum`, above `exclusive_minimum` and below `exclusive_maximum`.

    It is finite, unless it may be `infinite`.
    """

    def __init__(
        self,
        *,
        minimum: float | None = None,
        maximum: float | None = None,
        exclusive_minimum: float | None = None,
        exclusive_maximum: float | None = None,
        infinite: bool = False,
    ) -> None:
        super().__init__()
        self.infinite = infinite
        self.minimum = minimum
        self.maximum = maximum
        self.exclusive_minimum = exclusive_minimum
        self.exclusive_maximum = exclusive_maximum

    def _deserialize(self, value: object, attr: str | None, data: Mapping[str, Any] | None, **_: object) -> float:
        number = _one_number(value)
        if math.isinf(number) and not self.infinite:
            raise ValidationError([_infinite()])
        if self.minimum is not None and number < self.minimum:
            raise ValidationError([_beyond(self.minimum, "below")])
        if self.maximum is not None and number > self.maximum:
            raise ValidationError([_beyond(self.maximum, "above")])
        if self.exclusive_minimum is not None and number <= self.exclusive_minimum:
            raise ValidationError([Wrong("out_of_range", f"This must be above {self.exclusive_minimum:g}.")])
        if self.exclusive_maximum is not None and number >= self.exclusive_maximum:
            raise ValidationError([Wrong("out_of_range", f"This must be below {self.exclusive_maximum:g}.")])
        return number


class Whole(fields.Field[int]):
    """One whole number from `minimum` to `maximum`; 2.0 is one."""

    def __init__(self, *, minimum: int, maximum: int) -> None:
        super().__init__()
        self.minimum = minimum
        self.maximum = maximum

    def _deserialize(self, value: object, attr: str | None, data: Mapping[str, Any] | None, **_: object) -> int:
        number = _one_number(value)
        if not number.is_integer():
            raise ValidationError([Wrong("not_whole", "Must be a whole number.")])
        if not self.minimum <= number <= self.maximum:
            message = f"Must be a whole number from {self.minimum} to {self.maximum}."
            raise ValidationError([Wrong("out_of_range", message)])
        return int(number)


class Flag(fields.Field[bool]):
    """true or false, and nothing similar."""

    def _deserialize(self, value: object, attr: str | None, data: Mapping[str, Any] | None, **_: object) -> bool:
        if not isinstance(value, bool):
            raise ValidationError([Wrong("not_a_boolean", _must_be("true or false", value))])
        return value


class Text(fields.Field[str]):
    """A text of `minimum` to `maximum` characters."""

    def __init__(self, *, minimum: int, maximum: int) -> None:
        super().__init__()
        self.minimum = minimum
        self.maximum = maximum

    def _deserialize(self, value: object, attr: str | None, data: Mapping[str, Any] | None, **_: object) -> str:
        if not isinstance(value, str):
            raise ValidationError([Wrong("not_a_string", _must_be("a string", value))])
        if not self.minimum <= len(value) <= self.maximum:
            message = f"Must have {self.minimum} to {self.maximum} characters, not {len(value)}."
            raise ValidationError([Wrong("wrong_length", message)])
        if any(unicodedata.category(character) in _NOT_TEXT for character in value):
            raise ValidationError(
                [Wrong("not_text", "This contains a control character, or half of a surrogate pair.")]
            )
        return value


class ObjectList(fields.Field[list[Any]]):
    """A list of `minimum` to `maximum` objects, each loaded by a schema.

    Stops after as many errors as a problem lists.
    """

    def __init__(self, schema: Schema, *, minimum: int, maximum: int) -> None:
        super().__init__()
        self.schema = schema
        self.minimum = minimum
        self.maximum = maximum

    def _deserialize(self, value: object, attr: str | None, data: Mapping[str, Any] | None, **_: object) -> list[Any]:
        items = columns.items(value)
        if items is None:
            example = getattr(self.schema, "example", "")
            such = such_as(f"[{example}]" if example else "")
            raise ValidationError([Wrong("not_a_list", f"Must be a list of objects{such}.")])
        if not self.minimum <= len(items) <= self.maximum:
            message = f"Must have {self.minimum} to {self.maximum} items, not {len(items)}."
            raise ValidationError([Wrong("wrong_length", message)])
        loaded: list[Any] = []
        errors: dict[int, Any] = {}
        for row, item in enumerate(in_time(items)):
            try:
                loaded.append(self.schema.load(item))
            except ValidationError as error:
                errors[row] = error.messages
                if sum(map(len, errors.values())) >= MAX_ERRORS:
                    break
        if errors:
            raise ValidationError(errors)
        return loaded


def such_as(example: str) -> str:
    """Continue a sentence with an example, if there is one."""
    return f", such as {example}" if example else ""


def not_one_of(choices: tuple[str, ...], value: object, row: int | None = None) -> Wrong:
    """Make the fault of a name that is not among the choices."""
    is_f1 = isinstance(value, str) and value.lower() in _F1 and "f_measure" in choices
    told = _must_be(f"{'one of ' if len(choices) > 1 else ''}{', '.join(choices)}", value)
    return Wrong("not_one_of", f"F1 is f_measure at lambda 0.5. {told}" if is_f1 else told, row)


_F1 = {"f1", "f1_score", "f1-score", "f_score"}
"""What other libraries call the F-measure that weighs recall and precision alike."""


class Choice(fields.Field[str]):
    """One of some names."""

    def __init__(self, choices: tuple[str, ...]) -> None:
        super().__init__()
        self.choices = choices

    def _deserialize(self, value: object, attr: str | None, data: Mapping[str, Any] | None, **_: object) -> str:
        if not isinstance(value, str) or value not in self.choices:
            raise ValidationError([not_one_of(self.choices, value)])
        return value


def missing_field() -> Choice:
    """What happens to rows with an empty cell; they are left out before a schema sees the columns."""
    return Choice(("refuse", "drop"))


class ChoiceSet(fields.Field[frozenset[str]]):
    """A list of some names, in any order; repetitions are ignored."""

    def __init__(self, choices: tuple[str, ...]) -> None:
        super().__init__()
        self.choices = choices

    def _deserialize(
        self, value: object, attr: str | None, data: Mapping[str, Any] | None, **_: object
    ) -> frozenset[str]:
        items = columns.items(value)
        if items is None:
            some = f"a list with any of {', '.join(self.choices)}" if self.choices[1:] else f'["{self.choices[0]}"]'
            raise ValidationError([Wrong("not_a_list", f"Must be {some}.")])
        names: set[str] = set()
        for row, name in enumerate(items):
            if not isinstance(name, str) or name not in self.choices:
                raise ValidationError([not_one_of(self.choices, name, row)])
            names.add(name)
        return frozenset(names)


def _must_be(what: str, value: object) -> str:
    """Say what a value must be, and if it is a list: R makes one of each number and string with auto_unbox=FALSE."""
    return f"Must be {what}." if columns.items(value) is None else f"This is a list; it must be {what}."


def _one_number(value: object) -> float:
    if columns.items(value) is not None:
        raise ValidationError([Wrong("not_a_number", "This is a list; it must be one number.")])
    try:
        return float(columns.numbers([value], nullable=False)[0]) + 0.0  # -0.0 is 0.0
    except Wrong as error:
        raise ValidationError([Wrong(error.code, error.detail)]) from None


def _infinite(row: int | None = None) -> Wrong:
    return Wrong("not_finite", "This is infinite; it must be a finite number.", row)


def _beyond(bound: float, word: str, row: int | None = None) -> Wrong:
    return Wrong("negative" if (bound, word) == (0, "below") else "out_of_range", f"This is {word} {bound:g}.", row)


def _is_scalar(value: object) -> bool:
    return isinstance(value, (bool, int, float, str))
