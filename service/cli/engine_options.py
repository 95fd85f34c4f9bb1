"""The options `--engine duckdb`, `--engine spark` and those that go with them, for every command that takes them.

Knows which option is for which engine; nothing of engines.
"""

from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import click

from service.cli.options import flag
from service.engines.dialects import MOST_DECIMALS


@dataclass(frozen=True, slots=True)
class EngineOptions:
    """Which engine groups the rows, how closely the areas are bounded (None: exactly), and what it may use.

    remote   the address of a Spark server.
    """

    engine: str
    tolerance: float | None = None
    memory: str | None = None
    spill: Path | None = None
    weight_decimals: int | None = None
    remote: str | None = None


_OPTIONS = (
    click.Option(
        ["--engine"],
        type=click.Choice(["duckdb", "spark"]),
        is_eager=True,
        help="Read any number of rows with this engine: FILE may be a glob, '/lake/*.parquet', or with spark a table.",
    ),
    click.Option(["--remote"], metavar="ADDRESS", help="With --engine spark: its server, sc://HOST:15002."),
    click.Option(
        ["--table"],
        metavar="NAME",
        is_eager=True,
        help="With --engine spark: the table, in place of FILE, such as prod.ml.scores.",
    ),
    click.Option(
        ["--memory"],
        metavar="SIZE",
        help="With --engine duckdb: the memory it may use, such as 4GB.  [default: half of what this process may use]",
    ),
    click.Option(
        ["--spill"],
        type=click.Path(file_okay=False, exists=True, path_type=Path),
        metavar="DIR",
        help="With --engine duckdb: where it puts what does not fit in memory.",
    ),
    click.Option(
        ["--weight-decimals"],
        type=click.IntRange(0, MOST_DECIMALS),
        metavar="N",
        help="With --engine: round weights to N decimals, so that every run has the same sums.",
    ),
)


def engine_options(*, exact: bool = False) -> list[click.Option]:
    """The options of an engine; a command of `exact` areas needs every score, so it does not show --tolerance."""
    tolerance = click.Option(
        ["--tolerance"],
        type=click.FloatRange(0, 1, min_open=True),
        metavar="NUMBER",
        hidden=exact,
        help="With --engine: how far apart the bounds of an area may be, such as 1e-6.  [default: areas are exact]",
    )
    return [*_OPTIONS, tolerance]


def engine_of(options: dict[str, Any], *, exact: bool = False) -> EngineOptions | None:
    """Remove the options of an engine from those of a command. Raises UsageError."""
    engine, table = (options.pop(name) for name in ("engine", "table"))
    chosen = {name: options.pop(name) for name in ("tolerance", "memory", "spill", "weight_decimals", "remote")}
    if exact and chosen["tolerance"] is not None:
        raise click.UsageError("--tolerance is for curves, tradeoffs and gate; this command needs every score.")
    _refuse_without_engine({**chosen, "table": table}, engine)
    if table is not None and "file" not in options:
        raise click.UsageError(
            "--table takes the place of FILE, and this command has none; name tables where it takes files."
        )
    return None if engine is None else EngineOptions(engine, **chosen)


def _refuse_without_engine(chosen: Mapping[str, object], engine: str | None) -> None:
    """Refuse options without the engine that they are for, and Spark without its server. Raises UsageError."""
    for name, value in chosen.items():
        needed = _ENGINE_OF.get(name)
        if value is not None and (engine is None or (needed is not None and needed != engine)):
            raise click.UsageError(f"{flag(name)} needs --engine{'' if needed is None else f' {needed}'}.")
    if engine == "spark" and chosen["remote"] is None:
        raise click.UsageError("--engine spark needs --remote, as in sc://HOST:15002.")


_ENGINE_OF = {"memory": "duckdb", "spill": "duckdb", "remote": "spark", "table": "spark"}
"""{option: the engine that it is for}; the others are for both."""


class FileArgument(click.Argument):
    """The argument FILE, which --table may replace."""

    def consume_value(self, ctx: click.Context, opts: Mapping[str, Any]) -> tuple[Any, Any]:
        """Take the table unless there is a file. Raises UsageError."""
        value, source = super().consume_value(ctx, opts)
        table = ctx.params.get("table")
        if not isinstance(table, str):  # None, or click's own mark of what is missing
            return value, source
        both = isinstance(value, (tuple, list)) and len(value) > 0
        if both or ctx.params.get("engine") != "spark":
            raise click.UsageError("--table takes the place of FILE." if both else "--table needs --engine spark.")
        return (table,), source
