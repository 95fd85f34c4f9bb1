"""DuckDB over files, in this process; it spills to disk what does not fit into its memory.

A query runs in a thread of its own, so that the calling thread can show progress and take Ctrl-C at any time.
"""

import itertools
import re
import threading
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import replace
from datetime import UTC, datetime
from pathlib import Path
from typing import Self

import duckdb
import numpy as np

from service.engines.checks import refuse_inexact, refuse_misread, refuse_rounded
from service.engines.duckdb_files import Files, kind_of_duckdb, quoted_name, text_literal
from service.engines.engine import LONGEST_REASON, TICK, Kind, NamedArrays, Progress, equal_to
from service.engines.failures import EngineFailed, EngineOutOfMemory, FilesUnreadable
from service.engines.memory import default_memory
from service.engines.search import MOST_BINS
from service.engines.spill import SpillDirectory

_BYTES_PER_BIN = 400
"""What a bin may take, with room to spare: DuckDB was seen to take some 230 bytes."""
_FEWEST_BINS = 1024
_ADVICE = (
    "LINE ",
    "Stack Trace",
    "This limit ",
    "Possible ",
    "This error ",
    "file = ",
    "It was not possible",
    "Column ",
    "* ",
)
"""The beginnings of lines below an error that are about DuckDB's own SQL and settings, and are not shown."""

_RENAMED = re.compile(r".*_\d+", re.DOTALL)
"""The name that DuckDB gives a column whose own name is taken."""

_FAILURES: dict[type[duckdb.Error], type[EngineFailed]] = {
    duckdb.OutOfMemoryException: EngineOutOfMemory,
    duckdb.InvalidInputException: FilesUnreadable,
    duckdb.ConversionException: FilesUnreadable,
}
"""{DuckDB's failure: ours}. DuckDB has no class for damaged Parquet files: for some, ours is a plain EngineFailed."""

_UNITS = {"bytes": 1, "KiB": 2**10, "MiB": 2**20, "GiB": 2**30, "TiB": 2**40}


