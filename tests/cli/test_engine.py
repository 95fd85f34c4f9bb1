"""`--engine duckdb`: files of any number of rows get the same answer as their rows, or bounds that contain it."""

from __future__ import annotations

import json
import signal
import subprocess
import sys
import time
from pathlib import Path

import numpy as np
import pyarrow as pa
import pytest
from pyarrow import csv, parquet

from tests.cli.gate.gating import written
from tests.cli.running import DATA, refusal, run
from tests.support.mounts import behind, small

ROOT = DATA.parent.parent
DIGITS = DATA / "digits_eight.csv"
DUCKDB = ["--engine", "duckdb"]

SIZE = 50_000
RANDOM = np.random.default_rng(3)
LABELS = RANDOM.random(SIZE) < 0.2
SCORES = 1 / (1 + np.exp(-RANDOM.normal(size=SIZE) - LABELS))
WEIGHTS = RANDOM.integers(0, 4, SIZE) / 2
COUNTRIES = np.array(["DE", "FR", "IT"])[RANDOM.integers(0, 3, SIZE)]


@pytest.fixture(scope="module")
def lake(tmp_path_factory: pytest.TempPathFactory) -> Path:
    directory = tmp_path_factory.mktemp("lake")
    table = pa.table(
        {"scores": SCORES.round(3), "labels": LABELS, "w": WEIGHTS, "country": COUNTRIES, "old": SCORES.round(1)}
    )
    csv.write_csv(table, directory / "all.csv")
    parquet.write_table(table, directory / "all.parquet")
    for part in range(3):
        parquet.write_table(table.take(np.arange(part, SIZE, 3)), directory / f"part-{part}.parquet")
    return directory


@pytest.mark.parametrize(
    "words",
    [
        ["curves"],
        pytest.param(
            ["curves", "--lower-is-positive", "--intervals", "{}", "--partial", '[{"over": "fpr", "to": 0.1}]'],
            marks=pytest.mark.all,
        ),
        pytest.param(["tradeoffs", "--indices", "jaccard"], marks=pytest.mark.all),
        ["slices", "--slices", "country"],
    ],
    ids=lambda words: "-".join(words)[:20],
)
def test_exact_answers_are_those_of_the_rows(lake: Path, words: list[str]) -> None:
    wanted = run(*words, lake / "all.parquet", "--json")
    assert wanted.exit_code == 0, wanted.stderr
    for files in ("part-*.parquet", "all.csv"):
        done = run(*words, lake / files, "--json", *DUCKDB)
        assert (done.exit_code, done.stderr) == (0, ""), done.stderr
        assert done.stdout_bytes == wanted.stdout_bytes


def test_summaries_are_those_of_the_rows(lake: Path) -> None:
    for words in (["curves"], ["tradeoffs"]):
        wanted = run(*words, lake / "all.parquet").stdout.splitlines()[1:]
        assert run(*words, lake / "part-*.parquet", *DUCKDB).stdout.splitlines()[1:] == wanted
        assert len(wanted) > 20


def test_an_engine_with_weights_gives_the_same_areas(lake: Path) -> None:
    wanted = json.loads(run("curves", lake / "all.parquet", "--json", "--weights", "w").stdout)
    words = ["--json", "--weights", "w", "--weight-decimals", 1, *DUCKDB]
    found = json.loads(run("curves", lake / "part-*.parquet", *words).stdout)
    for area, value in wanted["auc"].items():
        assert found["auc"][area] == (None if value is None else pytest.approx(value, rel=1e-12))


def test_comparisons_and_gates(lake: Path, tmp_path: Path) -> None:
    pair = [f"new={lake}/all.parquet", f"same={lake}/all.parquet"]
    several = [f"new={lake}/part-*.parquet", f"same={lake}/all.csv"]
    wanted = run("compare", *pair, "--json")
    assert run("compare", *several, "--json", *DUCKDB).stdout_bytes == wanted.stdout_bytes
    rules = written(
        tmp_path, '[[rules]]\nmetric = "roc"\nmin = 0.7\n\n[[rules]]\nmetric = "roc"\nmax_drop = 0.01\n', "rules.toml"
    )
    words = [rules, lake / "part-*.parquet", "--baseline", lake / "all.csv", *DUCKDB]
    done = run("gate", *words)
    assert done.exit_code == 0, done.output
    assert run("gate", rules, *words[1:], "--tolerance", "1e-3").exit_code == 0
    assert run("gate", "--init", lake / "part-*.parquet", *DUCKDB).exit_code == 0
    rules.write_text('[[rules]]\nmetric = "roc"\nmin = 0.9\n')
    assert run("gate", rules, lake / "part-*.parquet", *DUCKDB).exit_code == 1


