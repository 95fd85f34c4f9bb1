"""Who may: API keys and how many requests each may have at once, other origins, and what browsers may do with answers.

Knows the request's Authorization header and when an answer has been sent; nothing of operations. flask-httpauth would
leave open what no view answers, and every OPTIONS; and werkzeug's parser, on which it rests, fails at a header such as
Basic with bytes that are not ASCII. Here the header is split, and that is all.
"""

from contextlib import ExitStack
from functools import cache
from hashlib import sha256
from pathlib import Path
from typing import TYPE_CHECKING, Any

from flask import Flask, Response, request
from werkzeug.wsgi import ClosingIterator

from service.settings import Settings
from service.web.cross_origin import install_cross_origin, is_preflight
from service.web.errors import problem_response
from service.web.keys import Keys
from service.web.observation import note
from service.web.origins import allowed_origins
from service.web.own_slots import slots_in
from service.web.security_headers import install_security_headers
from service.web.slots import Slots
from service.wire.problems import Problem, no_more_files

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable

    from _typeshed.wsgi import StartResponse, WSGIApplication, WSGIEnvironment

OPEN = frozenset({"/health/live", "/health/ready"})
"""The paths that need no key: supervisors and load balancers have none."""

_SHORT = 1 << 16
"""An answer up to this length lies in the system's buffers as soon as it is sent, whether its client reads or not."""

CHALLENGE = 'Bearer realm="rocpr"'
_UNTIL_SENT = "rocpr.until_sent"
"""The key of a request's environment under which lies what is given back once its answer was sent."""


def install_guard(app: Flask, settings: Settings, runtime_directory: Path | None) -> None:
    """Guard the whole application; call it after what observes requests and before everything else.

    `runtime_directory` is one that all processes of the server share, if there is any; it is used when there are keys.
    Raises SettingsError when the origins cannot be used. A file of keys that cannot be used lets nobody in: a worker
    that is replaced while somebody writes the file must not end the server, which has checked it at its start.
    """
    origins = allowed_origins(settings.cors_origins)
    install_security_headers(app)
    install_cross_origin(app, origins)
    if origins:
        app.before_request(_answer_preflight)
    if settings.api_keys_file:
        slots_of = _slots_of_keys(runtime_directory, settings.key_concurrency, settings.workers)
        app.before_request(_checker(Keys(Path(settings.api_keys_file)), slots_of))
        app.after_request(_give_back_early)
        app.wsgi_app = _GivingBack(app.wsgi_app)  # type: ignore[method-assign]  # Flask's documented place for it


def _answer_preflight() -> Response | None:
    """Answer before paths and keys are looked at: a page then reads the answer to its request, a 404 or 401 too."""
    return Response(status=204) if is_preflight() else None


def _checker(keys: Keys, slots_of: "Callable[[str], Slots]") -> "Callable[[], Response | None]":
    """Make the hook that refuses a request without a key, or with one that has too many already; no body is read."""

    def check() -> Response | None:
        if request.path in OPEN:
            return None
        token = _bearer_token()
        name = keys.name_of(token) if token else None
        if name is None:
            return _unauthorized()
        note(key=name)
        slots = slots_of(name)
        try:
            slot = slots.take()
        except OSError as error:
            raise no_more_files() from error
        if slot is None:
            return _too_many(slots.count)
        request.environ[_UNTIL_SENT].callback(slot.release)
        return None

    return check


def _give_back_early(response: Response) -> Response:
    """Count a request with a short answer as over before that is sent: whoever has the answer may ask again."""
    if response.is_sequence and (response.calculate_content_length() or 0) <= _SHORT:
        request.environ[_UNTIL_SENT].close()
    return response


def _bearer_token() -> str | None:
    """Return what follows Bearer; None for another scheme, nothing, or no header.

    Several Authorization headers reach us as one with commas, which is nobody's key.
    """
    scheme, _, token = request.headers.get("Authorization", "").partition(" ")
    return token.strip(" \t") or None if scheme.lower() == "bearer" else None


def _unauthorized() -> Response:
    detail = "This server needs an API key: send the header Authorization with Bearer and a key that it knows."
    response = problem_response(Problem("unauthorized", detail))
    response.headers["WWW-Authenticate"] = CHALLENGE
    return response


def _too_many(count: int) -> Response:
    detail = f"This key has {count} requests under way, as many as it may have at once."
    return problem_response(Problem("too_many_requests", detail))


def _slots_of_keys(directory: Path | None, count: int, processes: int) -> "Callable[[str], Slots]":
    @cache
    def slots(name: str) -> Slots:
        # A hash, because names may differ in case alone and may be `..`, which not every file system takes.
        return slots_in(directory, f"key-{sha256(name.encode()).hexdigest()[:32]}", count, processes)

    return slots


class _GivingBack:
    """Gives back what a request holds when its answer was sent, when the client is gone, and when there is no answer.

    Around the application, because a response's own call_on_close is not called for a file that the server sends
    (werkzeug's direct_passthrough), nor when the server refuses the response's headers.
    """

    def __init__(self, application: "WSGIApplication") -> None:
        self._application = application

    def __call__(self, environ: "WSGIEnvironment", start_response: "StartResponse") -> "Iterable[bytes]":
        held = environ[_UNTIL_SENT] = ExitStack()
        try:
            body: Any = self._application(environ, start_response)
        except BaseException:
            held.close()
            raise
        if hasattr(body, "close"):
            held.callback(body.close)
        if isinstance(body, environ.get("wsgi.file_wrapper", ())):
            # Not wrapped, because the server recognises it by its class and lets the system send the file.
            body.close = held.close
            return body  # type: ignore[no-any-return]  # the server's own class
        # A generator, because ClosingIterator would close the body itself, and not go on when that fails.
        return ClosingIterator((part for part in body), held.close)
