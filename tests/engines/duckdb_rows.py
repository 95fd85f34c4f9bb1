"""A sample of many rows, and what DuckDB finds in a file of rows."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np
import pyarrow as pa
from pyarrow import parquet

from service.engines.checks import RowColumns
from service.engines.duckdb_engine import DuckDB
from service.engines.duckdb_files import Files
from service.engines.plan import group_rows
from tests.engines.checking import read_labels

if TYPE_CHECKING:
    from pathlib import Path

    from service.engines.plan import Found

SIZE = 40_000
RANDOM = np.random.default_rng(24)
LABELS = RANDOM.random(SIZE) < 0.3
LOGITS = RANDOM.normal(size=SIZE) + 2 * LABELS
SCORES = 1 / (1 + np.exp(-LOGITS))
WEIGHTS = RANDOM.integers(0, 5, SIZE) / 4


def grouped(table: pa.Table | dict[str, Any], path: Path, columns: RowColumns | None = None, **options: Any) -> Found:
    file = path / "rows.parquet"
    parquet.write_table(table if isinstance(table, pa.Table) else pa.table(table), file)
    with DuckDB(Files([str(file)]), threads=2, spill=path) as engine:
        return group_rows(engine, columns or RowColumns("p", "y"), read_labels, **options)
