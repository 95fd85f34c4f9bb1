"""Bodies that are something else than they are said to be, told by the bytes that they begin with.

Looked at only when a body could not be read: a CSV file may begin with anything.
"""

from dataclasses import dataclass

from service.wire.formats.codings import IDENTITY, Body
from service.wire.media_types import ARROW_STREAM, PARQUET
from service.wire.problems import Problem


@dataclass(frozen=True, slots=True)
class Signature:
    """What a body is: its name in a sentence, and the content coding or the media type to say, where there is one."""

    name: str
    begins: bytes
    ends: bytes = b""
    coding: str | None = None
    media_type: str | None = None


ARROW_FILE = Signature("an Arrow file", b"ARROW1\0\0")
_KNOWN_SIGNATURES = (
    Signature("gzip", b"\x1f\x8b", coding="gzip"),
    Signature("Zstandard", b"\x28\xb5\x2f\xfd", coding="zstd"),
    Signature("a Parquet file", b"PAR1", b"PAR1", media_type=PARQUET),
    Signature("an Arrow stream", b"\xff\xff\xff\xff", media_type=ARROW_STREAM),
    ARROW_FILE,
)

_LONGEST = 8
"""Bytes of the longest beginning."""


def signature_of(body: Body) -> Signature | None:
    """Tell what a body is; None for text, and for what is not known."""
    head, tail = body[:_LONGEST], body[-_LONGEST:]
    return next((each for each in _KNOWN_SIGNATURES if head.startswith(each.begins) and tail.endswith(each.ends)), None)


def mislabelled(body: Body, content_type: str, content_encoding: str) -> Problem | None:
    """Make the problem of a body that is something else than its headers say; None for any other."""
    found = signature_of(body)
    if found is None or found.media_type == content_type:
        return None
    if found is ARROW_FILE and content_type == ARROW_STREAM:
        return None  # which has said so
    if found.coding is None:
        advice = f"say Content-Type: {found.media_type or f'{ARROW_STREAM}, and write it as a stream'}"
    elif content_encoding == IDENTITY:
        advice = f"say Content-Encoding: {found.coding}"
    else:
        advice = "compress it once"
    return Problem("malformed_body", f"This looks like {found.name}: {advice}.")
