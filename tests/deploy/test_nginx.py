"""nginx with deploy/nginx.conf in front of the real server: it changes nothing, and refuses with problems."""

import json
import re
from contextlib import ExitStack
from http import HTTPStatus
from pathlib import Path

import pytest

from service.settings import read_settings
from service.wire.problems import PROBLEM_TYPES
from tests.contract import document as contract
from tests.deploy.conftest import Proxy, configuration, running_nginx
from tests.e2e.wire import SECONDS, Answer, Connection, check_problem, chunked, request
from tests.support.malformed_requests import JSON, MALFORMED, POST, SAMPLE
from tests.support.processes import wait_until
from tests.support.servers import free_port

pytestmark = pytest.mark.all

CHUNKED = {**JSON, "Transfer_Encoding": "chunked"}
OF_EACH_HOP = {"connection", "date", "keep-alive", "server", "server-timing", "transfer-encoding", "x-request-id"}
"""Headers that are each server's own, or differ from answer to answer."""

MEGABYTE = 1_000_000
LIMIT = read_settings({}).max_body_bytes


def ask(port: int, data: bytes) -> Answer:
    with Connection(port) as connection:
        return connection.send(data).read()


def same(answer: Answer) -> tuple[int, dict[str, str], bytes]:
    return answer.status, {k: v for k, v in answer.headers.items() if k not in OF_EACH_HOP}, answer.body


PASSED = {
    "evaluation": request("POST", "/v1/curves", SAMPLE, **JSON),
    "CSV": request("POST", "/v1/curves", b"score,label\n0.9,1\n0.1,0\n", Content_Type="text/csv", Accept="text/csv"),
    "compressed": request("POST", "/v1/curves", SAMPLE, **JSON, Accept_Encoding="gzip"),
    "health": request("GET", "/health/live"),
    "HTTP/1.0 without a host": b"GET /health/live HTTP/1.0\r\n\r\n",
    "page": request("GET", "/openapi.json"),
    "stays with its query": request(
        "POST", "/v1/curves?include=auc,points", SAMPLE.replace(b'"include"', b'"x"'), **JSON
    ),
    "wrong value": request("POST", "/v1/curves", b'{"scores": ["a"], "labels": [1]}', **JSON),
    "not JSON": request("POST", "/v1/curves", b"{", **JSON),
    "unknown path": request("GET", "/v1//curves/../nothing%20here?a=b"),
    "wrong method": request("DELETE", "/v1/curves"),
    "wrong type": request("POST", "/v1/curves", SAMPLE, Content_Type="text/plain"),
    "not acceptable": request("POST", "/v1/curves", SAMPLE, **JSON, Accept="image/gif"),
    "a line that the service finds too long": request("GET", "/?" + "a" * 9000),
    "a header that the service finds too long": request("GET", "/", X="a" * 9000),
}


@pytest.mark.parametrize("name", PASSED)
def test_answers_and_problems_pass_as_they_are(proxy: Proxy, name: str) -> None:
    assert same(ask(proxy.port, PASSED[name])) == same(ask(proxy.behind, PASSED[name]))


UPLOADS = {
    "chunked": request("POST", "/v1/curves", **CHUNKED) + chunked(SAMPLE[:10], SAMPLE[10:]),
    "20 MB": request("POST", "/v1/curves", SAMPLE + b" " * (20 * MEGABYTE), **JSON),
    "20 MB chunked": request("POST", "/v1/curves", **CHUNKED) + chunked(SAMPLE, *[b" " * MEGABYTE] * 20),
}


@pytest.mark.parametrize("name", UPLOADS)
def test_bodies_pass(proxy: Proxy, name: str) -> None:
    answer = ask(proxy.port, UPLOADS[name])
    assert (answer.status, answer.document["auc"]["roc"]) == (200, 0.75)


def test_a_long_answer_passes(proxy: Proxy) -> None:
    sample = {"scores": [number / 7 for number in range(100_000)], "labels": [number % 2 for number in range(100_000)]}
    data = request("POST", "/v1/curves", json.dumps(sample).encode(), **JSON)
    through, direct = ask(proxy.port, data), ask(proxy.behind, data)
    assert len(through.body) > 5 * MEGABYTE
    assert same(through) == same(direct)


def test_a_client_that_waits_for_100_continue_gets_it(proxy: Proxy) -> None:
    head = request("POST", "/v1/curves", **JSON, Expect="100-continue", Content_Length=str(len(SAMPLE)))
    with Connection(proxy.port) as connection:
        assert connection.send(head).socket.recv(100).startswith(b"HTTP/1.1 100 ")
        assert connection.send(SAMPLE).read().status == HTTPStatus.OK