def test_bounds_hold_the_exact_areas_and_are_as_close_as_asked(tmp_path: Path) -> None:
    parquet.write_table(pa.table({"p": SCORES**8, "y": LABELS}), tmp_path / "skewed.parquet")
    named = ["--scores", "p", "--labels", "y"]
    exact = json.loads(run("curves", tmp_path / "skewed.parquet", "--json", *named).stdout)["auc"]
    words = [*named, "--json", "--tolerance", "1e-3", *DUCKDB]
    found = json.loads(run("curves", tmp_path / "*.parquet", *words, "--include", "auc").stdout)
    for area, bounds in found["bounds"].items():
        assert bounds["lower"] <= exact[area] <= bounds["upper"]
        assert 0 < bounds["upper"] - bounds["lower"] <= 1e-3
    assert "bounded" in run("curves", tmp_path / "*.parquet", *words[:-4], "--tolerance", "1e-3", *DUCKDB).stdout


def test_several_labels_are_told(tmp_path: Path) -> None:
    file = written(tmp_path, "scores,labels\n0.9,cat\n0.8,dog\n0.7,cat\n0.2,cow\n0.1,cow\n", "animals.csv")
    done = run("curves", file, "--json", "--positive-label", "cat", *DUCKDB)
    assert (done.exit_code, done.stderr) == (0, "")
    wanted = run("curves", file, "--json", "--positive-label", "cat").stdout
    assert done.stdout == wanted
    (warning,) = json.loads(wanted)["warnings"]
    assert warning["code"] == "one_vs_rest"
    assert warning["detail"].endswith("all other labels are negative: 'cow' in 2 and 'dog' in 1.")


@pytest.mark.parametrize(
    ("content", "words", "lines"),
    [
        ("p,y\n0.9,1\n0.1,0\n", [], ["--scores"]),
        ("scores,labels\n,1\n0.1,0\n", [], ["scores: This is null; it must be a number (1 of 2 rows). (not_a_number)"]),
        (
            "scores,labels\n9007199254740993,1\n0.1,0\n",
            [],
            ["scores: This integer has no exact double, and rocpr does not round it (1 of 2 rows). (not_exact)"],
        ),
        (f"scores,labels\n0.5,1\n{10**47},0\n", [], ["has no exact double"]),
        (
            "scores,labels\nmuch,1\n0.1,0\n",
            [],
            ["column scores: 'much' is not a decimal number (1 of 2 rows). (not_a_number)"],
        ),
        ("scores,labels\n", [], ["The table has no rows. (no_rows)"]),
        (
            "scores,labels\n1,spam\n0,ham\n1,spam\n",
            [],
            [
                "or -1 and 1; these are 'spam' and 'ham'; name the positive one with --positive-label. (not_a_label)",
            ],
        ),
        (
            "scores,labels\n1,spam\n0,ham\n",
            ["--positive-label", "egg"],
            ["No label equals --positive-label, 'egg'; the labels are 'ham' and 'spam'. (one_class)"],
        ),
        ("scores,labels\n1,1\n0,1\n", [], ["All 2 labels are positive; a curve needs both classes. (one_class)"]),
        ("scores,labels\n1,1\n0,0\n", ["--partial", "[{"], ["--partial"]),
        ("scores,labels\n1,1\n0,0\n", ["--positives", "3"], ["--positives cannot be combined with --engine."]),
        *(("", ["--tolerance", text], ["is not in the range 0<x<=1"]) for text in ("0", "1.5")),
        ("scores,labels\n1,1\n0,0\n", ["--memory", "much"], ["DuckDB could not read or group the rows."]),
        ("scores,labels\n1,1\n0,0\n", ["--memory", "10KB"], ["--memory 10KB is too little: give more, as in 1GB"]),
    ],
)
def test_what_is_wrong_is_said(content: str, words: list[str], lines: list[str], tmp_path: Path) -> None:
    file = written(tmp_path, content, "rows.csv")
    done = run("curves", file, *words, *DUCKDB)
    said = " ".join(done.stderr.split())
    assert done.exit_code == 2, done.output
    for line in lines:
        assert " ".join(line.split()) in said
    assert "Traceback" not in said


