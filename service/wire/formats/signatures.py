"""What a body is, recognised by its first bytes.

Used if the Content-Type leaves it open, or if the body could not be read as that type. A CSV file may begin with
anything.
"""

import re
from collections.abc import Collection, Iterable
from dataclasses import dataclass
from itertools import chain

from service.wire.formats.charsets import WINDOWS_1252, NotUtf8, has_no_controls
from service.wire.formats.codings import IDENTITY, Body
from service.wire.media_types import BODY_FORMATS, CSV, GENERAL, JSON
from service.wire.problems import Problem


@dataclass(frozen=True, slots=True)
class Signature:
    """What a body is: its name in a sentence, and the content coding or media type to declare, or other advice.

    is_clear   whether no other supported format begins like this.
    """

    name: str
    begins: bytes = b""
    ends: bytes = b""
    holds: bytes = b""
    coding: str | None = None
    media_type: str | None = None
    advice: str = ""
    is_clear: bool = True


_UTF_16 = "text in UTF-16"
_TO_UTF_8 = "send it in UTF-8"
_EXCEL = "an Excel workbook"
_TO_CSV = "save it as CSV UTF-8, and send that"

_KNOWN_SIGNATURES = (
    Signature("gzip", b"\x1f\x8b", coding="gzip"),
    Signature("Zstandard", b"\x28\xb5\x2f\xfd", coding="zstd"),
    *(Signature(each.looks, each.begins, each.ends, media_type=each.media_type) for each in BODY_FORMATS if each.looks),
    Signature("a Feather 1 file", b"FEA1", b"FEA1", advice="save it as Feather 2 or Parquet"),
    Signature(_EXCEL, b"PK\x03\x04", holds=b"xl/", advice=_TO_CSV),
    Signature("a zip archive", b"PK\x03\x04", advice="send the file inside it"),
    Signature(_EXCEL, b"\xd0\xcf\x11\xe0\xa1\xb1\x1a\xe1", advice=_TO_CSV),
    Signature(_UTF_16, b"\xff\xfe", advice=_TO_UTF_8),
    Signature(_UTF_16, b"\xfe\xff", advice=_TO_UTF_8),
    Signature(_UTF_16, b"{\0", advice=_TO_UTF_8),
    Signature(_UTF_16, b"\0{", advice=_TO_UTF_8),
    Signature("what JavaScript writes for an object", b"[object ", advice="send JSON.stringify(object)"),
)

_JSON = Signature("JSON", media_type=JSON)
_MARKUP = Signature("HTML or XML", advice=f"send {JSON} or {CSV}")
_CSV = Signature("CSV", media_type=CSV, is_clear=False)
_FORM = Signature(
    "form fields",
    advice="send a JSON object, as curl --json and json= of Python's requests do",
    is_clear=False,
)

_CURL = "curl -d removes the line breaks of a file, --data-binary keeps them"

_LONGEST_SIGNATURE = 8
"""Bytes of the longest signature."""

_LOOKED_AT = 4096
"""Bytes of text that are examined."""

_BEGINNING_OF_JSON = re.compile(rb'(?:\xef\xbb\xbf)?\s*+(?:\{|\[\s*+(?:[\[{"\d\]\-]|true|false|null|\Z))')
_ENDS_LIKE_JSON = re.compile(rb"[\]}]\s*\Z")
_BEGINNING_OF_MARKUP = re.compile(rb"(?:\xef\xbb\xbf)?\s*+<")
_FORM_FIELDS = re.compile(rb"[\w.%+\-\[\]]++=[^&=\s]*+(?:&[\w.%+\-\[\]]*+(?:=[^&=\s]*+)?)*+\s*+\Z")
_TWO_NAMES = re.compile(rb'\s*+(?:"[^"\r\n]++"|[^",;\t|{\[<\x00-\x1f]++)[,;\t|][^\x00-\x08]')


def signature_of(body: Body) -> Signature | None:
    """Recognise a body; None if it is unknown."""
    head, tail = body[:_LONGEST_SIGNATURE], body[-_LONGEST_SIGNATURE:]
    known = (
        each
        for each in _KNOWN_SIGNATURES
        if head.startswith(each.begins) and tail.endswith(each.ends) and body.find(each.holds) >= 0
    )
    return next(chain(known, _signatures_of_text(bytes(body[:_LOOKED_AT]))), None)


def other_signature_of(body: Body, said: Collection[str]) -> Signature | None:
    """Recognise a body that is surely of another media type than those `said`; a header may begin with a bracket."""
    found = signature_of(body)
    if found is None or found.media_type in said or (found is _JSON and not _ENDS_LIKE_JSON.search(body[-64:])):
        return None
    return found


def media_type_of(body: Body, said: str, content_encoding: str) -> str:
    """The media type of a body whose Content-Type, `said`, leaves it open: by its first bytes, if they are clear.

    Raises Problem unsupported_media_type for any other, saying what it looks like.
    """
    if said not in GENERAL:
        return said
    found = signature_of(body)
    if found is not None and found.media_type is not None and found.is_clear:
        return found.media_type
    named = GENERAL[said]
    if named is not None:
        return named
    seen = f"Content-Type says {said}" if said else "There is no Content-Type"
    if found is None:
        advice = f"the body does not show its format: send Content-Type: {JSON} or {CSV}."
        raise Problem("unsupported_media_type", f"{seen}, and {advice}")
    detail = f"{seen}, and the body looks like {found.name}: {_advice(found, content_encoding)}."
    if found is _CSV and b"\n" not in body[:_LOOKED_AT]:
        detail += f" It is one line: {_CURL}."
    raise Problem("unsupported_media_type", detail)


def with_hint(problem: Problem, body: Body, content_type: str, content_encoding: str) -> Problem:
    """Add to a problem of the body what the body looks like, and what an HTTP client should do about it."""
    if content_type in GENERAL or not is_of_body(problem.type.code, (error.code for error in problem.errors)):
        return problem
    found = other_signature_of(body, {content_type})
    if found is not None:
        looks = f"{found.name}: {_advice(found, content_encoding)}"
    elif content_type == CSV and body.find(b"\n") < 0 and body.find(b"\r") < 0:
        looks = f"a file on one line: {_CURL}"
    elif isinstance(problem, NotUtf8) and has_no_controls(body):
        looks = f"{WINDOWS_1252}: send Content-Type: {CSV}; charset={WINDOWS_1252}"
    else:
        return problem
    return Problem(problem.type.code, f"{problem.detail} This looks like {looks}.", problem.errors)


def is_of_body(code: str, errors: Iterable[str]) -> bool:
    """Whether a problem, with the codes of its errors, may come from reading a body as what it is not."""
    return code == "malformed_body" or not {"missing", "no_rows", "too_many_columns"}.isdisjoint(errors)


def _signatures_of_text(head: bytes) -> list[Signature]:
    """Recognise text by its beginning: if nothing else, CSV if its first line has several names."""
    beginnings = (
        (_BEGINNING_OF_JSON, _JSON),
        (_BEGINNING_OF_MARKUP, _MARKUP),
        (_FORM_FIELDS, _FORM),
        (_TWO_NAMES, _CSV),
    )
    return [each for pattern, each in beginnings if pattern.match(head)]


def _advice(found: Signature, content_encoding: str) -> str:
    if found.media_type is not None:
        return f"send Content-Type: {found.media_type}"
    if found.coding is None:
        return found.advice
    return f"send Content-Encoding: {found.coding}" if content_encoding == IDENTITY else "compress it once"
