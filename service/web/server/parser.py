"""gunicorn's parser, whose checks are regular expressions here: character by character, they took 3 % of a request.

The parser here also checks trailers like header fields, and tells the size of a chunk before its content comes.

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


class Parser(PythonProtocol):
    """Reads the head of a request, and the chunks of its body."""

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
