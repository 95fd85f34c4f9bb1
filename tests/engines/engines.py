"""Engines besides DuckDB for tests of the plan: SQLite in this process, and a separate PostgreSQL cluster."""

from __future__ import annotations

import csv
import io
import os
import pwd
import shutil
import socket
import sqlite3
import subprocess
import tempfile
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from service.engines.engine import Kind, NamedArrays

if TYPE_CHECKING:
    from collections.abc import Mapping

KINDS = {"p": Kind("number"), "y": Kind("integer"), "w": Kind("number")}


def columns_of(names: list[str], cells: list[tuple[Any, ...]]) -> NamedArrays:
    return {
        name: np.array(column) if all(cell is not None for cell in column) else np.array(column, dtype=object)
        for name, column in zip(names, zip(*cells, strict=True) if cells else [()] * len(names), strict=True)
    }


class SQLite:
    """Rows p, y, w in memory."""

    table = "t"
    dialect = "sqlite"

    def __init__(self, columns: Mapping[str, np.ndarray]) -> None:
        self.connection = sqlite3.connect(":memory:")
        self.keep(self.table, dict(columns))

    def __del__(self) -> None:
        self.connection.close()

    def kinds(self) -> dict[str, Kind]:
        return KINDS

    def rows(self, text: str, _step: str = "") -> NamedArrays:
        cursor = self.connection.execute(text)
        return columns_of([name for name, *_ in cursor.description], cursor.fetchall())

    def keep(self, name: str, columns: NamedArrays) -> None:
        self.connection.execute(f"CREATE TABLE {name} ({', '.join(columns)})")
        marks = ", ".join("?" * len(columns))
        cells = zip(*(column.tolist() for column in columns.values()), strict=True)
        self.connection.executemany(f"INSERT INTO {name} VALUES ({marks})", cells)


class Postgres:
    """A cluster on the loopback interface, run by an unprivileged user, as PostgreSQL demands."""

    table = "t"
    dialect = "postgres"

    def __init__(self, programs: Path) -> None:
        self.programs = programs
        self.directory = Path(tempfile.mkdtemp(prefix="rocpr-postgres-"))
        self.user = pwd.getpwnam("nobody") if os.geteuid() == 0 else None
        if self.user:
            os.chown(self.directory, self.user.pw_uid, self.user.pw_gid)
        with socket.socket() as probe:
            probe.bind(("127.0.0.1", 0))
            self.port = probe.getsockname()[1]
        data = str(self.directory / "data")
        self._run("initdb", "--no-sync", "--auth=trust", "--username=tests", "--encoding=UTF8", data)
        options = f"-F -c listen_addresses=127.0.0.1 -p {self.port} -c unix_socket_directories="
        self._run("pg_ctl", "-D", data, "-o", options, "-l", str(self.directory / "log"), "-w", "start")

    def close(self) -> None:
        self._run("pg_ctl", "-D", str(self.directory / "data"), "-m", "immediate", "stop")
        shutil.rmtree(self.directory)

    def load(self, columns: Mapping[str, np.ndarray]) -> None:
        types = {name: "bigint" if column.dtype.kind == "i" else "double precision" for name, column in columns.items()}
        self._copy(self.table, dict(columns), types)

    def kinds(self) -> dict[str, Kind]:
        return KINDS

    def rows(self, text: str, _step: str = "") -> NamedArrays:
        names, *cells = csv.reader(io.StringIO(self._psql(text)))
        return columns_of(names, [tuple(float(cell) if cell else None for cell in row) for row in cells])

    def keep(self, name: str, columns: NamedArrays) -> None:
        types = {name: "double precision" if name in {"low", "scale"} else "bigint" for name in columns}
        self._copy(name, columns, types)

    def _copy(self, name: str, columns: NamedArrays, types: dict[str, str]) -> None:
        spelled = ", ".join(f"{column} {types[column]}" for column in columns)
        cells = zip(*(column.tolist() for column in columns.values()), strict=True)
        lines = "\n".join(",".join("" if cell is None else str(cell) for cell in row) for row in cells)
        self._psql(
            f"DROP TABLE IF EXISTS {name};\nCREATE TABLE {name} ({spelled});\n"
            f"COPY {name} FROM STDIN WITH (FORMAT csv);\n{lines}\n\\.\n"
        )

    def _psql(self, text: str) -> str:
        command = ["psql", "-X", "-q", "--csv", "-v", "ON_ERROR_STOP=1", "-h", "127.0.0.1", "-p", str(self.port)]
        return self._run(*command, "-U", "tests", "-d", "postgres", text=text)

    def _run(self, program: str, *arguments: str, text: str = "") -> str:
        ids = {} if self.user is None else {"user": self.user.pw_uid, "group": self.user.pw_gid, "extra_groups": []}
        log = self.directory / f"{program}.log"
        with log.open("wb") as output:  # not a pipe: the server would hold it open
            finished = subprocess.run(
                [str(self.programs / program), *arguments],
                input=text.encode(),
                stdout=output,
                stderr=subprocess.STDOUT,
                cwd="/",
                timeout=60,
                check=False,
                **ids,
            )
        written = log.read_text()
        assert finished.returncode == 0, written
        return written
