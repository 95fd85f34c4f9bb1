"""`python -m tests.tools.scale`: both areas of large files, by rocpr on DuckDB and Spark and by other programs.

Every answer is compared with the exact areas in the same run. The exit status is 1 if one is wrong or a contender
fails, never because one was slow. 1e8 rows need about 3 GB of disk and of memory.
"""

import argparse
import contextlib
import importlib.metadata
import json
import os
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from tempfile import TemporaryDirectory

from tests.engines.spark.server import Server, missing, spark_server
from tests.tools.bench.machine import machine
from tests.tools.bench.report import README, rewrite
from tests.tools.scale.contenders import CONTENDERS, Contender, peak_of
from tests.tools.scale.report import BEGIN, END, SHOWN, Measured, cells, text
from tests.tools.scale.rows import exact_areas, write

ROWS = (10**7, 10**8)
QUICK_ROWS = (40_000,)
ROOT = Path(__file__).resolve().parents[3]


def arguments() -> argparse.Namespace:
    parser = argparse.ArgumentParser(prog="python -m tests.tools.scale", description="Measure rocpr on engines.")
    parser.add_argument("--rows", type=float, nargs="+", metavar="N", help="how many rows (1e7 and 1e8)")
    parser.add_argument("--only", metavar="PATTERN", default="", help="only contenders whose name contains this")
    parser.add_argument("--quick", action="store_true", help="40,000 rows: whether it runs, not how fast")
    parser.add_argument("--seconds", type=float, default=1800, help="the most for one contender (1800)")
    parser.add_argument("--memory", default="4g", help="the heap of the Spark server (4g)")
    parser.add_argument("--readme", action="store_true", help="put the table into tests/README.md")
    asked = parser.parse_args()
    if asked.readme and (asked.rows or asked.only or asked.quick):
        parser.error("tests/README.md shows all contenders with all rows")
    asked.rows = [int(rows) for rows in asked.rows or (QUICK_ROWS if asked.quick else ROWS)]
    return asked


def main() -> int:
    """Measure, report."""
    asked = arguments()
    chosen = [contender for contender in CONTENDERS if asked.only in contender.name]
    results = []
    with TemporaryDirectory(prefix="rocpr-scale-") as folder, contextlib.ExitStack() as stack:
        server = None
        if any(contender.spark for contender in chosen) and missing() is None:
            place = Path(folder, "spark")
            place.mkdir()
            server = stack.enter_context(spark_server(place, memory=asked.memory, java="-XX:+UseParallelGC"))
        for rows in asked.rows:
            path = Path(folder, f"{rows}.parquet")
            write(path, rows)
            exact = exact_areas(path)
            print(f"{rows:,} rows: {exact}", file=sys.stderr, flush=True)
            for contender in chosen:
                results.append(measured(contender, path, rows, exact, server=server, seconds=asked.seconds))
                print("  ".join(filter(None, cells(results[-1]))), results[-1].note, file=sys.stderr, flush=True)
            path.unlink()
    about = machine()
    about["packages"] = {name: version for name in SHOWN for version in versions(name)}
    print(text(results, about))
    if asked.readme:
        rewrite(README, text(results, about), BEGIN, END)
    return int(any(one.failed for one in results))


def measured(
    contender: Contender, path: Path, rows: int, exact: dict[str, float], *, server: Server | None, seconds: float
) -> Measured:
    """Run one contender, and compare its answer with the exact areas."""
    if contender.missing:
        return Measured(contender.name, rows, note=f"{contender.missing} is not installed")
    if contender.spark and server is None:
        return Measured(contender.name, rows, note=missing() or "there is no server")
    if rows > contender.most:
        return Measured(contender.name, rows, note=f"not tried with more than {contender.most:,} rows")
    command = [sys.executable, "-m", "tests.tools.scale.contenders", contender.name, str(path)]
    if server is not None:
        command.append(server.with_token)
    before = processor_of(server.pid) if contender.spark and server else 0.0
    try:
        done = subprocess.run(command, cwd=ROOT, capture_output=True, text=True, timeout=seconds, check=True)
    except subprocess.TimeoutExpired:
        return Measured(contender.name, rows, note=f"took more than {seconds:.0f} s")
    except subprocess.CalledProcessError as error:
        return Measured(contender.name, rows, note=error.stderr.strip()[-400:], failed=True)
    found = json.loads(done.stdout)
    errors = {area: abs(sum(found["areas"][area]) / 2 - value) for area, value in exact.items()}
    width = max(upper - lower for lower, upper in found["areas"].values()) if contender.bounds else None
    note = wrong(contender, exact, found["areas"], errors)
    processor, peak = found["processor"], found["peak"]
    if contender.spark and server:
        processor, peak = processor + processor_of(server.pid) - before, peak + peak_of(server.pid)
    areas = tuple(errors.values())
    return Measured(contender.name, rows, found["seconds"], processor, peak, areas, width, note, bool(note))


def wrong(
    contender: Contender, exact: dict[str, float], areas: dict[str, list[float]], errors: dict[str, float]
) -> str:
    """Say what is wrong with the areas; empty if nothing is."""
    for area, value in exact.items():
        lower, upper = areas[area]
        if contender.bounds and not lower - 1e-12 <= value <= upper + 1e-12:
            return f"{area} is {value!r}, which is not between {lower!r} and {upper!r}"
        if contender.within is not None and max(errors[area], upper - lower) > contender.within:
            return f"{area} is {value!r}, farther than {contender.within:g} from {lower!r} to {upper!r}"
    return ""


def processor_of(pid: int) -> float:
    """The processor time that a process has used so far, in seconds."""
    user, system = Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()[11:13]
    return (int(user) + int(system)) / os.sysconf("SC_CLK_TCK")


def versions(name: str) -> Iterator[str]:
    with contextlib.suppress(importlib.metadata.PackageNotFoundError):
        yield importlib.metadata.version(name)


if __name__ == "__main__":
    sys.exit(main())
