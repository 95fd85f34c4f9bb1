"""What a request may have, said once: marshmallow fields that know what they mean, an example, and their JSON Schema.

A field checks a value or a whole column and never coerces. A wrong value is a ValidationError whose message is a Wrong,
so that its code and row survive to the problem.
"""

import json
import math
import re
import unicodedata
from collections.abc import Mapping
from typing import Any

from marshmallow import ValidationError, fields

from service.curves.arrays import LARGEST_EXACT_INTEGER
from service.curves.clock import in_time
from service.wire import columns
from service.wire.formats.json_format import StrictJsonError
from service.wire.formats.query_options import json_or_truth, names_or_json
from service.wire.requests.per_cent import share_meant, with_share
from service.wire.usual_names import choice_meant
from service.wire.wrong import Wrong

JsonSchema = dict[str, Any]

_NOT_TEXT = {"Cc", "Cs"}
"""Unicode's categories of control characters and surrogates."""

_NUMBER_WITH_COMMA = re.compile(r"[+-]?[0-9]+,[0-9]+")
SHOWN_TEXT = 40


def invalid(code: str, detail: str, field: str = "_schema") -> ValidationError:
    """Make the error of one field, or of the whole object."""
    return ValidationError({field: [Wrong(code, detail)]})


class Field(fields.Field[Any]):
    """One value of a request.

    about     what it means, for the contract; the first sentence stands alone, in help and in the guide.
    example   a valid value, for messages and the contract.
    component what the contract calls its schema, if that has a name.
    """

    metavar = "JSON"
    """How help calls the text of a value."""

    def __init__(self, about: str, *, example: object = None, component: str = "") -> None:
        super().__init__()
        self.about = about
        self.example = example
        self.component = component

    def read(self, value: Any) -> Any:  # noqa: ANN401  # any JSON value, or a column
        """Check a value. Raises Wrong, or ValidationError for what is in it."""
        raise NotImplementedError

    def shape(self) -> JsonSchema:
        """Its JSON Schema, without null."""
        raise NotImplementedError

    def from_text(self, text: str, *, decimal_comma: bool = False) -> object:
        """Read the text of a query or an option: a truth in any case, or JSON. Raises Wrong, and StrictJsonError."""
        try:
            return json_or_truth(text)
        except StrictJsonError as error:
            if error.pointer is not None:
                raise
            shown = text.strip()[:SHOWN_TEXT]
            if _NUMBER_WITH_COMMA.fullmatch(text.strip()):
                detail = f"{shown} has a decimal comma: write {shown.replace(',', '.')}."
            elif share := share_meant(shown):
                detail = f"Write {shown} as {share}."
            else:
                detail = f"Must be JSON, such as {self.example_text}. {error}"
            raise Wrong("not_json", detail) from None

    @property
    def first_sentence(self) -> str:
        """What a line of help has room for."""
        return f"{self.about.partition('. ')[0].removesuffix('.')}."

    @property
    def example_text(self) -> str:
        """The example as a query has it."""
        return json.dumps(self.example)

    def _deserialize(self, value: Any, attr: str | None, data: Mapping[str, Any] | None, **_: object) -> Any:  # noqa: ANN401  # marshmallow's
        try:
            return self.read(value)
        except Wrong as wrong:
            raise ValidationError([wrong]) from None


class Scalar(Field):
    """A boolean, a number or a string; a query has a string, which is compared as the labels are."""

    metavar = "TEXT"

    def read(self, value: object) -> object:
        """Check it."""
        if not is_scalar(value):
            raise Wrong("not_a_label", _must_be("a string, a number or a boolean", value))
        return value

    def shape(self) -> JsonSchema:
        """Anything."""
        return {}

    def from_text(self, text: str, *, decimal_comma: bool = False) -> object:
        """The text itself."""
        return text


