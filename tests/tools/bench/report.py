"""The results as a table, as JSON, and as the section of tests/README.md."""

import json
from collections.abc import Sequence
from dataclasses import asdict, dataclass
from pathlib import Path

from tests.tools.bench.rows import Memory, Rate, Row
from tests.tools.bench.throughput import Throughput

README = Path(__file__).resolve().parents[2] / "README.md"
BEGIN, END = "<!-- tests.tools.bench: begin -->", "<!-- tests.tools.bench: end -->"
"""The markers around the last report in tests/README.md."""

HEADER = ("what", "rows", "rocpr", "the other", "ratio", "to reach", "reached")

SHOWN = ("numpy", "scipy", "scikit-learn", "orjson", "pyarrow", "fastapi", "uvicorn", "uvloop", "httptools")
"""Packages whose versions tests/README.md shows, if they are installed."""

QUICK = "quick: tiny inputs, of the sizes in the second column and not those in the first; these are no measurements."
"""The first line of what a quick run prints."""


@dataclass(frozen=True)
class Result:
    """The result of a row.

    ratio       a ratio, or bytes; None if not measured.
    ours, theirs   seconds for a ratio of times, requests a second for a ratio of rates.
    compared    how many numbers were compared with the other side's beforehand, or proved.
    failed      whether numbers disagreed or a server refused; `note` says more.
    loads       for requests a second: ours, and the other side's.
    """

    row: Row
    ratio: float | None = None
    ours: float | None = None
    theirs: float | None = None
    compared: int = 0
    note: str = ""
    failed: bool = False
    loads: tuple[Throughput, Throughput] | None = None

    @classmethod
    def of_seconds(cls, row: Row, compared: int, ours: float, theirs: float, without: float | None = None) -> "Result":
        """The figure of rocpr as it is installed; a note has that without its compiled loops, if measured."""
        ratio = theirs / ours if row.sign == ">=" else ours / theirs
        note = "" if without is None else f"{span(without)} without compiled loops"
        return cls(row, ratio, ours, theirs, compared, note)

    @classmethod
    def of_rates(cls, row: Row, compared: int, ours: Throughput, theirs: Throughput) -> "Result":
        ratio = ours.rate / theirs.rate if row.sign == ">=" else theirs.rate / ours.rate
        note = (
            f"{_load(ours)}; the other {_load(theirs)}; "
            f"{ours.rate / theirs.rate:.3g} times its requests a second, "
            f"with a client that took up to {100 * max(ours.client, theirs.client):.0f} % of a processor"
        )
        return cls(row, ratio, ours.rate, theirs.rate, compared, note, loads=(ours, theirs))

    @property
    def reached(self) -> bool | None:
        """Whether the goal was reached; None without a goal or a measurement."""
        if self.row.reach is None or self.ratio is None:
            return False if self.failed else None
        return self.ratio >= self.row.reach if self.row.sign == ">=" else self.ratio <= self.row.reach


def cells(result: Result) -> tuple[str, ...]:
    """One line of the table."""
    row = result.row
    reach = "" if row.reach is None else f"{row.sign} {row.reach:g}"
    reached = {True: "yes", False: "no", None: ""}[result.reached]
    quantity = per_second if isinstance(row, Rate) else span
    sides = (quantity(side) for side in (result.ours, result.theirs))
    return row.what, inputs(row), *sides, ratio(result), reach, reached


def inputs(row: Row) -> str:
    """How many rows its input has, or its smallest and its largest input."""
    return " to ".join(f"{rows:,}" for rows in sorted({min(row.inputs), max(row.inputs)})) if row.inputs else ""


def ratio(result: Result) -> str:
    """The ratio with its unit."""
    if result.ratio is None:
        return "failed" if result.failed else "not measured"
    number = f"{result.ratio:.3g}"
    if isinstance(result.row, Memory):
        return f"{number} B"
    return f"{number} x faster" if result.row.sign == ">=" else f"{number} x"


def span(seconds: float | None) -> str:
    """Seconds with three figures and a suitable unit."""
    if seconds is None:
        return ""
    for unit, size in (("s", 1.0), ("ms", 1e-3)):
        if seconds >= size:
            return f"{seconds / size:.3g} {unit}"
    return f"{seconds / 1e-6:.3g} µs"


