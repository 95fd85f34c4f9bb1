"""The API keys of a server: a file of names and SHA-256 hashes, and the name to which a presented key belongs.

Knows the file, its hashes and when to reread it; nothing of HTTP. Neither a key nor a line of the file is ever logged.
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
"""The prefix of all keys from `new_key`, so that a leaked key can be recognised."""

NAME = re.compile(r"[A-Za-z0-9._-]{1,64}")
_LINE = re.compile(rf"({NAME.pattern})\s+([0-9a-fA-F]{{64}})".encode())
_RANDOM_BYTES = 32
SECRET_LENGTH = 43
"""The characters of a key after its prefix: 32 bytes in base64."""

_MOST_REPORTED = 5
"""The most wrong lines of a file reported at once."""

_logger = logging.getLogger("service")
"""The application's logger, whose messages the log shows; for other loggers it shows only the place."""

_Signature = tuple[int, int, int] | None
"""The identity of a file's state: modification time (ns), size, inode; None without a file."""

_UNREAD: _Signature = (0, 0, 0)
"""The signature of a file that has not been read yet."""


@dataclass(frozen=True, slots=True)
class _Key:
    name: str
    digest: bytes


class Keys:
    """The keys of one file, reread whenever the file has changed; thread-safe.

    Valid keys depend only on the current content of the file, so that all processes of a server agree, and a removed
    key stays invalid. An invalid line is logged as an error and ignored; the others count.
    """

    def __init__(self, path: Path) -> None:
        self._path = path
        self._lock = threading.Lock()
        self._signature: _Signature = _UNREAD
        self._reported = ""
        self._keys: tuple[_Key, ...] = ()
        self._read_again_if_changed()

    def name_of(self, token: str) -> str | None:
        """Return the name to which a key belongs, or None.

        Compares every hash, each in constant time.
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
                return  # another thread has read it
            try:
                self._keys, faults = _read(self._path)
            except OSError as error:
                self._keys = ()
                # An existing file may become readable without changing, so the next request tries again.
                self._signature = _UNREAD if now else None
                self._report_unreadable(_unreadable(error))
                return
            self._signature = now  # taken before reading, so that a later change is noticed
            self._reported = ""
            for fault in faults[:_MOST_REPORTED]:
                _logger.error("%s", fault)
            _logger.info("%s: keys read: %d.", KEYS_VARIABLE, len(self._keys))

    def _report_unreadable(self, fault: str) -> None:
        """Log that the file is unreadable, once, not with each request that tries again."""
        if fault != self._reported:
            self._reported = fault
            _logger.error("%s", fault)


def bearer_token(authorization: str) -> str | None:
    """Return the token after Bearer in an Authorization header; None for another scheme, no token, or no header.

    Several Authorization headers arrive joined by commas, which matches no key.
    """
    scheme, _, token = authorization.partition(" ")
    return token.strip(" \t") or None if scheme.lower() == "bearer" else None


def check_file(path: Path) -> None:
    """Check a file of keys, as at the start of the server.

    Raises SettingsError, with the number but never the content of a line, if the file is invalid.
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

    Raises ValueError if the name is not allowed.
    """
    if not NAME.fullmatch(name):
        raise ValueError("A name has 1 to 64 of the characters A-Z a-z 0-9 . _ -")
    key = KEY_PREFIX + secrets.token_urlsafe(_RANDOM_BYTES)
    return key, f"{name} {sha256(key.encode()).hexdigest()}"


def names_in(data: bytes) -> frozenset[str]:
    """Return the names in the content of a file of keys, which may be empty.

    Raises SettingsError for an invalid line.
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
    """Read the whole file: its keys, and a sentence for each error in it. Raises OSError."""
    if not stat.S_ISREG(path.stat().st_mode):  # reading a pipe would block
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
