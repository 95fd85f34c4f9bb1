"""Asks a server, over HTTP, what a command would evaluate here.

Retries if a server is busy or not up yet: the service is stateless, so repeating a request does no harm. Every wait has
a limit. Knows HTTP and its failures; nothing of operations. Imported only where it is used: its libraries take a fifth
of the command's start.
"""

import sys
import time
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from io import BytesIO
from typing import Any, Self

import orjson
import requests
from requests.adapters import HTTPAdapter
from requests.auth import AuthBase
from tqdm import tqdm  # type: ignore[import-untyped]  # has no types
from urllib3.exceptions import MaxRetryError, SSLError
from urllib3.util.retry import Retry

from service.cli.command_error import fail
from service.cli.layout import objects, printable
from service.cli.server_address import KEY_VARIABLE, ServerAddress
from service.wire.formats.codings import compress
from service.wire.media_types import JSON, PARQUET
from service.wire.problems import PROBLEM_JSON

CONNECT_SECONDS = 10
ANSWER_SECONDS = 300
"""How long to wait for a connection, and for the next bytes of an answer."""

ASK_AGAIN_SECONDS = 120
"""How long a request to a busy server is repeated."""

MOST_TRIES = 30
MOST_LOST_CONNECTIONS = 4
"""The most repetitions of a request, and the most of these after a failed or broken connection."""

LONGEST_ANSWER = 1 << 30
"""The most bytes of an answer that are read."""

_COMPRESSED_FROM = 256 << 10
_SHOWN_FROM = 1 << 20
"""The length from which a body is compressed, and its progress shown on a terminal."""

_AGAIN = (429, 502, 503, 504)
"""A proxy answers 502 or 504 if the server behind it is not up yet."""
_UNAUTHORIZED, _NOT_FOUND = 401, 404
_ADDRESS = "--server takes the address without /v1/"


@dataclass(frozen=True, slots=True)
class ServerReply:
    """A server's answer, and its document if it is JSON or a problem."""

    body: bytes
    document: dict[str, Any]
    is_problem: bool


def post(
    server: ServerAddress,
    operation: str,
    media_type: str,
    parameters: Mapping[str, str],
    body: bytes,
    *,
    accept: str = JSON,
    is_answer: Callable[[dict[str, Any]], bool] = bool,
) -> ServerReply:
    """Request an answer; a server without one is reported and ends the command.

    `is_answer` says whether a document is one.
    """
    headers = {"Content-Type": media_type, "Accept": accept}
    if len(body) > _COMPRESSED_FROM and media_type != PARQUET:  # already compressed
        body = compress("zstd", body)
        headers["Content-Encoding"] = "zstd"
    end = time.monotonic() + ASK_AGAIN_SECONDS
    try:
        with requests.Session() as session, _upload(body) as data:
            for scheme in ("http://", "https://"):
                session.mount(scheme, HTTPAdapter(max_retries=_Patience(end=end)))
            with session.post(
                f"{server.url}/v1/{operation}",
                params=parameters,
                data=data,
                headers=headers,
                auth=_KeyHeader(server.key),
                timeout=(CONNECT_SECONDS, ANSWER_SECONDS),
                allow_redirects=False,  # a redirected POST would become a GET
                stream=True,
            ) as response:
                return _reply(server, response, _content(server, response), accept, is_answer)
    except (requests.RequestException, OSError) as error:
        fail([f"Error: {server.url} does not answer: {_cause(error)}.", *_advice_on_tls(error)])


class _KeyHeader(AuthBase):
    """Adds the key's header; otherwise requests would take credentials from ~/.netrc."""

    def __init__(self, key: str | None) -> None:
        self._key = key

    def __call__(self, request: requests.PreparedRequest) -> requests.PreparedRequest:
        if self._key is not None:
            request.headers["Authorization"] = f"Bearer {self._key}"
        return request


class _Patience(Retry):
    """Retries until a point in time, and never waits beyond it."""

    def __init__(self, *, end: float, **options: Any) -> None:  # noqa: ANN401  # those of Retry
        usual: dict[str, Any] = {
            "total": MOST_TRIES,
            "connect": MOST_LOST_CONNECTIONS,
            "read": MOST_LOST_CONNECTIONS,
            "redirect": 0,
            "allowed_methods": None,  # POST, too
            "status_forcelist": _AGAIN,
            "backoff_factor": 0.5,
            "backoff_max": 10,
            "raise_on_status": False,  # the last answer says why
        }
        super().__init__(**(usual | options))
        self.end = end

    def new(self, **options: Any) -> Self:  # noqa: ANN401  # those of Retry
        return super().new(end=self.end, **options)

    def increment(self, *arguments: Any, **options: Any) -> Self:  # noqa: ANN401  # those of Retry
        """Count a try; the next one must begin before the end. Nothing that TLS refuses gets better by trying again."""
        left = super().increment(*arguments, **options)
        response = options.get("response")
        wait = response and self.get_retry_after(response)
        in_vain = isinstance(options.get("error"), SSLError)
        if in_vain or time.monotonic() + (wait or left.get_backoff_time()) >= self.end:
            pool, url = options["_pool"], arguments[1]
            raise MaxRetryError(pool, url, options.get("error"))
        return left


