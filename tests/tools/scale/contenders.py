"""The contenders: each computes both areas from a file, in a separate process.

    python -m tests.tools.scale.contenders NAME FILE [REMOTE]

prints the areas, the time from the file to the areas, the peak memory and the processor time, as JSON.
"""

import importlib.util
import json
import os
import re
import resource
import sys
import time
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from service.curves.sweep.sweep import COMPILED

TOLERANCE = 1e-6
MEMORY = {TOLERANCE: "1400MB", None: "1GB"}
"""The memory that DuckDB may use, by tolerance; for bounds, the whole process needs less than 2 GiB."""
BINS = 1000
"""The default of Spark's evaluator."""

Bounds = dict[str, tuple[float, float]]
"""{area: the least and the greatest value that it can have}"""


@dataclass(frozen=True)
class Contender:
    """A way to compute the areas.

    most      the most rows with which it is tried; more would take too much time or memory.
    within    how far from the exact areas its answers may be; None if it is only approximate.
    bounds    whether it gives bounds, which must contain the exact areas.
    module    a package that it needs and that may be missing.
    """

    name: str
    measure: Callable[[str, str], Bounds]
    most: int = 10**9
    within: float | None = 1e-9
    bounds: bool = False
    module: str | None = None
    spark: bool = False

    @property
    def missing(self) -> str | None:
        """The missing package, if there is one."""
        there = self.module is None or importlib.util.find_spec(self.module) is not None
        return None if there else self.module


def _bounded(engine: Any, tolerance: float | None) -> Bounds:
    from service.curves.bounds import bounded_areas
    from service.curves.evaluation import CurvesOptions, evaluate_curves
    from service.curves.histogram import Histogram
    from service.engines.checks import RowColumns
    from service.engines.plan import group_rows

    def read_labels(values: list[object], _: object) -> tuple[object, None]:
        return np.array([bool(value) for value in values]), None

    import numpy as np

    options = {"tolerance": tolerance, "most_bins": engine.most_bins}
    groups = group_rows(engine, RowColumns("p", "y"), read_labels, **options).groups
    given = Histogram(
        groups.score_from, groups.score_to, (groups.masses["positives"], groups.masses["negatives"])
    ).merged()
    if given.is_exact:  # then a command gives no bounds
        exact = evaluate_curves(given, CurvesOptions(include=frozenset({"auc"}))).auc
        return {name: (getattr(exact, name),) * 2 for name in ("roc", "average_precision")}
    areas = bounded_areas(given)
    return {name: (areas[name].lower, areas[name].upper) for name in ("roc", "average_precision")}


def on_duckdb(file: str, tolerance: float | None) -> Bounds:
    from service.engines.duckdb_engine import DuckDB
    from service.engines.duckdb_files import Files

    with DuckDB(Files([file]), memory=MEMORY[tolerance], threads=2, spill=Path(file).parent) as engine:
        return _bounded(engine, tolerance)


def on_spark(file: str, remote: str, tolerance: float | None) -> Bounds:
    from service.engines.spark_engine import Spark

    with Spark(remote, f"parquet.`{file}`") as engine:
        return _bounded(engine, tolerance)


def by_mllib(file: str, remote: str) -> Bounds:
    """Through `pyspark.ml`, whose evaluator is MLlib's BinaryClassificationMetrics; a pass for each area."""
    from pyspark.ml.evaluation import BinaryClassificationEvaluator
    from pyspark.sql.connect.session import SparkSession

    session = SparkSession(remote)
    SparkSession._set_default_and_active_session(session)
    rows = session.sql(f"SELECT p AS rawPrediction, CAST(y AS DOUBLE) AS label FROM parquet.`{file}`")
    names = {"roc": "areaUnderROC", "average_precision": "areaUnderPR"}
    areas = {
        area: BinaryClassificationEvaluator(metricName=name, numBins=BINS).evaluate(rows)
        for area, name in names.items()
    }
    session.stop()
    return {area: (value, value) for area, value in areas.items()}


def by_polars(file: str) -> Bounds:
    import polars as pl

    rows = pl.scan_parquet(file).group_by("p").agg(pl.col("y").sum().alias("up"), pl.len().alias("n"))
    found = rows.sort("p", descending=True).with_columns(fp=(pl.col("n") - pl.col("up")))
    found = found.with_columns(tp=pl.col("up").cum_sum(), before=pl.col("fp").cum_sum() - pl.col("fp"))
    found = found.with_columns(all_fp=pl.col("before") + pl.col("fp")).select(
        # Negatives above each positive, in halves, so that all are integers.
        above=(pl.col("up").cast(pl.Int64) * (pl.col("before") + pl.col("all_fp")).cast(pl.Int64)).sum(),
        precision=(pl.col("up") * pl.col("tp") / (pl.col("tp") + pl.col("all_fp"))).sum(),
        positives=pl.col("up").sum(),
        negatives=pl.col("fp").sum(),
    )
    row = found.collect().row(0, named=True)
    roc = 1 - row["above"] / (2 * row["positives"] * row["negatives"])
    precise = row["precision"] / row["positives"]
    return {"roc": (roc, roc), "average_precision": (precise, precise)}


def by_sklearn(file: str) -> Bounds:
    import pyarrow.parquet as pq
    from sklearn.metrics import average_precision_score, roc_auc_score

    table = pq.read_table(file)
    scores, labels = table["p"].to_numpy(), table["y"].to_numpy()
    areas = roc_auc_score(labels, scores), average_precision_score(labels, scores)
    return {name: (float(area), float(area)) for name, area in zip(("roc", "average_precision"), areas, strict=True)}


CONTENDERS = (
    Contender(
        "rocpr on DuckDB, to 1e-6",
        lambda file, _: on_duckdb(file, TOLERANCE),
        within=TOLERANCE,
        bounds=True,
        module="duckdb",
    ),
    Contender(
        "rocpr on DuckDB, exactly",
        lambda file, _: on_duckdb(file, None),
        within=1e-12,
        bounds=True,
        module="duckdb",
    ),
    Contender(
        "rocpr on Spark, to 1e-6",
        lambda file, remote: on_spark(file, remote, TOLERANCE),
        within=TOLERANCE,
        bounds=True,
        module="pyspark",
        spark=True,
    ),
    Contender(
        "rocpr on Spark, exactly",
        lambda file, remote: on_spark(file, remote, None),
        most=10**7,
        within=1e-12,
        bounds=True,
        module="pyspark",
        spark=True,
    ),
    Contender("Spark MLlib, 1,000 bins", by_mllib, most=10**7, within=None, module="pyspark", spark=True),
    Contender("polars", lambda file, _: by_polars(file), module="polars"),
    Contender("scikit-learn", lambda file, _: by_sklearn(file), module="sklearn"),
)


def peak_of(pid: int) -> int:
    """The peak memory of a process so far, in bytes; getrusage may give that of its parent if it was greater."""
    return int(re.search(r"VmHWM:\s+(\d+) kB", Path(f"/proc/{pid}/status").read_text())[1]) * 1024


def main() -> None:
    name, file, *remote = sys.argv[1:]
    (contender,) = (each for each in CONTENDERS if each.name == name)
    COMPILED.use_installed()  # like commands
    start = time.perf_counter()
    areas = contender.measure(file, *remote or [""])
    seconds = time.perf_counter() - start
    used = resource.getrusage(resource.RUSAGE_SELF)
    of_process = {"peak": peak_of(os.getpid()), "processor": used.ru_utime + used.ru_stime}
    print(json.dumps({"areas": areas, "seconds": seconds, **of_process}))


if __name__ == "__main__":
    main()
