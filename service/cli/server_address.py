"""`--server URL`: a server's address, and the key for it. Nothing of HTTP, which over_http.py speaks."""

import os
import re
from collections.abc import Mapping
from dataclasses import dataclass, field
from ipaddress import ip_address
from typing import Any, Self
from urllib.parse import urlencode, urlsplit

import click

from service.cli.command_error import fail

LONGEST_QUERY = 4_000
"""The longest query, in characters; a proxy may refuse a longer one."""

KEY_VARIABLE = "ROCPR_API_KEY"
"""The environment variable that holds the key, unless another is named."""

_OPERATION = re.compile(r"/v1(/\w*)?\Z")
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
        url = _OPERATION.sub("", url.rstrip("/"))
        if variable is None:
            if not os.environ.get(KEY_VARIABLE, "").strip():
                return cls(url)
            variable = KEY_VARIABLE
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
            fail([f"Error: The variable {variable} holds {wrong}."])
        return cls(url, variable, key)


SERVER_OPTIONS = (
    click.Option(["--server"], metavar="URL", help="Ask this server instead of evaluating here."),
    click.Option(
        ["--api-key-env"],
        metavar="NAME",
        help=f"The environment variable that holds the server's key.  [default: {KEY_VARIABLE}]",
    ),
    click.Option(["--insecure"], is_flag=True, help="Send the key even to an address without TLS."),
)


def server_of(options: dict[str, Any]) -> ServerAddress | None:
    """Remove the options of a server from those of a command. Raises UsageError."""
    url, variable, insecure = (options.pop(name) for name in ("server", "api_key_env", "insecure"))
    if url is not None:
        if options.get("engine") is not None:
            raise click.UsageError("--engine cannot be combined with --server.")
        return ServerAddress.of(url, variable, insecure=insecure)
    for option, value in (("--api-key-env", variable), ("--insecure", insecure)):
        if value:
            raise click.UsageError(f"{option} needs --server.")
    return None


def _is_loopback(host: str) -> bool:
    try:
        return ip_address(host).is_loopback
    except ValueError:
        return host == "localhost"


def fits_a_query(parameters: Mapping[str, str]) -> bool:
    """Whether options are short enough for a query."""
    return len(urlencode(parameters)) <= LONGEST_QUERY
