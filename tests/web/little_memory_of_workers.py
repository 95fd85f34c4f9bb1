"""Answers small requests with less memory than they take, as a worker does, for test_little_memory.py.

Each is answered in a separate process, as in little_memory.py, and the argument is the same. Prints the exit status
and the answer's status.
"""

import json
import os
import resource
import sys
from itertools import product

from flask import Flask

from service.app import create_app
from service.environment import leave_pandas_out, prepare_process
from service.settings import read_settings
from service.wire.media_types import CSV, JSON
from tests.web.little_memory import data_bytes

ROWS = 8_000
MOST_KIB = 40_960
STEP_KIB = 512

SCORES = [(row * 7_919 % ROWS) / ROWS for row in range(ROWS)]
BODIES = {
    JSON: json.dumps({"scores": SCORES, "labels": [row % 2 for row in range(ROWS)]}).encode(),
    CSV: b"scores,labels\n" + b"".join(b"%r,%d\n" % (score, row % 2) for row, score in enumerate(SCORES)),
}


def outcome(app: Flask, content_type: str, accept: str, kib: int) -> tuple[int, str]:
    """Answer in a process that may take this much more memory; return its exit status and the answer's."""
    theirs, ours = os.pipe()
    process = os.fork()
    if process == 0:
        most = data_bytes() + (kib << 10)
        resource.setrlimit(resource.RLIMIT_DATA, (most, most))
        resource.setrlimit(resource.RLIMIT_CORE, (0, 0))
        headers = {"Content-Type": content_type, "Accept": accept}
        answer = app.test_client().post("/v1/curves", data=BODIES[content_type], headers=headers)
        os.write(ours, str(answer.status_code).encode())
        os._exit(0)
    os.close(ours)
    _, status = os.waitpid(process, 0)
    with os.fdopen(theirs, "rb") as pipe:
        return os.waitstatus_to_exitcode(status), pipe.read().decode()


def main() -> None:
    """Try each request until it is answered."""
    prepare_process()
    leave_pandas_out()
    app = create_app(read_settings({}))
    for content_type, accept in product(BODIES, BODIES):
        for kib in range(0, MOST_KIB, STEP_KIB * int(sys.argv[1])):
            exit_status, status = outcome(app, content_type, accept, kib)
            print(f"{content_type} to {accept}: {exit_status} {status}", flush=True)
            if status == "200":
                break


if __name__ == "__main__":
    main()
