"""What the engine says about a server that is missing, refuses or goes away, and how it stops."""

import contextlib
import os
import re
import signal
import socket
import threading
import time
from collections.abc import Iterator

import numpy as np
import pytest

from service.engines.engine import Kind
from service.engines.failures import EngineFailed
from service.engines.spark_engine import TOKEN_VARIABLE, Spark
from tests.engines.spark.server import Server

pytestmark = pytest.mark.all

SLOW = "SELECT COUNT(*) AS n FROM RANGE(0, 40000000000, 1, 4000) WHERE id % 7 = 3"
"""Takes minutes, in tasks of some milliseconds, so that running tasks end soon after the query is stopped."""
QUICK = "SELECT COUNT(*) AS n FROM RANGE(0, 10, 1, 4) WHERE id % 7 = 3"
IDLE = "SELECT JAVA_METHOD('java.lang.Thread', 'sleep', id + 15000L) AS n FROM RANGE(1)"
"""Takes 15 s and no processor time: a server continues a departed client's query before all others."""
SECRET = "geheim-0815"


@contextlib.contextmanager
def in_a_while(seconds: float, what: object, *arguments: object) -> Iterator[None]:
    timer = threading.Timer(seconds, what, arguments)
    timer.start()
    try:
        yield
    finally:
        timer.cancel()
        timer.join()


class Wire:
    """A connection to the server that can be cut."""

    def __init__(self, port: int) -> None:
        self.listener = socket.create_server(("127.0.0.1", 0))
        self.address = f"sc://localhost:{self.listener.getsockname()[1]}"
        self.ends: list[socket.socket] = []
        self.port = port
        threading.Thread(target=self.accept, daemon=True).start()

    def accept(self) -> None:
        with contextlib.suppress(OSError):
            while True:
                client, _ = self.listener.accept()
                server = socket.create_connection(("127.0.0.1", self.port))
                self.ends += [client, server]
                for one, other in ((client, server), (server, client)):
                    threading.Thread(target=self.carry, args=(one, other), daemon=True).start()

    def carry(self, one: socket.socket, other: socket.socket) -> None:
        with contextlib.suppress(OSError):
            while data := one.recv(65536):
                other.sendall(data)

    def cut(self) -> None:
        for end in (self.listener, *self.ends):
            with contextlib.suppress(OSError):
                end.shutdown(socket.SHUT_RDWR)
            end.close()


