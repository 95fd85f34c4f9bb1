"""Who may: API keys and how many requests each may have at once, other origins, and what browsers may do with answers.

Knows the request's Authorization header and when an answer has been sent; nothing of operations. flask-httpauth would
leave open what no view answers, and every OPTIONS; and werkzeug's parser, on which it rests, fails at a header such as
Basic with bytes that are not ASCII. Here the header is split, and that is all.
"""

from functools import cache
from hashlib import sha256
from pathlib import Path
from typing import TYPE_CHECKING

from flask import Flask, Response, request

from service.settings import Settings
from service.web.access.cross_origin import install_cross_origin
from service.web.access.keys import Keys, bearer_token
from service.web.access.origins import allowed_origins
from service.web.access.owners import Owners, trusted_proxies
from service.web.access.security_headers import install_security_headers
from service.web.health import LIVE, READY
from service.web.lanes.own_slots import slots_in
from service.web.lanes.slots import Slots
from service.web.observation.observation import note
from service.web.page import PAGE_FILES
from service.web.passes import Pass, has_moved, pass_of, until_sent
from service.web.problem_responses import problem_response
from service.wire.problems import Problem, no_more_files

if TYPE_CHECKING:
    from collections.abc import Callable

OPEN = frozenset({*LIVE, READY, *PAGE_FILES})
"""The paths that need no key: supervisors and load balancers have none, and the page has a field for it."""

_BUFFERED_BYTES = 1 << 16
"""An answer up to this length lies in the system's buffers as soon as it is sent, whether its client reads or not."""

CHALLENGE = 'Bearer realm="rocpr"'

_HAS_PLACE = "rocpr.has_place"
"""In the environ of a request whose key has a place for it, from a pass before."""


def install_access(app: Flask, settings: Settings, runtime_directory: Path | None) -> None:
    """Install access control; call it after what observes requests and before everything else.

    `runtime_directory` is one that all processes of the server share, if there is any; it is used when there are keys.
    Raises SettingsError when the origins cannot be used. With a file of keys that cannot be used, nobody gets in: a
    worker that is replaced while somebody writes the file must not end the server, which has checked it at its start.
    """
    origins = allowed_origins(settings.cors_origins)
    proxies = trusted_proxies(settings.trusted_proxies)
    install_security_headers(app)
    install_cross_origin(app, origins)
    keys = Keys(Path(settings.api_keys_file)) if settings.api_keys_file else None
    app.extensions["owners"] = Owners(keys, proxies)
    if keys is not None:
        slots_of = _slots_of_keys(runtime_directory, settings.key_concurrency, settings.workers)
        app.before_request(_checker(keys, slots_of))
        app.after_request(_give_back_early)


def _checker(keys: Keys, slots_of: "Callable[[str], Slots]") -> "Callable[[], Response | None]":
    """Make the hook that refuses a request without a key, or with one that has too many already; no body is read."""

    def check() -> Response | None:
        if request.path in OPEN:
            return None
        token = bearer_token(request.headers.get("Authorization", ""))
        name = keys.name_of(token) if token else None
        if name is None:
            return _unauthorized()
        note(key=name)
        if pass_of(request.environ) is Pass.HEAD or _HAS_PLACE in request.environ:
            return None
        slots = slots_of(name)
        try:
            slot = slots.take()
        except OSError as error:
            raise no_more_files() from error
        if slot is None:
            return _too_many(slots.count)
        request.environ[_HAS_PLACE] = True
        until_sent(request.environ).callback(slot.release)
        return None

    return check


def _give_back_early(response: Response) -> Response:
    """Count a request with a short answer as over before that is sent: whoever has the answer may ask again.

    Of another server than ours nobody knows when an answer was sent, but when it was closed.
    """
    if has_moved(request.environ):
        return response
    give_back = until_sent(request.environ).close
    if response.is_sequence and (response.calculate_content_length() or 0) <= _BUFFERED_BYTES:
        give_back()
    elif pass_of(request.environ) is None:
        response.call_on_close(give_back)
    return response


def _unauthorized() -> Response:
    detail = "This server needs an API key: send the header Authorization: Bearer KEY, with a key that it knows."
    response = problem_response(Problem("unauthorized", detail))
    response.headers["WWW-Authenticate"] = CHALLENGE
    return response


def _too_many(count: int) -> Response:
    detail = f"This key has {count} requests in progress, the most it can have at once."
    return problem_response(Problem("too_many_requests", detail))


def _slots_of_keys(directory: Path | None, count: int, processes: int) -> "Callable[[str], Slots]":
    @cache
    def slots(name: str) -> Slots:
        # A hash, because names may differ in case alone and may be `..`, which not every file system takes.
        return slots_in(directory, f"key-{sha256(name.encode()).hexdigest()[:32]}", count, processes)

    return slots
