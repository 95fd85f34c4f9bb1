"""The API keys of a server: a file of names and SHA-256 hashes, and who a presented key belongs to.

Knows the file, hashes and when to read it again; nothing of HTTP. Neither a key nor a line of the file is ever logged.
"""

import hmac
import logging
import re
import secrets
import stat
import threading
from dataclasses import dataclass
from hashlib import sha256
from pathlib import Path

from service.settings import SettingsError

KEYS_VARIABLE = "ROCPR_API_KEYS_FILE"
KEY_PREFIX = "rocpr_"
"""What every key that `new_key` makes begins with, so that one that leaked is recognised."""

NAME = re.compile(r"[A-Za-z0-9._-]{1,64}")
_LINE = re.compile(rf"({NAME.pattern})\s+([0-9a-fA-F]{{64}})".encode())
_RANDOM_BYTES = 32
_MAX_TOLD = 5
"""How many wrong lines of a file are reported at once."""

_logger = logging.getLogger("service")
"""The application's own, whose messages the log shows; of other loggers it shows the place alone."""

_Signature = tuple[int, int, int] | None
"""What tells two states of a file apart: when it was changed (ns), its size, its inode; None without a file."""

_UNREAD: _Signature = (0, 0, 0)
"""Of a file that is still to be read."""


@dataclass(frozen=True, slots=True)
class _Key:
    name: str
    digest: bytes


class Keys:
    """The keys of one file, read again whenever the file has changed; may be used by several threads.

    Who has a key depends on nothing but what the file holds now, so that all processes of a server agree, and a key
    that was taken out never comes back. A line that cannot be used is an error in the log, and nobody's key; the others
    count.
    """

    def __init__(self, path: Path) -> None:
        self._path = path
        self._lock = threading.Lock()
        self._signature: _Signature = _UNREAD
        self._told = ""
        self._keys: tuple[_Key, ...] = ()
        self._read_again_if_changed()

    def name_of(self, token: str) -> str | None:
        """Return the name that a key belongs to, None when it belongs to none.

        Every hash is compared, each in a time that does not depend on how much of it agrees.
        """
        self._read_again_if_changed()
        presented = sha256(token.encode("utf-8", "surrogatepass")).digest()
        found = None
        for key in self._keys:
            if hmac.compare_digest(key.digest, presented):
                found = key.name
        return found

    def _read_again_if_changed(self) -> None:
        if _signature(self._path) == self._signature:
            return
        with self._lock:
            now = _signature(self._path)
            if now == self._signature:
                return  # another thread has read it meanwhile
            try:
                self._keys, faults = _read(self._path)
            except OSError as error:
                self._keys = ()
                # What keeps a file that is there from being read may end without a sign: whoever asks next tries again.
                self._signature = _UNREAD if now else None
                self._tell_unreadable(_unreadable(error))
                return
            self._signature = now  # from before, so that a change meanwhile is seen later
            self._told = ""
            for fault in faults[:_MAX_TOLD]:
                _logger.error("%s", fault)
            _logger.info("%s: %d keys were read.", KEYS_VARIABLE, len(self._keys))

    def _tell_unreadable(self, fault: str) -> None:
        """Log it once, not with each request that tries again."""
        if fault != self._told:
            self._told = fault
            _logger.error("%s", fault)


def bearer_token(authorization: str) -> str | None:
    """Return what follows Bearer in an Authorization header; None for another scheme, nothing, or no header.

    Several Authorization headers arrive as one with commas, which matches no key.
    """
    scheme, _, token = authorization.partition(" ")
    return token.strip(" \t") or None if scheme.lower() == "bearer" else None


def check_file(path: Path) -> None:
    """Look at a file of keys as a start of the server does.

    Raises SettingsError, with the number of the line and never with what it holds, when the file cannot be used.
    """
    try:
        keys, faults = _read(path)
    except OSError as error:
        raise SettingsError(_unreadable(error)) from None
    if faults:
        raise SettingsError(faults[0])
    if not keys:
        raise SettingsError(f"{KEYS_VARIABLE}: the file holds no key; make one with rocpr key new NAME.")


def new_key(name: str) -> tuple[str, str]:
    """Make a random key for `name`: the key itself, and its line for the file.

    Raises ValueError when the name is not allowed.
    """
    if not NAME.fullmatch(name):
        raise ValueError("A name has 1 to 64 of the characters A-Z a-z 0-9 . _ -")
    key = KEY_PREFIX + secrets.token_urlsafe(_RANDOM_BYTES)
    return key, f"{name} {sha256(key.encode()).hexdigest()}"


def names_in(data: bytes) -> frozenset[str]:
    """Return the names in the contents of a file of keys, none when it holds no key.

    Raises SettingsError for a line that cannot be used.
    """
    keys, faults = _parsed(data)
    if faults:
        raise SettingsError(faults[0])
    return frozenset(key.name for key in keys)


def _signature(path: Path) -> _Signature:
    try:
        status = path.stat()
    except OSError:
        return None
    return status.st_mtime_ns, status.st_size, status.st_ino


def _read(path: Path) -> tuple[tuple[_Key, ...], list[str]]:
    """Read the whole file: its keys, and a sentence for each thing that is wrong with it. Raises OSError."""
    if not stat.S_ISREG(path.stat().st_mode):  # a pipe would be waited for
        return (), [f"{KEYS_VARIABLE}: this is not a file."]
    return _parsed(path.read_bytes())


def _unreadable(error: OSError) -> str:
    return f"{KEYS_VARIABLE}: the file cannot be read: {error.strerror}."


def _parsed(data: bytes) -> tuple[tuple[_Key, ...], list[str]]:
    keys: list[_Key] = []
    faults: list[str] = []
    seen: set[str | bytes] = set()
    for number, line in enumerate(data.splitlines(), start=1):
        text = line.strip()
        if not text or text.startswith(b"#"):
            continue
        match = _LINE.fullmatch(text)
        if match is None:
            wanted = "a name, white space and the 64 hexadecimal digits of a SHA-256 hash"
            faults.append(f"{KEYS_VARIABLE}: line {number} is not {wanted}.")
            continue
        key = _Key(match[1].decode(), bytes.fromhex(match[2].decode()))
        if not seen.isdisjoint((key.name, key.digest)):
            faults.append(f"{KEYS_VARIABLE}: line {number} repeats the name or the hash of an earlier line.")
            continue
        seen |= {key.name, key.digest}
        keys.append(key)
    return tuple(keys), faults
