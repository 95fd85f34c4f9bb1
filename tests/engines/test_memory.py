"""The memory that DuckDB takes unless it is told, on a machine, in a container, and under a process's limits."""

from __future__ import annotations

import resource
from typing import TYPE_CHECKING

import pyarrow as pa
import pytest
from pyarrow import parquet

from service.engines import memory
from service.engines.duckdb_engine import DuckDB
from service.engines.duckdb_files import Files
from service.engines.memory import default_memory

if TYPE_CHECKING:
    from pathlib import Path

MACHINE = 8 << 30


@pytest.fixture(autouse=True)
def machine(monkeypatch: pytest.MonkeyPatch) -> None:
    pages = {"SC_PAGE_SIZE": 4096, "SC_PHYS_PAGES": MACHINE // 4096}
    monkeypatch.setattr(memory.os, "sysconf", pages.__getitem__)
    monkeypatch.setattr(memory.resource, "getrlimit", lambda _: (resource.RLIM_INFINITY, resource.RLIM_INFINITY))


@pytest.mark.parametrize(
    ("groups", "limits", "least"),
    [
        ("0::/", {}, MACHINE),
        ("0::/", {"memory.max": "max"}, MACHINE),
        ("0::/", {"memory.max": f"{1 << 30}"}, 1 << 30),
        ("0::/a/b", {"a/b/memory.max": "max", "a/memory.max": f"{3 << 30}", "memory.max": "max"}, 3 << 30),
        ("0::/a/b", {"a/b/memory.max": f"{2 << 30}", "a/memory.max": f"{3 << 30}"}, 2 << 30),
        ("0::/../elsewhere", {"memory.max": f"{2 << 30}"}, 2 << 30),
        ("5:cpu,memory:/a\n1:name=x:/", {"memory/a/memory.limit_in_bytes": f"{1 << 30}"}, 1 << 30),
        ("4:memory:/", {"memory/memory.limit_in_bytes": "9223372036854771712"}, MACHINE),
        ("4:cpuset:/a", {"memory/memory.limit_in_bytes": f"{1 << 30}"}, MACHINE),
    ],
)
def test_it_is_half_of_the_least_limit(groups: str, limits: dict[str, str], least: int, tmp_path: Path) -> None:
    (tmp_path / "own").write_text(f"{groups}\n")
    for name, text in limits.items():
        (tmp_path / "groups" / name).parent.mkdir(parents=True, exist_ok=True)
        (tmp_path / "groups" / name).write_text(f"{text}\n")
    assert default_memory(tmp_path / "own", tmp_path / "groups") == least // 2


def test_without_control_groups_it_is_half_of_the_machine(tmp_path: Path) -> None:
    assert default_memory(tmp_path / "none", tmp_path) == MACHINE // 2


def test_it_is_half_of_what_a_process_may_use(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    of_kind = {resource.RLIMIT_AS: 4 << 30, resource.RLIMIT_DATA: 1 << 30}
    monkeypatch.setattr(memory.resource, "getrlimit", lambda kind: (of_kind[kind], resource.RLIM_INFINITY))
    assert default_memory(tmp_path / "none", tmp_path) == 1 << 29


def test_duckdb_takes_it(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    parquet.write_table(pa.table({"p": [0.5], "y": [1]}), tmp_path / "rows.parquet")
    monkeypatch.setattr("service.engines.duckdb_engine.default_memory", lambda: 3 << 29)
    with DuckDB(Files([str(tmp_path / "rows.parquet")]), spill=tmp_path) as engine:
        (limit,) = engine.rows("SELECT current_setting('memory_limit') AS memory", "memory")["memory"]
    assert limit == "1.5 GiB"
