"""Negotiation of media types and content codings, of requests and of answers.

Knows the headers Content-Type, Content-Encoding, Accept and Accept-Encoding; callers give the supported media types and
codings. Only the beginning of a long header is read: parsing a list takes 7 µs a member, and a header may have
thousands.
"""

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from types import MappingProxyType

from werkzeug.datastructures import Accept, Headers, MIMEAccept
from werkzeug.http import parse_accept_header, parse_options_header

from service.wire.formats.charsets import CHARSETS, UTF_8, WINDOWS_1252
from service.wire.formats.codings import IDENTITY
from service.wire.media_types import CSV, GENERAL
from service.wire.problems import Problem

_WHAT_TO_SEND = {
    "multipart/form-data": (
        " Send a file as the body itself: with curl --data-binary, data= of Python's requests, "
        "or body: file of JavaScript's fetch."
    ),
    "text/tab-separated-values": " Send tabs as text/csv, with delimiter=tab in the query.",
    "application/x-ndjson": " Send the rows as one object of columns, in application/json.",
    "application/jsonl": " Send the rows as one object of columns, in application/json.",
    "application/vnd.openxmlformats-officedocument.spreadsheetml.sheet": (
        " Save the workbook as CSV UTF-8, and send that as text/csv."
    ),
    "application/gzip": " Name the type of the uncompressed data in Content-Type, and add Content-Encoding: gzip.",
    "application/zstd": " Name the type of the uncompressed data in Content-Type, and add Content-Encoding: zstd.",
}
"""{unsupported type that tools send: what to send instead}; curl -F and files= of Python's requests send the first."""

VARY = "Accept, Accept-Encoding"
"""The request headers on which answers and refusals depend, for Vary."""

MOST_MEMBERS, LONGEST = 32, 2_000
"""The members of a list, and characters of a header, that are read; a browser sends about ten, and 150."""

_QUALITY = re.compile(r"(;[ \t]*q=)(\d?)\.(\d*)", re.IGNORECASE)
"""A quality with a point. RFC 9110 allows `1.`, and older versions of Java send `*/*; q=.2` by default."""

_SYNONYMS = {"x-gzip": "gzip"}
"""Old names of codings (RFC 9110, 8.4.1.3)."""


def first_members(header: str) -> str:
    """Cut a list after MOST_MEMBERS members, or before the one that ends beyond LONGEST characters.

    Commas within quotes count, too: our headers do not need them.
    """
    if len(header) > LONGEST:
        header = header[:LONGEST].rpartition(",")[0]
    return ",".join(header.split(",", MOST_MEMBERS)[:MOST_MEMBERS])


def _with_digits(header: str) -> str:
    """Put a digit on either side of the point of each quality, because werkzeug ignores what has none."""
    return _QUALITY.sub(lambda match: f"{match[1]}{match[2] or 0}.{match[3] or 0}", header)


@dataclass(frozen=True, slots=True)
class BodyType:
    """What Content-Type says: the media type, without parameters, the charset, and whether a table has no header."""

    media_type: str
    charset: str
    lacks_header: bool

    def with_header(self, query: tuple[tuple[str, str], ...]) -> tuple[tuple[str, str], ...]:
        """Add what it says of the header to a query that does not."""
        return (*query, ("header", "absent")) if self.lacks_header and "header" not in dict(query) else query


def request_body_type(headers: Headers, supported: Sequence[str]) -> BodyType:
    """Read Content-Type; the media type may be one of GENERAL.

    Raises Problem unsupported_media_type for other unsupported types, and other charsets.
    """
    media_type, parameters = parse_options_header(headers.get("Content-Type", "")[:LONGEST])
    media_type = media_type.lower()
    if media_type not in supported and media_type not in GENERAL:
        detail = f"{media_type[:60]!r} is not a supported Content-Type; send {' or '.join(supported)}."
        raise Problem("unsupported_media_type", detail + _WHAT_TO_SEND.get(media_type, ""))
    charset = CHARSETS.get(parameters.get("charset", UTF_8).lower())
    if charset is None or (charset != UTF_8 and media_type not in {CSV, *GENERAL}):
        raise Problem("unsupported_media_type", f"The body's charset must be {UTF_8}, or {WINDOWS_1252} for CSV.")
    return BodyType(media_type, charset, parameters.get("header", "present").lower() == "absent")


def request_coding(headers: Headers, supported: Sequence[str]) -> str:
    """Read the body's content coding from Content-Encoding.

    Raises Problem unsupported_content_encoding for an unsupported coding, or for several.
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
    `application/json;q=0, */*` excludes JSON. Parameters of a range other than q are ignored, as are ranges beyond the
    first MOST_MEMBERS. Raises Problem not_acceptable if no supported type is left. `unsupported` are types that only
    this server lacks, with what they need: the problem names it if Accept allows them.
    """
    header = first_members(_with_digits(headers.get("Accept", "")))
    if not header.strip():
        return supported[0]
    ranges = parse_accept_header(header, MIMEAccept)
    bare_ranges = MIMEAccept([(name.partition(";")[0].strip(), quality) for name, quality in ranges])
    best = max(supported, key=bare_ranges.quality)
    if not bare_ranges.quality(best) > 0:
        detail = f"Accept allows none of the media types that this path offers: {', '.join(supported)}."
        missing = [needs for media_type, needs in unsupported.items() if bare_ranges.quality(media_type) > 0]
        raise Problem("not_acceptable", " ".join([detail, *missing]))
    return best


def response_coding(headers: Headers, supported: Sequence[str]) -> str:
    """Choose the answer's content coding by Accept-Encoding: the highest quality, and among equals the earliest.

    `supported` are the codings in order of preference, before identity. `*` covers codings that are not named (RFC
    9110, 12.5.3); without Accept-Encoding the answer is not compressed. Nor is it if no coding is acceptable: the
    client may understand it anyway, and a refusal would help less. Codings beyond the first MOST_MEMBERS are ignored.
    """
    if "Accept-Encoding" not in headers:
        return IDENTITY
    accepted = parse_accept_header(first_members(_with_digits(headers["Accept-Encoding"])), Accept)
    qualities = {_SYNONYMS.get(name.lower(), name.lower()): quality for name, quality in reversed(list(accepted))}
    anything_else = qualities.get("*", 0)
    best = max((*supported, IDENTITY), key=lambda coding: qualities.get(coding, anything_else))
    return best if qualities.get(best, anything_else) > 0 else IDENTITY
