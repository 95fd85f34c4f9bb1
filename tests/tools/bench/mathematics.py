"""The rows that need no server. Each is timed in processes with the environment that it names."""

import contextlib
import math

from tests.tools.bench.environments import environment as variables_of
from tests.tools.bench.measure import Scale, Worker, medians
from tests.tools.bench.report import Result
from tests.tools.bench.rows import CURVES, NUMPY, OURS, SERVER, Memory, Scaling, Timed


class Mathematics:
    """Measures rows; starts a process for each environment when it is first needed, and keeps it."""

    def __init__(self, scale: Scale, processes: contextlib.ExitStack, *, compiled: bool) -> None:
        self._scale = scale
        self._compiled = compiled
        self._processes = processes
        self._workers: dict[str, Worker] = {}

    def _worker(self, environment: str) -> Worker:
        if environment not in self._workers:
            self._workers[environment] = self._processes.enter_context(Worker(variables_of(environment)))
        return self._workers[environment]

    def timed(self, row: Timed) -> Result:
        """Check the numbers, then time."""
        worker = self._worker(row.environment)
        worker.order("forget")
        calls = worker.order("make", case=row.case, rows=row.rows)["calls"]
        if row.theirs not in calls:
            return Result(row, note=f"{row.theirs} is not installed")
        ours = {"ours": OURS} if row.theirs == CURVES else self._ours()  # neither has compiled loops
        compared = sum(worker.order("check", rows=row.rows, call=call) for call in ours.values())
        sides = {side: worker.timing(row.rows, call) for side, call in {**ours, "theirs": row.theirs}.items()}
        return Result.of_seconds(row, compared, **medians(sides, self._scale))

    def memory(self, row: Memory) -> Result:
        """Measure each in a separate process that has allocated nothing yet."""
        peaks = []
        for call in self._ours().values():
            with Worker(variables_of(SERVER)) as worker:
                thresholds = worker.order("make", case=row.case, rows=row.rows)["thresholds"]
                peaks.append(worker.order("peak", rows=row.rows, call=call))
        ratio = (peaks[0] - row.beside * thresholds) / row.rows
        told = _with_and_without([f"{peak:,} bytes" for peak in peaks])
        return Result(row, ratio, note=f"{told} for {row.rows:,} rows, {thresholds:,} thresholds")

    def scaling(self, row: Scaling) -> Result:
        worker = self._worker(SERVER)
        worker.order("forget")
        for size in row.sizes:
            worker.order("make", case=row.case, rows=size)
        ratios, told = [], []
        for call in self._ours().values():
            seconds = medians({str(size): worker.timing(size, call) for size in row.sizes}, self._scale)
            costs = {size: 1e9 * seconds[str(size)] / size / math.log(size) for size in row.sizes}
            ratios.append(max(costs.values()) / min(costs.values()))
            told.append(", ".join(f"{cost:.2f} at {size:,} rows" for size, cost in costs.items()))
        return Result(row, ratios[0], note=f"nanoseconds, {_with_and_without(told)}")

    def _ours(self) -> dict[str, str]:
        """The calls of rocpr to measure: {side: call}, first as it is installed."""
        return {"ours": OURS, "without": NUMPY} if self._compiled else {"ours": OURS}


def _with_and_without(figures: list[str]) -> str:
    return "; without compiled loops ".join(figures)
