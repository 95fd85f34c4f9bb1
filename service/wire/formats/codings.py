"""Content codings: compresses bodies as gzip or Zstandard, and decompresses gzip members or one Zstandard frame.

Knows bytes and limits, not which coding a client wants. A body is decompressed in steps, so that a small one cannot
grow beyond the limit.
"""

import sys
import zlib
from collections.abc import Callable, Iterable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, field
from io import BytesIO
from mmap import mmap
from typing import TypeAlias

if sys.version_info >= (3, 14):
    from compression import zstd
else:
    from backports import zstd

from service.curves.clock import still_time
from service.wire.problems import Problem

Body: TypeAlias = bytes | mmap
"""A request's body, in memory or in a file; slices are bytes."""

Piece: TypeAlias = bytes | memoryview
"""A part of an answer's body."""

IDENTITY = "identity"
"""The name of no coding."""

MIN_COMPRESSED_BYTES = 1024
"""A shorter answer is not compressed: it fits in a packet either way."""

_CODED_BYTES = 1 << 20
"""The most bytes produced at a time."""

_STEP_BYTES = 1 << 14
"""Bytes read at a time; what follows a gzip member within them is copied. They take at most a few milliseconds, even if
they are blocks that each describe a code of their own and have no content."""

_GZIP_MAGIC = b"\x1f\x8b"
_GZIP_LEVEL = 1
_ZSTD_LEVEL = 1
"""Level 1 compresses the JSON of 1e5 rows to 0.28 (gzip) and 0.20 (zstd) of its size; gzip 6 gains 17 % but takes
6 times as long, and zstd 3 gains nothing."""

_MOST_MEMBERS = 10_000
"""Each gzip member takes time, however short. In blocks of 64 KiB, as bgzip writes, this many are 640 MiB."""

_GZIP_FORMAT = 31
"""zlib's wbits for a gzip member, with header and checksum verified, and a window of up to 32 KiB."""

_ZSTD_HEADER = 18
"""The longest header of a frame."""

_ZSTD_WINDOW: dict[int, int] = {zstd.DecompressionParameter.window_log_max: 23}
"""8 MB, the largest window of a frame used as a content coding (RFC 9659)."""

_ZSTD_LACKS = ("Allocation error", "Unable to create")
"""Errors with this text are not the content's fault."""


class _Early(Exception):
    """The body ends before the compressed data does."""


class _Trailing(Exception):
    """The body goes on after the compressed data."""


@dataclass(frozen=True, slots=True)
class Coding:
    """A content coding: its name, and that of a complete unit, the unit's first bytes, and both directions.

    decompressed  yields the content in pieces of at most _CODED_BYTES; raises `error`, _Early or _Trailing.
    meanings      {text in an error: its meaning}, for errors other than damage.
    announced     the length that the content declares, else 0; if that exceeds the limit, nothing is decompressed.
    """

    name: str
    whole: str
    magic: bytes
    decompressed: Callable[[Body], Iterator[bytes]]
    error: type[Exception]
    compressed: Callable[[Iterable[Piece]], Iterator[bytes]]
    meanings: Mapping[str, str] = field(default_factory=dict)
    announced: Callable[[Body], int] = lambda _: 0

    def refusal(self, body: Body, error: Exception) -> str:
        """Say why a body could not be decompressed."""
        if not self.magic.startswith(body[: len(self.magic)]):
            return f"Content-Encoding says {self.name}, but the body is not {self.name}."
        if isinstance(error, _Early):
            return f"The body ends before the end of its {self.whole}."
        if isinstance(error, _Trailing):
            return f"There is extra data after the {self.whole}."
        known = (meaning for words, meaning in self.meanings.items() if words in str(error))
        return next(known, f"The {self.whole} is damaged.")


def decompress(coding: str, body: Body, limit: int) -> Body:
    """Decompress a body, which takes between 1 and 400 ns for each of its bytes.

    Raises TooMuchWork; Problem body_too_large as soon as there are more than `limit` bytes, and malformed_body unless
    the body is complete and nothing follows it.
    """
    if coding == IDENTITY:
        return body
    found = CODINGS[coding]
    if found.announced(body) > limit:
        raise _too_large(limit)
    content = BytesIO()  # its buffer becomes the result without a copy
    try:
        for piece in found.decompressed(body):
            still_time()
            if content.tell() + len(piece) > limit:
                raise _too_large(limit)
            content.write(piece)
    except (found.error, _Early, _Trailing) as error:
        raise Problem("malformed_body", found.refusal(body, error)) from None
    return content.getvalue()


