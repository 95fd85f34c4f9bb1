"""Limits of one request; decoders check a body against them before they allocate anything for it."""

from dataclasses import dataclass
from typing import Self

from service.settings import Settings


@dataclass(frozen=True, slots=True)
class Limits:
    """The limits of one request.

    max_decompressed_bytes   what a body may become, and what a file that is compressed within may hold.
    max_answer_bytes         what an answer may be before compression.
    """

    max_rows: int
    max_interpolated_rows: int
    max_decompressed_bytes: int = 256 << 20
    max_answer_bytes: int = 1 << 30

    @classmethod
    def of(cls, settings: Settings) -> Self:
        """The limits that the settings of the same names give."""
        return cls(**{name: getattr(settings, name) for name in cls.__slots__})
