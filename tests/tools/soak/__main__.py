"""`python -m tests.tools.soak`: run every row at its full size and print the report; progress goes to stderr.

The exit status is 1 if a row misses its goal.
"""

import argparse
import os
import signal
import sys
import time
from pathlib import Path

from tests.tools.bench.machine import machine
from tests.tools.soak import report
from tests.tools.soak.report import Found, Result, Row
from tests.tools.soak.rows import ROWS

MINUTES = 30.0


def arguments() -> argparse.Namespace:
    parser = argparse.ArgumentParser(
        prog="python -m tests.tools.soak", description="Try to break rocpr, the long form."
    )
    parser.add_argument("--only", metavar="NAME", action="append", help=f"this row; again for more: {_names()}")
    parser.add_argument("--minutes", type=float, default=MINUTES, metavar="M", help=f"of the last row ({MINUTES:g})")
    parser.add_argument("--json", metavar="FILE", help="also write the report as JSON; - prints that instead")
    parser.add_argument("--readme", action="store_true", help="put the table into tests/README.md")
    asked = parser.parse_args()
    if unknown := set(asked.only or ()) - {row.name for row in ROWS}:
        parser.error(f"no row is called {', '.join(sorted(unknown))}; there are {_names()}")
    if asked.readme and asked.only:
        parser.error("tests/README.md shows all rows")
    if not 0 < asked.minutes < 1e6:
        parser.error(f"--minutes must be above 0, not {asked.minutes:g}")
    return asked


def _names() -> str:
    return ", ".join(row.name for row in ROWS)


def main() -> int:
    """Run, report."""
    asked = arguments()
    rows = [row for row in ROWS if not asked.only or row.name in asked.only]
    began = os.getloadavg()[0]
    results: list[Result] = []
    for number, row in enumerate(rows, 1):
        print(f"{time.strftime('%H:%M:%S')} {number}/{len(rows)} {row.test}", file=sys.stderr, flush=True)
        results.append((row, found_by(row, asked.minutes)))
        print(report.text(results[-1:], {}), file=sys.stderr, flush=True)
    about = facts(began)
    if asked.json == "-":
        print(report.as_json(results, about), end="")
    else:
        print(report.text(results, about), end="")
        if asked.json:
            Path(asked.json).write_text(report.as_json(results, about), encoding="utf-8")
    if asked.readme:
        report.rewrite(report.README, report.markdown(results, about))
    return int(any(found.missed for _, found in results))


def found_by(row: Row, minutes: float) -> Found:
    """Run a row; an error that stops it counts as a miss."""
    try:
        return row.run(minutes)
    except Exception as error:  # noqa: BLE001  # a broken row must not hide the others
        return Found(missed=[f"it stopped: {error!r}"])


def facts(load_before: float) -> dict[str, object]:
    """The machine and versions, on which the figures depend."""
    about = machine()
    return {
        "date": time.strftime("%Y-%m-%d"),
        "Python": about["python"],
        "processor": about["cpu"],
        "processors": about["processors"],
        "load before and after": f"{load_before:.1f} and {os.getloadavg()[0]:.1f}",
    }


if __name__ == "__main__":
    signal.signal(signal.SIGTERM, lambda *_: sys.exit(128 + signal.SIGTERM))  # so that started processes are ended
    sys.exit(main())
