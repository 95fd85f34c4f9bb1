"""Objects within requests: unknown fields are refused, and null and [] count as absent.

Generated clients may therefore send every field.
"""

import json
from typing import Any, ClassVar, cast

from marshmallow import Schema, ValidationError, pre_load

from service.curves.clock import in_time, still_time
from service.wire import columns
from service.wire.problems import MAX_ERRORS
from service.wire.requests.fields import Field, JsonSchema
from service.wire.usual_names import suggested
from service.wire.wrong import Wrong

_BEGIN_OF_JSON = ("", "{", "[", '"')
"""How the text of an object begins, or of what is meant as one."""

_UNKNOWN_FIELD = Wrong("unknown_field", "Unknown field.")


class ObjectSchema(Schema):
    """An object that takes only its own fields, and treats null and [] as absent.

    about       what it is, for the contract, which calls it `component`.
    example     is shown if something other than an object was sent.
    shorthand   is an example of a query's text that stands for the object, if `from_text` reads any.
    told_last   fields at the end of a list of all.
    json_only   fields that no query has.
    """

    about: ClassVar[str] = ""
    component: ClassVar[str] = ""
    example: ClassVar[Any] = None
    shorthand: ClassVar[str] = ""
    told_last: ClassVar[frozenset[str]] = frozenset()
    json_only: ClassVar[frozenset[str]] = frozenset()

    def __init__(self, **options: Any) -> None:  # noqa: ANN401  # marshmallow's, passed on
        super().__init__(**options)
        self.error_messages |= {  # typed as text, but passed on unchanged
            "unknown": _UNKNOWN_FIELD,  # type: ignore[dict-item]  # no text
            "type": Wrong("not_an_object", f"Must be an object{_such_as(self.example)}."),  # type: ignore[dict-item]  # no text
        }

    def from_text(self, text: str, *, decimal_comma: bool) -> object:
        """Read the text of a query that begins as no object does. Raises Wrong, and StrictJsonError."""
        raise NotImplementedError

    def field_of_text(self, name: str, text: str, *, decimal_comma: bool) -> dict[str, object]:
        """The object with this field alone, read from a text."""
        return {name: cast("Field", self.fields[name]).from_text(text, decimal_comma=decimal_comma)}

    def _deserialize(self, data: Any, *, error_store: Any, **options: Any) -> Any:  # noqa: ANN401  # marshmallow's
        """Read the fields that are given; what marshmallow does for all others takes a twentieth of a small request."""
        if not isinstance(data, dict):
            return super()._deserialize(data, error_store=error_store, **options)
        read: dict[str, Any] = {}
        for name, field in self.load_fields.items():
            if name in data:
                try:
                    read[name] = field.deserialize(data[name], name, data)
                except ValidationError as error:
                    error_store.store_error(error.messages, name)
        for name in data.keys() - self.load_fields.keys():
            error_store.store_error([self.error_messages["unknown"]], name)
        return read

    def handle_error(self, error: ValidationError, data: Any, **_: object) -> None:  # noqa: ANN401  # what was sent
        """Suggest names for unknown fields, but none that is given already."""
        for name, faults in error.messages.items() if isinstance(error.messages, dict) else ():
            if faults == [_UNKNOWN_FIELD]:
                free = [each for each in self.fields if each not in data]
                near = suggested(str(name), free)
                known = ", ".join(sorted(self.fields, key=self.told_last.__contains__))
                advice = f"the known names are {known}." if near is None else f"did you mean {near}?"
                faults[:] = [Wrong("unknown_field", f"Unknown field; {advice}")]

    @pre_load
    def drop_absent(self, data: Any, **_: object) -> Any:  # noqa: ANN401  # anything that JSON can hold
        """Drop known fields that count as absent, and unknown ones beyond those that a problem lists."""
        still_time()
        if not isinstance(data, dict):
            return data
        surplus = set([key for key in data if key not in self.fields][MAX_ERRORS:])
        return {
            key: value
            for key, value in data.items()
            if key not in surplus and not (key in self.fields and is_absent(value))
        }


class ObjectField(Field):
    """An object that a schema loads. `about` is the schema's, unless another is given."""

    def __init__(self, schema: ObjectSchema, about: str = "") -> None:
        super().__init__(about or schema.about, example=schema.example)
        self.schema = schema

    def read(self, value: object) -> Any:  # noqa: ANN401  # what the schema builds
        """Load it."""
        return self.schema.load(value)  # type: ignore[arg-type]  # any JSON value

    @property
    def shorthand(self) -> str:
        """An example of a text that stands for the object; empty if only JSON does."""
        return self.schema.shorthand

    def from_text(self, text: str, *, decimal_comma: bool = False) -> object:
        """Read JSON, or what the schema lets stand for it."""
        if not self.shorthand or text.lstrip()[:1] in _BEGIN_OF_JSON or text.strip() == "null":
            return super().from_text(text, decimal_comma=decimal_comma)
        return self.schema.from_text(text.strip(), decimal_comma=decimal_comma)

    def shape(self) -> JsonSchema:
        """A reference to its schema."""
        return {"$ref": f"#/components/schemas/{self.schema.component}"}


class ObjectList(ObjectField):
    """A list of `minimum` to `maximum` objects, each loaded by a schema.

    Stops after as many errors as a problem lists.
    """

    shorthand = ""

    def __init__(self, schema: ObjectSchema, about: str, *, minimum: int, maximum: int) -> None:
        super().__init__(schema, about)
        self.example = [schema.example] if schema.example else None
        self.minimum = minimum
        self.maximum = maximum

    def read(self, value: object) -> list[Any]:
        """Load each object."""
        items = columns.items(value)
        if items is None:
            raise Wrong("not_a_list", f"Must be a list of objects{_such_as(self.example)}.")
        if not self.minimum <= len(items) <= self.maximum:
            raise Wrong("wrong_length", f"Must have {self.minimum} to {self.maximum} items, not {len(items)}.")
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

    def shape(self) -> JsonSchema:
        """A list of references to its schema."""
        least = {"minItems": self.minimum} if self.minimum else {}
        return {"type": "array", **least, "maxItems": self.maximum, "items": super().shape()}


def is_absent(value: object) -> bool:
    """Whether a value counts as absent."""
    return value is None or (isinstance(value, list) and not value)


def _such_as(example: object) -> str:
    """Continue a sentence with an example, if there is one."""
    return f", such as {json.dumps(example)}" if example else ""