REFUSED = {
    "length over the limit": (POST + b"Content-Length: %d\r\n\r\n" % (LIMIT + 1), "body_too_large"),
    "length over the limit, expecting": (
        POST + b"Expect: 100-continue\r\nContent-Length: %d\r\n\r\n" % (LIMIT + 1),
        "body_too_large",
    ),
    "chunk over the limit": (
        request("POST", "/v1/curves", **CHUNKED) + b"%x\r\n{}" % (LIMIT + 1),
        "body_too_large",
    ),
    "long line": (b"GET /" + b"a" * 40_000 + b" HTTP/1.1\r\nHost: a\r\n\r\n", "uri_too_long"),
    "long header": (request("GET", "/", X="a" * 40_000), "headers_too_large"),
    **{
        name: (MALFORMED[name], "malformed_request")
        for name in ("no request line", "no host", "two lengths", "unknown coding", "HTTP/9.9")
    },
    "TRACE": (request("TRACE", "/v1/curves"), "method_not_allowed"),
    "metrics": (request("GET", "/metrics"), "not_found"),
    "metrics, other spellings": (request("GET", "//%6detrics/../x/../metrics?a"), "not_found"),
    "where problems are made": (request("GET", "/-/unavailable"), "not_found"),
}


@pytest.mark.parametrize("name", REFUSED)
def test_what_nginx_refuses_is_a_problem(proxy: Proxy, name: str) -> None:
    data, code = REFUSED[name]
    answer = ask(proxy.port, data)
    check_problem(answer, code)
    assert re.fullmatch("[0-9a-f]{32}", answer.headers["x-request-id"])
    assert answer.headers["x-content-type-options"] == "nosniff"
    assert ("allow" in answer.headers) is (code == "method_not_allowed")
    assert "retry-after" not in answer.headers


def test_a_path_that_is_not_plain_text_is_not_repeated(proxy: Proxy) -> None:
    large = {"Content_Length": str(LIMIT + 1)}
    for target, instance in {
        "/v1/curves?secret": "/v1/curves",
        '/"},"x":{"': "/",
        "/<b>": "/",
        "/\\": "/",
        "/" + "a" * 300: "/",
        "/a%22b": "/a%22b",
    }.items():
        assert ask(proxy.port, request("POST", target, **large)).document["instance"] == instance


def test_every_problem_of_nginx_is_one_of_the_service(root: Path) -> None:
    text = (root / "deploy/nginx.conf").read_text()
    documents = re.findall(r"return (\d+) '(.*)\\n';", text)
    assert len(documents) >= 11
    for status, document in documents:
        problem = json.loads(document)
        known = PROBLEM_TYPES[problem["type"].removeprefix("/problems/")]
        assert (problem["title"], problem["status"], int(status)) == (known.title, known.status, known.status)
        assert f"location = /-/{known.code} {{" in text


def test_without_the_service_all_is_503_and_may_be_asked_again(root: Path, tmp_path: Path) -> None:
    port = free_port()
    with running_nginx(configuration(root, tmp_path, port, behind=free_port()), tmp_path, port):
        for data in (request("GET", "/health/ready"), request("POST", "/v1/curves", SAMPLE, **JSON)):
            answer = ask(port, data)
            check_problem(answer, "unavailable")
            assert answer.headers["retry-after"] == str(read_settings({}).retry_after_seconds)


def test_one_address_has_a_limit_of_requests_at_once(root: Path, service: int, tmp_path: Path) -> None:
    port = free_port()
    head = request("POST", "/v1/curves", **JSON, Expect="100-continue", Content_Length="10")
    with running_nginx(configuration(root, tmp_path, port, service), tmp_path, port), ExitStack() as stack:
        for _ in range(100):
            connection = stack.enter_context(Connection(port)).send(head)
            assert connection.socket.recv(100).startswith(b"HTTP/1.1 100 ")
        answer = ask(port, request("GET", "/health/live"))
        check_problem(answer, "too_many_requests")
        assert answer.headers["retry-after"] == str(read_settings({}).retry_after_seconds)


def test_ids_are_the_client_s_or_made(proxy: Proxy) -> None:
    assert (
        ask(proxy.port, request("GET", "/health/live", X_Request_ID="mine-1.2_3")).headers["x-request-id"]
        == "mine-1.2_3"
    )
    made = ask(proxy.port, request("GET", "/health/live", X_Request_ID='a"b')).headers["x-request-id"]
    assert re.fullmatch("[0-9a-f]{32}", made)


