"""On whose account a request is served, so that queues and slots can be fair: an API key's name, else an address.

Knows the Authorization header, addresses, and which proxies may name the address of a client; refuses no request.
"""

from ipaddress import IPv4Network, IPv6Address, IPv6Network, ip_address, ip_network
from typing import TYPE_CHECKING

from service.settings import SettingsError
from service.web.access.keys import Keys, bearer_token

if TYPE_CHECKING:
    from _typeshed.wsgi import WSGIEnvironment

PROXIES_VARIABLE = "ROCPR_TRUSTED_PROXIES"

NOBODY = "no key"
"""Who has no key where one is needed: all of them together, however many addresses they have."""

SOCKET = "unix"
"""The name of whoever connects over a Unix socket, which has no address."""

_CUSTOMER_BITS = 64
"""How many bits of IPv6 addresses one customer can choose from, at least."""

_MOST_HOPS = 8
"""How many addresses of X-Forwarded-For are looked at, from the last."""

Network = IPv4Network | IPv6Network | str


def trusted_proxies(text: str) -> tuple[Network, ...]:
    """Read the proxies between commas: addresses, networks such as 10.0.0.0/8, or unix.

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
    """Who owns requests, by the keys of the server, if it has any, and the proxies that it trusts."""

    def __init__(self, keys: Keys | None, proxies: tuple[Network, ...]) -> None:
        self._keys = keys
        self._proxies = proxies

    def owner_of(self, environ: "WSGIEnvironment") -> str:
        """Name the owner of a request."""
        if self._keys is not None:
            token = bearer_token(environ.get("HTTP_AUTHORIZATION", ""))
            name = self._keys.name_of(token) if token else None
            return NOBODY if name is None else f"key {name}"
        return f"address {self._address_of(environ)}"

    def _address_of(self, environ: "WSGIEnvironment") -> str:
        """Tell the address of the client: the last that no trusted proxy has."""
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
        known = getattr(known, "ipv4_mapped", None) or known  # a listener for both families
        return any(known in network for network in self._proxies if not isinstance(network, str))


def _address(text: str) -> str:
    """Read an address; the empty text when it is not one."""
    try:
        return str(ip_address(text.strip()))
    except ValueError:
        return ""


def _customer(address: str) -> str:
    """Take all IPv6 addresses that one customer has as one."""
    if ":" not in address:
        return address
    known = ip_address(address)
    if not isinstance(known, IPv6Address):
        return address
    if known.ipv4_mapped is not None:
        return str(known.ipv4_mapped)
    return str(IPv6Network((known, _CUSTOMER_BITS), strict=False))
