"""`python -m tests.tools.bench`: measure every row and print the report; each figure goes to stderr as it is measured.

The exit status is 1 if numbers disagree or a row could not be measured, never because a row was slow.
"""

import argparse
import contextlib
import importlib.util
import signal
import sys
from collections.abc import Callable, Iterator
from dataclasses import replace
from pathlib import Path

from service.curves.sweep.sweep import LIBRARY
from tests.tools.bench import report
from tests.tools.bench.machine import machine
from tests.tools.bench.mathematics import Mathematics
from tests.tools.bench.measure import FULL, QUICK, Scale
from tests.tools.bench.rates import Rates
from tests.tools.bench.report import Result
from tests.tools.bench.rows import ROWS, Memory, Rate, Row, Scaling, Served, Timed, Worst, quick_rows
from tests.tools.bench.services import Refused, served, single_workers

OTHERS = {"scikit-learn": "sklearn", "scipy": "scipy", "fastapi": "fastapi", "uvicorn": "uvicorn"}
"""What rocpr is compared with and does not need itself: {package: its module}."""


def arguments() -> argparse.Namespace:
    parser = argparse.ArgumentParser(
        prog="python -m tests.tools.bench", description="Measure rocpr against what else there is."
    )
    parser.add_argument("--json", metavar="FILE", help="also write the report as JSON; - prints that instead")
    parser.add_argument("--quick", action="store_true", help="tiny inputs: whether it runs, not how fast")
    parser.add_argument("--only", metavar="PATTERN", default="", help="only rows whose first column contains this")
    parser.add_argument(
        "--repeats",
        type=int,
        metavar="N",
        help=f"how many times each side is timed ({FULL.repeats}; {QUICK.repeats} with --quick)",
    )
    parser.add_argument("--readme", action="store_true", help="put the table into tests/README.md")
    asked = parser.parse_args()
    if asked.readme and (asked.quick or asked.only or asked.repeats is not None):
        parser.error("tests/README.md shows all rows, at their sizes, timed as often as it says")
    if asked.readme and not LIBRARY.is_file():
        parser.error("tests/README.md shows rocpr with its compiled loops; it was installed without a C compiler")
    if asked.repeats is not None and asked.repeats < 1:
        parser.error(f"--repeats must be 1 or more, not {asked.repeats}")
    if not any(asked.only in row.what for row in ROWS):
        parser.error(f"no row contains {asked.only!r}; tests/README.md shows them all")
    if missing := [name for name, module in OTHERS.items() if importlib.util.find_spec(module) is None]:
        parser.exit(2, f"{parser.prog}: not installed: {', '.join(missing)}; run sh deploy/setup.sh dev\n")
    return asked


def main() -> int:
    """Measure, report."""
    asked = arguments()
    scale = QUICK if asked.quick else FULL
    scale = replace(scale, repeats=asked.repeats or scale.repeats)
    chosen = [row for row in ROWS if asked.only in row.what]
    rows = quick_rows(chosen) if asked.quick else chosen
    about = machine()
    results = []
    for number, result in enumerate(measure(rows, scale), 1):
        print(f"{number:2}/{len(rows)}  {'  '.join(filter(None, report.cells(result)))}", file=sys.stderr, flush=True)
        results.append(result)
    about["load_after"] = machine()["load"]
    if asked.json == "-":
        print(report.as_json(results, about, quick=asked.quick), end="")
    else:
        print(report.text(results, about, quick=asked.quick), end="")
        if asked.json:
            Path(asked.json).write_text(report.as_json(results, about, quick=asked.quick), encoding="utf-8")
    if asked.readme:
        report.rewrite(report.README, report.markdown(results, about))
    return int(any(result.failed for result in results))


def measure(rows: list[Row], scale: Scale) -> Iterator[Result]:
    """Measure the rows in order; those over HTTP come last."""
    done: dict[str, Result] = {}
    compiled = LIBRARY.is_file()
    with contextlib.ExitStack() as processes:
        mathematics = Mathematics(scale, processes, compiled=compiled)
        for row in rows:
            if not isinstance(row, Served | Rate):
                yield done.setdefault(row.what, _in_process(row, mathematics, done))
    if one_by_one := [row for row in rows if isinstance(row, Served)]:
        with single_workers(scale, compiled=compiled) as connections:
            for row in one_by_one:
                yield _over_http(row, lambda row: served(row, scale, connections))
    if under_load := [row for row in rows if isinstance(row, Rate)]:
        with Rates.of_servers(scale) as rates:
            for row in under_load:
                yield _over_http(row, rates.rate)


def _over_http(row: Row, measured: Callable[[Row], Result]) -> Result:
    try:
        return measured(row)
    except (AssertionError, Refused) as error:
        return Result(row, note=str(error).strip(), failed=True)


def _in_process(row: Row, mathematics: Mathematics, done: dict[str, Result]) -> Result:
    try:
        if isinstance(row, Timed):
            return mathematics.timed(row)
        if isinstance(row, Memory):
            return mathematics.memory(row)
        if isinstance(row, Scaling):
            return mathematics.scaling(row)
    except AssertionError as error:
        return Result(row, note=str(error).strip(), failed=True)
    assert isinstance(row, Worst)
    found = [done[what] for what in row.of if what in done]
    if len(found) < len(row.of) or any(result.ratio is None for result in found):
        return Result(row, note="not all of them were measured")
    return Result(row, max(result.ratio for result in found))


if __name__ == "__main__":
    signal.signal(signal.SIGTERM, lambda *_: sys.exit(128 + signal.SIGTERM))  # so that started processes are ended
    sys.exit(main())
