"""The options `--engine duckdb`, `--engine spark` and those that go with them, for every command that takes them.

Knows which option is for which engine; nothing of engines.
"""

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from functools import partial, wraps
from pathlib import Path
from typing import Any, TypeVar, cast

import click

from service.cli.options import flag
from service.engines.dialects import MOST_DECIMALS

_Command = TypeVar("_Command", bound=Callable[..., Any])


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
    click.option(
        "--engine",
        type=click.Choice(["duckdb", "spark"]),
        is_eager=True,
        help="Read any number of rows with this engine: FILE may be a glob, '/lake/*.parquet', or with spark a table.",
    ),
    click.option("--remote", metavar="ADDRESS", help="With --engine spark: its server, sc://HOST:15002."),
    click.option(
        "--table",
        metavar="NAME",
        is_eager=True,
        help="With --engine spark: the table, in place of FILE, such as prod.ml.scores.",
    ),
    click.option(
        "--memory",
        metavar="SIZE",
        help="With --engine duckdb: the memory it may use, such as 4GB.  [default: half of what this process may use]",
    ),
    click.option(
        "--spill",
        type=click.Path(file_okay=False, exists=True, path_type=Path),
        metavar="DIR",
        help="With --engine duckdb: where it puts what does not fit in memory.",
    ),
    click.option(
        "--weight-decimals",
        type=click.IntRange(0, MOST_DECIMALS),
        metavar="N",
        help="With --engine: round weights to N decimals, so that every run has the same sums.",
    ),
)


_tolerance_option = partial(
    click.option,
    "--tolerance",
    type=click.FloatRange(0, 1, min_open=True),
    metavar="NUMBER",
    help="With --engine: how far apart the bounds of an area may be, such as 1e-6.  [default: areas are exact]",
)


def engine_options(*, exact: bool = False) -> Callable[[_Command], _Command]:
    """Add the options of an engine, which the command gets as one argument, `engine`: an EngineOptions or None.

    A command of `exact` areas needs every score, and refuses --tolerance.
    """

    def add_options(command: _Command) -> _Command:
        @wraps(command)
        def with_engine(*arguments: Any, engine: str | None, table: str | None, **options: Any) -> Any:  # noqa: ANN401  # a command's own
            chosen = {name: options.pop(name) for name in ("tolerance", "memory", "spill", "weight_decimals", "remote")}
            if exact and chosen["tolerance"] is not None:
                raise click.UsageError("--tolerance is for curves, tradeoffs and gate; this command needs every score.")
            _refuse_without_engine({**chosen, "table": table}, engine)
            if table is not None and "file" not in options:
                message = (
                    "--table takes the place of FILE, and this command has none; name tables where it takes files."
                )
                raise click.UsageError(message)
            return command(*arguments, engine=None if engine is None else EngineOptions(engine, **chosen), **options)

        with_option: Any = with_engine
        for option in (_tolerance_option(hidden=exact), *reversed(_OPTIONS)):
            with_option = option(with_option)
        return cast("_Command", with_option)

    return add_options


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
