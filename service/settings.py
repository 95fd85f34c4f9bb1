"""The service's settings, read once from ROCPR_* variables, and the place of the files that ship with it.

Knows the environment and the installed package; knows nothing of HTTP, of bytes on the wire or of curves.
"""

import os
from collections.abc import Callable, Mapping
from pathlib import Path

import environ


class SettingsError(ValueError):
    """A variable of the environment has a value that the service cannot run with; the message names it."""


def _whole_number(variable: str, low: int, high: int) -> Callable[[object], int]:
    """Make a converter from a variable's text to a whole number in low..high."""

    def convert(value: object) -> int:
        text = str(value).strip()
        number = int(text) if text.isascii() and text.isdecimal() and len(text) <= len(str(high)) else -1
        if not low <= number <= high:
            message = f"{variable} must be a whole number from {low} to {high}, not {text[:40]!r}"
            raise SettingsError(message)
        return number

    return convert


def _setting(variable: str, default: int, low: int, high: int, meaning: str) -> int:
    """Declare one whole-number setting under the full name of its variable."""
    number: int = environ.var(
        default=default, converter=_whole_number(variable, low, high), name=variable, help=meaning
    )
    return number


@environ.config(prefix="ROCPR", frozen=True)
class Settings:
    """What an operator may choose; every field is one variable, read at start and never again."""

    max_body_bytes: int = _setting(
        "ROCPR_MAX_BODY_BYTES", 64 * 1024**2, 1, 2**40, "The longest request body that is read, in bytes; more is 413."
    )
    max_decompressed_bytes: int = _setting(
        "ROCPR_MAX_DECOMPRESSED_BYTES",
        256 * 1024**2,
        1,
        2**40,
        "The most bytes that a compressed body may become; more is 413.",
    )
    max_rows: int = _setting(
        "ROCPR_MAX_ROWS", 5_000_000, 1, 2**40, "The most rows that a sample or a table of counts may have; more is 413."
    )
    max_interpolated_rows: int = _setting(
        "ROCPR_MAX_INTERPOLATED_ROWS",
        100_000,
        2_000,  # what the default interpolation may need
        2**40,
        "The most rows that one interpolated curve may be asked for; more is 422.",
    )
    workers: int = _setting(
        "ROCPR_WORKERS", 2, 1, 1024, "How many processes serve requests; one evaluation uses one processor at a time."
    )
    threads: int = _setting(
        "ROCPR_THREADS", 8, 1, 1024, "How many requests one process serves at a time; slow clients hold a thread each."
    )


def read_settings(variables: Mapping[str, str] | None = None) -> Settings:
    """Read and check the settings.

    Raises SettingsError, with the variable's name, when a value cannot be used.
    """
    return environ.to_config(Settings, environ=dict(os.environ if variables is None else variables))


def shipped_file(name: str) -> Path:
    """Find a file that ships with the service, such as `openapi.yaml`.

    An installed package carries it in `service/shipped`; a checkout has it where its authors edit it.
    """
    here = Path(__file__).resolve().parent
    places = (here / "shipped" / Path(name).name, here.parent / name)
    for place in places:
        if place.is_file():
            return place
    message = f"{name} is neither in the installed package nor in a checkout around it"
    raise FileNotFoundError(message)
