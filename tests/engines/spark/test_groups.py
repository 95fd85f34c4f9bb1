"""Spark's groups equal DuckDB's for the same rows: ties, types, labels, weights, refusals, bins of bins."""

from collections.abc import Callable
from decimal import Decimal
from pathlib import Path
from typing import NamedTuple

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from sklearn.metrics import average_precision_score, roc_auc_score

from service.curves.errors import DomainError
from service.engines.checks import RowColumns
from service.engines.duckdb_engine import DuckDB
from service.engines.duckdb_files import Files
from service.engines.plan import Found, group_rows
from service.engines.refining import RowGroups, bound_width
from service.engines.spark_engine import Spark

pytestmark = pytest.mark.all

N = 40_000
RANDOM = np.random.default_rng(20261123)
LABELS = RANDOM.random(N) < 0.2
SCORES = RANDOM.beta(2, 5, N) + 0.1 * LABELS
ZEROS = np.where(SCORES < 0.2, -0.0, np.where(SCORES < 0.4, 0.0, -SCORES))
EXTREME = np.resize([5e-324, -5e-324, 1.7976931348623157e308, -1e-308, 0.1], N)
WEIGHTS = RANDOM.gamma(2.0, size=N) * (RANDOM.random(N) > 0.05)

OpenFile = Callable[[Path], Spark]


class Case(NamedTuple):
    """Rows, and which of their labels are positive."""

    scores: object
    labels: object = LABELS
    positive: object = True
    weights: object = None
    by: tuple[str, ...] = ()

    @property
    def columns(self) -> RowColumns:
        weighted = self.weights is not None
        return RowColumns("p", "y", "w" if weighted else None, by=self.by, weight_decimals=6 if weighted else None)

    def write(self, folder: Path) -> Path:
        columns = {"p": self.scores, "y": self.labels, "w": self.weights, "country": COUNTRIES, "n": np.arange(N) % 2}
        path = folder / "rows.parquet"
        given = {name: column for name, column in columns.items() if column is not None}
        pq.write_table(pa.table(given), path, row_group_size=8192)
        return path

    def read_labels(self, values: list[object], _: object) -> tuple[np.ndarray, None]:
        return np.array([value == self.positive for value in values]), None


def decimals(numbers: np.ndarray, digits: int, places: int) -> pa.Array:
    unit = Decimal(1).scaleb(-places)
    return pa.array([Decimal(number).quantize(unit) for number in numbers.tolist()], pa.decimal128(digits, places))


COUNTRIES = np.resize(["DE", "FR", "日本"], N)
TEXTS = np.where(LABELS, "bad'\\", 'gööd "x"')
CASES = {
    "distinct": Case(SCORES),
    "ties": Case(SCORES.round(2), LABELS.astype(np.int8), 1),
    "float32": Case(SCORES.astype(np.float32), LABELS.astype(np.int64), 1),
    "float32 labels": Case(SCORES, (LABELS * 0.1).astype(np.float32), float(np.float32(0.1))),
    "integers": Case((SCORES * 1000).astype(np.int32), LABELS.astype(np.uint8), 1),
    "both zeros": Case(ZEROS),
    "subnormal and huge": Case(EXTREME),
    "infinite": Case(np.resize([float("inf"), float("-inf"), 0.1, 1.7976931348623157e308], N)),
    "text": Case(SCORES, TEXTS.tolist(), "bad'\\"),
    "many decimals": Case(decimals(SCORES, 20, 17), decimals(LABELS.astype(float), 3, 1), 1.0),
    "few decimals": Case(decimals(SCORES, 5, 2), TEXTS.tolist(), "bad'\\"),
    "weights": Case(SCORES.round(3), weights=WEIGHTS),
    "slices": Case(SCORES.round(1), by=("country", "n")),
}


@pytest.fixture
def open_file(spark: Spark) -> OpenFile:
    """Opens a file in Spark as a table."""

    def opening(path: Path) -> Spark:
        spark.table = f"parquet.`{path}`"
        return spark

    return opening


def in_order(result: Found) -> list[bytes]:
    """The groups found, sorted by slices and scores."""
    groups = result.groups
    slices = [column.astype(str) for column in result.slices.values()]
    order = np.lexsort([groups.score_from, *slices])
    columns = [groups.score_from, groups.score_to, groups.rows, *groups.masses.values(), *slices]
    return [column[order].tobytes() for column in columns]


def area_of(groups: RowGroups) -> tuple[float, float]:
    """The middle of the bounds of the ROC area, and how far they are apart."""
    positives, negatives = groups.masses["positives"], groups.masses["negatives"]
    middle = positives @ (np.cumsum(negatives) - negatives / 2) / positives.sum() / negatives.sum()
    return float(middle), float(bound_width(groups)[0].sum())


def both(case: Case, folder: Path, open_file: OpenFile, **options: float) -> tuple[Found, Found]:
    """The groups found in Spark and in DuckDB."""
    path = case.write(folder)
    with DuckDB(Files([str(path)])) as duckdb:
        theirs = group_rows(duckdb, case.columns, case.read_labels, **options)
    return group_rows(open_file(path), case.columns, case.read_labels, **options), theirs


@pytest.mark.parametrize("name", CASES)
def test_the_same_rows_have_the_same_groups(name: str, tmp_path: Path, open_file: OpenFile) -> None:
    ours, theirs = both(CASES[name], tmp_path, open_file)
    assert ours.rows == theirs.rows == N
    assert in_order(ours) == in_order(theirs)