def _too_large(limit: int) -> Problem:
    return Problem(
        "body_too_large",
        f"Decompressed, the body is longer than the limit of {limit} bytes.",
    )


def compress(coding: str, body: bytes) -> bytes:
    """Compress a body."""
    return b"".join(compressed(coding, [body]))


def compressed(coding: str, pieces: Iterable[Piece]) -> Iterable[Piece]:
    """Compress an answer that comes in pieces."""
    return pieces if coding == IDENTITY else CODINGS[coding].compressed(pieces)


def _gzipped(pieces: Iterable[Piece]) -> Iterator[bytes]:
    stream = zlib.compressobj(_GZIP_LEVEL, zlib.DEFLATED, _GZIP_FORMAT)
    for piece in pieces:
        yield stream.compress(piece)
    yield stream.flush()


def _zstd_compressed(pieces: Iterable[Piece]) -> Iterator[bytes]:
    with _as_memory_error():
        stream = zstd.ZstdCompressor(_ZSTD_LEVEL)
        for piece in pieces:
            yield stream.compress(piece)
        yield stream.flush()


def _gunzipped(body: Body) -> Iterator[bytes]:
    """Decompress one member after another (RFC 1952)."""
    stream = zlib.decompressobj(_GZIP_FORMAT)
    members = 1
    for start in range(0, len(body), _STEP_BYTES):
        piece = body[start : start + _STEP_BYTES]
        while piece:
            if stream.eof:
                members += 1
                if not piece.startswith(_GZIP_MAGIC[: len(piece)]):
                    raise _Trailing
                if members > _MOST_MEMBERS:
                    detail = f"The body has more than {_MOST_MEMBERS} gzip members; compress it in fewer, longer ones."
                    raise Problem("malformed_body", detail)
                stream = zlib.decompressobj(_GZIP_FORMAT)
            yield stream.decompress(piece, _CODED_BYTES)
            # After the end, unconsumed_tail may repeat unused_data.
            piece = stream.unused_data if stream.eof else stream.unconsumed_tail
    _check_end(eof=stream.eof, unused=b"")


def _unzstd(body: Body) -> Iterator[bytes]:
    with _as_memory_error():
        stream = zstd.ZstdDecompressor(options=_ZSTD_WINDOW)
        for start in range(0, len(body), _STEP_BYTES):
            if stream.eof:
                raise _Trailing
            yield stream.decompress(body[start : start + _STEP_BYTES], _CODED_BYTES)
            while not (stream.eof or stream.needs_input):
                yield stream.decompress(b"", _CODED_BYTES)
    _check_end(eof=stream.eof, unused=stream.unused_data)


@contextmanager
def _as_memory_error() -> Iterator[None]:
    """Raise MemoryError if memory ran out, which Zstandard reports by the same error as damage."""
    try:
        yield
    except zstd.ZstdError as error:
        if any(lack in str(error) for lack in _ZSTD_LACKS):
            raise MemoryError from error
        raise


def _zstd_announced(body: Body) -> int:
    try:
        return zstd.get_frame_info(body[:_ZSTD_HEADER]).decompressed_size or 0
    except zstd.ZstdError:  # not a frame, or an incomplete header
        return 0


def _check_end(*, eof: bool, unused: bytes) -> None:
    if not eof:
        raise _Early
    if unused:
        raise _Trailing


CODINGS = {
    "zstd": Coding(
        "Zstandard",
        "Zstandard frame",
        b"\x28\xb5\x2f\xfd",
        _unzstd,
        zstd.ZstdError,
        _zstd_compressed,
        {
            "memory": "The Zstandard frame has a window of more than 8 MB; compress it with a smaller one.",
            "Dictionary": "The Zstandard frame needs a dictionary; compress it without one.",
        },
        _zstd_announced,
    ),
    "gzip": Coding(
        "gzip",
        "gzip member",
        _GZIP_MAGIC,
        _gunzipped,
        zlib.error,
        _gzipped,
    ),
}
"""{name in Content-Encoding and Accept-Encoding: coding}, the preferred one first."""
