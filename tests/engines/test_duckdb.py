"""DuckDB over files: the groups equal NumPy's for the same rows, whatever the types and the files."""

from __future__ import annotations

import _thread
import decimal
import re
import subprocess
import sys
from functools import cache
from itertools import product
from typing import TYPE_CHECKING, Any

import numpy as np
import pyarrow as pa
import pytest
from pyarrow import csv, feather, parquet

from service.curves.errors import OneClassLabels, TotalOutOfRange
from service.engines.checks import RowColumns
from service.engines.duckdb_engine import DuckDB
from service.engines.duckdb_files import Files
from service.engines.failures import EngineFailed, FilesUnreadable
from service.engines.plan import group_rows
from service.engines.refining import bound_width
from service.engines.search import bounds_apart
from tests.engines.checking import check, is_exact, read_labels
from tests.engines.duckdb_rows import LABELS, LOGITS, RANDOM, SCORES, SIZE, WEIGHTS, grouped
from tests.support.sampling import some

if TYPE_CHECKING:
    from pathlib import Path


@cache
def decimals(digits: int, places: int) -> pa.Array:
    step = decimal.Decimal(1).scaleb(-places)
    return pa.array([decimal.Decimal(score).quantize(step) for score in SCORES.tolist()], pa.decimal128(digits, places))


WITH_INFINITE = np.where(RANDOM.random(SIZE) < 0.1, np.copysign(np.inf, LOGITS), LOGITS)
KINDS = {
    "doubles": (pa.array(SCORES), SCORES),
    "ties": (pa.array(SCORES.round(3)), SCORES.round(3)),
    "float32": (pa.array(SCORES.astype(np.float32)), SCORES.astype(np.float32)),
    "negative zero": (
        pa.array(np.where(LOGITS > 0, -0.0, LOGITS.round(1))),
        np.where(LOGITS > 0, 0.0, LOGITS.round(1)),
    ),
    "integers": (pa.array((LOGITS * 1000).astype(np.int32)), (LOGITS * 1000).astype(np.int32)),
    "decimals": (decimals(10, 6), np.array([float(str(cell)) for cell in decimals(10, 6).to_pylist()])),
    "many digits": (decimals(28, 25), np.array([float(str(cell)) for cell in decimals(28, 25).to_pylist()])),
    "far apart": (pa.array(np.exp(60 * LOGITS)), np.exp(60 * LOGITS)),
    "from end to end": (pa.array(np.append(SCORES[1:], -1.7e308)), np.append(SCORES[1:], -1.7e308)),
    "the whole range": (pa.array((2 * SCORES - 1) * 1.7e308), (2 * SCORES - 1) * 1.7e308),
    "very small": (pa.array(SCORES * 1e-310), SCORES * 1e-310),
    "infinite": (pa.array(WITH_INFINITE), WITH_INFINITE),
    "infinite and far apart": (pa.array(np.abs(WITH_INFINITE) ** 60), np.abs(WITH_INFINITE) ** 60),
    "infinite beside one": (pa.array(np.where(LABELS, np.inf, 0.5)), np.where(LABELS, np.inf, 0.5)),
    "infinite only": (pa.array(np.where(LABELS, np.inf, -np.inf)), np.where(LABELS, np.inf, -np.inf)),
    "one score": (pa.array(np.full(SIZE, 0.25)), np.full(SIZE, 0.25)),
    "two clusters": (
        pa.array(np.where(LABELS, 1 - SCORES * 1e-12, SCORES * 1e-12)),
        np.where(LABELS, 1 - SCORES * 1e-12, SCORES * 1e-12),
    ),
}


@pytest.mark.parametrize(("kind", "how"), some(product(KINDS, ["exact", "bounded", "weighted"]), 2))
def test_scores_of_every_kind(kind: str, how: str, tmp_path: Path) -> None:
    cells, scores = KINDS[kind]
    table = {"p": cells, "y": pa.array(LABELS), "w": pa.array(WEIGHTS)}
    if how == "exact":
        exact = grouped(table, tmp_path)
        assert is_exact(exact.groups)
        check(exact.groups, scores, LABELS)
    elif how == "bounded":
        bounded = grouped(table, tmp_path, tolerance=1e-4)
        check(bounded.groups, scores, LABELS)
        assert max(each.sum() for each in bound_width(bounded.groups)) <= 1e-4
        assert bounded.passes <= (6 if kind == "very small" else 4)
    else:
        weighted = grouped(table, tmp_path, RowColumns("p", "y", "w", lower_is_positive=True), tolerance=1e-3)
        check(weighted.groups, scores, LABELS, WEIGHTS)
        assert max(each.sum() for each in bound_width(weighted.groups, lower_is_positive=True)) <= 1e-3


