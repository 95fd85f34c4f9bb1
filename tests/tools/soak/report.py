"""The results of the rows as a table, as JSON, and as the section of tests/README.md."""

import json
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path

from tests.support.attacks.found import Found
from tests.tools.bench import report as bench

README = Path(__file__).resolve().parents[2] / "README.md"
BEGIN, END = "<!-- tests.tools.soak: begin -->", "<!-- tests.tools.soak: end -->"
"""The markers around the last report in tests/README.md."""

HEADER = ("test", "what was done", "figures", "reach", "")


@dataclass(frozen=True)
class Row:
    """A row: its name for --only, its title, its goal, and how to run it for this many minutes."""

    name: str
    test: str
    reach: str
    run: Callable[[float], Found]


Result = tuple[Row, Found]


def verdict(found: Found) -> str:
    if found.left_out:
        return "left out"
    return "MISSED" if found.missed else "ok"


def cells(result: Result) -> tuple[str, ...]:
    """One line of the table."""
    row, found = result
    figures = "; ".join(f"{what} {figure}" for what, figure in found.figures.items())
    return row.test, found.done, figures, row.reach, verdict(found)


def notes(results: Sequence[Result]) -> list[str]:
    """Why rows miss or were left out."""
    return [
        f"{row.test}: {reason}"
        for row, found in results
        for reason in (*found.missed[:5], *([found.left_out] if found.left_out else []))
    ]


def text(results: Sequence[Result], about: dict[str, object]) -> str:
    """A block for each row, because its figures do not fit on a line."""
    blocks = []
    for result in results:
        test, done, figures, reach, ended = cells(result)
        blocks += [f"{ended:8} {test}", f"         done:    {done}", f"         figures: {figures}"]
        why = [*result[1].missed[:20], *filter(None, [result[1].left_out])]
        blocks += [f"         reach:   {reach}", *(f"         why:     {note}" for note in why), ""]
    return "\n".join([*blocks, *(f"{name}: {value}" for name, value in about.items()), ""])


def as_json(results: Sequence[Result], about: dict[str, object]) -> str:
    rows = [
        {
            "name": row.name,
            "test": row.test,
            "done": found.done,
            "figures": found.figures,
            "reach": row.reach,
            "verdict": verdict(found),
            "missed": found.missed,
            "left_out": found.left_out,
        }
        for row, found in results
    ]
    return json.dumps({"machine": about, "rows": rows}, indent=2) + "\n"


def markdown(results: Sequence[Result], about: dict[str, object]) -> str:
    """The text between the markers of tests/README.md."""
    lines = [HEADER, tuple("---" for _ in HEADER), *map(cells, results)]
    table = "\n".join("| " + " | ".join(cell.replace("|", "\\|") for cell in line) + " |" for line in lines)
    remarks = "\n".join(f"* {note}" for note in notes(results))
    machine = ", ".join(f"{name} {value}" for name, value in about.items())
    return "\n\n".join(filter(None, [table, remarks, f"Machine: {machine}."]))


def rewrite(path: Path, section: str) -> None:
    """Put a new section between the markers of a file."""
    bench.rewrite(path, section, BEGIN, END)
