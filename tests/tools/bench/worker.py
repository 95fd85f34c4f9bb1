"""The process in which the mathematics is timed: it takes orders on stdin and answers each with a line of JSON.

A separate process has the requested environment before NumPy is imported, and one processor.
"""

import gc
import json
import os
import sys
import time
import tracemalloc
from collections.abc import Callable

from service.curves.sweep.sweep import COMPILED
from tests.tools.bench.cases import Call, Case, make
from tests.tools.bench.pinning import pin
from tests.tools.bench.rows import NUMPY, OURS


class Orders:
    """The orders that it takes."""

    def __init__(self) -> None:
        self.cases: dict[int, Case] = {}

    def make(self, case: str, rows: int) -> dict[str, object]:
        """Make a case, and keep those of other sizes."""
        self.cases[rows] = make(case, rows)
        return {"calls": list(self.cases[rows].calls), "thresholds": self.cases[rows].thresholds}

    def forget(self) -> None:
        self.cases.clear()

    def check(self, rows: int, call: str) -> int:
        self._prepare(rows, call)
        return self.cases[rows].check()

    def time(self, rows: int, call: str, loops: int) -> float:
        """Processor seconds of one call, the mean of several in a row; other processes hardly affect it."""
        function = self._prepare(rows, call)
        gc.collect()
        gc.disable()
        start = time.process_time()
        for _ in range(loops):
            function()
        seconds = time.process_time() - start
        gc.enable()
        return seconds / loops

    def peak(self, rows: int, call: str) -> int:
        """The most bytes that one call allocates, including its result; NumPy reports its arrays to tracemalloc."""
        function = self._prepare(rows, call)
        tracemalloc.start()
        function()
        _, most = tracemalloc.get_traced_memory()
        tracemalloc.stop()
        return most

    def _prepare(self, rows: int, call: str) -> Call:
        """Find a call, and turn the compiled loops on or off for it."""
        COMPILED.use(None)
        if call != NUMPY:
            COMPILED.use_installed()
        return self.cases[rows].calls[OURS if call == NUMPY else call]


def main() -> None:
    pin(-1)
    orders = Orders()
    # A library's output must not be mistaken for an answer.
    answers = os.fdopen(os.dup(1), "w")
    os.dup2(2, 1)
    for line in sys.stdin:
        name, arguments = json.loads(line)
        order: Callable[..., object] = getattr(orders, name)
        try:
            answer = {"value": order(**arguments)}
        except AssertionError as error:
            answer = {"error": f"{name} {arguments}: {error}"}
        print(json.dumps(answer), file=answers, flush=True)


if __name__ == "__main__":
    main()
