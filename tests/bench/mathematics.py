"""The rows that need no server: each timed in processes that have the environment that the row names."""

import contextlib
import math

from tests.bench.environments import environment as variables_of
from tests.bench.measure import Scale, Worker, medians
from tests.bench.report import Result
from tests.bench.rows import OURS, SERVER, Memory, Scaling, Timed


class Mathematics:
    """Measures rows; a process of each environment is started when it is needed and kept."""

    def __init__(self, scale: Scale, processes: contextlib.ExitStack) -> None:
        self._scale = scale
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
        compared = worker.order("check", rows=row.rows)
        seconds = medians(
            {"ours": worker.timing(row.rows, row.ours), "theirs": worker.timing(row.rows, row.theirs)}, self._scale
        )
        return Result.of_seconds(row, compared, **seconds)

    def memory(self, row: Memory) -> Result:
        """In a process of its own, which has allocated nothing yet."""
        with Worker(variables_of(SERVER)) as worker:
            thresholds = worker.order("make", case=row.case, rows=row.rows)["thresholds"]
            peak = worker.order("peak", rows=row.rows, call=OURS)
        note = f"{peak:,} bytes for {row.rows:,} rows, {thresholds:,} thresholds"
        return Result(row, (peak - row.beside * thresholds) / row.rows, note=note)

    def scaling(self, row: Scaling) -> Result:
        worker = self._worker(SERVER)
        worker.order("forget")
        for size in row.sizes:
            worker.order("make", case=row.case, rows=size)
        seconds = medians({str(size): worker.timing(size, OURS) for size in row.sizes}, self._scale)
        costs = {size: 1e9 * seconds[str(size)] / size / math.log(size) for size in row.sizes}
        note = ", ".join(f"{cost:.2f} at {size:,} rows" for size, cost in costs.items())
        return Result(row, max(costs.values()) / min(costs.values()), note=f"nanoseconds, {note}")
