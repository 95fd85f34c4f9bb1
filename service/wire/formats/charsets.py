"""The charset of a text body: UTF-8, or Windows-1252, in which spreadsheets often write CSV."""

import re

from service.wire.formats.codings import Body
from service.wire.media_types import CSV
from service.wire.problems import Problem

UTF_8 = "utf-8"
WINDOWS_1252 = "windows-1252"

CHARSETS = {
    **dict.fromkeys(("utf-8", "utf8", "us-ascii"), UTF_8),
    **dict.fromkeys(("windows-1252", "cp1252", "iso-8859-1", "iso8859-1", "latin1", "latin-1"), WINDOWS_1252),
}
"""{name that a body may declare: the charset in which it is read}; browsers, too, read ISO 8859-1 as Windows-1252."""

_PYTHONS_NAME = "cp1252"
_CONTROLS = re.compile(rb"[\x00-\x08\x0e-\x1f]")
_SEARCHED = 4096
"""Bytes that are searched for control characters."""


class NotUtf8(Problem):
    """CSV that is in no declared charset, and not in UTF-8."""


def in_utf8(body: Body, media_type: str, charset: str, most_bytes: int) -> Body:
    """Return a body in UTF-8. Raises Problem for a charset that only CSV may have, and for invalid bytes."""
    if charset == UTF_8:
        return body
    if media_type != CSV:
        raise Problem("unsupported_media_type", f"Only {CSV} may have the charset {charset}; send UTF-8.")
    try:
        text = bytes(body).decode(_PYTHONS_NAME).encode()
    except UnicodeDecodeError as error:
        raise Problem("malformed_body", f"The body is not {charset}: byte {error.start} is invalid.") from None
    if len(text) > most_bytes:
        raise Problem("body_too_large", f"In UTF-8, the body is longer than the limit of {most_bytes} bytes.")
    return text


def has_no_controls(body: Body) -> bool:
    """Whether the beginning has no control characters: text in Windows-1252 has none, unlike all other formats."""
    return not _CONTROLS.search(body, 0, _SEARCHED)


def guessed_in_utf8(body: bytes) -> bytes | None:
    """A text that is not UTF-8, read as Windows-1252; None if it is UTF-8, or neither."""
    try:
        body.decode()
    except UnicodeDecodeError:
        pass
    else:
        return None
    try:
        return body.decode(_PYTHONS_NAME).encode() if has_no_controls(body) else None
    except UnicodeDecodeError:
        return None
