"""From marshmallow's tree of messages to the flat list of errors in a problem, each with its JSON pointer."""

from collections.abc import Callable, Iterator

from marshmallow import ValidationError

from service.wire.fields import Fault
from service.wire.problems import FieldError, pointer_token


def field_errors(error: ValidationError, rename: Callable[[str], str]) -> list[FieldError]:
    """List the faults of a failed load by pointer; `rename` turns a pointer into the document to the caller's."""
    # marshmallow walks unknown fields in the order of a set, which changes from process to process.
    faults = sorted(_faults(error.messages_dict, ""), key=lambda pair: pair[0])
    return [FieldError(rename(pointer), fault.code, fault.detail) for pointer, fault in faults]


def _faults(messages: object, pointer: str) -> Iterator[tuple[str, Fault]]:
    if isinstance(messages, dict):
        for key, inner in messages.items():
            yield from _faults(inner, pointer if key == "_schema" else f"{pointer}/{pointer_token(str(key))}")
    elif isinstance(messages, list):
        for fault in messages:
            yield from _faults(fault, pointer)
    elif isinstance(messages, Fault):
        yield (pointer if messages.row is None else f"{pointer}/{messages.row}"), messages
    else:
        raise TypeError(f"marshmallow's own message is left unmapped: {messages!r}")
