"""Which pages of other origins may read answers in a browser: none, unless ROCPR_CORS_ORIGINS names them.

Knows the headers of CORS (the fetch standard, "CORS protocol"). Nothing is allowed that would need credentials which a
browser adds by itself: a key is sent by the page's own script.
"""

from functools import partial

from flask import Flask, Response, request

from service.web.access.origins import ANY
from service.web.negotiation import first_members

_EXPOSED = "Retry-After, Rocpr-Warnings, Server-Timing, X-Request-ID"
_ALLOWED_HEADERS = frozenset({"accept", "authorization", "content-encoding", "content-type", "x-request-id"})
_ALLOWED_METHODS = "GET, HEAD, POST"
_MAX_AGE_SECONDS = 3600
"""How long a browser may remember what it may send; more than two hours is not honoured anyway."""


def install_cross_origin(app: Flask, origins: tuple[str, ...]) -> None:
    """Add the headers of CORS to every answer, and answer preflights; without origins nothing is installed."""
    if origins:
        app.before_request(_answer_preflight)
        app.after_request(partial(_tell_browser, frozenset(origins)))


def is_foreign(allowed: tuple[str, ...]) -> bool:
    """Whether a page sends the request whose origin is neither allowed nor the server's own.

    A proxy may end TLS, so the scheme of an origin tells nothing; the host is the one that the request is for.
    """
    origin = request.headers.get("Origin", "").lower()
    host = request.headers.get("Host", "").lower()
    is_own = bool(host) and origin.partition("://")[2] == host
    return bool(origin) and not is_own and origin not in allowed and ANY not in allowed


def _answer_preflight() -> Response | None:
    """Answer before paths and keys are looked at: a page then reads the answer to its request, a 404 or 401 too."""
    return Response(status=204) if _is_preflight() else None


def _is_preflight() -> bool:
    """Whether a browser asks by itself, before a page's request, what that page may send; it sends no key with it."""
    headers = request.headers
    return request.method == "OPTIONS" and "Origin" in headers and "Access-Control-Request-Method" in headers


def _tell_browser(origins: frozenset[str], response: Response) -> Response:
    """Say which origin may read the answer and, to a preflight, what its pages may send."""
    headers = response.headers
    if ANY in origins:
        headers["Access-Control-Allow-Origin"] = ANY
    else:
        response.vary.add("Origin")  # for caches, also where the origin is not allowed or there is none
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
    """Name the header fields that a page may send of those that it wants to; of many the first are looked at."""
    wanted = {name.strip().lower() for name in first_members(asked).split(",")}
    return ", ".join(sorted(wanted & _ALLOWED_HEADERS))
