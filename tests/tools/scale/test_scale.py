"""The tool that measures engines: its rows, its exact areas, and which answers it rejects."""

from dataclasses import replace
from pathlib import Path

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from sklearn.metrics import average_precision_score, roc_auc_score

from tests.tools.scale.__main__ import measured, wrong
from tests.tools.scale.contenders import CONTENDERS, Contender
from tests.tools.scale.report import Measured, text
from tests.tools.scale.rows import exact_areas, write

pytestmark = pytest.mark.all

AREAS = ("roc", "average_precision")
NAMED = {contender.name: contender for contender in CONTENDERS}


@pytest.fixture(scope="module")
def rows(tmp_path_factory: pytest.TempPathFactory) -> Path:
    path = tmp_path_factory.mktemp("scale") / "rows.parquet"
    write(path, 40_000)
    return path


def test_the_same_number_of_rows_is_the_same_file(rows: Path, tmp_path: Path) -> None:
    write(tmp_path / "again.parquet", 40_000)
    assert pq.read_table(tmp_path / "again.parquet").equals(pq.read_table(rows))
    assert pq.read_table(rows)["y"].to_numpy().mean() == pytest.approx(0.1, abs=0.01)


def test_the_exact_areas_are_those_of_scikit_learn_ties_included(tmp_path: Path) -> None:
    random = np.random.default_rng(1)
    scores, labels = random.integers(0, 50, 5000) / 50, random.random(5000) < 0.3
    pq.write_table(pa.table({"p": scores, "y": labels}), tmp_path / "ties.parquet")
    wanted = {"roc": roc_auc_score(labels, scores), "average_precision": average_precision_score(labels, scores)}
    assert exact_areas(tmp_path / "ties.parquet") == pytest.approx(wanted, abs=1e-13)


@pytest.mark.parametrize("name", ["rocpr on DuckDB, to 1e-6", "rocpr on DuckDB, exactly", "scikit-learn", "polars"])
def test_what_runs_here_is_right(name: str, rows: Path) -> None:
    found = measured(NAMED[name], rows, 40_000, exact_areas(rows), server=None, seconds=300)
    if found.note.endswith("is not installed"):
        pytest.skip(found.note)
    assert (found.note, found.failed) == ("", False)
    assert max(found.errors) <= NAMED[name].within
    assert found.seconds > 0
    assert found.processor > 0
    assert found.peak > 2**20
    if name.startswith("rocpr"):
        assert max(found.errors) <= found.width <= 1e-6


def test_what_cannot_run_says_why(rows: Path) -> None:
    exact = exact_areas(rows)
    lacking = replace(NAMED["scikit-learn"], module="no_such_package")
    assert measured(lacking, rows, 1, exact, server=None, seconds=1).note == "no_such_package is not installed"
    few = replace(NAMED["scikit-learn"], most=10**7)
    found = measured(few, rows, 10**8, exact, server=None, seconds=1)
    assert found.note == "not tried with more than 10,000,000 rows"
    found = measured(NAMED["Spark MLlib, 1,000 bins"], rows, 1, exact, server=None, seconds=1)
    assert found.note
    assert not found.failed


@pytest.mark.parametrize(
    ("contender", "roc", "right"),
    [
        ({"bounds": True, "within": 0.1}, (0.75, 0.82), True),
        ({"bounds": True, "within": 0.1}, (0.81, 0.82), False),
        ({"bounds": True, "within": 0.01}, (0.75, 0.82), False),
        ({"within": 1e-9}, (0.8, 0.8), True),
        ({"within": 1e-9}, (0.8 + 1e-8, 0.8 + 1e-8), False),
        ({"within": None}, (0.7, 0.7), True),
    ],
)
def test_what_is_wrong(contender: dict[str, object], roc: tuple[float, float], *, right: bool) -> None:
    areas = {"roc": list(roc), "average_precision": [0.5, 0.5]}
    exact = dict(zip(AREAS, (0.8, 0.5), strict=True))
    errors = {area: abs(sum(areas[area]) / 2 - exact[area]) for area in AREAS}
    one = Contender("x", lambda *_: {}, **contender)
    assert (wrong(one, exact, areas, errors) == "") == right


def test_the_report() -> None:
    about = {"packages": {"duckdb": "2"}, "load": [1.0, 2.0, 3.0], "python": "3", "cpu": "a cpu", "processors": 2}
    results = [
        Measured("x", 1000, 1.5, 2.5, 10**9, (1e-7, 2e-7), 9e-7),
        Measured("y", 1000, note="y is not installed"),
        Measured("z", 1000, note="it broke", failed=True),
    ]
    lines = text(results, about).splitlines()
    assert lines[2] == "| x | 1,000 | 1.5 s | 2.5 s | 1 GB | 1e-07 | 2e-07 | 9e-07 |"
    assert lines[3].startswith("| y | 1,000 | not measured |")
    assert lines[4].startswith("| z | 1,000 | failed |")
    assert "* y, 1,000 rows: y is not installed" in lines
    assert lines[-1] == "Measured with Python 3, duckdb 2 on a cpu, 2 processors, with a load of 2."
