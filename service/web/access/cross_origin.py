"""Which pages of other origins may read answers in a browser: none, unless ROCPR_CORS_ORIGINS names them.

Knows the headers of CORS (the fetch standard, "CORS protocol"). Credentials that browsers add by themselves are never
allowed: a page's script sends the key.
"""

from functools import partial

from flask import Flask, Response, request

from service.web.access.origins import ANY
from service.web.negotiation import first_members

_EXPOSED = "Retry-After, Rocpr-Warnings, Server-Timing, X-Request-ID"
_ALLOWED_HEADERS = frozenset(
    {"accept", "authorization", "content-encoding", "content-type", "traceparent", "tracestate", "x-request-id"}
)
_ALLOWED_METHODS = "GET, HEAD, POST"
_MAX_AGE_SECONDS = 3600
"""How long a browser may cache a preflight's answer; browsers cap it at two hours anyway."""


def install_cross_origin(app: Flask, origins: tuple[str, ...]) -> None:
    """Add the CORS headers to every answer, and answer preflights; without origins nothing is installed."""
    if origins:
        app.before_request(_answer_preflight)
        app.after_request(partial(_tell_browser, frozenset(origins)))


def is_foreign(allowed: tuple[str, ...]) -> bool:
    """Whether the request comes from a page whose origin is neither allowed nor the server's own.

    A proxy may end TLS, so the origin's scheme is ignored; its host is compared with the request's.
    """
    origin = request.headers.get("Origin", "").lower()
    host = request.headers.get("Host", "").lower()
    is_own = bool(host) and origin.partition("://")[2] == host
    return bool(origin) and not is_own and origin not in allowed and ANY not in allowed


def _answer_preflight() -> Response | None:
    """Answer before checking path and key, so that a page can read even a 404 or 401 to its request."""
    return Response(status=204) if _is_preflight() else None


def _is_preflight() -> bool:
    """Whether this is a preflight, which a browser sends by itself, without a key, before a page's request."""
    headers = request.headers
    return request.method == "OPTIONS" and "Origin" in headers and "Access-Control-Request-Method" in headers


def _tell_browser(origins: frozenset[str], response: Response) -> Response:
    """Name the origin that may read the answer and, for a preflight, what its pages may send."""
    headers = response.headers
    if ANY in origins:
        headers["Access-Control-Allow-Origin"] = ANY
    else:
        response.vary.add("Origin")  # for caches, even without an allowed origin
        origin = request.headers.get("Origin", "")
        if origin not in origins:
            return response
        headers["Access-Control-Allow-Origin"] = origin
    headers["Access-Control-Expose-Headers"] = _EXPOSED
    if _is_preflight():
        headers["Access-Control-Allow-Methods"] = _ALLOWED_METHODS
        headers["Access-Control-Max-Age"] = str(_MAX_AGE_SECONDS)
        if allowed := _allowed_of(request.headers.get("Access-Control-Request-Headers", "")):
            headers["Access-Control-Allow-Headers"] = allowed
    return response


def _allowed_of(asked: str) -> str:
    """The header fields that a page may send, among the first of those requested."""
    wanted = {name.strip().lower() for name in first_members(asked).split(",")}
    return ", ".join(sorted(wanted & _ALLOWED_HEADERS))
