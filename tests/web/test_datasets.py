"""Named datasets over HTTP: they get their rows' answers, and nothing that the operator's file does not name."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pytest
from flask.testing import FlaskClient
from pyarrow import parquet

from service.settings import SettingsError
from tests.support.asking import answered
from tests.web.guarding import ANN, BEN, guarded_app

pytest.importorskip("duckdb")
pytest.importorskip("sqlglot")

ROWS = 40_000
RANDOM = np.random.default_rng(6)
COLUMNS = {
    "p": RANDOM.random(ROWS),
    "fraud": RANDOM.random(ROWS) < 0.3,
    "country": np.array(["DE", "FR", "O'Brien"])[RANDOM.integers(0, 3, ROWS)],
    "week": RANDOM.integers(1, 4, ROWS),
    "id": 2**53 + np.arange(ROWS),
    "day": np.datetime64("2024-01-31") + RANDOM.integers(0, 3, ROWS),
    "shop": RANDOM.integers(0, 3, ROWS).astype(float),
    "secret": np.arange(ROWS),
}
SECRET = "rocpr-test-secret"


@pytest.fixture(scope="module")
def lake(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A lake with one dataset for Ann, one for Ben, and a file that no dataset names."""
    directory = tmp_path_factory.mktemp("lake")
    for name in ("ann", "ben"):
        (directory / name).mkdir()
        for part in range(2):
            rows = {key: column[part::2] for key, column in COLUMNS.items()}
            parquet.write_table(pa.table(rows), directory / name / f"{part}.parquet")
    (directory / "beside.csv").write_text(f"p,fraud\n{SECRET},1\n")
    settings = """
        [{name}]
        engine = "duckdb"
        location = "{directory}/{name}/*.parquet"
        scores = "p"
        labels = "fraud"
        filters = ["country", "week", "id", "vanished"]
        slices = ["country", "week", "day", "shop"]
        keys = ["{name}"]
    """
    text = "".join(settings.format(name=name, directory=directory) for name in ("ann", "ben"))
    (directory / "datasets.toml").write_text("\n".join(line.strip() for line in text.splitlines()))
    return directory


@pytest.fixture(scope="module")
def client(lake: Path, tmp_path_factory: pytest.TempPathFactory) -> FlaskClient:
    directory = tmp_path_factory.mktemp("server")
    return guarded_app(directory, ROCPR_DATASETS_FILE=str(lake / "datasets.toml")).test_client()


def sample(**where: Any) -> dict[str, Any]:
    there = np.ones(ROWS, np.bool_)
    for name, values in where.items():
        there &= np.isin(COLUMNS[name], values)
    return {"scores": COLUMNS["p"][there].tolist(), "labels": COLUMNS["fraud"][there].tolist()}


@pytest.mark.parametrize(
    "where", [{}, {"country": "DE"}, {"country": ["DE", "O'Brien"], "week": [1, 3]}, {"week": 2.0}, {"week": ["1"]}]
)
def test_a_dataset_answers_what_its_rows_do(client: FlaskClient, where: dict[str, Any]) -> None:
    options = {"include": ["auc"], "intervals": {}}
    found = client.post("/v1/curves", json={"dataset": "ann", "where": where} | options, headers=ANN)
    assert found.status_code == 200, found.text
    wanted = {
        name: [int(one) if name == "week" else one for one in np.atleast_1d(values)] for name, values in where.items()
    }
    assert found.get_json() == answered("curves", sample(**wanted) | options)


def test_a_filter_of_integers_and_floats_rounds_no_integer(client: FlaskClient) -> None:
    one, other = (int(COLUMNS["id"][np.flatnonzero(COLUMNS["fraud"] == label)[0]]) for label in (True, False))
    for values in ([one, other, 0.5], [float(2**53), 2**53 + 1, 2.5]):
        wanted = [value for value in values if value == int(value)]
        found = client.post("/v1/curves", json={"dataset": "ann", "where": {"id": values}}, headers=ANN)
        there = sample(id=np.array(wanted, np.int64))
        assert found.get_json().get("positives") == (sum(there["labels"]) if len({*there["labels"]}) > 1 else None)
        if found.status_code == 200:
            assert found.get_json()["negatives"] == len(there["labels"]) - sum(there["labels"])


