"""The rows that need no server: each timed in processes that have the environment that the row names."""

import contextlib
import math

from tests.bench.environments import environment as variables_of
from tests.bench.measure import Scale, Worker, medians
from tests.bench.report import Result
from tests.bench.rows import COMPILED, CURVES, OURS, SERVER, Memory, Scaling, Timed

RATIO_OF = {"ours": "ratio", "compiled": "compiled_ratio"}
WORDS = {"ours": "", "compiled": " compiled"}


class Mathematics:
    """Measures rows; a process of each environment is started when it is needed and kept."""

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
        ours = {"ours": OURS} if row.theirs == CURVES else self._ours()  # of which neither is compiled
        compared = sum(worker.order("check", rows=row.rows, call=call) for call in ours.values())
        sides = {side: worker.timing(row.rows, call) for side, call in {**ours, "theirs": row.theirs}.items()}
        return Result.of_seconds(row, compared, **medians(sides, self._scale))

    def memory(self, row: Memory) -> Result:
        """In a process of its own for each, which has allocated nothing yet."""
        ratios, notes = {}, []
        for side, call in self._ours().items():
            with Worker(variables_of(SERVER)) as worker:
                thresholds = worker.order("make", case=row.case, rows=row.rows)["thresholds"]
                peak = worker.order("peak", rows=row.rows, call=call)
            ratios[RATIO_OF[side]] = (peak - row.beside * thresholds) / row.rows
            notes.append(f"{peak:,} bytes{WORDS[side]}")
        return Result(row, **ratios, note=f"{', '.join(notes)} for {row.rows:,} rows, {thresholds:,} thresholds")

    def scaling(self, row: Scaling) -> Result:
        worker = self._worker(SERVER)
        worker.order("forget")
        for size in row.sizes:
            worker.order("make", case=row.case, rows=size)
        ratios, notes = {}, []
        for side, call in self._ours().items():
            seconds = medians({str(size): worker.timing(size, call) for size in row.sizes}, self._scale)
            costs = {size: 1e9 * seconds[str(size)] / size / math.log(size) for size in row.sizes}
            ratios[RATIO_OF[side]] = max(costs.values()) / min(costs.values())
            notes.append(f"{', '.join(f'{cost:.2f} at {size:,} rows' for size, cost in costs.items())}{WORDS[side]}")
        return Result(row, **ratios, note=f"nanoseconds, {'; '.join(notes)}")

    def _ours(self) -> dict[str, str]:
        """What is measured of rocpr: {side: call}."""
        return {"ours": OURS, "compiled": COMPILED} if self._compiled else {"ours": OURS}
