"""How much one request may ask for; decoders hold a body to it before they make anything of it."""

from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class Limits:
    """How much one request may ask for.

    max_decompressed_bytes bounds what a body may become, and what a file that is compressed within may hold.
    """

    max_rows: int
    max_interpolated_rows: int
    max_decompressed_bytes: int = 256 << 20
