"""A server's address, and the key for it. Knows addresses and keys; nothing of HTTP, which over_http.py speaks."""

import os
import re
from collections.abc import Mapping
from dataclasses import dataclass, field
from ipaddress import ip_address
from typing import Self
from urllib.parse import urlencode, urlsplit

from service.cli.command_error import fail

LONGEST_QUERY = 4_000
"""The longest query, in characters; a proxy may refuse a longer one."""

_KEY_TEXT = re.compile(r"[\x21-\x7e]+")


@dataclass(frozen=True, slots=True)
class ServerAddress:
    """A server's address, and the key for it; `variable` is the source of the key."""

    url: str
    variable: str | None = None
    key: str | None = field(default=None, repr=False)

    @classmethod
    def of(cls, url: str, variable: str | None, *, insecure: bool = False) -> Self:
        """Check an address, and read the key from an environment variable; an error ends the command.

        Unless `insecure`, no key goes over a network without TLS.
        """
        try:
            parts = urlsplit(url)
            usable = parts.scheme in {"http", "https"} and bool(parts.hostname) and parts.port != 0
        except ValueError:
            usable = False
        if not usable:
            fail(["Error: --server takes an address such as http://127.0.0.1:8000 or https://rocpr.example.org"])
        if parts.username is not None or parts.password is not None:
            where = "put a key into the variable that --api-key-env names"
            fail([f"Error: --server takes no user and no password; {where}."])
        if parts.query or parts.fragment:
            fail(["Error: --server takes the address alone, without ? and #."])
        url = url.rstrip("/").removesuffix("/v1/gates")
        if variable is None:
            return cls(url)
        if parts.scheme == "http" and not insecure and not _is_loopback(parts.hostname or ""):
            fail(
                [
                    "Error: --server begins with http://, so anybody on the way could read the key.",
                    "  Use https://, or --insecure if you trust that network.",
                ]
            )
        key = os.environ.get(variable, "").strip()
        if not key:
            # An invalid name may be the key itself, which does not belong in a log.
            called = f" {variable}" if variable.isupper() else ""
            advice = "Give the variable's name, not the key."
            fail([f"Error: The variable{called}, which --api-key-env names, holds no key. {advice}"])
        if not _KEY_TEXT.fullmatch(key):
            wrong = "characters that are not allowed in a key"
            fail([f"Error: The variable {variable}, which --api-key-env names, holds {wrong}."])
        return cls(url, variable, key)


def _is_loopback(host: str) -> bool:
    try:
        return ip_address(host).is_loopback
    except ValueError:
        return host == "localhost"


def fits_a_query(parameters: Mapping[str, str]) -> bool:
    """Whether options are short enough for a query."""
    return len(urlencode(parameters)) <= LONGEST_QUERY
