"""Which media type a request brings and which one it wants back.

Knows the headers Content-Type, Content-Encoding and Accept; not which media types there are, that is given.
"""

from collections.abc import Sequence

from werkzeug.datastructures import Headers, MIMEAccept
from werkzeug.http import parse_accept_header, parse_options_header

from service.wire.problems import Problem

CHARSETS = frozenset({"utf-8", "us-ascii"})
"""The character sets that a body may name; both are read as UTF-8."""


def request_media_type(headers: Headers, supported: Sequence[str]) -> str:
    """Read the body's media type from Content-Type, without its parameters.

    Raises Problem unsupported_media_type for a type that is missing or not supported, another character set than
    UTF-8, a table without a header, or any Content-Encoding.
    """
    media_type, parameters = parse_options_header(headers.get("Content-Type"))
    media_type = media_type.lower()
    choices = " or ".join(supported)
    if not media_type:
        raise Problem("unsupported_media_type", f"The request names no Content-Type; send {choices}.")
    if media_type not in supported:
        raise Problem("unsupported_media_type", f"{media_type[:60]!r} is not a supported Content-Type; send {choices}.")
    if parameters.get("charset", "utf-8").lower() not in CHARSETS:
        raise Problem("unsupported_media_type", "The body's charset must be utf-8.")
    if parameters.get("header", "present").lower() == "absent":
        raise Problem(
            "unsupported_media_type", "A table must have a header; this one's Content-Type says header=absent."
        )
    if headers.get("Content-Encoding", "").strip().lower() not in {"", "identity"}:
        raise Problem("unsupported_media_type", "The body must be sent without a Content-Encoding.")
    return media_type


def response_media_type(headers: Headers, supported: Sequence[str]) -> str:
    """Choose the answer's media type by Accept: the highest quality, and among equals the earliest in `supported`.

    The quality of a type is that of the most specific range that covers it (RFC 9110, 12.5.1), so that
    `application/json;q=0, */*` excludes JSON. Parameters of a range other than q do not count.
    Raises Problem not_acceptable when no supported type is left.
    """
    header = headers.get("Accept", "")
    if not header.strip():
        return supported[0]
    ranges = parse_accept_header(header, MIMEAccept)
    bare_ranges = MIMEAccept([(name.partition(";")[0].strip(), quality) for name, quality in ranges])
    best = max(supported, key=bare_ranges.quality)
    if not bare_ranges.quality(best) > 0:
        raise Problem("not_acceptable", f"Accept allows none of the media types answered: {', '.join(supported)}.")
    return best