def per_second(rate: float | None) -> str:
    """A rate in whole requests, or with three figures if it is low."""
    if rate is None:
        return ""
    return f"{rate:,.0f}/s" if rate >= 100 else f"{rate:.3g}/s"


def _load(throughput: Throughput) -> str:
    """The extremes of the rate, and how long answers took."""
    extremes = f"{per_second(throughput.least)} to {per_second(throughput.most)}"
    return f"{extremes}, p50 {span(throughput.p50)}, p99 {span(throughput.p99)}"


def notes(results: Sequence[Result]) -> list[str]:
    """The notes on rows, and whether the numbers agree."""
    lines = [f"{result.row.what}: {result.note}" for result in results if result.note]
    failed = [result.row.what for result in results if result.failed]
    if failed:
        lines.append(f"{len(failed)} of {len(results)} rows failed: {'; '.join(failed)}.")
    if compared := sum(result.compared for result in results):
        which = "numbers of the other rows" if failed else "numbers"
        lines.append(f"{compared:,} {which} were compared with those of the other side, or proved; they agree.")
    else:
        lines.append("No numbers were compared and found to agree.")
    return lines


def text(results: Sequence[Result], about: dict[str, object], *, quick: bool = False) -> str:
    """The aligned table, the notes below it, then the machine."""
    head = [QUICK, ""] if quick else []
    lines = [HEADER, *map(cells, results)]
    widths = [max(len(line[column]) for line in lines) for column in range(len(HEADER))]
    table = ["  ".join(cell.ljust(width) for cell, width in zip(line, widths, strict=True)).rstrip() for line in lines]
    machine = [f"{name}: {_flat(value)}" for name, value in about.items()]
    return "\n".join([*head, *table, "", *notes(results), "", *machine, ""])


def _flat(value: object) -> str:
    if isinstance(value, dict):
        return ", ".join(f"{name} {entry}" for name, entry in value.items() if entry is not None) or "none"
    return ", ".join(f"{entry:.2f}" for entry in value) if isinstance(value, list) else str(value)


def as_json(results: Sequence[Result], about: dict[str, object], *, quick: bool = False) -> str:
    """The same as JSON, with seconds, rates and ratios unrounded."""
    rows = [
        {
            "what": result.row.what,
            "rows": result.row.inputs,
            "ours": result.ours,
            "theirs": result.theirs,
            "ratio": result.ratio,
            "sign": result.row.sign,
            "reach": result.row.reach,
            "reached": result.reached,
            "compared": result.compared,
            "failed": result.failed,
            "note": result.note,
            "loads": result.loads and dict(zip(("ours", "theirs"), map(asdict, result.loads), strict=True)),
        }
        for result in results
    ]
    return json.dumps({"quick": quick, "machine": about, "rows": rows}, indent=2) + "\n"


def markdown(results: Sequence[Result], about: dict[str, object]) -> str:
    """The text between the markers of tests/README.md."""
    lines = [HEADER, tuple("---" for _ in HEADER), *map(cells, results)]
    table = "\n".join("| " + " | ".join(line) + " |" for line in lines)
    while "|  |" in table:
        table = table.replace("|  |", "| |")
    remarks = "\n".join(f"* {note}" for note in notes(results))
    packages = about["packages"]
    versions = ", ".join(f"{name} {packages[name]}" for name in SHOWN if packages.get(name))
    where = f"Measured with Python {about['python']}, {versions} on {about['cpu']}, {about['processors']} processors."
    variables = {**about["server_variables"], **about["variables"]}  # variables that were set keep their values
    server = ", ".join(f"`{name}={value}`" for name, value in variables.items())
    return f"{table}\n\n{remarks}\n\n{where} The server's variables: {server}."


def rewrite(path: Path, section: str, begins: str = BEGIN, ends: str = END) -> None:
    """Put a new section between the markers of a file."""
    before, begin, rest = path.read_text(encoding="utf-8").partition(begins)
    _, end, after = rest.partition(ends)
    if not begin or not end:
        raise ValueError(f"{path} has no markers {begins} and {ends}")
    path.write_text(f"{before}{begin}\n{section}\n{end}{after}", encoding="utf-8")