@pytest.mark.parametrize("name", ["distinct", "both zeros", "weights", "many decimals"])
def test_the_same_rows_have_the_same_bins(name: str, tmp_path: Path, open_file: OpenFile) -> None:
    """Also for bins of bins: each FLOOR is of the same doubles in both."""
    case = CASES[name]
    ours, theirs = both(case, tmp_path, open_file, tolerance=1e-7)
    assert ours.passes == theirs.passes
    assert ours.passes > 1 or name == "weights"  # whose scores have three digits
    assert in_order(ours) == in_order(theirs)
    middle, width = area_of(ours.groups)
    assert width <= 1e-7
    scores = np.asarray(case.scores, dtype=np.float64)
    weights = None if case.weights is None else WEIGHTS.round(6)
    assert abs(middle - roc_auc_score(LABELS, scores, sample_weight=weights)) <= width / 2 + 1e-12


def test_a_skewed_score_takes_four_passes_at_most(tmp_path: Path, open_file: OpenFile) -> None:
    """LN may differ in its last bit between the two, so their bins may differ, but not what they bound."""
    scores = SCORES**8
    case = Case(scores)
    result = group_rows(open_file(case.write(tmp_path)), case.columns, case.read_labels, tolerance=1e-7)
    assert result.passes <= 4
    middle, width = area_of(result.groups)
    assert max(column.sum() for column in bound_width(result.groups)) <= 1e-7
    assert abs(middle - roc_auc_score(LABELS, scores)) <= width / 2 + 1e-12
    tp, fp = (np.cumsum(result.groups.masses[name][::-1]) for name in ("positives", "negatives"))
    coarse = float(np.diff(tp, prepend=0) @ (tp / (tp + fp))) / tp[-1]
    assert abs(coarse - average_precision_score(LABELS, scores)) <= 1e-7


@pytest.mark.parametrize(
    ("column", "values"),
    [
        ("p", [0.1, None, 0.3, None]),
        ("p", [0.1, float("nan"), 0.3, 0.4]),
        ("p", [0.1, None, float("nan"), 0.4]),
        ("p", [1, 2**53 + 1, 3, -(2**60)]),
        ("p", [Decimal(number) for number in (1, 2**53 + 1, 2**60, 2**62 + 2**10)]),
        ("p", ["0.1", "0.2", "0.3", "0.4"]),
        ("p", [True, False, True, False]),
        ("y", [1, None, 0, 1]),
        ("y", ["a", None, "b", None]),
        ("y", [1.0, float("nan"), 0.0, 1.0]),
        ("y", [1, 1, 1, 1]),
        ("y", [0, 0, 0, 0]),
        ("w", [1.0, None, 1.0, 1.0]),
        ("w", [1.0, float("inf"), 1.0, 1.0]),
        ("w", [1.0, -0.5, 1.0, 1.0]),
        ("w", [1, 2**53 + 1, 2**60, 0]),
        ("w", ["1", "2", "3", "4"]),
        ("w", None),
    ],
)
def test_the_same_rows_are_refused_alike(
    column: str, values: list[object] | None, tmp_path: Path, open_file: OpenFile
) -> None:
    good = {"p": [0.1, 0.2, 0.3, 0.4], "y": [1, 0, 0, 1], "w": [1.0, 0.0, 1.0, 2.0]}
    rows = {name: entries for name, entries in (good | {column: values}).items() if entries is not None}
    pq.write_table(pa.table(rows), tmp_path / "rows.parquet")
    case = Case(None, positive="a" if "a" in rows["y"] else 1)
    refusals = []
    with DuckDB(Files([str(tmp_path / "rows.parquet")])) as duckdb:
        for engine in (open_file(tmp_path / "rows.parquet"), duckdb):
            with pytest.raises(DomainError) as caught:
                group_rows(engine, RowColumns("p", "y", "w"), case.read_labels)
            refusals.append((type(caught.value), str(caught.value), vars(caught.value)))
    assert refusals[0] == refusals[1]


def test_the_server_is_strict(open_file: OpenFile, tmp_path: Path) -> None:
    """ANSI mode, in which an overflow is an error, is on in all of these tests."""
    answer = open_file(tmp_path).rows("SET spark.sql.ansi.enabled", "settings")
    assert answer["value"].tolist() == ["true"]


@pytest.mark.parametrize("wanted", [{"country": ["DE", "' OR 1=1"]}, {"n": [1]}, {"n": ["0"], "country": ["FR"]}])
def test_the_same_rows_are_left_by_conditions(
    wanted: dict[str, list[bool | float | str]], tmp_path: Path, open_file: OpenFile
) -> None:
    case = Case(SCORES.round(2))
    path = case.write(tmp_path)
    spark = open_file(path)
    with DuckDB(Files([str(path)])) as duckdb:
        ours, theirs = (_narrowed(engine, wanted, case) for engine in (spark, duckdb))
    assert 0 < ours.rows < N
    assert ours.rows == theirs.rows
    assert in_order(ours) == in_order(theirs)


def _narrowed(engine: Spark | DuckDB, wanted: dict[str, list[bool | float | str]], case: Case) -> Found:
    engine.narrow(wanted)
    return group_rows(engine, case.columns, case.read_labels)
