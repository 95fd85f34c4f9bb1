"""CSV files as a dataset: their numbers are read like those of a body."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from service.answer import Answer, Request, answer
from service.datasets.file import Dataset
from service.wire.media_types import CSV, JSON
from tests.asking import LIMITS

pytest.importorskip("duckdb")
pytest.importorskip("sqlglot")


def asked(rows: str, folder: Path) -> Answer:
    (folder / "rows.csv").write_text(rows)
    dataset = Dataset("rows", "duckdb", "p", "y", ("ann",), location=(str(folder / "*.csv"),), positive_label="1")
    return answer(
        Request("curves", "/v1/curves", JSON, JSON, (), b'{"dataset": "rows"}', datasets={"rows": dataset}), LIMITS
    )


def test_integers_among_decimals_are_read_exactly_or_refused(tmp_path: Path) -> None:
    rows = "p,y\n0.5,1\n9007199254740992,0\n-3,1\n"
    found = asked(rows, tmp_path)
    body = Request("curves", "/v1/curves", CSV, JSON, (("scores", "p"), ("labels", "y")), rows.encode())
    assert json.loads(found.body) == json.loads(answer(body, LIMITS).body)
    refused = asked(rows.replace("992,", "993,"), tmp_path)
    assert (refused.status, refused.problem) == (422, "invalid_request")
    (error,) = json.loads(refused.body)["errors"]
    assert (error["pointer"], error["code"]) == ("/dataset", "not_exact")
    assert error["detail"].endswith("rocpr does not round it (1 of 3 rows).")
