"""What was measured, as a table to read, as JSON, and as the section of README.md."""

import json
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from tests.bench.rows import Memory, Row

README = Path(__file__).resolve().parent.parent.parent / "README.md"
BEGIN, END = "<!-- tests.bench: begin -->", "<!-- tests.bench: end -->"
"""What stands around the last report in README.md."""

HEADER = ("what", "rocpr", "the other", "ratio", "to reach", "reached")


@dataclass(frozen=True)
class Result:
    """What came of a row.

    ratio       or bytes; None where it was not measured.
    ours, theirs   seconds, where the ratio is one of times.
    compared    how many numbers were compared with the other side's before, or proved.
    failed      whether numbers disagreed or a server refused; `note` says more.
    """

    row: Row
    ratio: float | None = None
    ours: float | None = None
    theirs: float | None = None
    compared: int = 0
    note: str = ""
    failed: bool = False

    @classmethod
    def of_seconds(cls, row: Row, compared: int, ours: float, theirs: float) -> "Result":
        ratio = theirs / ours if row.sign == ">=" else ours / theirs
        return cls(row, ratio, ours, theirs, compared)

    @property
    def reached(self) -> bool | None:
        """None where there is nothing to reach, or nothing that could have reached it."""
        if self.row.reach is None or self.ratio is None:
            return False if self.failed else None
        return self.ratio >= self.row.reach if self.row.sign == ">=" else self.ratio <= self.row.reach


def cells(result: Result) -> tuple[str, ...]:
    """One line of the table."""
    row = result.row
    reach = "" if row.reach is None else f"{row.sign} {row.reach:g}"
    reached = {True: "yes", False: "no", None: ""}[result.reached]
    return row.what, span(result.ours), span(result.theirs), ratio(result), reach, reached


def ratio(result: Result) -> str:
    """The ratio with what it is a ratio of."""
    if result.ratio is None:
        return "failed" if result.failed else "not measured"
    number = f"{result.ratio:.3g}"
    if isinstance(result.row, Memory):
        return f"{number} B"
    return f"{number} x faster" if result.row.sign == ">=" else f"{number} x"


def span(seconds: float | None) -> str:
    """Seconds with three figures and a unit that reads well."""
    if seconds is None:
        return ""
    for unit, size in (("s", 1.0), ("ms", 1e-3)):
        if seconds >= size:
            return f"{seconds / size:.3g} {unit}"
    return f"{seconds / 1e-6:.3g} µs"


def text(results: Sequence[Result], about: dict[str, object]) -> str:
    """The table with its columns lined up, the notes under it, then the machine."""
    lines = [HEADER, *map(cells, results)]
    widths = [max(len(line[column]) for line in lines) for column in range(len(HEADER))]
    table = ["  ".join(cell.ljust(width) for cell, width in zip(line, widths, strict=True)).rstrip() for line in lines]
    notes = [f"{result.row.what}: {result.note}" for result in results if result.note]
    compared = sum(result.compared for result in results)
    notes.append(f"{compared:,} numbers were compared with those of the other side, or proved; they agree.")
    machine = [f"{name}: {_flat(value)}" for name, value in about.items()]
    return "\n".join([*table, "", *notes, "", *machine, ""])


def _flat(value: object) -> str:
    if isinstance(value, dict):
        return ", ".join(f"{name} {entry}" for name, entry in value.items() if entry is not None) or "none"
    return ", ".join(f"{entry:.2f}" for entry in value) if isinstance(value, list) else str(value)


def as_json(results: Sequence[Result], about: dict[str, object]) -> str:
    """The same for machines; seconds and ratios unrounded."""
    rows = [
        {
            "what": result.row.what,
            "ours": result.ours,
            "theirs": result.theirs,
            "ratio": result.ratio,
            "sign": result.row.sign,
            "reach": result.row.reach,
            "reached": result.reached,
            "compared": result.compared,
            "failed": result.failed,
            "note": result.note,
        }
        for result in results
    ]
    return json.dumps({"machine": about, "rows": rows}, indent=2) + "\n"


def markdown(results: Sequence[Result], about: dict[str, object]) -> str:
    """What stands between the markers of README.md."""
    lines = [HEADER, tuple("---" for _ in HEADER), *map(cells, results)]
    table = "\n".join("| " + " | ".join(line) + " |" for line in lines).replace("|  |", "| |").replace("|  |", "| |")
    packages = about["packages"]
    versions = ", ".join(
        f"{name} {packages[name]}" for name in ("numpy", "scikit-learn", "orjson", "pyarrow", "fastapi")
    )
    where = f"Measured with Python {about['python']}, {versions} on {about['cpu']}, {about['processors']} processors."
    return f"{table}\n\n{where}"


def rewrite(path: Path, section: str) -> None:
    """Put a new section between the markers of a file."""
    before, begin, rest = path.read_text(encoding="utf-8").partition(BEGIN)
    _, end, after = rest.partition(END)
    if not begin or not end:
        raise ValueError(f"{path} has no markers {BEGIN} and {END}")
    path.write_text(f"{before}{BEGIN}\n{section}\n{END}{after}", encoding="utf-8")