def test_options_of_an_engine_need_one(lake: Path) -> None:
    for words in (["--tolerance", "0.1"], ["--memory", "1GB"], ["--spill", lake], ["--weight-decimals", "3"]):
        assert f"{words[0]} needs --engine" in refusal(run("curves", DIGITS, *words))
    assert "--engine reads tables" in run("curves", "-", "--format", "json", *DUCKDB).stderr


LITTLE_MEMORY = """
import re, resource, sys
from pathlib import Path
from service import answer
from service.cli.main import main
from service.engines import plan
from service.engines.duckdb_engine import DuckDB
from service.environment import give_memory_back

def with_little_memory(function):
    def limited(*arguments):
        if name != "rows" or arguments[-1] == "grouping by score":
            give_memory_back()
            used = 1024 * int(re.search(r"VmData:\\s+(\\d+)", Path("/proc/self/status").read_text())[1])
            resource.setrlimit(resource.RLIMIT_DATA, (used + (4 << 20), -1))
        return function(*arguments)
    return limited

places = {"group": (DuckDB, "rows"), "sort": (plan, "_sort_by_score"), "evaluate": (answer, "_write_answer")}
place, name = places[sys.argv.pop(1)]
setattr(place, name, with_little_memory(getattr(place, name)))
main()
"""


@pytest.mark.all
@pytest.mark.parametrize("place", ["group", "sort", "evaluate"])
def test_a_lack_of_memory_is_told_with_what_needs_less(place: str, root: Path, tmp_path: Path) -> None:
    file = tmp_path / "rows.parquet"
    random = np.random.default_rng(20261125)
    scores = random.random(600_000)
    parquet.write_table(pa.table({"scores": scores, "labels": random.random(scores.size) < scores}), file)
    command = [sys.executable, "-c", LITTLE_MEMORY, place, "curves", file, *DUCKDB]
    done = subprocess.run(command, cwd=root, capture_output=True, text=True, check=False, timeout=120)
    assert done.returncode == 2, done.stderr
    first, *others = done.stderr.splitlines()
    assert first.startswith(f"Error: {file}: ")
    assert "memory" in " ".join([first, *others[:-2]]).lower()
    assert "--tolerance 1e-6" in " ".join(others[-2:])
    assert "Traceback" not in done.stderr


ENDLESS = """
import sys
from service.engines import sql
pairs = "FROM range(10000000) a, range(10000000) b"
sql.exact_text = lambda rows: f"SELECT COUNT(*) AS n {pairs} WHERE (a.range * b.range) % 7 = 3"
from service.cli.main import main
main()
"""


INTERRUPTED, TERMINATED = (130, b"Aborted!"), (143, b"")
"""How commands end: the status and what they say."""


@pytest.mark.parametrize(
    ("signals", "endings"),
    [
        ([signal.SIGINT], [INTERRUPTED]),
        pytest.param([signal.SIGINT] * 3, [INTERRUPTED], marks=pytest.mark.all),
        pytest.param([signal.SIGTERM], [TERMINATED], marks=pytest.mark.all),
        # Python may see both at once
        pytest.param([signal.SIGTERM, signal.SIGINT], [TERMINATED, INTERRUPTED], marks=pytest.mark.all),
    ],
)
def test_a_signal_ends_a_command(
    lake: Path, tmp_path: Path, signals: list[int], endings: list[tuple[int, bytes]]
) -> None:
    """Its query would take days."""
    words = ["curves", str(lake / "all.parquet"), *DUCKDB, "--spill", str(tmp_path)]
    with subprocess.Popen([sys.executable, "-c", ENDLESS, *words], cwd=ROOT, stderr=subprocess.PIPE) as command:
        while not list(tmp_path.glob("rocpr-*")):
            assert command.poll() is None
            time.sleep(0.05)
        time.sleep(0.5)  # by then, the query has begun, or else there is one case more
        try:
            for number in signals:
                command.send_signal(number)
                time.sleep(0.02)
            _, said = command.communicate(timeout=120)
        finally:
            command.kill()
    assert (command.returncode, said.strip()) in endings
    assert not list(tmp_path.glob("rocpr-*"))


