"""Files as a dataset: they are read, and refused, like a body."""

from __future__ import annotations

import json
from pathlib import Path

import pyarrow as pa
import pytest
from pyarrow import parquet

from service import extras
from service.answer import Answer, Request, answer
from service.datasets.file import Dataset, read_datasets
from service.settings import SettingsError
from service.wire.media_types import CSV, JSON
from tests.support.asking import LIMITS

pytest.importorskip("duckdb")
pytest.importorskip("sqlglot")


def asked(rows: str, folder: Path, where: dict[str, list[str]] | None = None) -> Answer:
    (folder / "rows.csv").write_bytes(rows.encode(errors="surrogateescape"))
    location = (str(folder / "*.csv"),)
    dataset = Dataset("rows", "duckdb", "p", "y", ("ann",), location=location, positive_label="1", filters=("y",))
    body = json.dumps({"dataset": "rows", "where": where}).encode()
    return answer(Request("curves", "/v1/curves", JSON, JSON, (), body, datasets={"rows": dataset}), LIMITS)


@pytest.mark.parametrize("missing", ["duckdb", "sqlglot"])
def test_a_server_without_all_of_an_engines_extra_does_not_start(
    missing: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(extras, "_is_installed", lambda name: name != missing)
    (tmp_path / "datasets.toml").write_text(
        '[rows]\nengine = "duckdb"\nlocation = "*.csv"\nscores = "p"\nlabels = "y"\nkeys = "ann"\n'
    )
    with pytest.raises(SettingsError, match="dataset rows: it needs the extra duckdb; to install it: "):
        read_datasets(tmp_path / "datasets.toml", keys=True)


@pytest.mark.parametrize(("cell", "told"), [("NA", "'NA' is"), ("x" * 99, f"'{'x' * 24}'... is")])
def test_a_cell_that_is_no_number_is_refused_like_a_bodys(cell: str, told: str, tmp_path: Path) -> None:
    refused = asked(f"p,y\n0.5,1\n{cell},0\n", tmp_path)
    (error,) = json.loads(refused.body)["errors"]
    assert error == {
        "pointer": "/dataset",
        "code": "not_a_number",
        "detail": f"p: {told} not a decimal number (1 of 2 rows).",
    }


@pytest.mark.parametrize(("rows", "where"), [("", {}), ("0.5,1\n", {"y": ["7"]})])
def test_no_rows_are_told_like_a_bodys(rows: str, where: dict[str, list[str]], tmp_path: Path) -> None:
    refused = asked(f"p,y\n{rows}", tmp_path, where)
    (error,) = json.loads(refused.body)["errors"]
    detail = "No row has the values in where." if where else "The table has no rows."
    assert error == {"pointer": "/dataset", "code": "no_rows", "detail": detail}


@pytest.mark.parametrize("rows", ["0.5,1\n0.1,0,4\n", "0.5,1\n0.1,\udce9\n"])
def test_a_malformed_file_is_told_in_our_words(rows: str, tmp_path: Path) -> None:
    refused = asked(f"p,y\n{rows}", tmp_path)
    assert (refused.status, refused.problem) == (503, "dataset_unavailable")
    detail = json.loads(refused.body)["detail"]
    assert detail == "The files of the dataset rows cannot be read; the server's log says more."


def test_several_labels_are_warned_of_like_a_bodys(tmp_path: Path) -> None:
    rows = "p,y\n0.5,1\n0.25,2\n0.75,3\n0.75,1\n"
    body = Request(
        "curves", "/v1/curves", CSV, JSON, (("scores", "p"), ("labels", "y"), ("positive_label", "1")), rows.encode()
    )
    found = json.loads(asked(rows, tmp_path).body)
    assert [warning["code"] for warning in found["warnings"]] == ["one_vs_rest"]
    assert found == json.loads(answer(body, LIMITS).body)


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


@pytest.mark.parametrize(
    ("column", "pointer", "code"),
    [
        ({"s": [0.5, 1.0]}, "/slices/s", "not_a_slice"),
        ({"s": pa.array([1, 2], pa.time64("us"))}, "/slices/s", "not_a_slice"),
        ({"w": [0, 0]}, "/dataset", "one_class"),
        ({"w": [0, 1]}, "/dataset", "one_class"),
        ({"w": [1e-200, 1e-200]}, "/dataset", "total_out_of_range"),
    ],
)
def test_a_problem_of_groups_names_what_the_request_has(
    column: dict[str, object], pointer: str, code: str, tmp_path: Path
) -> None:
    columns = {"p": [0.1, 0.9], "y": [0, 1], "s": ["a", "b"], "w": [1, 1]} | column
    parquet.write_table(pa.table(columns), tmp_path / "rows.parquet")
    location = (str(tmp_path / "*.parquet"),)
    dataset = Dataset("rows", "duckdb", "p", "y", ("ann",), location=location, weights="w", slices=("s",))
    body = b'{"dataset": "rows", "slices": {"s": []}}'
    result = answer(Request("slices", "/v1/slices", JSON, JSON, (), body, datasets={"rows": dataset}), LIMITS)
    (error,) = json.loads(result.body)["errors"]
    assert (error["pointer"], error["code"]) == (pointer, code)
