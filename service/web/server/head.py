"""The head of a request: checks that gunicorn's parser omits, and the WSGI environ.

Knows RFC 9112 and PEP 3333; nothing of sockets.
"""

import re
import sys
from functools import lru_cache
from typing import Any
from urllib.parse import unquote_to_bytes

from gunicorn.asgi.parser import InvalidHeader, PythonProtocol, UnsupportedTransferCoding

from service.web.server.transport import ExpectationFailed

_HOST_FIELD = re.compile(
    rb"(?:\[[0-9A-Fa-f:.]+\]|\[[vV][0-9A-Fa-f]+\.[A-Za-z0-9._~!$&'()*+,;=:-]+\]|(?:[A-Za-z0-9._~!$&'()*+,;=-]|%[0-9A-Fa-f]{2})*)"
    rb"(?::[0-9]*)?"
)
"""uri-host [ ":" port ] (RFC 9112, 3.2; RFC 3986, 3.2.2)."""

_ABSOLUTE = re.compile(rb"[Hh][Tt][Tt][Pp][Ss]?://([^/?#]*)(.*)", re.DOTALL)
"""The absolute form of a target: its authority, and the rest."""

_IGNORED = frozenset({b"upgrade", b"transfer-encoding", b"connection", b"expect"})
"""Fields that the server handles. It speaks no other protocol, so Upgrade is ignored."""

_OF_THEIR_OWN = {"content-type": "CONTENT_TYPE", "content-length": "CONTENT_LENGTH"}

_REMEMBERED_NAMES = 256
"""How many names of fields are remembered with their keys, of up to 8 KB each."""


class Head:
    """A request's line and header fields.

    length         the Content-Length; 0 without it; None for a chunked body.
    asks_to_close  whether this is the last request of the connection.
    expects_100    whether the client waits for 100 Continue before it sends the body.
    """

    def __init__(self, parser: PythonProtocol) -> None:
        """Check a parsed head. Raises ParseError."""
        fields: list[tuple[bytes, bytes]] = parser.headers
        self.method: str = parser.method.decode("ascii")
        self.version: tuple[int, int] = parser.http_version
        self.target, authority = _origin_form(parser.path)
        self.fields = fields
        self._values: dict[bytes, list[bytes]] = {}
        for name, value in fields:
            self._values.setdefault(name, []).append(value)
        self._check_host(self.values(b"host"), authority)
        self.length: int | None = None if parser.is_chunked else parser.content_length or 0
        if any(value.lower() != b"chunked" for value in self.values(b"transfer-encoding")):
            raise UnsupportedTransferCoding
        self.expects_100 = self._expects_100()
        self.asks_to_close = self._asks_to_close()

    def values(self, wanted: bytes) -> list[bytes]:
        """Return the values of the fields with this lower-case name."""
        return self._values.get(wanted, [])

    def _check_host(self, hosts: list[bytes], authority: bytes) -> None:
        """Check the Host field, which HTTP/1.1 requires even if the target names the host (RFC 9112, 3.2)."""
        if not hosts and self.version >= (1, 1):
            raise InvalidHeader("Host")
        if not all(_HOST_FIELD.fullmatch(host) for host in (*hosts, authority)):
            raise InvalidHeader("Host")

    def _expects_100(self) -> bool:
        expectations = self.values(b"expect")
        if any(value.lower() != b"100-continue" for value in expectations):
            raise ExpectationFailed
        return bool(expectations) and self.version >= (1, 1)

    def _asks_to_close(self) -> bool:
        if self.method == "CONNECT":  # what follows belongs to the tunnel that is refused
            return True
        options = {option.strip(b" \t").lower() for value in self.values(b"connection") for option in value.split(b",")}
        return b"close" in options or (self.version < (1, 1) and b"keep-alive" not in options)

    def environ(self, client: tuple[str, str], server: tuple[str, str]) -> dict[str, Any]:
        """Make the environ, except for the body."""
        path, _, query = self.target.partition(b"?")
        environ: dict[str, Any] = {
            "REQUEST_METHOD": self.method,
            "SCRIPT_NAME": "",
            "PATH_INFO": unquote_to_bytes(path).decode("latin-1"),
            "QUERY_STRING": query.decode("latin-1"),
            "RAW_URI": self.target.decode("latin-1"),
            "SERVER_PROTOCOL": f"HTTP/{self.version[0]}.{self.version[1]}",
            "SERVER_NAME": server[0],
            "SERVER_PORT": server[1],
            "REMOTE_ADDR": client[0],
            "REMOTE_PORT": client[1],
            "wsgi.version": (1, 0),
            "wsgi.url_scheme": "http",
            "wsgi.errors": sys.stderr,
            "wsgi.multithread": True,
            "wsgi.multiprocess": True,
            "wsgi.run_once": False,
            "wsgi.input_terminated": True,
        }
        if self.length is None:
            environ["HTTP_TRANSFER_ENCODING"] = "chunked"
        for name, value in self.fields:
            key = _key_of(name)
            if key is not None:
                written = value.decode("latin-1")
                environ[key] = f"{environ[key]},{written}" if key in environ else written
        return environ


@lru_cache(_REMEMBERED_NAMES)
def _key_of(name: bytes) -> str | None:
    """The key of a field in the environ; None if the application must not see it."""
    if b"_" in name or name in _IGNORED:  # would be confused with the field spelled with -
        return None
    text = name.decode("ascii")
    return _OF_THEIR_OWN.get(text) or "HTTP_" + text.upper().replace("-", "_")


def _origin_form(target: bytes) -> tuple[bytes, bytes]:
    """The path and query of a target, and its authority or the empty text (RFC 9112, 3.2.2)."""
    absolute = None if target.startswith(b"/") else _ABSOLUTE.fullmatch(target)
    if absolute is None:
        return target, b""
    rest = absolute[2].partition(b"#")[0]
    return (rest if rest.startswith(b"/") else b"/" + rest), absolute[1]
