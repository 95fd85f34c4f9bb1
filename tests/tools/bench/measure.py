"""Medians of two calls that take turns, and the processes in which the mathematics is timed."""

import json
import statistics
import subprocess
import sys
import tempfile
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Self

ROOT = Path(__file__).resolve().parents[3]


@dataclass(frozen=True)
class Scale:
    """How often."""

    repeats: int
    seconds: float
    """A single timing repeats its call until it takes about this long."""
    load_seconds: float
    """The least time that a server is measured under load, each time."""
    settle_seconds: float
    """How long servers are left alone once they listen: they still start processes for big requests."""


FULL = Scale(repeats=7, seconds=0.05, load_seconds=1.0, settle_seconds=10.0)
QUICK = Scale(repeats=1, seconds=0.0, load_seconds=0.02, settle_seconds=0.0)
PATIENCE = 3.0
"""Calls that take longer than this, in seconds, are timed 5 times."""

Timing = Callable[[int], float]
"""From the number of consecutive calls to the seconds of one call."""


def medians(timings: Mapping[str, Timing], scale: Scale) -> dict[str, float]:
    """Time the calls in turns: the first, the second, ..., the first again. The warm-up round is not recorded."""
    loops = {name: max(1, min(1_000, int(scale.seconds / max(time(1), 1e-6)))) for name, time in timings.items()}
    seconds: dict[str, list[float]] = {name: [] for name in timings}
    repeats = scale.repeats
    while repeats > len(next(iter(seconds.values()))):
        for name, time in timings.items():
            seconds[name].append(time(loops[name]))
        if max(column[0] for column in seconds.values()) > PATIENCE:
            repeats = min(repeats, 5)
    return {name: statistics.median(column) for name, column in seconds.items()}


class Worker:
    """A process of tests.tools.bench.worker, and its orders as calls."""

    def __init__(self, variables: Mapping[str, str]) -> None:
        self._log = tempfile.TemporaryFile()  # noqa: SIM115  # closed on exit; the application logs each request
        self._process = subprocess.Popen(
            [sys.executable, "-m", "tests.tools.bench.worker"],
            cwd=ROOT,
            env=variables,
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=self._log,
            text=True,
        )

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self._process.kill()
        self._process.communicate()
        self._log.close()

    def order(self, name: str, **arguments: object) -> Any:
        """Have an order carried out. Raises AssertionError if numbers disagree."""
        self._process.stdin.write(json.dumps([name, arguments]) + "\n")
        self._process.stdin.flush()
        line = self._process.stdout.readline()
        if not line:
            self._log.seek(0)
            log = self._log.read().decode(errors="replace")[-2000:]
            raise RuntimeError(f"the process that times the mathematics ended: {name} {arguments}\n{log}")
        answer = json.loads(line)
        if "error" in answer:
            raise AssertionError(answer["error"])
        return answer["value"]

    def timing(self, rows: int, call: str) -> Timing:
        return lambda loops: self.order("time", rows=rows, call=call, loops=loops)
