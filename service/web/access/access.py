"""Access control: API keys, the requests that each may have at once, other origins, and security headers.

Knows the request's Authorization header and when an answer has been sent; nothing of operations. flask-httpauth would
not protect unmatched paths and OPTIONS, and werkzeug's parser, which it uses, fails on headers such as Basic with bytes
that are not ASCII. Here the header is simply split.
"""

from functools import cache
from hashlib import sha256
from pathlib import Path
from typing import TYPE_CHECKING

from flask import Flask, Response, request

from service.settings import Settings
from service.web.access.cross_origin import install_cross_origin
from service.web.access.keys import Keys, bearer_token
from service.web.access.owners import KEY_FOUND, Owners, trusted_proxies
from service.web.access.security_headers import install_security_headers
from service.web.health import LIVE, READY
from service.web.lanes.slots import Slots, slots_in
from service.web.observation.observation import note
from service.web.page import PAGE_FILES
from service.web.passes import Pass, has_moved, pass_of, until_sent
from service.web.problem_responses import problem_response
from service.wire.problems import Problem, no_more_files

if TYPE_CHECKING:
    from collections.abc import Callable

OPEN = frozenset({*LIVE, READY, *PAGE_FILES})
"""The paths that need no key: supervisors and load balancers have none, and the page has a field for one."""

_BUFFERED_BYTES = 1 << 16
"""An answer up to this length fits in the system's send buffer, whether or not its client reads."""

CHALLENGE = 'Bearer realm="rocpr"'

KEY_NAME = "rocpr.key"
"""Where the environ has the name of the request's API key."""

_HAS_PLACE = "rocpr.has_place"
"""Set in the environ if an earlier pass has reserved a place for the request under its key's limit."""


def install_access(app: Flask, settings: Settings, origins: tuple[str, ...], runtime_directory: Path | None) -> None:
    """Install access control; call it after installing observation and before everything else.

    `runtime_directory` is shared by all processes of the server, if there is one; it is used if there are keys. Raises
    SettingsError if the proxies are invalid. An invalid file of keys refuses everybody instead: the server checks it at
    its start, and a worker that starts while the file is being written must not end the server.
    """
    proxies = trusted_proxies(settings.trusted_proxies)
    install_security_headers(app)
    install_cross_origin(app, origins)
    keys = Keys(Path(settings.api_keys_file)) if settings.api_keys_file else None
    app.extensions["owners"] = Owners(keys, proxies, OPEN)
    if keys is not None:
        slots_of = _slots_of_keys(runtime_directory, settings.key_concurrency, settings.workers)
        app.before_request(_checker(keys, slots_of))
        app.after_request(_give_back_early)


def _checker(keys: Keys, slots_of: "Callable[[str], Slots]") -> "Callable[[], Response | None]":
    """Make the hook that refuses a request whose key is missing, invalid or at its limit, before reading a body."""

    def check() -> Response | None:
        if request.path in OPEN:
            return None
        if KEY_FOUND in request.environ:
            name = request.environ.pop(KEY_FOUND)  # a later pass, after a body that may have been slow, looks again
        else:
            token = bearer_token(request.headers.get("Authorization", ""))
            name = keys.name_of(token) if token else None
        if name is None:
            return _unauthorized()
        note(key=name)
        request.environ[KEY_NAME] = name
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
    """Count a request with a short answer as finished before it is sent: its client may then send the next.

    Other WSGI servers do not say when an answer was sent, only when it is closed.
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
    detail = f"This key has {count} request{'' if count == 1 else 's'} in progress, the most it can have at once."
    return problem_response(Problem("too_many_requests", detail))


def _slots_of_keys(directory: Path | None, count: int, processes: int) -> "Callable[[str], Slots]":
    @cache
    def slots(name: str) -> Slots:
        # A hash, because names may differ only in case or be `..`, which not every file system allows.
        return slots_in(directory, f"key-{sha256(name.encode()).hexdigest()[:32]}", count, processes)

    return slots
