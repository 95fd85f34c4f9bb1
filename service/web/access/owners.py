"""The owner of a request, for fair queues and slots: an API key's name, else an address; open paths are apart.

Knows the Authorization header, addresses, and which proxies may name a client's address; refuses no request.
"""

from collections.abc import Collection
from ipaddress import IPv4Network, IPv6Address, IPv6Network, ip_address, ip_network
from typing import TYPE_CHECKING

from service.settings import SettingsError
from service.web.access.keys import Keys, bearer_token

if TYPE_CHECKING:
    from _typeshed.wsgi import WSGIEnvironment

PROXIES_VARIABLE = "ROCPR_TRUSTED_PROXIES"

KEY_FOUND = "rocpr.key_found"
"""Where the environ has the name of the key that was found for the owner, or None; a check of the key takes it out."""

SOCKET = "unix"
"""The owner of requests over a Unix socket, which has no address."""

_CUSTOMER_BITS = 64
"""The bits of an IPv6 address that identify a customer, who can choose the rest."""

_MOST_HOPS = 8
"""The most addresses of X-Forwarded-For that are examined, from the last."""

Network = IPv4Network | IPv6Network | str


def trusted_proxies(text: str) -> tuple[Network, ...]:
    """Read the proxies, separated by commas: addresses, networks such as 10.0.0.0/8, or unix.

    Raises SettingsError for anything else.
    """
    names = [name.strip() for name in text.split(",")] if text.strip() else []
    try:
        return tuple(SOCKET if name == SOCKET else ip_network(name) for name in names)
    except ValueError:
        message = (
            f"{PROXIES_VARIABLE} must be addresses, networks such as 10.0.0.0/8, or unix, separated by "
            f"commas, not {text[:60]!r}"
        )
        raise SettingsError(message) from None


class Owners:
    """Finds the owners of requests, by the server's keys, if any, its trusted proxies, and the paths that need no key.

    With keys, an open path has other owners: a crowd without keys must not turn away the health checks that come
    from its address.
    """

    def __init__(self, keys: Keys | None, proxies: tuple[Network, ...], open_paths: Collection[str] = ()) -> None:
        self._keys = keys
        self._proxies = proxies
        self._open_paths = open_paths

    def owner_of(self, environ: "WSGIEnvironment") -> str:
        """Name the owner of a request."""
        if self._keys is None:
            return f"address {self._address_of(environ)}"
        if environ.get("PATH_INFO") in self._open_paths:
            return f"open {self._address_of(environ)}"
        token = bearer_token(environ.get("HTTP_AUTHORIZATION", ""))
        name = environ[KEY_FOUND] = self._keys.name_of(token) if token else None
        return f"no key {self._address_of(environ)}" if name is None else f"key {name}"

    def _address_of(self, environ: "WSGIEnvironment") -> str:
        """The address of the client: the last one that is not a trusted proxy's."""
        address = environ.get("REMOTE_ADDR") or SOCKET
        if self._proxies:
            forwarded = environ.get("HTTP_X_FORWARDED_FOR", "").rsplit(",", _MOST_HOPS)[-_MOST_HOPS:]
            while self._is_trusted(address) and forwarded and (before := _address(forwarded.pop())):
                address = before
        return _customer(address)

    def _is_trusted(self, address: str) -> bool:
        if address == SOCKET:
            return SOCKET in self._proxies
        known = ip_address(address)
        known = getattr(known, "ipv4_mapped", None) or known  # from a dual-stack listener
        return any(known in network for network in self._proxies if not isinstance(network, str))


def _address(text: str) -> str:
    """Read an address; empty if it is invalid."""
    try:
        return str(ip_address(text.strip()))
    except ValueError:
        return ""


def _customer(address: str) -> str:
    """Map all IPv6 addresses of one customer to one."""
    if ":" not in address:
        return address
    known = ip_address(address)
    if not isinstance(known, IPv6Address):
        return address
    if known.ipv4_mapped is not None:
        return str(known.ipv4_mapped)
    return str(IPv6Network((known, _CUSTOMER_BITS), strict=False))
