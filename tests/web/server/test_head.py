"""The checks of a head beyond gunicorn's parser, and its environ."""

import sys
from typing import Any

import pytest

from service.web.server.head import Head
from service.wire.problems import Problem
from tests.web.server.reading import new_reader

CLIENT, LISTENER = ("192.0.2.1", "1234"), ("192.0.2.9", "80")


def head_of(*fields: bytes, line: bytes = b"GET / HTTP/1.1", host: bytes = b"Host: a") -> Head:
    reader = new_reader()
    reader.feed(b"".join(field + b"\r\n" for field in (line, host, *fields) if field) + b"\r\n")
    assert reader.head is not None
    return reader.head


def environ_of(*fields: bytes, line: bytes = b"GET / HTTP/1.1", host: bytes = b"Host: a") -> dict[str, Any]:
    return head_of(*fields, line=line, host=host).environ(CLIENT, LISTENER)


HOSTS = [
    b"",
    b"a",
    b"A.b-c_d~e",
    b"example.org:8000",
    b"example.org:",
    b":80",
    b"192.0.2.1:80",
    b"[::1]",
    b"[::1]:80",
    b"[2001:db8::192.0.2.1]:",
    b"[v1.a:b]",
    b"a%20b",
    b"a!$&'()*+,;=b",
]
NO_HOSTS = [
    b"a b",
    b"evil.com/@a",
    b"user@a",
    b"a/",
    b"a?b",
    b"a#b",
    b"a:b",
    b"a:80:80",
    b"a:-1",
    b"a%zz",
    b"a%2",
    b"[",
    b"[::1",
    b"::1",
    b"[::1]a",
    b"[g::1]",
    b"[v1]",
    b'a"b',
    b"a<b>",
    b"a\\b",
    b"a\xe9",
    b"http://a",
]


@pytest.mark.parametrize("host", HOSTS)
def test_a_host_is_a_name_or_an_address_and_perhaps_a_port(host: bytes) -> None:
    assert environ_of(host=b"Host: " + host)["HTTP_HOST"] == host.decode()
    assert head_of(line=b"GET http://" + host + b"/x HTTP/1.1").target == b"/x"


@pytest.mark.parametrize("host", NO_HOSTS)
def test_any_other_host_is_refused(host: bytes) -> None:
    for line in (b"GET / HTTP/1.1", b"GET / HTTP/1.0"):
        with pytest.raises(Problem, match="field is not valid"):
            head_of(line=line, host=b"Host: " + host)


@pytest.mark.parametrize("host", [b"a b", b"user@a", b"[", b"a:b"])
def test_so_is_any_other_host_of_a_target(host: bytes) -> None:
    with pytest.raises(Problem):
        head_of(line=b"GET http://" + host + b"/ HTTP/1.1")


@pytest.mark.parametrize(
    ("target", "origin"),
    [
        (b"/a/b?c=d&e", b"/a/b?c=d&e"),
        (b"//a/b", b"//a/b"),
        (b"/http://b/c", b"/http://b/c"),
        (b"http://b", b"/"),
        (b"HTTPS://b:1/c?d#e", b"/c?d"),
        (b"http://b?c", b"/?c"),
    ],
)
def test_of_an_absolute_target_the_path_and_the_query_count(target: bytes, origin: bytes) -> None:
    assert head_of(line=b"GET " + target + b" HTTP/1.1").target == origin


@pytest.mark.parametrize("host", [b"", b"Host: a b"])
def test_an_absolute_target_does_not_replace_the_field(host: bytes) -> None:
    """RFC 9112, 3.2: HTTP/1.1 needs a valid Host, whatever the target says."""
    with pytest.raises(Problem, match="header field"):
        head_of(line=b"GET http://b/ HTTP/1.1", host=host)


