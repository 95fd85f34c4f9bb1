"""Signals that end a command while an engine works."""

import subprocess
import sys

BOTH_AT_ONCE = """
import os, signal
from service.cli.engine_signals import ended_by_signals
both = {signal.SIGINT, signal.SIGTERM}
try:
    with ended_by_signals():
        signal.pthread_sigmask(signal.SIG_BLOCK, both)
        for number in both:
            os.kill(os.getpid(), number)
        signal.pthread_sigmask(signal.SIG_UNBLOCK, both)
except KeyboardInterrupt:
    print("interrupted")
for number in both:
    os.kill(os.getpid(), number)
print("to the end")
"""


def test_two_signals_at_once_are_one() -> None:
    done = subprocess.run([sys.executable, "-c", BOTH_AT_ONCE], capture_output=True, text=True, check=False, timeout=60)
    assert (done.returncode, done.stdout, done.stderr) == (0, "interrupted\nto the end\n", "")