def test_a_token_that_is_missing_wrong_or_not_over_tls_is_told(server: Server, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv(TOKEN_VARIABLE, raising=False)
    with pytest.raises(EngineFailed, match=rf"localhost:\d+ asks for a token; set {TOKEN_VARIABLE}\.$"):
        Spark(server.remote, "t")
    with pytest.raises(EngineFailed, match=r"localhost:\d+ refuses the token\.$"):
        Spark(f"{server.remote}/;token={SECRET}", "t")
    with pytest.raises(EngineFailed, match="over TLS, which a token needs except to localhost"):
        Spark(f"{server.remote.replace('localhost', '127.0.0.1')}/;token={SECRET}", "t")


def test_nothing_of_a_failure_is_logged(
    server: Server, capfd: pytest.CaptureFixture[str], caplog: pytest.LogCaptureFixture
) -> None:
    with Spark(server.with_token, server.token) as engine, pytest.raises(EngineFailed) as caught:
        engine.kinds()
    assert re.match(r"\[TABLE_OR_VIEW_NOT_FOUND\] The table or view `\*\*\*` cannot be found\.", str(caught.value))
    with pytest.raises(EngineFailed):
        Spark(f"{server.remote}/;token={SECRET}", "t")
    assert capfd.readouterr() == ("", "")
    assert caplog.text == ""


@pytest.mark.parametrize(
    ("table", "reason"),
    [
        ("scores", r"^\[TABLE_OR_VIEW_NOT_FOUND\] The table or view `scores` cannot be found\."),
        ("prod.ml.scores", r"^\[REQUIRES_SINGLE_PART_NAMESPACE\] .*`prod`\.`ml`\.`scores`"),
        ("rows; DROP TABLE rows", "`rows; drop table rows` cannot be found"),
        ("(SELECT 1)", r"`\(select 1\)` cannot be found"),
        (" ", r"^Give the name of a table in Spark, such as prod\.ml\.scores\.$"),
        ("parquet.`/nowhere/at/all`", r"PATH_NOT_FOUND|TABLE_OR_VIEW_NOT_FOUND"),
    ],
)
def test_what_names_no_table_is_told_in_one_line(table: str, reason: str, spark: Spark) -> None:
    spark.table = table
    with pytest.raises(EngineFailed, match=reason) as caught:
        spark.kinds()
    assert "\n" not in str(caught.value)
    assert "org.apache" not in str(caught.value)


def test_a_query_that_fails_says_why_and_the_next_one_runs(spark: Spark) -> None:
    with pytest.raises(EngineFailed, match=r"^\[DIVIDE_BY_ZERO\] "):
        spark.rows("SELECT 1 / 0 AS x", "step")
    with pytest.raises(EngineFailed, match=r"^\[PARSE_SYNTAX_ERROR\] "):
        spark.rows("SELEC", "step")
    assert spark.rows("SELECT 1 AS x", "step")["x"].tolist() == [1]


def test_each_type_of_column_has_its_kind(spark: Spark) -> None:
    spark.rows(
        "CREATE TEMPORARY VIEW kinds AS SELECT CAST(1 AS TINYINT) AS a, 1L AS b, 1.5F AS c, 1.5D AS d, 1.5BD AS e,"
        " true AS f, 'x' AS g, NULL AS h, CAST('x' AS VARCHAR(3)) AS i, DATE'2026-01-01' AS j, ARRAY(1) AS k,"
        " CAST(1 AS DECIMAL(38, 0)) AS l",
        "view",
    )
    spark.table = "kinds"
    names = ["integer"] * 2 + ["number"] * 3 + ["boolean", "text", "number", "text", "date", "array<int>", "integer"]
    assert spark.kinds() == dict(zip("abcdefghijkl", map(Kind, names), strict=True))


def test_each_type_of_value_is_read_exactly(spark: Spark) -> None:
    found = spark.rows(
        "SELECT * FROM VALUES (1L, 1.25BD, true, 'x', 0.5F, 1), (2L, -1e-3BD, false, 'ü', 0.1F, NULL)"
        " AS t(a, b, c, d, e, f)",
        "step",
    )
    assert found["a"].tolist() == [1, 2]
    assert found["a"].dtype == np.int64
    assert found["b"].tolist() == [1.25, -0.001]
    assert found["c"].tolist() == [True, False]
    assert found["d"].tolist() == ["x", "ü"]
    assert found["e"].tolist() == [0.5, float(np.float32(0.1))]
    assert found["f"].tolist() == [1, None]


def test_an_answer_without_rows_has_empty_columns(spark: Spark) -> None:
    found = spark.rows("SELECT id FROM RANGE(10) WHERE id > 10", "step")
    assert found["id"].tolist() == []


def test_a_kept_table_is_joined_and_replaced(spark: Spark) -> None:
    text = "SELECT SUM(kept.value) AS s FROM RANGE(100000) AS r JOIN kept ON r.id = kept.bin"
    for values in ([0.5, 0.25], [1e300, 5e-324, 3.0]):
        spark.keep("kept", {"bin": np.arange(len(values)), "value": np.array(values)})
        assert spark.rows(text, "step")["s"].tolist() == [sum(values)]


def test_a_large_table_is_kept(spark: Spark) -> None:
    """More than fits into one message."""
    size = 2**19
    spark.keep("kept", {name: np.arange(size) * 1.5 for name in ("bin", "low", "scale", "start")})
    assert spark.rows("SELECT SUM(bin + start) AS s FROM kept", "step")["s"].tolist() == [1.5 * size * (size - 1)]


def test_progress_never_falls_and_ends_at_the_end(remote: str) -> None:
    told: list[tuple[str, float]] = []
    with Spark(remote, "nothing", progress=lambda step, part: told.append((step, part))) as engine:
        engine.rows("SELECT id % 7 AS k, COUNT(*) AS n FROM RANGE(0, 2000000, 1, 40) GROUP BY k", "counting")
    parts = [part for step, part in told if step == "counting"]
    assert parts == sorted(parts)
    assert parts[-1] == 1
    assert {step for step, _ in told} == {"counting"}


def test_ctrl_c_stops_a_query_at_every_stage(spark: Spark) -> None:
    """Tests run in the main thread of their process, which gets the signal."""
    start = time.monotonic()
    for seconds in (0.05, 0.3, 3):  # before the server has begun, while it plans, while it works
        with pytest.raises(KeyboardInterrupt), in_a_while(seconds, os.kill, os.getpid(), signal.SIGINT):
            spark.rows(SLOW, "step")
    # None of them is left on the server, which would run it before all else.
    assert spark.rows(QUICK, "step")["n"].tolist() == [1]
    assert time.monotonic() - start < 100, "a query that takes minutes went on"


def test_a_server_that_goes_away_ends_the_query(server: Server) -> None:
    wire = Wire(int(server.remote.rpartition(":")[2]))
    with (
        Spark(f"{wire.address}/;token={server.token}", "nothing") as engine,
        in_a_while(2, wire.cut),
        pytest.raises(EngineFailed, match=r"^No Spark Connect server answers at localhost:"),
    ):
        engine.rows(IDLE, "step")
