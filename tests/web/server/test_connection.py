"""A connection on a real loop: its phases, their deadlines, and how it ends."""

from tests.web.server.applications import echo
from tests.web.server.conftest import Serve
from tests.web.server.serving import Clock, Phase


def test_a_request_is_answered_and_the_connection_kept(serve: Serve) -> None:
    served = serve(echo)
    client = served.connect()
    for target in ("/a", "/b"):
        answer = client.get(target).read()
        assert (answer.status, answer.body, answer.closes) == (200, f"GET {target} ".encode(), False)
    served.reaches(client, Phase.IDLE)


def test_idle(serve: Serve, clock: Clock) -> None:
    served = serve(echo)
    client = served.connect()
    clock.forward(4.5)
    served.sweep()
    assert client.get("/").read().status == 200
    clock.forward(5.1)
    served.sweep()
    assert client.rest() == b""
