"""The service's settings, read once from ROCPR_* variables, and the location of files shipped with it.

Knows the environment and the installed package; nothing of HTTP, of bytes on the wire or of curves.
"""

import errno
import os
import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field, fields
from difflib import get_close_matches
from pathlib import Path
from tempfile import TemporaryFile


class SettingsError(ValueError):
    """An environment variable has a value that the service cannot run with; the message names the variable."""


def variable_of(name: str) -> str:
    """The environment variable of a setting."""
    return f"ROCPR_{name.upper()}"


def _number(default: int, low: int, high: int, meaning: str) -> int:
    """Declare a setting that is a whole number in low..high."""

    def read(variable: str, text: str) -> int:
        number = int(text) if text.isascii() and text.isdecimal() and len(text) <= len(str(high)) else -1
        if not low <= number <= high:
            raise SettingsError(f"{variable} must be a whole number from {low} to {high}, not {text[:40]!r}")
        return number

    setting: int = field(default=default, metadata={"read": read, "meaning": meaning})
    return setting


def _seconds(default: float, high: int, meaning: str) -> float:
    """Declare a setting that is a time in seconds, up to `high`, perhaps with decimals."""

    def read(variable: str, text: str) -> float:
        seconds = float(text) if re.fullmatch(r"\d{1,9}(\.\d{1,9})?", text, re.ASCII) else -1.0
        if not 0 <= seconds <= high:
            raise SettingsError(f"{variable} must be a number of seconds from 0 to {high}, not {text[:40]!r}")
        return seconds

    setting: float = field(default=default, metadata={"read": read, "meaning": meaning})
    return setting


def _text(meaning: str) -> str:
    """Declare a setting that is a text, by default empty."""
    setting: str = field(default="", metadata={"read": lambda _, text: text, "meaning": meaning})
    return setting


def _choice(default: str, choices: tuple[str, ...], meaning: str) -> str:
    """Declare a setting that is one of a few words."""

    def read(variable: str, text: str) -> str:
        if text.lower() not in choices:
            raise SettingsError(f"{variable} must be one of {', '.join(choices)}, not {text.lower()[:40]!r}")
        return text.lower()

    setting: str = field(default=default, metadata={"read": read, "meaning": meaning})
    return setting


