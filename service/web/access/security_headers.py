"""Headers that restrict what browsers may do with answers; on every answer, including errors.

Knows headers only. A page that needs more than this policy has its own (contract.py).
"""

from collections.abc import Mapping
from types import MappingProxyType

from flask import Flask, Response, request
from werkzeug.datastructures import Headers

HEADERS: Mapping[str, str] = MappingProxyType(
    {
        "X-Content-Type-Options": "nosniff",
        "Referrer-Policy": "no-referrer",
        "X-Frame-Options": "DENY",
        "Cross-Origin-Resource-Policy": "same-origin",
        "Content-Security-Policy": "default-src 'none'; frame-ancestors 'none'",
    }
)
"""The headers of an answer that does not set them itself. The resource policy does not bind CORS requests."""

STORABLE = frozenset({"contract", "docs", "guide"})
"""The blueprints whose answers may be cached: they are the same for everyone until the next version."""

_ERROR = 400

_NOT_STORED = {**HEADERS, "Cache-Control": "no-store"}


class SecuredHeaders(Headers):
    """These headers of an answer, none of them from a client, and those above: all at once, without a check of each."""

    def __init__(self, own: dict[str, str]) -> None:
        super().__init__()
        self._list = [*{**own, **_NOT_STORED, **own}.items()]  # Content-Type first, for which werkzeug looks


def install_security_headers(app: Flask) -> None:
    """Add the headers to every answer of the application."""
    app.after_request(_secured)


def _secured(response: Response) -> Response:
    if isinstance(response.headers, SecuredHeaders):
        return response
    present = {name.lower() for name, _ in response.headers}
    response.headers.extend([(name, value) for name, value in HEADERS.items() if name.lower() not in present])
    if response.status_code >= _ERROR or request.blueprint not in STORABLE:
        response.headers["Cache-Control"] = "no-store"
    return response
