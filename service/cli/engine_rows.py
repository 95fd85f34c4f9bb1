"""With `--engine`: any number of rows, grouped by score in an engine, to be evaluated as groups.

Knows how an engine is asked, and how its failures end a command.
"""

import stat
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, field
from functools import partial
from pathlib import Path
from typing import Any

import click

from service.cli.command_error import fail, needs_extra
from service.cli.engine_bars import EngineBars
from service.cli.engine_options import EngineOptions
from service.cli.engine_signals import ended_by_signals
from service.cli.files import suffix_of
from service.cli.options import flag
from service.curves.errors import OneClassLabels, TotalOutOfRange
from service.curves.evaluation import CurvesWarning
from service.wire.columns import Column, distinct_labels
from service.wire.formats.csv_dialect import DECIMALS, DELIMITERS, has_numbers_as_names
from service.wire.formats.inputs import (
    CLOSED_ENDS,
    COUNTS_COLUMNS,
    CSV_PARAMETERS,
    GROUPS_COLUMNS,
    MISSING,
    SAMPLE,
    SLICES,
    SOFT_LABELS,
    TOTALS,
)
from service.wire.formats.likely_columns import unused_weights
from service.wire.formats.query_options import Decoded, options_of
from service.wire.formats.table_columns import listed_names
from service.wire.formats.tables import TableForm
from service.wire.limits import Limits
from service.wire.media_types import CSV, PARQUET
from service.wire.problems import invalid_value
from service.wire.requests.faults import DOMAIN_ERROR_CODES
from service.wire.requests.groups_schemas import FoundGroups
from service.wire.spellings import BLANKS
from service.wire.wrong import Wrong

_CHARACTERS = DELIMITERS | DECIMALS
_SHOWN_ROW = 100
_CSV_SUFFIXES = {"csv", "tsv", "gz", "zst"}

_NOT_GROUPED = (
    *SAMPLE.named,
    SOFT_LABELS,
    CLOSED_ENDS,
    *TOTALS,
    *COUNTS_COLUMNS,
    *GROUPS_COLUMNS,
    MISSING,
    "escape",
    "header",
)
"""The options that no engine takes."""

_Grouped = tuple[dict[str, Any], tuple[CurvesWarning, ...]]
"""A document of groups, and perhaps of slices, with its warnings."""