class Number(Field):
    """One number, from `minimum` to `maximum`, above `exclusive_minimum` and below `exclusive_maximum`.

    It is finite, unless it may be `infinite`.
    """

    metavar = "NUMBER"

    def __init__(
        self,
        about: str,
        *,
        minimum: float | None = None,
        maximum: float | None = None,
        exclusive_minimum: float | None = None,
        exclusive_maximum: float | None = None,
        infinite: bool = False,
        example: float = 0.5,
    ) -> None:
        super().__init__(about, example=example)
        self.infinite = infinite
        self.minimum = minimum
        self.maximum = maximum
        self.exclusive_minimum = exclusive_minimum
        self.exclusive_maximum = exclusive_maximum

    def read(self, value: object) -> float:
        """Check it."""
        number = one_number(value)
        if math.isinf(number) and not self.infinite:
            raise infinite_number()
        if self.minimum is not None and number < self.minimum:
            raise beyond(self.minimum, "below")
        if self.maximum is not None and number > self.maximum:
            raise with_share(beyond(self.maximum, "above"), self.maximum, number)
        if self.exclusive_minimum is not None and number <= self.exclusive_minimum:
            raise not_within(self.exclusive_minimum, "above")
        if self.exclusive_maximum is not None and number >= self.exclusive_maximum:
            raise with_share(not_within(self.exclusive_maximum, "below"), self.exclusive_maximum, number)
        return number

    def shape(self) -> JsonSchema:
        """A number within its bounds."""
        return {"type": "number", "format": "double"} | bounds_of(self)


class Whole(Field):
    """One whole number from `minimum` to `maximum`, or one of `choices`; 2.0 is one."""

    metavar = "NUMBER"

    def __init__(
        self, about: str, *, minimum: int = 0, maximum: int = 0, choices: tuple[int, ...] = (), example: int = 2
    ) -> None:
        super().__init__(about, example=example)
        self.minimum = minimum
        self.maximum = maximum
        self.choices = choices

    def read(self, value: object) -> int:
        """Check it."""
        number = one_number(value)
        if self.choices:
            if number not in self.choices:
                raise Wrong("not_one_of", f"Must be one of {', '.join(map(str, self.choices))}.")
            return int(number)
        if not number.is_integer():
            raise Wrong("not_whole", "Must be a whole number.")
        if not self.minimum <= number <= self.maximum:
            raise Wrong("out_of_range", f"Must be a whole number from {self.minimum} to {self.maximum}.")
        return int(number)

    def shape(self) -> JsonSchema:
        """A whole number within its bounds, or one of its choices."""
        bounds = {"enum": [*self.choices]} if self.choices else {"minimum": self.minimum, "maximum": self.maximum}
        return {"type": "integer", "format": "int64"} | bounds


class Flag(Field):
    """true or false, and nothing similar."""

    metavar = ""

    def __init__(self, about: str) -> None:
        super().__init__(about, example=True)

    def read(self, value: object) -> bool:
        """Check it."""
        if not isinstance(value, bool):
            raise Wrong("not_a_boolean", _must_be("true or false", value))
        return value

    def shape(self) -> JsonSchema:
        """A boolean."""
        return {"type": "boolean"}


class Text(Field):
    """A text of `minimum` to `maximum` characters."""

    metavar = "TEXT"

    def __init__(self, about: str, *, minimum: int, maximum: int, example: object = None) -> None:
        super().__init__(about, example=example)
        self.minimum = minimum
        self.maximum = maximum

    def read(self, value: object) -> str:
        """Check it."""
        if not isinstance(value, str):
            raise Wrong("not_a_string", _must_be("a string", value))
        if not self.minimum <= len(value) <= self.maximum:
            raise Wrong("wrong_length", f"Must have {self.minimum} to {self.maximum} characters, not {len(value)}.")
        if any(unicodedata.category(character) in _NOT_TEXT for character in value):
            raise Wrong("not_text", "This contains a control character, or half of a surrogate pair.")
        return value

    def shape(self) -> JsonSchema:
        """A string of its length."""
        return {"type": "string", "maxLength": self.maximum} | given(minLength=self.minimum or None)

    def from_text(self, text: str, *, decimal_comma: bool = False) -> object:
        """The text itself."""
        return text


class Choice(Field):
    """One of some names."""

    metavar = "NAME"

    def __init__(self, choices: tuple[str, ...], about: str, *, component: str = "") -> None:
        super().__init__(about, example=choices[0], component=component)
        self.choices = choices

    def read(self, value: object) -> str:
        """Check it."""
        return _one_of(self.choices, value)

    def shape(self) -> JsonSchema:
        """One of its names."""
        return {"type": "string", "enum": [*self.choices]}

    def from_text(self, text: str, *, decimal_comma: bool = False) -> object:
        """The text itself."""
        return text