@pytest.mark.parametrize(
    "labels",
    [
        LABELS,
        LABELS.astype(np.int8),
        LABELS.astype(float),
        LABELS * 2 - 1,
        np.where(LABELS, "positive", "it's \\ not"),
        pa.array(np.where(LABELS, "p", "n")).dictionary_encode(),
        pa.array([decimal.Decimal(int(label)) for label in LABELS], pa.decimal128(3, 1)),
    ],
    ids=["boolean", "int8", "double", "-1 and 1", "text", "dictionary", "decimal"],
)
def test_labels_of_every_kind(labels: Any, tmp_path: Path) -> None:
    check(grouped({"p": SCORES.round(2), "y": labels}, tmp_path).groups, SCORES.round(2), LABELS)


@pytest.mark.parametrize("tolerance", [pytest.param(1e-6, marks=pytest.mark.all), 1e-9])
def test_skewed_scores_need_few_passes(tolerance: float, tmp_path: Path) -> None:
    random = np.random.default_rng(8)
    labels = random.random(200_000) < 0.1
    scores = np.where(labels, random.beta(3, 2, labels.size), random.beta(2, 3, labels.size)) ** 8
    result = grouped({"p": scores, "y": labels}, tmp_path, tolerance=tolerance)
    check(result.groups, scores, labels)
    assert result.passes <= 4
    assert max(each.sum() for each in bound_width(result.groups)) <= tolerance
    negative = grouped({"p": -scores, "y": labels}, tmp_path, tolerance=tolerance)  # no logarithm
    assert negative.passes <= 4
    check(negative.groups, -scores, labels)


@pytest.mark.parametrize("tolerance", [pytest.param(1e-2, marks=pytest.mark.all), 1e-4])
def test_bounds_of_all_areas_are_as_close_as_asked(tolerance: float, tmp_path: Path) -> None:
    """Including the hull areas, which a few high corners leave open by more than the sum of all openings."""
    random = np.random.default_rng(1)
    labels = random.random(300_000) < 0.02
    scores = random.normal(size=labels.size) + 2 * labels
    for lower in (False, True):
        scores = -scores
        columns = RowColumns("p", "y", lower_is_positive=not lower)
        result = grouped({"p": scores, "y": labels}, tmp_path, columns, tolerance=tolerance)
        check(result.groups, scores, labels)
        assert bounds_apart(result.groups, lower_is_positive=not lower) <= tolerance
        assert result.passes <= 3


@pytest.mark.parametrize(
    ("weights", "column", "detail"),
    [
        (np.zeros(SIZE), "w", "All weights are 0; "),
        (np.where(LABELS, 1.0, 0.0), "y", "All labels with a weight above 0 are positive; "),
        (np.where(LABELS, 0.0, 1.0), "y", "All labels with a weight above 0 are negative; "),
        (np.full(SIZE, 1e-200), "w", "The total of one class is 1.1958e-196"),
        (np.full(SIZE, 1e305), "w", "The total of one class is beyond the range of a double; "),
    ],
    ids=["none weighs", "no negative weighs", "no positive weighs", "tiny", "huge"],
)
def test_groups_without_areas_are_not_divided(weights: np.ndarray, column: str, detail: str, tmp_path: Path) -> None:
    parquet.write_table(pa.table({"p": SCORES, "y": LABELS, "w": weights}), tmp_path / "rows.parquet")
    steps: dict[str, float] = {}
    with (
        DuckDB(Files([str(tmp_path / "rows.parquet")]), spill=tmp_path, progress=steps.__setitem__) as engine,
        pytest.raises((OneClassLabels, TotalOutOfRange)) as raised,
    ):
        group_rows(engine, RowColumns("p", "y", "w"), read_labels, tolerance=1e-3)
    assert [step for step in steps if step.startswith("pass")] == ["pass 1"]
    assert raised.value.column == column
    assert raised.value.detail.startswith(detail)


def test_a_column_of_slices_may_be_called_score(tmp_path: Path) -> None:
    table = {"p": SCORES, "y": LABELS, "score": LOGITS > 0}
    result = grouped(table, tmp_path, RowColumns("p", "y", by=("score",)))
    check(result.groups.take(result.slices["score"].astype(bool)), SCORES[LOGITS > 0], LABELS[LOGITS > 0])