LOST = """
import os, signal, sys, weakref
from service.engines import sql
exact = sql.exact_text
class Held: pass
def lose(_):
    try:
        os.kill(os.getpid(), signal.SIGINT)
        for _ in range(1000): pass
    except KeyboardInterrupt:
        print("dropped", file=sys.stderr)
        raise
def text(rows):
    held = Held()
    held_weakly = weakref.ref(held, lose)
    del held
    return exact(rows)
sql.exact_text = text
from service.cli.main import main
main()
"""


@pytest.mark.all
def test_ctrl_c_that_python_drops_ends_a_command(lake: Path, tmp_path: Path) -> None:
    words = ["curves", str(lake / "all.parquet"), *DUCKDB, "--spill", str(tmp_path)]
    command = [sys.executable, "-c", LOST, *words]
    done = subprocess.run(command, cwd=ROOT, capture_output=True, text=True, check=False, timeout=120)
    assert (done.returncode, done.stderr.splitlines(), done.stdout) == (130, ["dropped", "Aborted!"], "")


SPILLING = """
from service.engines import sql
sql.exact_text = lambda rows: "SELECT a, COUNT(*) FROM (SELECT hash(range) AS a FROM range(8000000)) GROUP BY a"
from service.cli.main import main
main()
"""


@pytest.mark.all
def test_a_full_disk_is_told(lake: Path, tmp_path: Path) -> None:
    words = ["curves", str(lake / "all.parquet"), *DUCKDB, "--memory", "100MB", "--spill", str(tmp_path)]
    command = behind(small(tmp_path, "4m"), sys.executable, "-c", SPILLING, *words)
    done = subprocess.run(command, cwd=ROOT, capture_output=True, text=True, check=False, timeout=120)
    assert done.returncode == 2
    _, reason, advice = done.stderr.splitlines()
    assert reason.startswith("  Out of Memory Error: failed to offload data block")
    assert "max_temp_directory_size" not in reason
    assert advice == "  There is no room for what does not fit into memory: name another directory with --spill."


def test_a_weight_too_large_for_its_decimals_is_told(tmp_path: Path) -> None:
    path = written(tmp_path, "scores,labels,weights\n0.5,1,1e12\n0.4,0,1\n", "weights.csv")
    said = refusal(run("curves", path, *DUCKDB, "--weight-decimals", "6"))
    assert said.splitlines()[-1] == "  A weight is too large for that many decimals: lower --weight-decimals."
    assert run("curves", path, *DUCKDB, "--weight-decimals", "5").exit_code == 0


@pytest.mark.parametrize("words", [["slices", "a.csv", "--slices", "country"], ["compare", "a=a.csv", "b=b.csv"]])
def test_bounds_are_not_promised_where_every_score_is_needed(words: list[str]) -> None:
    assert "--tolerance is for curves, tradeoffs and gate" in refusal(run(*words, *DUCKDB, "--tolerance", "1e-6"))
    assert "--tolerance" not in run(words[0], "--help").stdout


@pytest.mark.parametrize("names", ["country", " country ", '["country"]', ' [ "country" ] '])
def test_slices_are_named_as_without_an_engine(tmp_path: Path, names: str) -> None:
    table = written(tmp_path, "scores,labels,country\n0.9,1,DE\n0.8,0,DE\n0.3,0,FR\n0.7,1,FR\n", "a.csv")
    here, there = (
        run("slices", table, "--slices", names, "--json", *engine) for engine in ([], ["--engine", "duckdb"])
    )
    assert (here.exit_code, there.exit_code) == (0, 0), there.stderr
    assert json.loads(there.stdout)["slices"] == json.loads(here.stdout)["slices"]


def test_a_column_with_a_comma_in_its_name_defines_slices(tmp_path: Path) -> None:
    table = written(tmp_path, 'scores,labels,"a,b"\n0.9,1,DE\n0.8,0,DE\n0.3,0,FR\n0.7,1,FR\n', "a.csv")
    found = run("slices", table, "--slices", '["a,b"]', "--json", "--engine", "duckdb")
    assert found.exit_code == 0, found.stderr
    assert json.loads(found.stdout)["slices"]["a,b"] == ["DE", "FR"]
