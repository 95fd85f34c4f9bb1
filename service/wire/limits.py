"""Limits of one request; decoders check a body against them before they allocate anything for it."""

from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class Limits:
    """The limits of one request.

    max_decompressed_bytes bounds what a body may become, and what a file that is compressed within may hold.
    """

    max_rows: int
    max_interpolated_rows: int
    max_decompressed_bytes: int = 256 << 20
