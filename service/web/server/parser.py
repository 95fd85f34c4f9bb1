"""gunicorn's parser, with regular expressions: for its checks, and for a plain head, which is read whole.

Line by line, in Python, a head took a tenth of a request's time. The parser here also checks trailers like header
fields, and tells the size of a chunk before its content comes.

Depends on the parser's internals, so gunicorn is pinned below 28; the tests' corpus of malformed requests checks it.
"""

import re
from collections.abc import Callable
from typing import Any

from gunicorn.asgi.parser import InvalidHeader, PythonProtocol

_TOKEN = re.compile(rb"[!#$%&'*+.^_`|~0-9A-Za-z-]+")
"""RFC 9110, 5.6.2."""

_NOT_IN_A_FIELD = re.compile(rb"[\x00-\x08\x0a-\x1f\x7f]")
"""Characters forbidden in field values (RFC 9110, 5.5)."""

_PLAIN_HEAD = re.compile(
    rb"([A-Z]{3,20}) (/[!-~]*+) HTTP/1\.1\r\n"
    rb"((?:[!#$%&'*+.^_`|~0-9A-Za-z-]++:[^\x00-\x08\x0a-\x1f\x7f]*+\r\n)*+)\r\n"
)
"""A head as most clients send it; gunicorn's parser reads any other one, and refuses what is invalid."""

_FIELD_LINE = re.compile(rb"([^:]++):([^\r]*+)\r\n")


class Parser(PythonProtocol):
    """Reads the head of a request, and the chunks of its body."""

    def feed(self, data: bytes) -> None:
        """Consume bytes, reading a plain head whole. Raises ParseError."""
        if self._state != "request_line" or self._buffer or not self._feed_plain_head(data):
            super().feed(data)

    def _feed_plain_head(self, data: bytes) -> bool:
        """Read a plain head that is within the limits and has no body in chunks; returns whether it was one."""
        head = _PLAIN_HEAD.match(data)
        if head is None or head.end() > min(self._limit_request_line, self._limit_request_field_size):
            return False
        fields = [(name.lower(), value.strip(b" \t")) for name, value in _FIELD_LINE.findall(head[3])]
        by_name = dict(fields)
        length = by_name.get(b"content-length", b"0")
        if (
            not len(by_name) == len(fields) <= self._limit_request_fields
            or b"transfer-encoding" in by_name
            or not length.isdigit()
        ):
            return False
        self.method, self.path, _ = head.groups()
        self.http_version, self.headers, self.content_length = (1, 1), fields, int(length)
        self._on_headers_complete()
        self._buffer.extend(memoryview(data)[head.end() :])
        self._state, self.is_complete = "complete", True
        return True

    @property
    def missing_of_chunk(self) -> int:
        """How many bytes of the current chunk are still to come."""
        remaining: int = self._chunk_remaining
        return remaining

    def _is_valid_token(self, data: bytes) -> bool:
        return _TOKEN.fullmatch(data) is not None

    def _has_invalid_header_chars(self, value: bytes) -> bool:
        return _NOT_IN_A_FIELD.search(value) is not None

    def _find_line(self, limit: int, error: Exception) -> int:
        end: int = super()._find_line(limit, error)
        if end > 0 and self._state == "chunked" and self._chunk_state == "trailer":
            name, colon, value = bytes(self._buffer[:end]).partition(b":")
            if not colon or not self._is_valid_token(name) or self._has_invalid_header_chars(value):
                raise InvalidHeader
        return end


def new_parser(cfg: Any, head_complete: Callable[[], bool], piece: Callable[[bytes], None]) -> Parser:  # noqa: ANN401  # gunicorn has no types
    """Make a parser within the limits of gunicorn's configuration."""
    return Parser(
        on_headers_complete=head_complete,
        on_body=piece,
        limit_request_line=cfg.limit_request_line,
        limit_request_fields=cfg.limit_request_fields,
        limit_request_field_size=cfg.limit_request_field_size,
    )
