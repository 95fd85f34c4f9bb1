"""The owner of a request: its key, else its address, if the proxy that names it is trusted."""

from hashlib import sha256
from pathlib import Path

import pytest

from service.settings import SettingsError
from service.web.access.access import OPEN
from service.web.access.keys import Keys
from service.web.access.owners import Owners, trusted_proxies

KEY = "rocpr_the-key-of-ann"


def owner(proxies: str = "", keys: Keys | None = None, **variables: str) -> str:
    return Owners(keys, trusted_proxies(proxies), OPEN).owner_of(variables)


def through(proxies: str, address: str, forwarded: str) -> str:
    told = owner(proxies, REMOTE_ADDR=address, HTTP_X_FORWARDED_FOR=forwarded)
    assert told.startswith("address ")
    return told.removeprefix("address ")


@pytest.fixture
def keys(tmp_path: Path) -> Keys:
    (tmp_path / "keys").write_text(f"ann {sha256(KEY.encode()).hexdigest()}\n")
    return Keys(tmp_path / "keys")


class TestKeys:
    def test_a_key_is_the_owner_wherever_it_comes_from(self, keys: Keys) -> None:
        for address in ("192.0.2.1", "192.0.2.2", ""):
            assert owner(keys=keys, REMOTE_ADDR=address, HTTP_AUTHORIZATION=f"Bearer {KEY}") == "key ann"

    @pytest.mark.parametrize("header", ["", "Bearer", "Bearer wrong", f"Basic {KEY}", "Bearer \xff"])
    def test_without_a_key_an_address_is_the_owner(self, keys: Keys, header: str) -> None:
        for address in ("192.0.2.1", "192.0.2.2"):
            assert owner(keys=keys, REMOTE_ADDR=address, HTTP_AUTHORIZATION=header) == f"no key {address}"

    @pytest.mark.parametrize("path", sorted(OPEN))
    def test_open_paths_have_owners_of_their_own(self, keys: Keys, path: str) -> None:
        """A crowd without a key turns away no health check, even if both come through one proxy."""
        for header in ("", f"Bearer {KEY}"):
            asked = {"REMOTE_ADDR": "192.0.2.1", "HTTP_AUTHORIZATION": header}
            assert owner(keys=keys, PATH_INFO=path, **asked) == "open 192.0.2.1"
            assert owner(keys=keys, PATH_INFO="/v1/curves", **asked) != "open 192.0.2.1"

    def test_a_key_is_ignored_by_a_server_without_keys(self) -> None:
        assert owner(REMOTE_ADDR="192.0.2.1", HTTP_AUTHORIZATION=f"Bearer {KEY}") == "address 192.0.2.1"

    def test_no_key_is_called_as_an_address(self, tmp_path: Path) -> None:
        (tmp_path / "keys").write_text(f"192.0.2.1 {sha256(KEY.encode()).hexdigest()}\n")
        named = owner(keys=Keys(tmp_path / "keys"), REMOTE_ADDR="::1", HTTP_AUTHORIZATION=f"Bearer {KEY}")
        assert named != owner(REMOTE_ADDR="192.0.2.1")


class TestAddresses:
    @pytest.mark.parametrize(
        ("address", "owned_by"),
        [
            ("192.0.2.1", "192.0.2.1"),
            ("2001:db8:1:2:3:4:5:6", "2001:db8:1:2::/64"),
            ("2001:db8:1:2::", "2001:db8:1:2::/64"),
            ("::ffff:192.0.2.1", "192.0.2.1"),
            ("fe80::1%eth0", "fe80::/64"),
            ("", "unix"),
        ],
    )
    def test_a_customer_has_one(self, address: str, owned_by: str) -> None:
        assert owner(REMOTE_ADDR=address) == f"address {owned_by}"

    def test_two_customers_are_two(self) -> None:
        assert owner(REMOTE_ADDR="2001:db8:1:2::1") != owner(REMOTE_ADDR="2001:db8:1:3::1")

    def test_without_any_it_is_the_socket(self) -> None:
        assert owner() == "address unix"


class TestProxies:
    def test_no_proxy_is_trusted_by_default(self) -> None:
        assert through("", "127.0.0.1", "192.0.2.1") == "127.0.0.1"
        assert through("10.0.0.0/8", "127.0.0.1", "192.0.2.1") == "127.0.0.1"

    @pytest.mark.parametrize(
        ("proxies", "address"),
        [
            ("127.0.0.1", "127.0.0.1"),
            (" 10.0.0.0/8 , 127.0.0.1", "10.1.2.3"),
            ("::1", "::1"),
            ("2001:db8::/32", "2001:db8::7"),
            ("127.0.0.1", "::ffff:127.0.0.1"),  # a listener for both families
            ("unix", ""),
        ],
    )
    def test_a_trusted_proxy_names_the_client(self, proxies: str, address: str) -> None:
        assert through(proxies, address, "192.0.2.1") == "192.0.2.1"
        assert through(proxies, address, "2001:db8:1:2::3") == "2001:db8:1:2::/64"

    def test_only_what_it_says_itself_counts(self) -> None:
        """The proxy appends the address that it sees; the client may have made up anything before that."""
        assert through("127.0.0.1", "127.0.0.1", "192.0.2.7, 192.0.2.1") == "192.0.2.1"

    def test_several_proxies_may_be_passed(self) -> None:
        proxies = "127.0.0.1, 10.0.0.0/8"
        assert through(proxies, "127.0.0.1", "192.0.2.7, 192.0.2.1, 10.0.0.2,10.0.0.1") == "192.0.2.1"
        assert through(proxies, "127.0.0.1", "10.0.0.2, 10.0.0.1") == "10.0.0.2"
        assert through(proxies, "127.0.0.1", "192.0.2.1, ::ffff:10.0.0.1") == "192.0.2.1"

    @pytest.mark.parametrize(
        "forwarded", ["", ",", "unknown", "192.0.2.1:80", "a b", "192.0.2.1, unknown", "unix", "\xff"]
    )
    def test_an_invalid_address_names_no_client(self, forwarded: str) -> None:
        assert through("127.0.0.1", "127.0.0.1", forwarded) == "127.0.0.1"

    def test_a_socket_is_not_trusted_as_an_address(self) -> None:
        assert through("0.0.0.0/0, ::/0", "", "192.0.2.1") == "unix"
        assert through("unix", "127.0.0.1", "192.0.2.1") == "127.0.0.1"

    def test_an_endless_header_is_not_read(self) -> None:
        hops = ", ".join(f"10.{number // 250}.0.{number % 250}" for number in range(1000))
        assert through("10.0.0.0/8", "10.0.0.1", f"192.0.2.1, {hops}") == "10.3.0.242"

    @pytest.mark.parametrize(
        "text", ["localhost", "127.0.0.1:80", "10.0.0.1/8", "10.0.0.0/33", "127.0.0.1,", ",", "Unix", "127.0.0.1 ::1"]
    )
    def test_an_invalid_proxy_is_reported(self, text: str) -> None:
        with pytest.raises(SettingsError, match="ROCPR_TRUSTED_PROXIES must be addresses"):
            trusted_proxies(text)

    @pytest.mark.parametrize("text", ["", " "])
    def test_there_may_be_none(self, text: str) -> None:
        assert trusted_proxies(text) == ()