@dataclass(frozen=True, slots=True)
class Settings:
    """The operator's choices; every field is one variable, ROCPR_ and its name in capitals, read once at start."""

    max_body_bytes: int = _number(64 * 1024**2, 1, 2**40, "Largest request body, in bytes; a larger one gets 413.")
    max_decompressed_bytes: int = _number(
        256 * 1024**2, 1, 2**40, "Largest body after decompression, in bytes; a larger one gets 413."
    )
    max_rows: int = _number(
        5_000_000, 1, 2**40, "Maximum number of rows in a sample or a table of counts; more get 413."
    )
    max_interpolated_rows: int = _number(
        100_000,
        2_000,  # what the default interpolation may need
        2**40,
        "Maximum number of rows in one interpolated curve; more get 422.",
    )
    max_answer_bytes: int = _number(
        1024**3, 1, 2**50, "Largest answer before compression, in bytes; a larger one gets 413."
    )
    slots: int = _number(2, 1, 256, "How many big requests all workers together evaluate at once; others wait.")
    big_body_bytes: int = _number(
        256 * 1024,
        0,
        2**40,
        "A request is big if its body is longer than this, in bytes, or decompresses to more, or if its answer is more "
        "than four times as long.",
    )
    small_seconds: float = _seconds(
        0.01,
        86_400,
        "A request is also big if it takes more processor time than this, in seconds, in the process that received it.",
    )
    big_seconds: int = _number(
        30, 1, 86_400, "How long the work on a big request may take, in seconds; after that it gets 503."
    )
    big_memory_bytes: int = _number(
        2 * 1024**3,
        256 * 1024**2,
        2**50,
        "Memory limit of a process that evaluates big requests, in bytes; a request that needs more gets 413.",
    )
    min_body_rate: int = _number(
        32 * 1024,
        1,
        2**40,
        "Lowest average speed of a body, in bytes per second, after the first ten seconds; a slower one gets 408.",
    )
    retry_after_seconds: int = _number(2, 1, 86_400, "Retry-After of 429 and 503 answers, in seconds.")
    drain_seconds: int = _number(
        0,
        0,
        3_600,
        "How long a stopping server still accepts requests, in seconds, while /health/ready already answers 503.",
    )
    key_concurrency: int = _number(
        8, 1, 4_096, "How many requests one API key may have in progress at once; more get 429."
    )
    api_keys_file: str = _text("A file of API keys (rocpr key new); if set, requests need one of them.")
    datasets_file: str = _text("A file of named datasets (TOML) that requests may use; it needs API keys.")
    trusted_proxies: str = _text(
        "Proxies whose X-Forwarded-For is trusted: addresses, networks or the word unix, separated by commas."
    )
    cors_origins: str = _text("Origins whose pages may read answers in a browser, separated by commas.")
    log_level: str = _choice(
        "info",
        ("debug", "info", "warning"),
        "debug logs every request, info all except /health and /metrics, warning only failures of the server.",
    )
    compiled: str = _choice(
        "auto",
        ("auto", "off"),
        "auto uses the loops in C if they were compiled with the package; off never does. "
        "Numbers are the same within the stated accuracy.",
    )
    spool_dir: str = _text(
        "Directory for the bodies of big requests and for answers; by default the system's temporary one."
    )
    runtime_dir: str = _text(
        "Directory for what the server's processes share; the server creates it and sets this itself."
    )
    commit: str = _text("The commit that /version shows if neither pip nor git knows it.")
    workers: int = _number(
        2, 1, 1024, "Number of processes that serve requests; an evaluation uses one processor at a time."
    )
    connections: int = _number(
        10_000,
        16,
        1_000_000,
        "How many connections one process keeps open; beyond that it closes the longest idle ones.",
    )
    queue_seconds: int = _number(
        45, 1, 86_400, "How long a request waits for its turn, in seconds; after that it gets 503."
    )
    spool_bytes: int = _number(
        2 * 1024**3,
        1024**2,
        2**50,
        "Bytes of bodies and answers that all workers keep in files; beyond that the slowest clients are dropped.",
    )


def read_settings(variables: Mapping[str, str] | None = None) -> Settings:
    """Read and check the settings; an empty variable counts as unset.

    Raises SettingsError, with the variable's name, if a value is invalid.
    """
    given = os.environ if variables is None else variables
    texts = {each: given.get(variable_of(each.name), "").strip() for each in fields(Settings)}
    read = {each.name: each.metadata["read"](variable_of(each.name), text) for each, text in texts.items() if text}
    return Settings(**read)


_ALIKE = 0.85
"""The similarity from which a name counts as a typo of another; 1 means equal."""


def mistyped_settings(variables: Mapping[str, str] | None = None) -> Iterator[str]:
    """Yield a sentence for each ROCPR_* variable that is not a setting but looks like one.

    Other variables may belong to something else, such as the clients of a CI job.
    """
    known = [variable_of(each.name) for each in fields(Settings)]
    for name in sorted(os.environ if variables is None else variables):
        near = get_close_matches(name, known, 1, _ALIKE) if name.startswith("ROCPR_") and name not in known else []
        if near:
            yield f"{name} is not a setting; it is ignored. Did you mean {near[0]}?"


def check_spool_directory(settings: Settings) -> None:
    """Raise SettingsError unless files can be created in the spool directory, or could if it were not full."""
    directory = settings.spool_dir
    if not directory:
        return
    try:
        TemporaryFile(dir=directory).close()
    except (OSError, ValueError) as error:  # ValueError for a NUL in the name
        if getattr(error, "errno", None) not in {errno.ENOSPC, errno.EDQUOT}:
            raise SettingsError(f"ROCPR_SPOOL_DIR must be a writable directory, not {directory[:80]!r}") from error


def shipped_file(name: str) -> Path:
    """Find a file shipped with the service, such as `openapi.yaml`.

    An installed package has it in `service/shipped`; a checkout has it at `name`.
    """
    here = Path(__file__).resolve().parent
    places = (here / "shipped" / Path(name).name, here.parent / name)
    for place in places:
        if place.is_file():
            return place
    message = f"{name} is in neither the installed package nor a checkout around it"
    raise FileNotFoundError(message)
