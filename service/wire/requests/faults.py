"""From faults and facts to the errors of a problem, each with its code and its JSON pointer.

Translates marshmallow's tree of messages, and facts of the mathematics, which no schema can find.
"""

from collections.abc import Callable, Iterator

from marshmallow import ValidationError

from service.curves.errors import (
    ContradictingSquares,
    ContradictingTotals,
    DomainError,
    EndsReversed,
    GroupsOverlap,
    LengthsDiffer,
    NeedsExactGroups,
    NoRowMeets,
    NotPaired,
    NotProbabilities,
    OneClassLabels,
    RisingThresholds,
    TooManyPoints,
    TotalOutOfRange,
    TotalsDiffer,
)
from service.wire.problems import FieldError, pointer_token
from service.wire.requests.object_schemas import is_absent
from service.wire.wrong import Wrong

DOMAIN_ERROR_CODES: dict[type[DomainError], str] = {
    LengthsDiffer: "lengths_differ",
    OneClassLabels: "one_class",
    TotalOutOfRange: "total_out_of_range",
    ContradictingTotals: "contradicting_totals",
    RisingThresholds: "rising_thresholds",
    TooManyPoints: "too_many_points",
    NoRowMeets: "no_row_meets",
    TotalsDiffer: "totals_differ",
    NotPaired: "not_paired",
    EndsReversed: "not_rising",
    GroupsOverlap: "groups_overlap",
    ContradictingSquares: "contradicting_squares",
    NeedsExactGroups: "needs_exact_groups",
    NotProbabilities: "out_of_range",
}
"""The one place where an error of the mathematics gets the code that clients see."""

DOMAIN_ERROR_POINTERS: dict[type[DomainError], str] = {
    RisingThresholds: "/counts/threshold",
    NoRowMeets: "/min_precision",
}
"""The pointers of facts found only by evaluating; the others are found while building the request's objects."""


def field_error_of(error: DomainError, document: object, rename: Callable[[str], str]) -> FieldError:
    """The field of an error found by evaluating a document; `rename` maps a pointer into it to the caller's."""
    evaluation = f"/evaluations/{error.evaluation}" if isinstance(error.evaluation, int) else f"/{error.evaluation}"
    if error.evaluation is None or error.column == "paired" or _only_beside_it(error, document):
        evaluation = ""
    place = DOMAIN_ERROR_POINTERS.get(type(error), "" if error.column is None else f"/{error.column}")
    row = "" if error.row is None else f"/{error.row}"
    return FieldError(rename(evaluation + place + row), DOMAIN_ERROR_CODES[type(error)], error.detail)


def _only_beside_it(error: DomainError, document: object) -> bool:
    """Whether, of two evaluations with different weights, only the other one was given weights."""
    if not isinstance(error, NotPaired) or isinstance(error.evaluation, int):
        return False
    inner = document.get(error.evaluation) if isinstance(document, dict) else None
    return is_absent(inner.get(error.column) if isinstance(inner, dict) else None)


def field_errors(error: ValidationError, rename: Callable[[str], str]) -> list[FieldError]:
    """List the faults of a failed load by pointer; `rename` maps a pointer into the document to the caller's."""
    # In an order that does not depend on that of the members of a body.
    faults = sorted(_faults(error.messages_dict, ""), key=lambda pair: _place(pair[0]))
    # Report a fault once for a column that several evaluations share.
    return list(dict.fromkeys(FieldError(rename(pointer), fault.code, fault.detail) for pointer, fault in faults))


def _place(pointer: str) -> list[tuple[bool, int, str]]:
    """The sort key of a pointer: rows by number, names alphabetically."""
    return [(False, int(token), "") if token.isdecimal() else (True, 0, token) for token in pointer.split("/")]


def _faults(messages: object, pointer: str) -> Iterator[tuple[str, Wrong]]:
    if isinstance(messages, dict):
        for key, inner in messages.items():
            of_object = key == "_schema" and not _is_unknown(inner)
            yield from _faults(inner, pointer if of_object else f"{pointer}/{pointer_token(str(key))}")
    elif isinstance(messages, list):
        for fault in messages:
            yield from _faults(fault, pointer)
    elif isinstance(messages, Wrong):
        yield (pointer if messages.row is None else f"{pointer}/{messages.row}"), messages
    else:
        raise TypeError(f"marshmallow's own message is left unmapped: {messages!r}")


def _is_unknown(messages: object) -> bool:
    """Whether these are messages of an unknown field, whose name may be marshmallow's name for the whole object."""
    return isinstance(messages, list) and any(
        isinstance(fault, Wrong) and fault.code == "unknown_field" for fault in messages
    )