class DuckDB:
    """The rows of files as the table `rows`."""

    dialect = "duckdb"

    def __init__(
        self,
        files: Files,
        *,
        memory: str | None = None,
        threads: int | None = None,
        spill: Path | None = None,
        progress: Progress | None = None,
    ) -> None:
        """Open the files; reads only their heads.

        memory, threads   what the engine may use, such as 4GB and 2; by default half of the memory, and all processors.
        spill   the directory for what does not fit into its memory; by default that for temporary files.

        Raises EngineFailed.
        """
        self.table = "rows"
        self._files = files
        self._unread_numbers: list[str] = []
        self._is_checked = files.through_pyarrow or files.found_kind != "parquet"
        """Whether no column of Parquet files can be rounded."""
        self._progress = progress
        try:
            self._spill = SpillDirectory(spill)
        except OSError as error:
            where = "the directory for temporary files" if spill is None else spill
            raise EngineFailed(f"Nothing can be written to {where}: {error}") from error
        try:
            with _explained():
                self._connection = duckdb.connect(config=_config(str(self._spill.path), memory, threads))
                # Parquet's statistics leave NaN out: from them, DuckDB would infer comparisons that NaN does not meet.
                self._connection.execute("SET disabled_optimizers = 'statistics_propagation'")
                self._connection.execute("SET enable_progress_bar = true")  # counts, and prints nothing
                self._connection.execute("SET enable_progress_bar_print = false")
                self._open(files)
        except BaseException:
            self._spill.remove()
            raise

    def __enter__(self) -> Self:
        """Return the engine, which is closed at the end of the block."""
        return self

    def __exit__(self, *_: object) -> None:
        """Close the engine, and remove what it wrote to disk."""
        self._connection.close()
        self._spill.remove()

    @property
    def most_bins(self) -> int:
        """How many bins fit into the engine's memory, at most MOST_BINS."""
        limit = str(self.rows("SELECT current_setting('memory_limit') AS memory", "memory")["memory"][0])
        number, unit = limit.split()
        room = float(number) * _UNITS[unit] / _BYTES_PER_BIN
        return min(MOST_BINS, int(max(room, _FEWEST_BINS)))

    def kinds(self) -> dict[str, Kind]:
        """What the columns hold, by name."""
        self._refuse_misread()
        described = self.rows(f"SELECT column_name, column_type FROM (DESCRIBE {self.table})", "columns")  # noqa: S608  # ours
        types = dict(zip(described["column_name"].tolist(), described["column_type"].tolist(), strict=True))
        if not self._is_checked:
            self._is_checked = True
            self._refuse_rounded(types)
        kinds = {name: kind_of_duckdb(of_type) for name, of_type in types.items()}
        if any(_RENAMED.fullmatch(name) for name in kinds):
            with _explained():
                kinds |= dict.fromkeys(self._renamed(), Kind("repeated"))
        return kinds

    def rows(self, text: str, step: str) -> NamedArrays:
        """Run a query and return its columns. Raises EngineFailed."""
        answers: list[NamedArrays] = []
        failures: list[BaseException] = []
        finished = threading.Event()  # if Ctrl-C interrupts a join, the thread may pass for dead

        def work() -> None:
            try:
                answers.append(_columns_of(self._connection.execute(text)))
            except BaseException as failure:  # noqa: BLE001  # raised again in the calling thread
                failures.append(failure)
            finished.set()

        if self._progress is not None:
            self._progress(step, 0.0)
        thread = threading.Thread(target=work, name="duckdb", daemon=True)
        try:
            _start(thread)
            while not finished.wait(TICK):
                self._tell(step)
        except BaseException:
            # An interrupt that comes before the query has no effect, and a thread may not have been started.
            while not finished.wait(TICK) and thread.is_alive():
                self._connection.interrupt()
            raise
        with _explained():
            for failure in failures:
                raise failure
        return answers[0]

    def keep(self, name: str, columns: NamedArrays) -> None:
        """Make a table of numbers that queries can join. Raises EngineFailed."""
        with _explained():
            self._connection.register("kept", columns)
            self._connection.execute(f"CREATE OR REPLACE TEMP TABLE {name} AS SELECT * FROM kept")  # noqa: S608  # ours
            self._connection.unregister("kept")

    def confine(self, directories: Sequence[str]) -> None:
        """From now on, let DuckDB read only these directories, and lock its settings. Raises EngineFailed."""
        listed = ", ".join(map(text_literal, [*directories, str(self._spill.path)]))
        with _explained():
            self._connection.execute(f"SET allowed_directories = [{listed}]")
            self._connection.execute("SET enable_external_access = false")
            self._connection.execute("SET lock_configuration = true")

    def narrow(self, conditions: Mapping[str, Sequence[bool | float | str]]) -> None:
        """Keep only the rows that have one of the values in each column. The values never become part of a query.

        Raises EngineFailed for a column that does not exist.
        """
        tests = []
        kinds = self.kinds()
        for number, (column, values) in enumerate(conditions.items()):
            name = f"wanted_{number}"
            are_texts = any(isinstance(value, str) for value in values)
            there = kinds.get(column)
            exact = values if are_texts or there is None else equal_to(values, there.name)
            self.keep(name, {"value": np.array(exact, dtype=object if are_texts else None)})
            tested = f"CAST({quoted_name(column)} AS VARCHAR)" if are_texts else quoted_name(column)
            tests.append(f"{tested} IN (SELECT value FROM {name})")  # noqa: S608  # ours
        with _explained():
            met = " AND ".join(tests)
            self._connection.execute(f"CREATE TEMP VIEW chosen AS SELECT * FROM {self.table} WHERE {met}")  # noqa: S608  # ours
        self.table = "chosen"

    def _refuse_misread(self) -> None:
        """Refuse numbers of CSV files that would be refused in a body. Raises ColumnRefused, EngineFailed."""
        names, self._unread_numbers = self._unread_numbers, []
        if names:
            found = self.rows(self._files.misread_numbers(names), "numbers")
            *counts, total = (column.tolist()[0] for column in found.values())
            for name, inexact, other, cell in zip(names, counts[::3], counts[1::3], counts[2::3], strict=True):
                refuse_inexact(inexact, total, name)
                refuse_misread(other, total, name, cell)

    def _refuse_rounded(self, types: Mapping[str, str]) -> None:
        """Refuse numbers whose type differs between Parquet files, if the common type rounds them.

        Raises ColumnRefused, EngineFailed.
        """
        used = [name for name in dict.fromkeys([*self._files.numbers, *self._files.texts]) if name in types]
        if not used:
            return
        found = self.rows(self._files.types(used), "columns")
        for name, of_type, files in zip(*(found[key].tolist() for key in ("name", "type", "files")), strict=True):
            whole = types[name]
            if of_type != whole and {kind_of_duckdb(each).name for each in (of_type, whole)} <= {"integer", "number"}:
                part = replace(self._files, names=list(files))
                counted = self.rows(part.rounded(name, of_type, whole), "numbers")
                changed, rows = (int(counted[key][0]) for key in ("changed", "rows"))
                refuse_rounded(changed, rows, name, (of_type, whole))

    def _renamed(self) -> set[str]:
        """The names of columns that DuckDB renames in some file, and their new names.

        It ignores case and, in CSV files, blanks around a name; what then looks like an earlier name gets a number.
        """
        found: set[str] = set()
        for names, file in self._files.headers(self._connection, self.table):
            described = self._connection.execute(f"DESCRIBE SELECT * FROM {file}").fetchall()  # noqa: S608  # quoted
            for name, (called, *_) in zip(names, described, strict=False):  # columns named by directories come last
                if called.strip().lower() != name.strip().lower():
                    found |= {name, name.strip(), called}
        return found

    def _tell(self, step: str) -> None:
        if self._progress is not None:
            self._progress(step, min(max(self._connection.query_progress(), 0.0), 100.0) / 100)

    def _open(self, files: Files) -> None:
        """Make the table `rows`, a view."""
        if files.through_pyarrow and not files.are_text:
            self._connection.register(self.table, files.dataset())
            return
        if files.through_pyarrow:
            source = "given"
            self._connection.register(source, files.dataset())
        elif files.are_text:
            names = self._types(files.reader())
            self._unread_numbers = [name for name in dict.fromkeys(files.numbers) if name in names]
            source = files.reader(names)
        else:
            source = files.reader()
        cells = f"* {files.trimmed(self._types(source))}" if files.are_text else "*"
        self._connection.execute(f"CREATE VIEW {self.table} AS SELECT {cells} FROM {source}")  # noqa: S608  # quoted

    def _types(self, source: str) -> dict[str, str]:
        described = self._connection.execute(f"DESCRIBE SELECT * FROM {source}").fetchall()  # noqa: S608  # quoted
        return {name: of_type for name, of_type, *_ in described}


