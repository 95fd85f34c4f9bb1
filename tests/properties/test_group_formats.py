"""Exact groups get the same answer as their rows, to the byte: in every format and type, and through an engine."""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Callable
from decimal import Decimal
from itertools import product
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pytest
from pyarrow import csv, parquet

from service.answer import answer
from service.datasets.file import Dataset
from service.request import Answer, Request
from service.wire.media_types import JSON
from tests.properties.bodies import arrow_body, csv_body, parquet_body
from tests.support.asking import LIMITS, ask
from tests.support.sampling import some

pytest.importorskip("duckdb")
pytest.importorskip("sqlglot")

ROWS = 300
RANDOM = np.random.default_rng(24)
POSITIVE = RANDOM.random(ROWS) < 0.4
PLACES = (RANDOM.normal(size=ROWS) + POSITIVE).round(1).tolist()
"""About fifty scores, including 0.0."""
SIGNED = [-0.0 if place == 0 and row % 2 else place for row, place in enumerate(PLACES)]

SCORES: dict[str, pa.Array] = {
    "doubles": pa.array([place / 3 for place in SIGNED]),
    "zeros of both signs": pa.array([-0.0 if row % 3 else 0.0 for row in range(ROWS)]),
    "float32": pa.array(np.array(SIGNED, np.float32) / np.float32(3)),
    "decimals": pa.array([Decimal(str(place)).quantize(Decimal("0.001")) for place in PLACES], pa.decimal128(12, 3)),
    "long decimals": pa.array([(Decimal(str(place)) / 3).quantize(Decimal("1e-25")) for place in PLACES]),
    "integers": pa.array([int(place * 10) for place in PLACES], pa.int32()),
    "the largest integers": pa.array([2**53 - int(abs(place) * 10) for place in PLACES], pa.int64()),
    "very small": pa.array([place * 1e-310 for place in SIGNED]),
    "very large": pa.array([place * 1e307 for place in SIGNED]),
}
LABELS: dict[str, tuple[pa.Array, str | None]] = {
    "booleans": (pa.array(POSITIVE), None),
    "integers": (pa.array(POSITIVE.astype(np.int8)), None),
    "texts": (pa.array(["yes" if one else "no" for one in POSITIVE]), "yes"),
    "numbers": (pa.array(np.where(POSITIVE, 2.5, -1)), "2.5"),
}
ASKED: dict[str, Any] = {
    "include": ["auc", "points", "achievable_pr", "calibration", "statistics"],
    "intervals": {"method": "bootstrap", "resamples": 100},
    "operating_points": [{"metric": "recall_at_precision", "at": 0.5}],
    "partial": [{"over": "fpr", "to": 0.3}],
}
QUERY = {name: json.dumps(value) for name, value in ASKED.items()} | {"include": ",".join(ASKED["include"])}
BODIES: dict[str, tuple[Callable[[pa.Table], bytes], str]] = {
    "csv": (csv_body, "text/csv"),
    "arrow": (arrow_body, "application/vnd.apache.arrow.stream"),
    "parquet": (parquet_body, "application/vnd.apache.parquet"),
}


def groups_of(scores: pa.Array) -> pa.Table:
    """The rows as three workers count them, in any order; -0.0 and 0.0 may be separate groups."""
    cells = [(repr(cell), cell) for cell in scores.to_pylist()]
    counts = Counter(
        (row % 3, *cell, one) for row, (cell, one) in enumerate(zip(cells, POSITIVE.tolist(), strict=True))
    )
    keys = [*dict.fromkeys(key[:3] for key in counts)]
    keys = [keys[place] for place in RANDOM.permutation(len(keys))]
    return pa.table(
        {
            "score": pa.array([cell for *_, cell in keys], scores.type),
            "positives": [counts[(*key, True)] for key in keys],
            "negatives": [counts[(*key, False)] for key in keys],
        }
    )


def texts_are_doubles(table: pa.Table) -> pa.Table:
    """For CSV: the shortest text of a float32 is another double."""
    name = table.column_names[0]
    return table.set_column(0, name, table[name].cast(pa.float64())) if pa.types.is_float32(table[name].type) else table


def in_table(table: pa.Table, name: str, **options: str) -> Answer:
    written, media_type = BODIES[name]
    table = texts_are_doubles(table) if name == "csv" else table
    return ask("curves", written(table), media_type, **QUERY, **options)


@pytest.mark.parametrize("kind", SCORES)
def test_groups_in_every_format_answer_what_their_rows_do(kind: str) -> None:
    sample = pa.table({"scores": SCORES[kind], "labels": POSITIVE})
    groups = groups_of(SCORES[kind])
    doubles = [float(cell) for cell in SCORES[kind].to_pylist()]
    wanted = ask("curves", {"scores": doubles, "labels": POSITIVE.tolist()} | ASKED)
    assert wanted.status == 200, wanted.body
    columns = {name: [float(cell) for cell in column] for name, column in groups.to_pydict().items()}
    assert ask("curves", {"groups": columns} | ASKED).body == wanted.body
    for name in BODIES:
        for table in (sample, groups):
            assert in_table(table, name).body == wanted.body, name


def of_rows(path: Path, positive: str | None) -> Answer:
    """The answer for rows in a file that an engine groups."""
    dataset = Dataset("rows", "duckdb", "p", "y", (), location=(str(path),), positive_label=positive)
    body = json.dumps({"dataset": "rows"} | ASKED).encode()
    return answer(Request("curves", "/v1/curves", JSON, JSON, (), body, datasets={"rows": dataset}), LIMITS)


@pytest.mark.parametrize(("ending", "kind", "labels"), some(product(["csv", "parquet"], SCORES, LABELS), 5))
def test_an_engine_groups_to_the_byte(kind: str, labels: str, ending: str, tmp_path: Path) -> None:
    doubles = [float(cell) for cell in SCORES[kind].to_pylist()]
    wanted = ask("curves", {"scores": doubles, "labels": POSITIVE.tolist()} | ASKED)
    cells, positive = LABELS[labels]
    table = pa.table({"p": SCORES[kind], "y": cells}).take(pa.array(RANDOM.permutation(ROWS)))
    if ending == "csv":
        csv.write_csv(texts_are_doubles(table), tmp_path / "rows.csv")
    else:
        parquet.write_table(table, tmp_path / "rows.parquet")
    found = of_rows(tmp_path / f"rows.{ending}", positive)
    assert found.body == wanted.body, found.body[:300]


@pytest.mark.parametrize("wrong", [2**53 + 1, -(2**60) - 1, 2**63 - 1])
def test_integers_that_doubles_do_not_hold_are_refused(wrong: int, tmp_path: Path) -> None:
    scores = pa.array([1, 2, wrong], pa.int64())
    sample = pa.table({"scores": scores, "labels": [0, 1, 1]})
    groups = pa.table({"score": scores, "positives": [0, 1, 1], "negatives": [1, 0, 0]})
    told = [ask("curves", {"scores": [1, 2, wrong], "labels": [0, 1, 1]})]
    told += [ask("curves", {"groups": groups.to_pydict()})]
    told += [in_table(table, name) for table in (sample, groups) for name in BODIES]
    for write, ending in ((csv.write_csv, "csv"), (parquet.write_table, "parquet")):
        write(pa.table({"p": scores, "y": [0, 1, 1]}), tmp_path / f"rows.{ending}")
        told.append(of_rows(tmp_path / f"rows.{ending}", None))
    assert [(each.status, json.loads(each.body)["errors"][0]["code"]) for each in told] == [(422, "not_exact")] * 10
