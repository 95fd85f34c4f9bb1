"""A reload loses nothing; SIGTERM ends a server even if clients have sent half a request."""

import pytest

from tests.support.attacks.restarts import CLIENTS
from tests.support.attacks.stops import drain, reload

pytestmark = pytest.mark.all


def test_a_reload_loses_no_request() -> None:
    assert reload(2, 1, least=CLIENTS).missed == []


def test_half_sent_bodies_do_not_keep_a_server_from_stopping() -> None:
    found, _ = drain(half=10, idle=20)
    assert found.missed == []