def _config(spill: str, memory: str | None, threads: int | None) -> dict[str, str | bool | int | float | list[str]]:
    config: dict[str, str | bool | int | float | list[str]] = {
        "temp_directory": spill,
        "preserve_insertion_order": "false",
        "autoinstall_known_extensions": "false",
        "autoload_known_extensions": "false",
        "allocator_background_threads": "true",  # gives memory back between passes
        "memory_limit": memory or f"{default_memory() >> 20}MiB",  # its own default is most of the machine
    }
    if threads is not None:
        config["threads"] = str(threads)
    return config


def _columns_of(result: "duckdb.DuckDBPyConnection") -> NamedArrays:
    """The columns of a result; a timestamp with a time zone is in UTC, and says so."""
    zoned = [name for name, kind, *_ in result.description or () if str(kind) == "TIMESTAMP WITH TIME ZONE"]
    columns = result.fetchnumpy()
    in_utc = np.frompyfunc(lambda cell: cell.replace(tzinfo=UTC) if isinstance(cell, datetime) else cell, 1, 1)
    return columns | {name: in_utc(columns[name].astype(object)) for name in zoned}


def _start(thread: threading.Thread) -> None:
    try:
        thread.start()
    except RuntimeError as error:
        raise EngineOutOfMemory("There is no memory for the stack of another thread.") from error


@contextmanager
def _explained() -> Iterator[None]:
    """Turn DuckDB's failures into ours."""
    try:
        yield
    except MemoryError as error:
        raise EngineOutOfMemory("The groups need more memory than this process may use.") from error
    except duckdb.Error as error:
        lines = [line.strip() for line in str(error).splitlines() if line.strip()]
        said: Iterator[str] = itertools.takewhile(lambda line: not line.startswith(_ADVICE), lines)
        if any("sniffing file" in line for line in lines):
            said = itertools.chain(said, ["Each row must have as many fields as the header, split at the delimiter."])
        failed = next((ours for theirs, ours in _FAILURES.items() if isinstance(error, theirs)), EngineFailed)
        raise failed(" ".join(said)[:LONGEST_REASON] or "DuckDB failed without saying why.") from error