def test_a_filter_takes_words_as_a_csv_file_spells_them(tmp_path: Path) -> None:
    (tmp_path / "rows.csv").write_text("p,fraud,paid\n0.9,1,yes\n0.8,0,no\n0.7,1,no\n0.4,0,yes\n0.2,0,yes\n")
    (tmp_path / "datasets.toml").write_text(
        f'[rows]\nengine = "duckdb"\nlocation = "{tmp_path}/rows.csv"\nscores = "p"\nlabels = "fraud"\n'
        'filters = ["paid"]\nkeys = ["ann"]\n'
    )
    client = guarded_app(tmp_path, ROCPR_DATASETS_FILE=str(tmp_path / "datasets.toml")).test_client()
    found = client.post("/v1/curves", json={"dataset": "rows", "where": {"paid": "yes"}}, headers=ANN).get_json()
    assert (found["positives"], found["negatives"]) == (1, 2)


@pytest.mark.parametrize("name", ["day", "shop"])
def test_dates_and_whole_floats_define_slices(client: FlaskClient, name: str) -> None:
    found = client.post("/v1/slices", json={"dataset": "ann", "slices": {name: []}}, headers=ANN).get_json()["slices"]
    cells = COLUMNS[name].astype(str if name == "day" else int)
    assert found[name] == sorted(set(cells.tolist()))
    assert found["rows"] == [int((cells == value).sum()) for value in found[name]]


def test_a_tolerance_gives_bounds(client: FlaskClient) -> None:
    body = {"dataset": "ann", "tolerance": 1e-3, "include": ["auc"]}
    found = client.post("/v1/curves", json=body, headers=ANN).get_json()
    exact = answered("curves", sample() | {"include": ["auc"]})["auc"]
    for area, value in exact.items():
        assert found["bounds"][area]["lower"] <= value <= found["bounds"][area]["upper"]
        assert found["bounds"][area]["upper"] - found["bounds"][area]["lower"] <= 1e-3


def test_every_operation_takes_datasets(client: FlaskClient) -> None:
    named = {"dataset": "ann", "where": {"country": "FR"}}
    rows = sample(country=["FR"])
    rules = [{"metric": "roc", "min": 0.4}, {"metric": "pr", "max_drop": 0.2}]
    asked: dict[str, tuple[dict[str, Any], dict[str, Any]]] = {
        "tradeoffs": (named, rows),
        "gates": (
            named | {"rules": rules, "baseline": {"dataset": "ann"}},
            rows | {"rules": rules, "baseline": sample()},
        ),
        "comparisons": tuple({"evaluations": [{"name": name, **one} for name in "ab"]} for one in (named, rows)),
        "slices": (
            {"dataset": "ann", "slices": {"country": []}},
            sample() | {"slices": {"country": COLUMNS["country"].tolist()}},
        ),
    }
    for operation, (body, same) in asked.items():
        found = client.post(f"/v1/{operation}", json=body, headers=ANN)
        assert found.status_code == 200, found.text
        expected = answered(operation, same)
        assert found.get_json() | {"warnings": []} == expected | {"warnings": []}


def test_each_key_has_its_own(client: FlaskClient) -> None:
    listed = {
        "name": "ann",
        "filters": ["country", "week", "id", "vanished"],
        "slices": ["country", "week", "day", "shop"],
        "weighted": False,
    }
    assert client.get("/v1/datasets", headers=ANN).get_json() == {"datasets": [listed]}
    assert client.get("/v1/datasets").status_code == 401
    theirs, nobodys = (client.post("/v1/curves", json={"dataset": name}, headers=BEN) for name in ("ann", "nothing"))
    assert (theirs.status_code, theirs.get_json()) == (404, nobodys.get_json())


NAMES = ["../ann", "ann/*", "ben", "datasets.toml", "ann' --", "rows", "*", "", " ann", "ANN", "ann\x00", "x" * 10_000]
PATHS = ["beside.csv", "../beside.csv", "/etc/passwd", "file:///etc/passwd", "s3://bucket/key"]
VALUES = [
    "' OR 1=1 --",
    "DE' UNION SELECT secret FROM rows --",
    "'); ATTACH '/etc/passwd' AS x; --",
    "$(cat /etc/passwd)",
    "read_csv('beside.csv')",
    "%",
    "\x00",
    "DE\u0000",
    "x" * 100_000,
]
FILTERS = ["secret", "p", "fraud", "rowid", "filename", '"country"', "country) OR (1=1", "COUNTRY ", "1", "", "*"]
WEEKS: list[Any] = [10**400, 2**63, -1, 1.5, [[1]], {"a": 1}, None, [], [True], [1, "1"]]
FIELDS: list[dict[str, Any]] = [
    *({"dataset": name} for name in NAMES),
    *({"dataset": path} for path in PATHS),
    *({"dataset": [name]} for name in NAMES[:3]),
    *({"dataset": {"location": path}} for path in PATHS),
    *({"dataset": "ann", "location": path} for path in PATHS),
    *({"dataset": "ann", "table": path} for path in PATHS),
    *({"dataset": "ann", "engine": name} for name in ("duckdb", "spark")),
    *({"dataset": "ann", "sql": value} for value in VALUES[:3]),
    *({"dataset": "ann", "where": {name: "1"}} for name in FILTERS),
    *({"dataset": "ann", "where": {name: [1]}} for name in FILTERS),
    *({"dataset": "ann", "where": {"country": value}} for value in VALUES),
    *({"dataset": "ann", "where": {"country": [value]}} for value in VALUES),
    *({"dataset": "ann", "where": value} for value in VALUES[:4]),
    *({"dataset": "ann", "where": {"week": value}} for value in WEEKS),
    *({"dataset": "ann", "slices": {name: []}} for name in FILTERS),
    *({"dataset": "ann", "slices": value} for value in ("country", ["country"], {"country": ["DE"]})),
    *({"dataset": "ann", "tolerance": value} for value in (0, -1, 2, "1", True, [0.1], 1e-400)),
    *({"dataset": "ann", field: [1]} for field in ("scores", "labels", "weights", "counts", "groups")),
    {"where": {"country": "DE"}},
    {"tolerance": 0.1},
]  # fmt: skip


