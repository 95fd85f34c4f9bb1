"""Hundreds of slow clients at nginx: every other request is answered, through nginx and directly.

The short form, which counts; the long one, with 1,000 slow clients and times, is part of deploy/soak.sh.
"""

import json
import shutil
import subprocess
import time
from collections import Counter

import pytest

from tests.deploy.conftest import Proxy
from tests.e2e.wire import Connection, request
from tests.support.processes import established

pytestmark = pytest.mark.all

SLOW = 300
SECONDS = 120
ROUNDS = 3
"""How often others ask while all slow clients are connected."""
FIFTY_ROWS = json.dumps({"scores": [n / 50 for n in range(50)], "labels": [n % 2 for n in range(50)]}).encode()
ASKED = {
    "health": request("GET", "/health/ready"),
    "evaluation": request("POST", "/v1/curves", FIFTY_ROWS, Content_Type="application/json"),
}


@pytest.mark.parametrize("slow_with", ["-H", "-B"], ids=["headers", "bodies"])
def test_slow_clients_do_not_delay_others(proxy: Proxy, slow_with: str) -> None:
    slowhttptest = shutil.which("slowhttptest")
    if slowhttptest is None:
        pytest.skip("there is no slowhttptest on this machine")
    url = f"http://127.0.0.1:{proxy.port}/v1/curves"
    clients = [slowhttptest, slow_with, "-c", f"{SLOW}", "-r", f"{SLOW}", "-i", "1", "-l", f"{SECONDS}", "-u", url]
    statuses: Counter[tuple[str, str, int]] = Counter()
    rounds = 0
    attack = subprocess.Popen(clients, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
    try:
        end = time.monotonic() + SECONDS
        while rounds < ROUNDS and attack.poll() is None and time.monotonic() < end:
            rounds += established(proxy.port) >= SLOW
            for way, port in (("through", proxy.port), ("past", proxy.behind)):
                for name, data in ASKED.items():
                    with Connection(port) as connection:
                        statuses[way, name, connection.send(data).read().status] += 1
    finally:
        attack.kill()
        attack.wait()
    assert rounds == ROUNDS
    assert set(statuses) == {(way, name, 200) for way in ("through", "past") for name in ASKED}
