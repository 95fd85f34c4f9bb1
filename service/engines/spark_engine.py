"""A table in Spark, through Spark Connect; of its data, this process holds only the groups.

The server gets SQL and small tables, never code, and answers in Arrow. The client's package is imported when a
connection is opened; its logs, which quote addresses and queries, are turned off.
"""

import contextlib
import logging
import os
import re
import sys
import threading
import time
import warnings
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Self
from urllib.parse import unquote, urlsplit

import numpy as np
import pyarrow as pa

from service.engines.engine import LONGEST_REASON, TICK, Kind, NamedArrays, Progress, equal_to
from service.engines.failures import EngineFailed
from service.engines.names import table_of
from service.engines.search import MOST_BINS
from service.extras import how_to_install

if TYPE_CHECKING:
    from pyspark.sql.connect.session import SparkSession
    from pyspark.sql.connect.shell.progress import StageInfo

DEFAULT_PORT = 15002
TOKEN_VARIABLE = "SPARK_CONNECT_AUTHENTICATE_TOKEN"  # noqa: S105  # a name
"""Where the client looks for a token that is not in the address."""

_RETRIES = 4
"""Waits of 50, 200, 800 and 3200 ms: a server that is not back by then has lost the session, too."""
_CONNECT_MILLISECONDS = 5000
_SECONDS_TO_STOP = 5
_LOGGERS = ("SQLQueryContextLogger", "pyspark.sql.connect.client.logging", "pyspark.sql.connect.logging")
_HOST = re.compile(r"[A-Za-z0-9._-]+|[0-9a-fA-F:.]+")
_THEIRS = {"pyspark", "grpc", "pyarrow", "sqlglot"}
"""Packages whose exceptions are about the server, the query or the connection."""

_TYPES = {
    "tinyint": "integer", "smallint": "integer", "int": "integer", "bigint": "integer", "float": "number",
    "double": "number", "boolean": "boolean", "string": "text", "void": "number",
}  # fmt: skip


@dataclass(frozen=True, slots=True)
class Remote:
    """The address of a Spark Connect server; its text shows no parameters, one of which may be a token."""

    url: str
    host: str
    port: int
    token: str | None

    @classmethod
    def parse(cls, text: str) -> "Remote":
        """Read sc://HOST[:PORT][/;NAME=VALUE...]. Raises EngineFailed, which does not repeat the text."""
        address, _, parameters = text.partition(";")
        try:
            parts = urlsplit(address)
            host, port = parts.hostname or "", parts.port or DEFAULT_PORT
        except ValueError:
            host, port, parts = "", 0, urlsplit("")
        pairs = [pair.partition("=") for pair in parameters.split(";") if pair]
        right = parts.scheme == "sc" and parts.path in {"", "/"} and "@" not in parts.netloc and _HOST.fullmatch(host)
        if not right or parts.query or parts.fragment or not all(name and value for name, _, value in pairs):
            raise EngineFailed(f"A Spark server's address is sc://HOST:PORT; the default port is {DEFAULT_PORT}.")
        tokens = [unquote(value) for name, _, value in pairs if name == "token"]
        return cls(text, host, port, tokens[-1] if tokens else os.environ.get(TOKEN_VARIABLE))

    def __str__(self) -> str:
        """HOST:PORT."""
        return f"[{self.host}]:{self.port}" if ":" in self.host else f"{self.host}:{self.port}"

    __repr__ = __str__


