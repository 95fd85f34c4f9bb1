"""Clients that always have a big request in progress, in a separate process of low priority.

`python -m tests.support.attacks.big_clients PORT CLIENTS ROWS [INCLUDE]`: runs until its standard input ends, then
prints counts as JSON. In the process that measures, reading these answers would disturb the measurement.
"""

import io
import json
import os
import sys
import threading
import time
from collections import Counter
from concurrent.futures import ThreadPoolExecutor

from tests.support.clients import LOST, Client
from tests.support.samples import question

NICENESS = 10
PIECE = 1 << 20
"""How much is sent or read in one call: clients may share processors with the server, and most kernels do not
preempt a system call."""


def main(port: int, clients: int, rows: int, *include: str) -> None:
    """Send requests, and retry after Retry-After."""
    os.nice(NICENESS)
    asked = question(rows, *include)
    headers = {"Content-Type": "application/json", "Content-Length": str(len(asked.body))}
    counts: Counter[str] = Counter()
    over, lock = threading.Event(), threading.Lock()

    def one(_: int) -> None:
        memory = bytearray(PIECE)
        while not over.is_set():
            try:
                with Client(port) as client:
                    client.wire.blocksize = PIECE
                    answer = client.begin("POST", "/v1/curves", io.BytesIO(asked.body), headers)
                    place = 0
                    right = True
                    while read := answer.readinto(memory):
                        right &= answer.status != 200 or memory[:read] == asked.answer[place : place + read]
                        place += read
                    right &= answer.status != 200 or place == len(asked.answer)
            except LOST:
                what = "lost"
            else:
                what = str(answer.status) if right else "wrong"
            with lock:
                counts[what] += 1
            if what == "503":
                time.sleep(float(answer.headers["Retry-After"]))

    print("ready", flush=True)
    with ThreadPoolExecutor(clients) as pool:
        waiting = pool.map(one, range(clients))
        sys.stdin.read()
        over.set()
        list(waiting)
    print(json.dumps(counts))


if __name__ == "__main__":
    main(*map(int, sys.argv[1:4]), *sys.argv[4:])