def missing_field() -> Choice:
    """What happens to rows with an empty cell; they are left out before a schema sees the columns."""
    return Choice(
        ("refuse", "drop"),
        "What happens to a row with `null` in a column that is used: `refuse`, by default, refuses the request; "
        "`drop` leaves the row out, with the warning `rows_left_out`. With `paired`, the row is left out of both "
        "evaluations.",
    )


class ChoiceSet(Field):
    """A list of some names, in any order; repetitions are ignored."""

    metavar = "NAMES"

    def __init__(self, choices: tuple[str, ...], about: str, *, component: str = "") -> None:
        super().__init__(about, example=choices[:2], component=component)
        self.choices = choices

    def read(self, value: object) -> frozenset[str]:
        """Check all names."""
        items = columns.items(value)
        if items is None:
            some = f"a list with any of {', '.join(self.choices)}" if self.choices[1:] else f'["{self.choices[0]}"]'
            raise Wrong("not_a_list", f"Must be {some}.")
        return frozenset(_one_of(self.choices, name, row) for row, name in enumerate(in_time(items)))

    def shape(self) -> JsonSchema:
        """A list of its names."""
        return {"type": "array", "items": {"type": "string", "enum": [*self.choices]}}

    @property
    def example_text(self) -> str:
        """Names with commas between."""
        return ",".join(self.choices[:2])

    def from_text(self, text: str, *, decimal_comma: bool = False) -> object:
        """Read JSON, or names separated by commas and optional blanks."""
        return names_or_json(text)


def one_number(value: object) -> float:
    """Read one number. Raises Wrong."""
    if isinstance(value, (int, float)) and not isinstance(value, bool) and abs(value) < LARGEST_EXACT_INTEGER:
        return float(value) + 0.0  # nearly all numbers, but not NaN; -0.0 is 0.0
    if columns.items(value) is not None:
        raise Wrong("not_a_number", "This is a list; it must be one number.")
    try:
        return float(columns.numbers([value], nullable=False)[0]) + 0.0  # -0.0 is 0.0
    except Wrong as error:
        raise Wrong(error.code, error.detail) from None


def _one_of(choices: tuple[str, ...], value: object, row: int | None = None) -> str:
    if isinstance(value, str) and value in choices:
        return value
    if not choices[1:]:
        raise Wrong("not_one_of", _must_be(choices[0], value), row)
    near = choice_meant(value, choices) if isinstance(value, str) else None
    told = _must_be(f"one of {', '.join(choices)}", value)
    raise Wrong("not_one_of", told if near is None else f"Did you mean {near}? {told}", row)


def _must_be(what: str, value: object) -> str:
    """Say what a value must be, and if it is a list: R makes one of each number and string with auto_unbox=FALSE."""
    return f"Must be {what}." if columns.items(value) is None else f"This is a list; it must be {what}."


def infinite_number(row: int | None = None) -> Wrong:
    """Make the error of a number that must be finite."""
    return Wrong("not_finite", "This is infinite; it must be a finite number.", row)


def beyond(bound: float, word: str, row: int | None = None) -> Wrong:
    """Make the error of a number beyond a bound."""
    return Wrong("negative" if (bound, word) == (0, "below") else "out_of_range", f"This is {word} {bound:g}.", row)


def not_within(bound: float, word: str, row: int | None = None) -> Wrong:
    """Make the error of a number at or beyond a bound that is itself excluded."""
    return Wrong("out_of_range", f"This must be {word} {bound:g}.", row)


def is_scalar(value: object) -> bool:
    """Whether a value is a boolean, a number or a string."""
    return isinstance(value, (bool, int, float, str))


def bounds_of(field: Any) -> JsonSchema:  # noqa: ANN401  # one number, or a list of them
    """The keywords of a JSON Schema for the bounds of a field of numbers."""
    return given(
        minimum=field.minimum,
        maximum=field.maximum,
        exclusiveMinimum=field.exclusive_minimum,
        exclusiveMaximum=field.exclusive_maximum,
    )


def given(**keywords: object) -> JsonSchema:
    """The keywords of a JSON Schema that are not None."""
    return {name: value for name, value in keywords.items() if value is not None}
