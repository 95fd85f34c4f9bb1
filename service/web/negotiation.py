"""Which media type and content coding a request brings, and which ones it wants back.

Knows the headers Content-Type, Content-Encoding, Accept and Accept-Encoding; not which media types and codings there
are, that is given. Of a long header only the beginning is looked at: parsing a list takes 7 µs a member, and a header
may have thousands.
"""

from collections.abc import Mapping, Sequence
from types import MappingProxyType

from werkzeug.datastructures import Accept, Headers, MIMEAccept
from werkzeug.http import parse_accept_header, parse_options_header

from service.wire.formats.codings import IDENTITY
from service.wire.media_types import GENERAL
from service.wire.problems import Problem

MULTIPART = "multipart/form-data"
"""What forms with files are, curl -F and files= of Python's requests."""

CHARSETS = frozenset({"utf-8", "us-ascii"})
"""The character sets that a body may name; both are read as UTF-8."""

VARY = "Accept, Accept-Encoding"
"""The request headers that an answer, or a refusal, depends on, as caches are told."""

MOST_MEMBERS, LONGEST = 32, 2_000
"""How many members of a list, and characters of a header, are read; a browser sends about ten, and 150."""

_SYNONYMS = {"x-gzip": "gzip"}
"""Old names of codings (RFC 9110, 8.4.1.3)."""


def first_members(header: str) -> str:
    """Cut a list after MOST_MEMBERS members, or before the one that ends beyond LONGEST characters.

    A comma within quotes counts, too: no header of ours needs any.
    """
    if len(header) > LONGEST:
        header = header[:LONGEST].rpartition(",")[0]
    return ",".join(header.split(",", MOST_MEMBERS)[:MOST_MEMBERS])


def request_media_type(headers: Headers, supported: Sequence[str]) -> str:
    """Read the body's media type from Content-Type, without its parameters; it may be one of GENERAL.

    Raises Problem unsupported_media_type for any other that is not supported, another character set than UTF-8, or a
    table without a header.
    """
    media_type, parameters = parse_options_header(headers.get("Content-Type", "")[:LONGEST])
    media_type = media_type.lower()
    if media_type not in supported and media_type not in GENERAL:
        detail = f"{media_type[:60]!r} is not a supported Content-Type; send {' or '.join(supported)}."
        if media_type == MULTIPART:
            detail += " Send a file as the body itself, as curl --data-binary and data= of Python's requests do."
        raise Problem("unsupported_media_type", detail)
    if parameters.get("charset", "utf-8").lower() not in CHARSETS:
        raise Problem("unsupported_media_type", "The body's charset must be utf-8.")
    if parameters.get("header", "present").lower() == "absent":
        raise Problem(
            "unsupported_media_type", "A table must have a header; this one's Content-Type says header=absent."
        )
    return media_type


def request_coding(headers: Headers, supported: Sequence[str]) -> str:
    """Read the body's content coding from Content-Encoding.

    Raises Problem unsupported_content_encoding for one that is not supported, and for several.
    """
    coding = headers.get("Content-Encoding", "").strip().lower()
    coding = _SYNONYMS.get(coding, coding) or IDENTITY
    if coding not in {IDENTITY, *supported}:
        raise Problem(
            "unsupported_content_encoding",
            f"{coding[:60]!r} is not a supported Content-Encoding; send {', '.join(supported)} or none.",
        )
    return coding


def response_media_type(
    headers: Headers, supported: Sequence[str], unsupported: Mapping[str, str] = MappingProxyType({})
) -> str:
    """Choose the answer's media type by Accept: the highest quality, and among equals the earliest in `supported`.

    The quality of a type is that of the most specific range that covers it (RFC 9110, 12.5.1), so that
    `application/json;q=0, */*` excludes JSON. Parameters of a range other than q do not count.
    Ranges beyond the first ones are as if they were not there. Raises Problem not_acceptable when no supported type is
    left, with the words for one that is unsupported only here.
    """
    header = first_members(headers.get("Accept", ""))
    if not header.strip():
        return supported[0]
    ranges = parse_accept_header(header, MIMEAccept)
    bare_ranges = MIMEAccept([(name.partition(";")[0].strip(), quality) for name, quality in ranges])
    best = max(supported, key=bare_ranges.quality)
    if not bare_ranges.quality(best) > 0:
        detail = f"Accept allows none of the media types that can be answered: {', '.join(supported)}."
        missing = [needs for media_type, needs in unsupported.items() if bare_ranges.quality(media_type) > 0]
        raise Problem("not_acceptable", " ".join([detail, *missing]))
    return best


def response_coding(headers: Headers, supported: Sequence[str]) -> str:
    """Choose the answer's content coding by Accept-Encoding: the highest quality, and among equals the earliest.

    `supported` are the codings in the order of preference; identity comes last. `*` covers what is not named
    (RFC 9110, 12.5.3), and identity is what a client gets that asks for nothing. Where nothing at all is acceptable
    the answer is sent as it is, which the client may understand; a refusal would tell it less. Codings beyond the first
    ones are as if they were not there.
    """
    if "Accept-Encoding" not in headers:
        return IDENTITY
    accepted = parse_accept_header(first_members(headers["Accept-Encoding"]), Accept)
    qualities = {_SYNONYMS.get(name.lower(), name.lower()): quality for name, quality in reversed(list(accepted))}
    anything_else = qualities.get("*", 0)
    best = max((*supported, IDENTITY), key=lambda coding: qualities.get(coding, anything_else))
    return best if qualities.get(best, anything_else) > 0 else IDENTITY