@pytest.mark.parametrize(
    ("fields", "version", "closes"),
    [
        ([], b"1.1", False),
        ([], b"1.0", True),
        ([b"Connection: close"], b"1.1", True),
        ([b"Connection: Close"], b"1.1", True),
        ([b"Connection: x ,\tclose"], b"1.1", True),
        ([b"Connection: x", b"Connection: close"], b"1.1", True),
        ([b"Connection: closed, close-not"], b"1.1", False),
        ([b"Connection: keep-alive"], b"1.0", False),
        ([b"Connection: Keep-Alive, x"], b"1.0", False),
        ([b"Connection: keep-alive, close"], b"1.0", True),
        ([b"Connection: keep-alive, close"], b"1.1", True),
    ],
)
def test_who_asks_for_no_other_request(fields: list[bytes], version: bytes, *, closes: bool) -> None:
    assert head_of(*fields, line=b"GET / HTTP/" + version).asks_to_close is closes


def test_no_request_follows_one_for_a_tunnel() -> None:
    """Not even if it is kept open: a client that believes in the tunnel sends something else."""
    assert head_of(b"Connection: keep-alive", line=b"CONNECT a:80 HTTP/1.1").asks_to_close


@pytest.mark.parametrize(
    ("fields", "length"),
    [([], 0), ([b"Content-Length: 0"], 0), ([b"Content-Length: 7"], 7), ([b"Transfer-Encoding: chunked"], None)],
)
def test_the_length_of_the_body(fields: list[bytes], length: int | None) -> None:
    assert head_of(*fields).length == length


class TestEnviron:
    def test_says_who_asks_for_what(self) -> None:
        environ = environ_of(b"Content-Type: text/csv", b"Content-Length: 2", line=b"POST /%ff%2Fa%20b?c=%20d HTTP/1.1")
        assert environ == {
            "REQUEST_METHOD": "POST",
            "SCRIPT_NAME": "",
            "PATH_INFO": "/\xff/a b",
            "QUERY_STRING": "c=%20d",
            "RAW_URI": "/%ff%2Fa%20b?c=%20d",
            "SERVER_PROTOCOL": "HTTP/1.1",
            "SERVER_NAME": "192.0.2.9",
            "SERVER_PORT": "80",
            "REMOTE_ADDR": "192.0.2.1",
            "REMOTE_PORT": "1234",
            "HTTP_HOST": "a",
            "CONTENT_TYPE": "text/csv",
            "CONTENT_LENGTH": "2",
            "wsgi.version": (1, 0),
            "wsgi.url_scheme": "http",
            "wsgi.errors": sys.stderr,
            "wsgi.multithread": True,
            "wsgi.multiprocess": True,
            "wsgi.run_once": False,
            "wsgi.input_terminated": True,
        }
        assert environ_of(line=b"GET / HTTP/1.0", host=b"")["SERVER_PROTOCOL"] == "HTTP/1.0"

    def test_has_several_fields_of_a_name_as_one(self) -> None:
        assert environ_of(b"X-Y: a", b"x-y: b, c", b"X-Y:")["HTTP_X_Y"] == "a,b, c,"

    def test_has_bytes_as_they_are(self) -> None:
        assert environ_of(b"X: \xe9\xff")["HTTP_X"] == "\xe9\xff"

    def test_has_no_field_that_looks_like_another(self) -> None:
        """With _ instead of -, it would have the name of another field, which a proxy may have removed."""
        environ = environ_of(b"X_Forwarded_For: 192.0.2.7", b"Content_Length: 7", b"SCRIPT_NAME: /x", b"PATH_INFO: /y")
        assert not any("192.0.2.7" in str(value) for value in environ.values())
        assert "CONTENT_LENGTH" not in environ
        assert (environ["SCRIPT_NAME"], environ["PATH_INFO"]) == ("", "/")

    def test_has_nothing_of_the_servers_own_business(self) -> None:
        environ = environ_of(b"Upgrade: h2c", b"Connection: upgrade", b"Expect: 100-continue", b"Content-Length: 2")
        assert {name for name in environ if name.startswith("HTTP_")} == {"HTTP_HOST"}

    def test_says_that_a_body_is_chunked(self) -> None:
        environ = environ_of(b"Transfer-Encoding: Chunked")
        assert environ["HTTP_TRANSFER_ENCODING"] == "chunked"
        assert "CONTENT_LENGTH" not in environ

    def test_cannot_be_made_to_say_more(self) -> None:
        """No field of a client becomes one of our variables."""
        environ = environ_of(b"rocpr.pass: big", b"wsgi.input: x")
        assert not {"rocpr.pass", "wsgi.input"} & environ.keys()
