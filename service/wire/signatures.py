"""Bodies that are something else than they are said to be, told by the bytes that they begin with.

Looked at only when a body could not be read: a CSV file may begin with anything.
"""

from dataclasses import dataclass

from service.wire.media_types import ARROW_STREAM, PARQUET


@dataclass(frozen=True, slots=True)
class Signature:
    """What a body is: its name in a sentence, and the content coding or the media type to say, where there is one."""

    name: str
    begins: bytes
    ends: bytes = b""
    coding: str | None = None
    media_type: str | None = None


ARROW_FILE = Signature("an Arrow file", b"ARROW1\0\0")
_SIGNATURES = (
    Signature("gzip", b"\x1f\x8b", coding="gzip"),
    Signature("Zstandard", b"\x28\xb5\x2f\xfd", coding="zstd"),
    Signature("a Parquet file", b"PAR1", b"PAR1", media_type=PARQUET),
    Signature("an Arrow stream", b"\xff\xff\xff\xff", media_type=ARROW_STREAM),
    ARROW_FILE,
)


def signature_of(body: bytes) -> Signature | None:
    """Tell what a body is; None for text, and for what is not known."""
    return next((each for each in _SIGNATURES if body.startswith(each.begins) and body.endswith(each.ends)), None)