def test_slices(tmp_path: Path) -> None:
    countries = np.array(["DE", "FR", "it's"])[RANDOM.integers(0, 3, SIZE)]
    table = {"p": SCORES.round(2), "y": LABELS, "a country": countries, "big": LOGITS > 0}
    result = grouped(table, tmp_path, RowColumns("p", "y", by=("a country", "big")), tolerance=1e-6)
    for country in ("DE", "FR", "it's"):
        for big in (True, False):
            groups = result.groups.take((result.slices["a country"] == country) & (result.slices["big"] == big))
            rows = (countries == country) & ((LOGITS > 0) == big)
            check(groups, SCORES.round(2)[rows], LABELS[rows])


def test_sums_of_rounded_weights_do_not_depend_on_the_order(tmp_path: Path) -> None:
    weights = RANDOM.lognormal(size=SIZE)
    results = []
    for order in (np.arange(SIZE), RANDOM.permutation(SIZE)):
        table = {"p": SCORES.round(1)[order], "y": LABELS[order], "w": weights[order]}
        groups = grouped(table, tmp_path, RowColumns("p", "y", "w", weight_decimals=6)).groups
        results.append(groups.take(np.argsort(groups.score_from)))
    first, second = results
    for name, column in first.masses.items():
        assert np.array_equal(column, second.masses[name])
    assert first.masses["positives"].sum() == pytest.approx(weights[LABELS].sum(), rel=1e-6)
    assert first.masses["negatives_squared"].sum() == pytest.approx((weights[~LABELS] ** 2).sum(), rel=1e-6)


def test_files_of_every_kind_and_any_partition(tmp_path: Path) -> None:
    scores = SCORES.astype(np.float32).astype(np.float64)
    cuts = np.sort(RANDOM.integers(0, SIZE, 3))
    for number, rows in enumerate(np.split(RANDOM.permutation(SIZE), cuts)):
        kind = np.float32 if number % 2 else np.float64
        columns = {"p": scores[rows].astype(kind), "y": LABELS[rows], "other": rows}
        names = sorted(columns, reverse=number % 2 == 1)
        parquet.write_table(pa.table({name: columns[name] for name in names}), tmp_path / f"part-{number}.parquet")
    table = pa.table({"p": SCORES, "y": LABELS})
    for codec, suffix in ((None, ""), ("gzip", ".gz"), ("zstd", ".zst")):
        with pa.output_stream(str(tmp_path / f"all.csv{suffix}"), compression=codec) as file:
            csv.write_csv(table, file)
    lines = [
        f"{score!r};{'+1' if label else ' 0'}".replace(".", ",")
        for score, label in zip(SCORES.tolist(), LABELS, strict=True)
    ]
    (tmp_path / "comma.csv").write_text("\n".join(["p;y", *lines]))
    csv.write_csv(table, tmp_path / "all.tsv", csv.WriteOptions(delimiter="\t"))
    feather.write_feather(table, tmp_path / "all.feather")
    text = {"texts": ["y"], "numbers": ["p", "w"]}
    files = {
        "part-*.parquet": {},
        "all.csv": text,
        "all.csv.gz": text,
        "all.csv.zst": text,
        "all.tsv": text,
        "comma.csv": {**text, "delimiter": ";", "decimal": ","},
        "all.feather": {},
    }

    for name, options in files.items():
        with DuckDB(Files([str(tmp_path / name)], **options), spill=tmp_path) as engine:
            result = group_rows(engine, RowColumns("p", "y"), read_labels)
        check(result.groups, scores if "part" in name else SCORES, LABELS)
        assert result.rows == SIZE
    with DuckDB(
        Files([str(tmp_path / "part-0.parquet"), str(tmp_path / "part-[123].parquet")]), spill=tmp_path
    ) as engine:
        check(group_rows(engine, RowColumns("p", "y"), read_labels).groups, scores, LABELS)
    assert not list(tmp_path.glob("rocpr-*"))


def test_marks_of_csv_files_elsewhere(tmp_path: Path) -> None:
    """pyarrow reads files that an address names."""
    table = "\n".join(["p;y", *(f"{score!r};{label}" for score, label in zip(SCORES.tolist(), LABELS, strict=True))])
    (tmp_path / "comma.csv").write_text(table.replace(".", ","))
    (tmp_path / "tabs.tsv").write_text(table.replace(";", "\t"))
    for name, marks in (("comma.csv", {"delimiter": ";", "decimal": ","}), ("tabs.tsv", {})):
        with DuckDB(Files([(tmp_path / name).as_uri()], **marks), spill=tmp_path) as engine:
            check(group_rows(engine, RowColumns("p", "y"), read_labels).groups, SCORES, LABELS)