class _Shown(BytesIO):
    """A body that shows how much of it has been read, even when read again."""

    def __init__(self, body: bytes, bar: "tqdm[Any]") -> None:
        super().__init__(body)
        self._bar = bar

    def read(self, size: int | None = -1) -> bytes:
        piece = super().read(size)
        self._bar.update(self.tell() - self._bar.n)
        return piece


@contextmanager
def _upload(body: bytes) -> Iterator[bytes | BytesIO]:
    """Show the progress of a long body on a terminal."""
    if len(body) < _SHOWN_FROM or not sys.stderr.isatty():
        yield body
        return
    with tqdm(total=len(body), desc="Sending", unit="B", unit_scale=True, leave=False, file=sys.stderr) as bar:
        yield _Shown(body, bar)


def _content(server: ServerAddress, response: requests.Response) -> bytes:
    """Read an answer, within the length and time of one of rocpr's."""
    end = time.monotonic() + ANSWER_SECONDS
    content = bytearray()
    for piece in response.iter_content(1 << 16):
        content += piece
        if len(content) > LONGEST_ANSWER or time.monotonic() > end:
            fail([f"Error: {server.url} does not answer as rocpr does: its answer is too long, or takes too long."])
    return bytes(content)


def _reply(
    server: ServerAddress,
    response: requests.Response,
    content: bytes,
    accept: str,
    is_answer: Callable[[dict[str, Any]], bool],
) -> ServerReply:
    media_type = response.headers.get("Content-Type", "").partition(";")[0].strip().lower()
    if media_type == accept != JSON and response.ok:
        return ServerReply(content, {}, is_problem=False)
    try:
        document = orjson.loads(content) if media_type in {JSON, PROBLEM_JSON} else None
    except orjson.JSONDecodeError:
        document = None
    is_problem = media_type == PROBLEM_JSON
    if not isinstance(document, dict) or not (_is_problem if is_problem else is_answer)(document):
        where = f" to {response.headers['Location'][:200]!r}" if response.is_redirect else ""
        kind = f" as {media_type[:60]!r}" if media_type else ""
        answered = f"{response.status_code}{where}{kind}"
        fail([f"Error: {server.url} does not answer as rocpr does: {answered}.", f"  {_ADDRESS}."])
    return ServerReply(content, printable(document) if is_problem else document, is_problem=is_problem)


def _is_problem(document: dict[str, Any]) -> bool:
    """Whether a problem has the texts that are shown."""
    errors = objects(document.get("errors", []))
    texts = [document.get("title"), document.get("detail")]
    texts += [error.get(key) for error in errors for key in ("pointer", "code", "detail")]
    return all(isinstance(text, str) for text in texts)


def advice_on(problem: dict[str, Any], server: ServerAddress) -> Iterator[str]:
    """Give advice on a problem with the server or the key."""
    status = problem.get("status")
    if status == _UNAUTHORIZED and server.variable is None:
        yield f"  Put the key into the variable {KEY_VARIABLE}, or name another: --api-key-env NAME"
    elif status == _UNAUTHORIZED:
        yield f"  The server does not accept the key in {server.variable}."
    elif status == _NOT_FOUND:
        yield f"  {_ADDRESS}; an older rocpr may lack what you ask for."
    elif status in _AGAIN:
        yield f"  rocpr retried for up to {ASK_AGAIN_SECONDS} seconds."


def _advice_on_tls(error: BaseException) -> Iterator[str]:
    if isinstance(error, requests.exceptions.SSLError):
        if "certificate" in str(error):
            yield "  To trust another certificate authority, name its file in the variable REQUESTS_CA_BUNDLE."
        else:
            yield "  If the server has no TLS, its address begins with http://."


def _cause(error: BaseException) -> str:
    """The message of the innermost error, which is the system's if there is one."""
    while True:
        inner = getattr(error, "reason", None) or error.__cause__ or error.__context__ or next(iter(error.args), None)
        if isinstance(error, OSError) and error.strerror and not isinstance(error, requests.RequestException):
            return error.strerror
        if not isinstance(inner, BaseException):
            return str(error).rstrip(".") or type(error).__name__
        error = inner
