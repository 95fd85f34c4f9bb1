"""What all schemas of objects have in common: unknown fields are refused, and null and [] count as absent.

Generated clients may therefore send every field.
"""

from typing import Any, ClassVar

from marshmallow import Schema, ValidationError, pre_load

from service.curves.clock import still_time
from service.wire.problems import MAX_ERRORS
from service.wire.requests.fields import such_as
from service.wire.usual_names import suggested
from service.wire.wrong import Wrong

_UNKNOWN_FIELD = Wrong("unknown_field", "Unknown field.")


class ObjectSchema(Schema):
    """An object that takes only its own fields, and treats null and [] as absent.

    `example` is shown if something other than an object was sent; `told_last` are fields at the end of a list of all.
    """

    example: ClassVar[str] = ""
    told_last: ClassVar[frozenset[str]] = frozenset()

    def __init__(self, **options: Any) -> None:  # noqa: ANN401  # marshmallow's, passed on
        super().__init__(**options)
        self.error_messages |= {  # typed as text, but passed on unchanged
            "unknown": _UNKNOWN_FIELD,  # type: ignore[dict-item]  # no text
            "type": Wrong("not_an_object", f"Must be an object{such_as(self.example)}."),  # type: ignore[dict-item]  # no text
        }

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


def is_absent(value: object) -> bool:
    """Whether a value counts as absent."""
    return value is None or (isinstance(value, list) and not value)