@pytest.mark.parametrize(
    ("name", "detail"),
    [
        ("none.parquet", "No files found"),
        ("rows.txt", "rows.txt does not end in .parquet, .csv"),
        ("broken.parquet", "broken.parquet"),
        ("cut.parquet", "cut.parquet"),
        ("ragged.csv", "as many fields as the header"),
        ("latin.csv", "latin|encod"),
    ],
)
def test_files_that_cannot_be_read(name: str, detail: str, tmp_path: Path) -> None:
    (tmp_path / "broken.parquet").write_bytes(b"PAR1 and no more")
    parquet.write_table(pa.table({"p": [0.5], "y": [1]}), tmp_path / "whole.parquet")
    (tmp_path / "cut.parquet").write_bytes((tmp_path / "whole.parquet").read_bytes()[:-9])
    (tmp_path / "ragged.csv").write_text("p,y\n0.5,1\n0.1,0,4,5\n")
    (tmp_path / "latin.csv").write_bytes(b"p,y\n0.5,p\n0.1,n\xe9\n")
    files = Files([str(tmp_path / name)], texts=["y"], numbers=["p"])
    with pytest.raises(EngineFailed, match=detail) as failed, DuckDB(files, spill=tmp_path) as engine:
        group_rows(engine, RowColumns("p", "y"), read_labels)
    assert isinstance(failed.value, FilesUnreadable) == (name not in {"none.parquet", "rows.txt"})
    assert not list(tmp_path.glob("rocpr-*"))


def test_a_spill_directory_that_cannot_be_written_is_named(tmp_path: Path) -> None:
    missing = tmp_path / "missing"
    with pytest.raises(EngineFailed, match=f"^Nothing can be written to {re.escape(str(missing))}: "):
        DuckDB(Files([str(tmp_path / "rows.parquet")]), spill=missing)


ENDLESS = "SELECT COUNT(*) AS n FROM range(10000000) a, range(10000000) b WHERE (a.range * b.range) % 7 = 3"


def test_ctrl_c_stops_a_query_at_once(tmp_path: Path) -> None:
    """It comes at the third report of progress, while the query runs."""
    parquet.write_table(pa.table({"p": SCORES, "y": LABELS}), tmp_path / "rows.parquet")
    told: list[tuple[str, float]] = []

    def tell(step: str, done: float) -> None:
        told.append((step, done))
        if len(told) == 3:
            _thread.interrupt_main()

    with DuckDB(Files([str(tmp_path / "rows.parquet")]), spill=tmp_path, progress=tell) as engine:
        with pytest.raises(KeyboardInterrupt):
            engine.rows(ENDLESS, "without end")
        assert len(told) == 3
        check(
            group_rows(engine, RowColumns("p", "y"), read_labels).groups, SCORES, LABELS
        )  # the engine can still be used
    assert told[0][0] == "without end"
    assert all(0 <= done <= 1 for _, done in told)


FULL_DISK = """
import resource, signal, sys
from service.engines.duckdb_engine import DuckDB
from service.engines.duckdb_files import Files
from service.engines.failures import EngineFailed
signal.signal(signal.SIGXFSZ, signal.SIG_IGN)
resource.setrlimit(resource.RLIMIT_FSIZE, (1_000_000, 1_000_000))
with DuckDB(Files([sys.argv[1]]), memory="100MB", threads=2, spill=sys.argv[2]) as engine:
    try:
        engine.rows("SELECT a, COUNT(*) AS n FROM (SELECT hash(range) AS a FROM range(8000000)) GROUP BY a", "spilling")
    except EngineFailed as failure:
        print(failure)
"""


@pytest.mark.all
def test_a_full_disk_is_told(root: Path, tmp_path: Path) -> None:
    parquet.write_table(pa.table({"p": [0.5], "y": [1]}), tmp_path / "rows.parquet")
    command = [sys.executable, "-c", FULL_DISK, str(tmp_path / "rows.parquet"), str(tmp_path)]
    finished = subprocess.run(command, cwd=root, capture_output=True, text=True, check=True, timeout=60)
    assert "IO Error" in finished.stdout
    assert not list(tmp_path.glob("rocpr-*"))
