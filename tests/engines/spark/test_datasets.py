"""A dataset in Spark, of the real server: a query ends when its client leaves."""

from pathlib import Path

import pytest

from service.engines.spark_engine import Spark
from tests.e2e.test_datasets import TABLE, asked, until, with_datasets, write_keys
from tests.engines.spark.server import missing, spark_server
from tests.support.servers import rocpr_serve

pytestmark = pytest.mark.all


@pytest.mark.skipif(missing() is not None, reason=str(missing()))
def test_a_query_ends_on_the_spark_server(root: Path, tmp_path: Path) -> None:
    """The server has two cores, and nothing else runs while the query uses them."""
    (folder := tmp_path / "spark").mkdir()
    write_keys(tmp_path)
    with spark_server(folder) as spark:
        with Spark(spark.with_token, "endless") as session:
            view = "SELECT id / 1e13 AS p, id % 2 = 0 AS y FROM range(10000000000000)"
            session.rows(f"CREATE VIEW endless AS {view}", "view")
        text = f'[endless]\n{TABLE.format(engine="spark")}remote = "{spark.with_token}"\ntable = "endless"\n'
        with rocpr_serve(root, tmp_path / "log", **with_datasets(tmp_path, text)) as server:
            with asked(server, {"dataset": "endless", "tolerance": 1e-3}):
                until(lambda: "Running task" in (folder / "log").read_text())
            until(lambda: "cancelled" in (folder / "log").read_text())
            with Spark(spark.with_token, "endless") as session:
                assert session.rows("SELECT SUM(id) AS total FROM range(1000)", "sum")["total"].tolist() == [499500]
        assert spark.token not in server.log.read_text()
