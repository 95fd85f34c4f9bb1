"""The results as the section of tests/README.md."""

from collections.abc import Sequence
from dataclasses import dataclass

from tests.tools.bench.report import span

BEGIN, END = "<!-- tests.tools.scale: begin -->", "<!-- tests.tools.scale: end -->"
HEADER = (
    "what",
    "rows",
    "time",
    "processor time",
    "memory",
    "ROC area off by",
    "average precision off by",
    "width of bounds",
)
SHOWN = ("duckdb", "pyspark-client", "polars", "scikit-learn", "numpy", "pyarrow")


@dataclass(frozen=True)
class Measured:
    """The result of one contender for a number of rows.

    seconds     from the file to both areas; None if not measured.
    processor   processor seconds of its process and of Spark's server.
    peak        peak memory of both, in bytes.
    errors          how far the areas are from the exact ones.
    width           the width of its bounds, if it gives any.
    note            why it was not measured, or what is wrong with it.
    """

    name: str
    rows: int
    seconds: float | None = None
    processor: float = 0
    peak: int = 0
    errors: tuple[float, float] | None = None
    width: float | None = None
    note: str = ""
    failed: bool = False


def cells(one: Measured) -> tuple[str, ...]:
    """One line of the table."""
    if one.seconds is None or one.errors is None:
        return one.name, f"{one.rows:,}", "failed" if one.failed else "not measured", "", "", "", "", ""
    width = "" if one.width is None else f"{one.width:.1g}"
    errors = (f"{error:.1g}" for error in one.errors)
    times = span(one.seconds), span(one.processor)
    return one.name, f"{one.rows:,}", *times, f"{one.peak / 1e9:.2g} GB", *errors, width


def text(results: Sequence[Measured], about: dict[str, object]) -> str:
    """The table in Markdown, and the notes on it."""
    lines = [HEADER, tuple("---" for _ in HEADER), *map(cells, results)]
    table = "\n".join("| " + " | ".join(line) + " |" for line in lines)
    while "|  |" in table:
        table = table.replace("|  |", "| |")
    notes = "".join(f"* {one.name}, {one.rows:,} rows: {one.note}\n" for one in results if one.note)
    packages = about["packages"]
    assert isinstance(packages, dict)
    load = about["load"]
    assert isinstance(load, list)
    versions = ", ".join(f"{name} {packages[name]}" for name in SHOWN if packages.get(name))
    where = f"Measured with Python {about['python']}, {versions} on {about['cpu']}, {about['processors']} processors"
    where = f"{where}, with a load of {load[1]:.2g}."
    return f"{table}\n\n{notes}\n{where}" if notes else f"{table}\n\n{where}"
