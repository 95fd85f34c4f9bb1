"""Content codings: a body compressed as one gzip member or one Zstandard frame, and back.

Knows bytes and limits; which coding a client wants is for others. A body from outside is decompressed in steps, so
that not more than the limit is made of a small one.
"""

import sys
import zlib
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from io import BytesIO

if sys.version_info >= (3, 14):
    from compression import zstd
else:
    from backports import zstd

from service.wire.problems import Problem

IDENTITY = "identity"
"""The coding that is none."""

MIN_COMPRESSED_BYTES = 1024
"""A shorter answer is sent as it is: it fits in a packet either way."""

_STEP = 1 << 20
"""How much is read, and how much is made, at a time."""

_GZIP_LEVEL = 1
_ZSTD_LEVEL = 1
"""Level 1 makes 0.28 (gzip) and 0.20 (zstd) of the JSON of 1e5 rows; gzip 6 gains 17 % and takes 6 times as long, and
zstd 3 gains nothing."""

_GZIP_FORMAT = 31
"""zlib's number for a gzip member, of which the header and the checksum are verified, with a window of up to 32 KiB."""

_ZSTD_WINDOW: dict[int, int] = {zstd.DecompressionParameter.window_log_max: 23}
"""8 MB, the most that a frame may ask for as a content coding (RFC 9659)."""


class _NotOneWhole(Exception):
    """The body ends before the compressed data does, or goes on after it."""


@dataclass(frozen=True, slots=True)
class Coding:
    """A content coding: how it is called in sentences, and both directions.

    decompressed  gives the content in pieces of at most _STEP; raises `error` or _NotOneWhole.
    """

    whole: str
    decompressed: Callable[[bytes], Iterator[bytes]]
    error: type[Exception]
    compressed: Callable[[bytes], bytes]


def decompress(coding: str, body: bytes, limit: int) -> bytes:
    """Decompress a body.

    Raises Problem body_too_large as soon as there are more than `limit` bytes, malformed_body unless the body is
    exactly one whole member or frame.
    """
    if coding == IDENTITY:
        return body
    found = CODINGS[coding]
    content = BytesIO()  # its buffer becomes the result without a copy
    try:
        for piece in found.decompressed(body):
            if content.tell() + len(piece) > limit:
                raise Problem(
                    "body_too_large",
                    f"Decompressed, the body is longer than {limit} bytes, the most that this server makes of one.",
                )
            content.write(piece)
    except (found.error, _NotOneWhole):
        raise Problem("malformed_body", f"The body is not exactly one {found.whole}.") from None
    return content.getvalue()


def compress(coding: str, body: bytes) -> bytes:
    """Compress an answer."""
    return body if coding == IDENTITY else CODINGS[coding].compressed(body)


def _gunzipped(body: bytes) -> Iterator[bytes]:
    stream = zlib.decompressobj(_GZIP_FORMAT)
    for start in range(0, len(body), _STEP):
        if stream.eof:
            raise _NotOneWhole
        piece = body[start : start + _STEP]
        while piece and not stream.eof:  # after the end, unconsumed_tail may repeat what is in unused_data
            yield stream.decompress(piece, _STEP)
            piece = stream.unconsumed_tail
    if not stream.eof or stream.unused_data:
        raise _NotOneWhole


def _unzstd(body: bytes) -> Iterator[bytes]:
    stream = zstd.ZstdDecompressor(options=_ZSTD_WINDOW)
    for start in range(0, len(body), _STEP):
        if stream.eof:
            raise _NotOneWhole
        yield stream.decompress(body[start : start + _STEP], _STEP)
        while not (stream.eof or stream.needs_input):
            yield stream.decompress(b"", _STEP)
    if not stream.eof or stream.unused_data:
        raise _NotOneWhole


CODINGS = {
    "zstd": Coding(
        "Zstandard frame with a window of at most 8 MB and without a dictionary",
        _unzstd,
        zstd.ZstdError,
        lambda body: zstd.compress(body, _ZSTD_LEVEL),
    ),
    "gzip": Coding("gzip member", _gunzipped, zlib.error, lambda body: zlib.compress(body, _GZIP_LEVEL, _GZIP_FORMAT)),
}
"""{name in Content-Encoding and Accept-Encoding: coding}, the preferred one first."""
