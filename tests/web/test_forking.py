"""A process notices a stop signal that arrives before it first runs."""

import os
import subprocess
import sys
from pathlib import Path

import pytest

FORKS = """
import os, signal, time
from service.web.forking import STOPS, hold_stops_while_forking

os.sched_setaffinity(0, {min(os.sched_getaffinity(0))})  # so that the child does not run at once
hold_stops_while_forking()
heard = []
for stop in STOPS:
    signal.signal(stop, lambda number, _frame: heard.append(number))
missed = 0
for stop in sorted(STOPS) * 10:
    child = os.fork()
    if not child:
        end = time.monotonic() + 60
        while not heard and time.monotonic() < end:
            time.sleep(0.005)
        os._exit(0 if heard == [stop] else 1)
    os.kill(child, stop)
    missed += os.waitpid(child, 0)[1] != 0
print(missed, heard, signal.pthread_sigmask(signal.SIG_BLOCK, ()))
"""


@pytest.mark.skipif(not hasattr(os, "sched_setaffinity"), reason="processes cannot be bound to one processor here")
def test_no_stop_is_missed(root: Path) -> None:
    words = [sys.executable, "-c", FORKS]
    done = subprocess.run(words, cwd=root, capture_output=True, text=True, timeout=60, check=True)
    assert done.stdout == "0 [] set()\n"