class Spark:
    """A table of a Spark Connect server."""

    dialect = "spark"
    most_bins = MOST_BINS

    def __init__(self, remote: str, table: str, *, progress: Progress | None = None) -> None:
        """Open a session.

        remote   the server, sc://HOST:PORT; a token in it, `/;token=...`, goes over TLS, except to `localhost`.
        table    the name of the table, such as prod.ml.scores.

        Raises EngineFailed.
        """
        self.table = table
        self._progress = progress
        self._remote = Remote.parse(remote)
        self._step, self._done, self._has_begun = "columns", 0.0, False
        with self._explained():
            self._session = _session(self._remote)
            handler: Any = self._tell  # declared with arguments by position, called with them by name
            self._session.registerProgressHandler(handler)

    def __enter__(self) -> Self:
        """Return the engine, which is closed at the end of the block."""
        return self

    def __exit__(self, *_: object) -> None:
        """End the session, and with it all of its queries that still run on the server."""
        self._session.stop()

    def kinds(self) -> dict[str, Kind]:
        """What the columns hold, by name."""
        if not self.table.strip():
            raise EngineFailed("Give the name of a table in Spark, such as prod.ml.scores.")
        with self._explained():
            name = table_of(self.table, self.dialect, into=self.dialect)
            schema = self._session.sql(f"SELECT * FROM {name} LIMIT 0").schema  # noqa: S608  # quoted
        return {field.name: kind_of_column(field.dataType.simpleString()) for field in schema.fields}

    def rows(self, text: str, step: str) -> NamedArrays:
        """Run a query and return its columns. Raises EngineFailed."""
        self._step, self._done, self._has_begun = step, 0.0, False
        with self._explained():
            found = self._awaited(text)
        return {name: _column(column) for name, column in zip(found.column_names, found.columns, strict=True)}

    def _awaited(self, text: str) -> "pa.Table":
        """Run a query in a thread of its own, so that Ctrl-C stops it on the server.

        The client itself first releases a query and then asks to stop it, when the server may no longer know it. A
        server that is asked while it plans a query runs it anyway and ignores later requests, so we ask only after it
        has reported tasks, which it does every two seconds.
        """
        answers: list[pa.Table] = []
        failures: list[BaseException] = []
        ended = threading.Event()  # if Ctrl-C interrupts a join, the thread may pass for dead

        def work() -> None:
            try:
                answers.append(self._session.sql(text).toArrow())
            except BaseException as failure:  # noqa: BLE001  # raised again in the calling thread
                failures.append(failure)
            ended.set()

        try:
            threading.Thread(target=work, name="spark", daemon=True).start()
            while not ended.wait(TICK):
                pass
        except BaseException:
            end = time.monotonic() + _SECONDS_TO_STOP
            while not ended.wait(TICK) and time.monotonic() < end:
                if self._has_begun:
                    with contextlib.suppress(Exception):
                        self._session.interruptAll()
            raise
        for failure in failures:
            raise failure
        return answers[0]

    def keep(self, name: str, columns: NamedArrays) -> None:
        """Make a table of numbers that queries can join, sent to every worker. Raises EngineFailed."""
        with self._explained():
            kept = self._session.createDataFrame(pa.table({key: pa.array(column) for key, column in columns.items()}))
            kept.hint("broadcast").createOrReplaceTempView(name)

    def narrow(self, conditions: Mapping[str, Sequence[bool | float | str]]) -> None:
        """Keep only the rows that have one of the values in each column. The values never become part of a query.

        Raises EngineFailed for a column that does not exist.
        """
        with self._explained():
            name = table_of(self.table, self.dialect, into=self.dialect)
            frame = self._session.sql(f"SELECT * FROM {name}")  # noqa: S608  # quoted
            kinds = self.kinds()
            for column, values in conditions.items():
                tested = frame[f"`{column.replace('`', '``')}`"]
                are_texts = any(isinstance(value, str) for value in values)
                kind = kinds.get(column)
                exact = values if are_texts or kind is None else equal_to(values, kind.name)
                frame = frame.filter((tested.cast("string") if are_texts else tested).isin(list(exact)))
            frame.createOrReplaceTempView("chosen")
        self.table = "chosen"

    def _tell(self, stages: "Iterable[StageInfo] | None", *, done: bool, **_: object) -> None:
        """Report the share of the tasks planned so far that are done; it never falls."""
        known = list(stages or ())
        tasks, completed = sum(stage.num_tasks for stage in known), sum(stage.num_completed_tasks for stage in known)
        self._has_begun |= tasks > 0
        self._done = 1.0 if done else max(self._done, completed / tasks if tasks else 0.0)
        if self._progress is not None:
            self._progress(self._step, self._done)

    @contextlib.contextmanager
    def _explained(self) -> Iterator[None]:
        """Turn failures of Spark, its client and the names in a query into ours, without the token."""
        try:
            yield
        except ImportError as error:
            install = how_to_install("spark")
            detail = f"Spark needs the extra spark: {error.name} is missing. To install it: {install}"
            raise EngineFailed(detail) from None
        except Exception as error:
            if type(error).__module__.partition(".")[0] not in _THEIRS:
                raise
            raise EngineFailed(self._reason(error)) from None

    def _reason(self, error: Exception) -> str:
        """What went wrong, in one sentence; the client's own words about addresses are left out."""
        code = getattr(getattr(error, "_grpc_status_code", None), "name", "")
        text = str(error)
        if code == "UNAUTHENTICATED":
            given = "refuses the token" if self._remote.token else f"asks for a token; set {TOKEN_VARIABLE}"
            return f"The Spark server at {self._remote} {given}."
        if code in {"UNAVAILABLE", "DEADLINE_EXCEEDED"}:
            over = " over TLS, which a token needs except to localhost" if "SSL" in text or "handshake" in text else ""
            return f"No Spark Connect server answers at {self._remote}{over}."
        lines = [line.strip() for line in text.partition("JVM stacktrace")[0].splitlines() if line.strip()]
        sentence = lines[0] if lines else f"Spark failed without saying why ({type(error).__name__})."
        for secret in filter(None, (self._remote.token, self._remote.url.partition(";")[2])):
            sentence = sentence.replace(secret, "***")
        return sentence[:LONGEST_REASON]