@pytest.mark.parametrize(
    ("given", "fields"),
    [
        ("rocpr_" + "k" * 43, {}),
        ("Bearer-ROCPR_" + "k" * 43, {}),
        ("own-key", {"Authorization": "Bearer own-key"}),
        ("own-key", {"Authorization": "bearer  own-key "}),
    ],
)
def test_an_id_that_may_be_a_key_is_not_logged(proxy: Proxy, given: str, fields: dict[str, str]) -> None:
    """As by the service itself: a key was sent in the wrong header."""
    answer = ask(proxy.port, request("GET", "/health/live", X_Request_ID=given, **fields))
    made = answer.headers["x-request-id"]
    assert re.fullmatch("[0-9a-f]{32}", made)
    wait_until(lambda: made in proxy.log.read_text(), SECONDS, "nginx logs when the answer was sent")
    assert given not in proxy.log.read_text()


def test_a_page_of_the_service_is_its_own_on_any_port(proxy: Proxy) -> None:
    """A general media type is read by its first bytes, but not for another origin's page."""
    host, body = f"localhost:{proxy.port}", b'{"labels": [1, 0], "scores": [0.9, 0.1]}'
    fields = {"Host": host, "Content_Type": "text/plain"}
    own, other = (
        ask(proxy.port, request("POST", "/v1/curves", body, **fields, Origin=f"http://{origin}"))
        for origin in (host, "localhost:1")
    )
    assert own.status == HTTPStatus.OK
    check_problem(other, "unsupported_media_type")


def test_the_log_repeats_nothing(proxy: Proxy) -> None:
    """No path, query, header, method or body is logged; only ids, which name the lines here."""
    secret = "canary7531"
    for number, data in enumerate(
        (
            request("POST", f"/v1/curves?include={secret}", SAMPLE + secret.encode(), **JSON, X_Request_ID="log-0"),
            request("GET", f"/{secret}", X_Request_ID="log-1", Authorization=f"Bearer {secret}", User_Agent=secret),
            request(secret.upper().rstrip("1357"), "/metrics", X_Request_ID="log-2", Referer=secret, Cookie=secret),
        )
    ):
        assert ask(proxy.port, data).headers["x-request-id"] == f"log-{number}"
    wait_until(lambda: "log-2" in proxy.log.read_text(), SECONDS, "nginx logs when the answer was sent")
    text = proxy.log.read_text()
    assert "canary" not in text.lower()
    lines = {line["id"]: line for line in map(json.loads, text.splitlines())}
    found = [(lines[f"log-{n}"]["method"], lines[f"log-{n}"]["route"], lines[f"log-{n}"]["status"]) for n in range(3)]
    assert found == [("POST", "/v1/curves", 400), ("GET", "unmatched", 404), ("OTHER", "/metrics", 404)]
    assert "canary" not in (proxy.log.parent / "nginx.log").read_text().lower()


def test_the_log_names_every_path_of_the_contract(root: Path) -> None:
    text = (root / "deploy/nginx.conf").read_text()
    routes = re.search(r"map \$request_uri \$rocpr_route \{([^}]*)\n    \}", text)[1]
    patterns = [pattern.replace("(?<", "(?P<") for pattern in re.findall(r'"~(\S+)" ', routes)]
    paths = [re.sub(r"\{\w+\}", "name", path) for path in contract.document()["paths"]]
    assert [path for path in paths if not any(re.search(pattern, path) for pattern in patterns)] == []


def test_values_that_follow_from_the_service_s(root: Path) -> None:
    text = (root / "deploy/nginx.conf").read_text()
    settings = read_settings({})
    gunicorn = (root / "deploy/gunicorn.conf.py").read_text()

    def seconds(pattern: str, within: str = text) -> int:
        return int(re.search(pattern, within, re.MULTILINE)[1])

    assert seconds(r"^ *client_max_body_size (\d+);") == settings.max_body_bytes
    assert seconds(r'"~\^\(429\|503\)\$" (\d+);') == settings.retry_after_seconds
    assert seconds(r"^ *proxy_read_timeout (\d+)s;") >= settings.queue_seconds + 2 * settings.big_seconds + 30
    kept = seconds(r"keepalive 16;[^}]*keepalive_timeout (\d+)s;")
    assert kept < seconds(r"^keepalive = (\d+)$", gunicorn)
