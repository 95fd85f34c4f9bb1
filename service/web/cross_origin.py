"""Which pages of other origins may read answers in a browser (CORS): none, unless they are named.

Knows the headers of CORS; flask-cors writes most of them. Nothing is allowed that would need credentials
which a browser adds by itself: a key is sent by the page's own script.
"""

import re
from datetime import timedelta

from flask import Flask, Response, request
from flask_cors import CORS

from service.web.negotiation import first_members
from service.web.origins import ANY

EXPOSED = ("X-Request-ID", "Server-Timing", "Rocpr-Warnings", "Retry-After")
ALLOWED = ("Authorization", "Content-Type", "Content-Encoding", "Accept", "X-Request-ID")
METHODS = ("GET", "HEAD", "POST")
MAX_AGE = timedelta(hours=1)
"""How long a browser may remember what it may send; more than two hours is not honoured anyway."""


def install_cross_origin(app: Flask, origins: tuple[str, ...]) -> None:
    """Add the headers of CORS to every answer, and answer preflights; without origins nothing is installed."""
    if not origins:
        return
    app.before_request(_cut_requested_headers)
    any_origin = origins == (ANY,)
    CORS(
        app,
        # Patterns, because flask-cors takes a plain [::1] for one; they match the whole origin and nothing else.
        origins=ANY if any_origin else [re.compile(rf"{re.escape(origin)}\Z") for origin in origins],
        methods=METHODS,
        allow_headers=ALLOWED,
        expose_headers=EXPOSED,
        max_age=MAX_AGE,
        send_wildcard=any_origin,
        always_send=any_origin,
        vary_header=False,
    )
    if not any_origin:
        app.after_request(_vary_by_origin)


def is_foreign(allowed: tuple[str, ...]) -> bool:
    """Whether a page sends the request whose origin is neither allowed nor the server's own.

    A proxy may end TLS, so the scheme of an origin tells nothing; the host is the one that the request is for.
    """
    origin = request.headers.get("Origin", "").lower()
    host = request.headers.get("Host", "").lower()
    is_own = bool(host) and origin.partition("://")[2] == host
    return bool(origin) and not is_own and origin not in allowed and ANY not in allowed


def is_preflight() -> bool:
    """Whether a browser asks by itself, before a page's request, what that page may send; it sends no key with it."""
    headers = request.headers
    return request.method == "OPTIONS" and "Origin" in headers and "Access-Control-Request-Method" in headers


def _cut_requested_headers() -> None:
    """Leave of the headers that a page wants to send as many as are looked at; we allow a handful."""
    name = "HTTP_ACCESS_CONTROL_REQUEST_HEADERS"
    if name in request.environ:
        request.environ[name] = first_members(request.environ[name])


def _vary_by_origin(response: Response) -> Response:
    """Tell caches, also where the origin is not allowed or there is none; flask-cors tells them only where it is."""
    response.vary.add("Origin")
    return response