def kind_of_column(of_type: str) -> Kind:
    """What a column of one of Spark's types holds, by its simple string. Spark converts every decimal correctly."""
    base = of_type.partition("(")[0]
    if base == "decimal":
        return Kind("integer" if of_type.endswith(",0)") else "number")
    return Kind("text" if base in {"char", "varchar"} else _TYPES.get(base, of_type))


def _session(remote: Remote) -> "SparkSession":
    """Open a session and ask for the server's version. Raises the client's exceptions."""
    os.environ.setdefault("GRPC_VERBOSITY", "ERROR")
    warnings.filterwarnings("ignore", module=r"pyspark\.")  # about other versions, and retries
    with _main_with_file():
        from pyspark.sql.connect.client import DefaultChannelBuilder  # noqa: PLC0415  # an extra
        from pyspark.sql.connect.client.retries import DefaultPolicy  # noqa: PLC0415  # an extra
        from pyspark.sql.connect.session import SparkSession  # noqa: PLC0415  # an extra

    for name in _LOGGERS:
        logging.getLogger(name).disabled = True
    options = [("grpc.min_reconnect_backoff_ms", _CONNECT_MILLISECONDS)]
    session = SparkSession(DefaultChannelBuilder(remote.url, options))
    session.client.set_retry_policies([DefaultPolicy(max_retries=_RETRIES)])
    _ = session.version
    return session


@contextlib.contextmanager
def _main_with_file() -> Iterator[None]:
    """While the client is imported, give the main module a file name.

    Without one, as in `python -c` and in processes that multiprocessing starts, the client believes that it runs as a
    doctest, looks for Spark and exits.
    """
    main = sys.modules["__main__"]
    lacking = not hasattr(main, "__file__")
    if lacking:
        main.__file__ = "rocpr"
    try:
        yield
    finally:
        if lacking:
            del main.__file__


def _column(column: "pa.ChunkedArray") -> "np.ndarray[Any, Any]":
    """A column of an answer: decimals as doubles, nulls as None."""
    if pa.types.is_decimal(column.type):
        column = column.cast(pa.float64())
    if column.null_count:
        return np.array(column.to_pylist(), dtype=object)
    out: np.ndarray[Any, Any] = column.to_numpy()
    return out