def test_nobody_reaches_what_the_file_does_not_name(client: FlaskClient) -> None:
    assert len(FIELDS) > 100
    for body in FIELDS:
        for operation in ("curves", "slices") if "slices" in body else ("curves",):
            answer = client.post(
                f"/v1/{operation}", data=json.dumps(body), headers=ANN, content_type="application/json"
            )
            assert answer.status_code in {404, 422}, (body, answer.text)
            told = answer.text.replace(json.dumps(body)[1:-1], "")
            assert not any(word in told for word in (SECRET, "parquet", "root:", "lake")), answer.text


@pytest.mark.parametrize("value", ["1", 1, True])
def test_a_filter_that_the_rows_lack_is_the_operators_mistake(client: FlaskClient, value: Any) -> None:
    answer = client.post("/v1/curves", json={"dataset": "ann", "where": {"vanished": value}}, headers=ANN)
    assert (answer.status_code, answer.get_json()["type"]) == (503, "/problems/dataset_unavailable")


@pytest.mark.parametrize("values", ["\ud800", ["DE", "FR\udfff"], ["\ude00\ud83d"], ["\ud83d", "\ude00"]])
def test_a_filter_that_is_not_unicode_is_the_callers_mistake(client: FlaskClient, values: str | list[str]) -> None:
    answer = client.post("/v1/curves", json={"dataset": "ann", "where": {"country": values}}, headers=ANN)
    assert answer.status_code == 422, answer.text
    assert [(error["pointer"], error["code"]) for error in answer.get_json()["errors"]] == [
        ("/where/country", "not_text")
    ]


@pytest.mark.parametrize(
    ("change", "says"),
    [
        ({"engine": "sqlite"}, "engine"),
        ({"location": ""}, "needs location"),
        ({"keys": 1}, "keys"),
        ({"colour": "red"}, "colour"),
        ({"labels": None}, "labels"),
    ],
)
def test_a_wrong_file_stops_the_start(lake: Path, tmp_path: Path, change: dict[str, Any], says: str) -> None:
    given = {"engine": "duckdb", "location": str(lake), "scores": "p", "labels": "y", "keys": ["ann"]} | change
    lines = [f"{key} = {json.dumps(value)}" for key, value in given.items() if value is not None]
    file = tmp_path / "wrong.toml"
    file.write_text("\n".join(["[fraud]", *lines]))
    with pytest.raises(SettingsError, match=f"ROCPR_DATASETS_FILE: dataset fraud: .*{says}"):
        guarded_app(tmp_path, ROCPR_DATASETS_FILE=str(file))


def test_there_are_no_datasets_without_keys(lake: Path, tmp_path: Path) -> None:
    with pytest.raises(SettingsError, match="needs API keys"):
        guarded_app(tmp_path, ROCPR_DATASETS_FILE=str(lake / "datasets.toml"), ROCPR_API_KEYS_FILE="")
    for text in ("", "[fraud"):
        (tmp_path / "wrong.toml").write_text(text)
        with pytest.raises(SettingsError, match=r"wrong\.toml"):
            guarded_app(tmp_path, ROCPR_DATASETS_FILE=str(tmp_path / "wrong.toml"))


def test_files_that_vanish_are_told_without_their_place(client: FlaskClient, lake: Path) -> None:
    (lake / "ben").rename(lake / "elsewhere")
    try:
        answer = client.post("/v1/curves", json={"dataset": "ben"}, headers=BEN)
    finally:
        (lake / "elsewhere").rename(lake / "ben")
    assert (answer.status_code, answer.get_json()["type"]) == (503, "/problems/dataset_unavailable")
    assert "lake" not in answer.text
