"""Answers that are the same until the next version: entity tags, so that a client asks for them once, and gzip.

Knows headers and the blueprints of such answers; nothing of what they say.
"""

import gzip
from functools import lru_cache
from hashlib import sha256

from flask import Flask, Response, request

from service.web.access.security_headers import STORABLE
from service.web.negotiation import response_coding
from service.wire.formats.codings import IDENTITY

_GZIP = "gzip"
_OK = 200
_KEPT = 128
"""The answers whose tag and gzip form are kept; there are about sixty."""


def install_stored_answers(app: Flask) -> None:
    """Add entity tags to the answers that may be stored, and answer 304 or with gzip where a client takes it."""
    app.after_request(_stored)


def _stored(response: Response) -> Response:
    if request.blueprint not in STORABLE or response.status_code != _OK or response.direct_passthrough:
        return response  # a file of a library has its own tag
    tag, packed = _forms(response.get_data())
    coding = response_coding(request.headers, (_GZIP,))
    if coding != IDENTITY:
        response.set_data(packed)
        response.headers["Content-Encoding"] = coding
    response.set_etag(f"{tag}-{coding}")
    response.headers |= {"Cache-Control": "no-cache", "Vary": "Accept-Encoding"}
    response.make_conditional(request)
    return response


@lru_cache(_KEPT)
def _forms(content: bytes) -> tuple[str, bytes]:
    """The tag of an answer, and its gzip form, which has no time and so is always the same."""
    return sha256(content).hexdigest()[:32], gzip.compress(content, mtime=0)