@dataclass(frozen=True)
class EngineRows:
    """Files by name, or a glob, whose rows an engine groups."""

    name: str
    format_name: str | None
    engine: EngineOptions
    is_table: bool = field(default=True, init=False)

    @property
    def media_type(self) -> str:
        """CSV if the files take its options, else PARQUET."""
        if self.engine.remote is not None:
            return PARQUET
        return CSV if (self.format_name or suffix_of(self.name)) in _CSV_SUFFIXES else PARQUET

    def taken(self, given: Mapping[str, str]) -> dict[str, str]:
        """The given options that the files take."""
        return {key: text for key, text in given.items() if self.media_type == CSV or key not in CSV_PARAMETERS}

    def first_row(self, _given: Mapping[str, str]) -> None:
        """Rows of an engine have no numbers."""

    def decoded(self, given: Mapping[str, str], form: TableForm, _most: Limits) -> Decoded:
        """The groups and the options that do not name columns, as one document. Raises Problem.

        A failure of the engine ends the command.
        """
        given = self.taken(given)
        for name in _NOT_GROUPED:
            if name in given and (name, given[name]) not in _DEFAULTS:
                raise click.UsageError(f"{flag(name)} cannot be combined with --engine.")
        read_here = {"positive_label", MISSING}
        options = options_of({key: text for key, text in given.items() if key not in read_here}, form.fields)
        with ended_by_signals() as check:
            found, warnings = self._grouped(given, check)
        return Decoded(found | options, warnings=warnings)

    def _grouped(self, given: Mapping[str, str], check: Callable[[], None]) -> _Grouped:
        """Have the engine group the rows."""
        try:
            from service.engines.failures import (  # noqa: PLC0415  # goes with the engine
                ColumnRefused,
                EngineFailed,
                EngineOutOfMemory,
                NoRows,
            )

            bars = EngineBars(check)
            opened = self._spark(bars) if self.engine.engine == "spark" else self._duckdb(given, bars)
        except ImportError:
            fail([f"Error: --engine {self.engine.engine} {needs_extra(self.engine.engine)}"])
        try:
            with opened() as engine:
                return self._read(engine, given)
        except (ColumnRefused, Wrong) as refused:
            column = getattr(refused, "column", given.get("labels", "labels"))
            raise invalid_value(f"/{column}", refused.code, refused.detail) from None
        except NoRows as error:
            raise invalid_value("", "no_rows", error.detail) from None
        except (OneClassLabels, TotalOutOfRange) as error:
            raise invalid_value(f"/{error.column}", DOMAIN_ERROR_CODES[type(error)], error.detail) from None
        except EngineFailed as failure:
            engine_name = _NAMES[self.engine.engine]
            fail(
                [
                    f"Error: {self.name}: {engine_name} could not read or group the rows.",
                    f"  {failure}",
                    *self._advice_on(str(failure), out_of_memory=isinstance(failure, EngineOutOfMemory)),
                ]
            )
        except MemoryError:
            fail(self.lack_of_memory())
        finally:
            bars.close()

    def _duckdb(self, given: Mapping[str, str], bars: EngineBars) -> Callable[[], Any]:
        """Return a function that opens the files in DuckDB. Raises ImportError."""
        from service.engines.duckdb_engine import DuckDB  # noqa: PLC0415  # an extra
        from service.engines.duckdb_files import Files  # noqa: PLC0415  # an extra

        if _is_stream(self.name):
            again = "DuckDB reads files more than once; write the rows to a file, or leave --engine out."
            fail([f"Error: {self.name} is not a file. {again}"])
        numbers = [given.get("scores", "scores"), given.get("weights", "weights")]
        texts = [given.get("labels", "labels"), *listed_names(given.get(SLICES, "[]"), [])]
        marks = {
            name: _CHARACTERS.get(given[name], given[name]) if name in given else None
            for name in ("delimiter", "decimal")
        }
        files = Files([self.name], self.format_name, texts, numbers, marks["delimiter"], marks["decimal"])
        return partial(DuckDB, files, memory=self.engine.memory, spill=self.engine.spill, progress=bars.show)

    def _spark(self, bars: EngineBars) -> Callable[[], Any]:
        """Return a function that opens the table in Spark. Raises ImportError."""
        from service.engines.spark_engine import Spark  # noqa: PLC0415  # an extra

        return partial(Spark, self.engine.remote or "", self.name, progress=bars.show)

    def _read(self, engine: Any, given: Mapping[str, str]) -> _Grouped:  # noqa: ANN401  # an engine
        from service.engines.checks import RowColumns  # noqa: PLC0415  # goes with the engine
        from service.engines.plan import group_rows  # noqa: PLC0415  # goes with the engine

        names = {key: given.get(key, key) for key in (*SAMPLE.needs, *SAMPLE.may)}
        by = tuple(listed_names(given.get(SLICES, "[]"), []))
        if self.media_type == CSV and "header" not in given and has_numbers_as_names(header := [*engine.kinds()]):
            told = "has numbers where names are expected; add a line such as scores,labels above it"
            fail([f"Error: {self.name}: The first row, {', '.join(header)[:_SHOWN_ROW]}, {told}."])
        warnings: tuple[CurvesWarning, ...] = ()
        if "weights" not in given:
            header = [*engine.kinds()]
            if "weights" not in header:
                del names["weights"]
            used = {*names.values(), *by}
            warnings = tuple(told for name, told in unused_weights(header).items() if name not in used)
        lower = given.get("lower_is_positive") == "true"
        columns = RowColumns(**names, by=by, weight_decimals=self.engine.weight_decimals, lower_is_positive=lower)
        label = given.get("positive_label")
        if label is not None and self.media_type == CSV:  # as the cells are
            label = label.strip(BLANKS)
        result = group_rows(
            engine,
            columns,
            lambda values, counts: distinct_labels(values, counts, label),
            tolerance=self.engine.tolerance,
            most_bins=engine.most_bins,
        )
        groups = {name: Column.of(cells) for name, cells in (result.groups.ends | result.groups.masses).items()}
        slices = {name: Column.of(result.slices[name]) for name in by}
        return {"groups": FoundGroups(groups, result.rest)} | ({SLICES: slices} if by else {}), warnings

    def _advice_on(self, failure: str, *, out_of_memory: bool) -> Iterable[str]:
        """Say what to do about a failure of the engine, if that is known."""
        if self.engine.weight_decimals is not None and "DECIMAL(" in failure:
            yield "  A weight is too large for that many decimals: lower --weight-decimals."
        elif "failed to offload" in failure:
            yield "  There is no room for what does not fit into memory: name another directory with --spill."
        elif out_of_memory:
            if self.engine.memory is not None:
                yield f"  --memory {self.engine.memory} is too little: give more, as in 1GB, or leave it out."
            yield from self._advice()

    def lack_of_memory(self) -> Iterable[str]:
        """Say that memory ran out, and what needs less."""
        yield f"Error: {self.name}: The evaluation needs more memory than this process may use."
        yield from self._advice()

    def _advice(self) -> Iterable[str]:
        """Say what needs less memory."""
        if self.engine.tolerance is None:
            yield "  Without --tolerance, each distinct score needs memory. For curves, tradeoffs and gate,"
            yield "  --tolerance 1e-6 bounds the areas with much less."


_NAMES = {"duckdb": "DuckDB", "spark": "Spark"}

_DEFAULTS = {(MISSING, "refuse"), ("escape", "quote"), ("header", "present")}
"""Options that say what engines do anyway."""


def _is_stream(name: str) -> bool:
    """Whether this is a pipe, a device or the like."""
    try:
        mode = Path(name).stat().st_mode
    except (OSError, ValueError):  # a glob, perhaps
        return False
    return not (stat.S_ISREG(mode) or stat.S_ISDIR(mode))
