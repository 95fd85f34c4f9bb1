"""`rocpr compare`: the same answers as the service, laid out for a reader."""

import json
import re
from pathlib import Path

import pytest

from service.cli.layout import MOST_ROWS
from tests.cli import running
from tests.cli.comparing import ALL, CLASSIFIERS, FIRST, SECOND, TEN, answered, rocpr, sample, written
from tests.cli.running import DATA, refusal


def section(text: str, title: str) -> list[str]:
    """Return the lines below a title."""
    return text.partition(f"\n{title}")[2].partition("\n\n")[0].splitlines()


def test_tables_of_groups_are_what_the_service_answers(tmp_path: Path) -> None:
    one = {"score_from": [0.8, 0.3], "score_to": [0.8, 0.3], "positives": [3, 1], "negatives": [1, 4]}
    two = {"score": [0.7, 0.2], "positives": [2, 2], "negatives": [1, 4]}
    (tmp_path / "one.csv").write_text("score_from,score_to,positives,negatives\n0.8,0.8,3,1\n0.3,0.3,1,4\n")
    (tmp_path / "two.csv").write_text("score,positives,negatives\n0.7,2,1\n0.2,2,4\n")
    run = rocpr(tmp_path / "one.csv", tmp_path / "two.csv", "--json")
    assert (run.exit_code, run.stderr) == (0, "")
    assert run.stdout == answered({"one": {"groups": one}, "two": {"groups": two}}).decode()


def test_the_summary_as_a_whole(tmp_path: Path) -> None:
    """The curves cross at (TP 12, FP 300): 10 + fp / 150 = fp / 25. From fp = 1500 on, both have all positives."""
    words = written(tmp_path, one=FIRST, two=SECOND)
    run = rocpr(*words, "--indices", "kulczynski")
    assert (run.exit_code, run.stderr) == (0, "")
    assert run.stdout.splitlines() == [
        "Evaluations",
        f"  one  {tmp_path / 'one.json'}",
        f"  two  {tmp_path / 'two.json'}",
        "",
        "  positives           20",
        "  negatives         2000",
        "  prevalence  0.00990099",
        "",
        "Areas; * marks the largest in each column",
        "                       roc_                   pr_         pr_   average_",
        "             roc       hull         pr  trapezoid  achievable  precision",
        "  one   0.812500   0.812500  *0.519836  *0.537295   *0.519836  *0.506579",
        "  two  *0.875000  *0.875000   0.038462   0.038462    0.038462   0.038462",
        "",
        "Differences from the first, with 95 % intervals, not paired",
        "                       difference                interval        p  verdict",
        "  two",
        "    roc                 +0.062500  -0.038464 to +0.165451    0.195  undecided",
        "    pr                  -0.481375  -0.744057 to -0.218693  0.00193  lower",
        "    average_precision   -0.468117  -0.732456 to -0.203779  0.00246  lower",
        "",
        "Dominance: never more false positives at the same recall",
        "  one  dominates none",
        "  two  dominates none",
        "",
        "Most true positives at each fpr: 3 intervals",
        "  fpr_from    fpr_to  best",
        "  0.000000  0.150000  one",
        "  0.150000  0.750000  two",
        "  0.750000  1.000000  one, two",
        "",
        "Highest precision at each recall: 2 intervals",
        "  recall_from  recall_to  best",
        "     0.000000   0.600000  one",
        "     0.600000   1.000000  two",
        "",
        "Convex hull of all ROC curves together: 4 rows",
        "  tp    fp       tpr       fpr  suppliers",
        "   0     0  0.000000  0.000000  one, two",
        "  10     0  0.500000  0.000000  one",
        "  20   500  1.000000  0.250000  two",
        "  20  2000  1.000000  1.000000  one, two",
        "",
        "Best kulczynski at each weight of recall: 2 intervals",
        "  lambda_from  lambda_to  best",
        "     0.000000   0.657895  one",
        "     0.657895   1.000000  two",
    ]


def test_the_summary_has_the_numbers_of_the_answer() -> None:
    run = rocpr(ALL, TEN)
    assert (run.exit_code, run.stderr) == (0, "")
    evaluations = {"all": sample(DATA / "breast_cancer.csv"), "ten": sample(DATA / "breast_cancer_ten.csv")}
    document = json.loads(answered(evaluations))
    for name, *cells in (line.split() for line in section(run.stdout, "Areas")[3:]):
        place = document["auc"]["name"].index(name)
        areas = {key: column[place] for key, column in document["auc"].items() if key != "name"}
        stars = ["*" * (area == max(document["auc"][key])) for key, area in areas.items()]
        assert cells == [f"{star}{area:.6f}" for star, area in zip(stars, areas.values(), strict=True)]
    tables = {
        "Most true positives at each": document["best_roc"],
        "Highest precision at each": document["best_pr"],
        **{f"Best {index} at": best for index, best in document["best_tradeoff"].items()},
    }
    assert len(tables) == 6
    for title, table in tables.items():
        head, columns, *lines = section(run.stdout, title)
        rows = list(zip(*table.values(), strict=True))
        assert head.endswith(f": {len(rows)} interval{'s' * (len(rows) > 1)}")
        assert columns.split() == list(table)
        assert [line.split(maxsplit=2) for line in lines] == [
            [f"{start:.6f}", f"{end:.6f}", ", ".join(best)] for start, end, best in rows
        ]
    hull = document["joint_hull"]
    head, columns, *lines, note = section(run.stdout, "Convex hull")
    assert note == "  -  threshold: nothing is called positive"
    assert head.endswith(f": {len(hull['tp'])} rows")
    for row, line in enumerate(lines):
        cells = dict(zip(columns.split(), line.split(maxsplit=5), strict=True))
        assert cells["suppliers"] == ", ".join(hull["suppliers"][row])
        assert (int(cells["tp"]), int(cells["fp"])) == (hull["tp"][row], hull["fp"][row])
        assert cells["threshold"] == ("-" if hull["threshold"][row] is None else str(hull["threshold"][row]))
    assert max(map(len, run.stdout.partition("\n\n")[2].splitlines())) <= 80
    assert not re.search(r"[ \t]$", run.stdout, re.MULTILINE)


def test_long_names_stand_above_their_areas(tmp_path: Path) -> None:
    """The table fits 80 columns; the numbers are the same as with short names."""
    short = section(rocpr(*written(tmp_path, one=FIRST, two=SECOND)).stdout, "Areas")
    long = section(rocpr(*written(tmp_path, a_long_name_of_a_model=FIRST, two=SECOND)).stdout, "Areas")
    assert max(map(len, long)) <= 80
    assert [line.split() for line in long[:3]] == [line.split() for line in short[:3]]
    assert long[3::2] == ["  a_long_name_of_a_model", "  two"]
    assert [line.split() for line in long[4::2]] == [line.split()[1:] for line in short[3:]]


def test_csv_and_json_files_are_one_request(tmp_path: Path) -> None:
    """Numbers mean what they mean over HTTP: text cells, a null threshold, labels with a positive_label, weights."""
    (tmp_path / "a.csv").write_text("p,truth,w\n 1e-1 ,spam,1\n0.25,ham,2\n-0.0,spam,1\n")
    (tmp_path / "b.csv").write_text("p,truth,w\n.5,ham,1\n2,spam,2\n.3,ham,1\n")
    columns = [
        "--scores",
        "p",
        "--labels",
        "truth",
        "--weights",
        "w",
        "--positive-label",
        "spam",
        "--lower-is-positive",
    ]
    (word,) = written(tmp_path, c={"scores": [3, 1, 2, 0], "labels": [True, False, True, False]})
    given = [f"a={tmp_path / 'a.csv'}", f"b={tmp_path / 'b.csv'}", word, *columns]
    run = rocpr(*given, "--json", "--indices", "jaccard, f_measure")
    assert (run.exit_code, run.stderr) == (0, "")
    assert run.stdout_bytes == answered(
        {
            "a": {"scores": [0.1, 0.25, 0], "labels": [1, 0, 1], "weights": [1, 2, 1], "lower_is_positive": True},
            "b": {"scores": [0.5, 2, 0.3], "labels": [0, 1, 0], "weights": [1, 2, 1], "lower_is_positive": True},
            "c": {"scores": [3, 1, 2, 0], "labels": [1, 0, 1, 0]},
        },
        indices=["f_measure", "jaccard"],
    )


def test_tables_of_counts(tmp_path: Path) -> None:
    path = tmp_path / "counts.csv"
    path.write_text("threshold,tp,fp\n0.5,1,0\n,2,1.5\n")
    totals = {"positives": 3, "negatives": 4}
    (word,) = written(tmp_path, b={"counts": {"tp": [3], "fp": [2], **totals}})
    run = rocpr(f"a={path}", word, "--positives", 3, "--negatives", 4, "--json", "--indices", '["jaccard"]')
    first = {"counts": {"threshold": [0.5, None], "tp": [1, 2], "fp": [0, 1.5], **totals}}
    second = {"counts": {"tp": [3], "fp": [2], **totals}}
    assert run.stdout_bytes == answered({"a": first, "b": second}, indices=["jaccard"])


def test_a_name_in_a_json_file_is_replaced_and_integers_keep_their_digits(tmp_path: Path) -> None:
    words = written(
        tmp_path, a={**FIRST, "name": "z"}, b={"scores": [2**70, *range(2019)], "labels": [1] * 20 + [0] * 2000}
    )
    document = json.loads(rocpr(*words, "--json").stdout)
    assert document["auc"]["name"] == ["a", "b"]
    assert rocpr(*words).stdout.startswith(f"Evaluations\n  a  {tmp_path / 'a.json'}\n  b  {tmp_path / 'b.json'}\n")


def test_dominance_and_equal_curves_in_words(tmp_path: Path) -> None:
    best = {"counts": {"tp": [20], "fp": [1], "positives": 20, "negatives": 2000}}
    run = rocpr(*written(tmp_path, two=SECOND, best=best, again=SECOND))
    assert section(run.stdout, "Dominance")[1:] == [
        "  two    dominates again (the same curve)",
        "  best   dominates two, again",
        "  again  dominates two (the same curve)",
    ]


def test_counts_that_are_not_a_sweep_are_explained(tmp_path: Path) -> None:
    run = rocpr(*written(tmp_path, one=FIRST, set=CLASSIFIERS))
    assert run.exit_code == 0
    assert "\nDominance and the best curves are omitted: see " in run.stdout
    assert "\nWarnings\n  not_a_sweep: " in run.stdout
    assert "Most true positives" not in run.stdout
    (name, *areas), (other, *others) = (line.split() for line in section(run.stdout, "Areas")[3:])
    assert (name, other) == ("one", "set")
    assert [area == "-" for area in others] == [True, False, True, True, False, True]
    assert areas[0] == "*0.812500"
    assert len(section(run.stdout, "Convex hull")) > 2


def test_long_lists_are_shortened_and_many_names_wrapped(tmp_path: Path) -> None:
    """30 equal curves against one that is better and worse by turns."""
    steps = list(range(1, 61))
    totals = {"positives": 60, "negatives": 60}
    straight = {"counts": {"tp": steps, "fp": steps, **totals}}
    turns = {"counts": {"tp": [step + step % 2 * (-1) ** (step // 2) for step in steps], "fp": steps, **totals}}
    names = [f"equal_{number}" for number in range(30)]
    run = rocpr(*written(tmp_path, turns=turns, **dict.fromkeys(names, straight)), "--indices", "jaccard")
    assert run.exit_code == 0
    head, _, *lines = section(run.stdout, "Most true positives")
    assert re.fullmatch(rf" at each fpr: {MOST_ROWS} of \d\d intervals \(--json has all\)", head)
    starts = [line for line in lines if re.match(r" +\d", line)]
    assert len(starts) == MOST_ROWS
    assert (starts[0].split()[0], starts[-1].split()[1]) == ("0.000000", "1.000000")
    assert any(re.match(r" {22,}equal_\d+, ", line) for line in lines)
    assert max(map(len, run.stdout.partition("\n\n")[2].splitlines())) <= 80


def test_standard_input_is_one_of_the_files() -> None:
    data = (DATA / "breast_cancer_ten.csv").read_bytes()
    run = rocpr(ALL, "ten=-", "--format", "csv", given=data)
    assert run.stdout.splitlines()[2] == "  ten  standard input"
    assert run.stdout.splitlines()[3:] == rocpr(ALL, TEN).stdout.splitlines()[3:]


def one_table(folder: Path) -> Path:
    """Both samples as columns of one table."""
    path = folder / "both.csv"
    every, ten = (sample(DATA / f"breast_cancer{name}.csv") for name in ("", "_ten"))
    rows = zip(every["labels"], every["scores"], ten["scores"], strict=True)
    path.write_text("y,all,ten\n" + "".join(f"{y},{one},{other}\n" for y, one, other in rows))
    return path


def test_columns_of_one_table(tmp_path: Path) -> None:
    path = one_table(tmp_path)
    run = rocpr(path, "--labels", "y", "--scores", "all,ten")
    assert (run.exit_code, run.stderr) == (0, "")
    assert run.stdout.splitlines()[:3] == ["Evaluations", f"  all  {path}", f"  ten  {path}"]
    assert run.stdout.splitlines()[3:] == rocpr(ALL, TEN, "--paired").stdout.splitlines()[3:]


def test_columns_of_one_table_as_json_and_as_a_picture(tmp_path: Path) -> None:
    given = [one_table(tmp_path), "--labels", "y", "--scores", "all,ten", "--indices", "jaccard"]
    run = rocpr(*given, "--json", "--plot", tmp_path / "one.svg")
    assert run.stdout == rocpr(ALL, TEN, "--indices", "jaccard", "--json", "--plot", tmp_path / "two.svg").stdout
    assert (tmp_path / "one.svg").read_bytes() == (tmp_path / "two.svg").read_bytes()


def test_a_whole_request_in_a_json_file(tmp_path: Path) -> None:
    path = tmp_path / "body.json"
    path.write_text(json.dumps({"evaluations": [{"name": "one", **FIRST}, {"name": "two", **SECOND}]}))
    lines = rocpr(path).stdout.splitlines()
    assert lines[:3] == ["Evaluations", f"  one  {path}", f"  two  {path}"]
    assert lines[3:] == rocpr(*written(tmp_path, one=FIRST, two=SECOND)).stdout.splitlines()[3:]


def test_a_file_without_a_name_is_named_after_itself(tmp_path: Path) -> None:
    named = written(tmp_path, one=FIRST, two=SECOND)
    assert rocpr(*(word.partition("=")[2] for word in named)).stdout == rocpr(*named).stdout


def test_one_table_without_names_of_columns_gets_advice(tmp_path: Path) -> None:
    said = refusal(rocpr(one_table(tmp_path)))
    assert "Name the columns of scores to compare, as in --scores a,b" in said
    assert said.count("--labels") == 1


def test_an_engine_reads_no_columns_of_one_table(tmp_path: Path) -> None:
    said = refusal(rocpr(one_table(tmp_path), "--labels", "y", "--scores", "all,ten", "--engine", "duckdb"))
    assert "With --engine, give every classifier as NAME=FILE." in said
    said = refusal(rocpr(tmp_path / "*.csv", tmp_path / "*.parquet", "--engine", "duckdb"))
    assert "is not NAME=FILE; put a name first" in said


NAMED = {"all": "", "ten": "_ten", "again": ""}


def differences(text: str) -> dict[tuple[str, str], list[str]]:
    """The rows of the table of differences: {(classifier, area): cells}."""
    lines = [line for line in section(text, "Differences")[2:] if "--paired" not in line]
    rows: dict[tuple[str, str], list[str]] = {}
    name = ""
    for line in lines:
        area, *cells = re.split(r" {2,}", line.strip())
        if cells:
            rows[name, area] = cells
        else:
            name = area
    return rows


def test_pairs_and_their_adjusted_p_are_those_of_the_answer() -> None:
    files = [ALL, TEN, f"again={DATA / 'breast_cancer.csv'}"]
    sent = [{"name": name, **sample(DATA / f"breast_cancer{end}.csv")} for name, end in NAMED.items()]
    options = {"paired": True, "intervals": {"level": 0.9}, "against": "all", "adjust": "holm"}
    body = json.dumps({"evaluations": sent, **options}).encode()
    answer = json.loads(running.answered("comparisons", body, "application/json"))["differences"]
    rows = [dict(zip(answer, row, strict=True)) for row in zip(*answer.values(), strict=True)]
    done = rocpr(*files, "--paired", "--all-pairs", "--holm", "--level", "0.9")
    heading = "Differences of each from those before it, with 90 % intervals, paired, adjusted for the number of pairs"
    assert heading in done.stdout.splitlines()
    assert differences(done.stdout) == {
        (f"{row['name']} against {row['against']}", row["area"]): [
            f"{row['difference']:+.6f}",
            f"{row['lower']:+.6f} to {row['upper']:+.6f}",
            f"{row['p_value_adjusted']:.3g}",
            "undecided",
        ]
        for row in rows
    }


def test_an_adjusted_p_decides_where_a_joint_interval_would_not(tmp_path: Path) -> None:
    """Holm rejects both differences of three from the first; Bonferroni's wider interval of one includes 0."""
    for name, low in (("old", 8), ("new", 2), ("best", 0)):  # so many positives are below all negatives
        lines = [f"{int(row % 2 == 0 and row >= 2 * low) + row / 1000},{int(row % 2 == 0)}" for row in range(60)]
        (tmp_path / f"{name}.csv").write_text("\n".join(["scores,labels", *lines]))
    found = differences(
        rocpr(*(tmp_path / f"{name}.csv" for name in ("old", "new", "best")), "--paired", "--holm").stdout
    )
    _, interval, _, verdict = found["new", "roc"]
    assert (interval[0], verdict) == ("-", "higher")
    assert found["best", "roc"][-1] == "higher"


@pytest.mark.parametrize("words", [[], ["--paired"]])
def test_differences_are_those_of_a_gate(words: list[str]) -> None:
    paired = bool(words)
    ten, all_ = (sample(DATA / f"breast_cancer{name}.csv") for name in ("_ten", ""))
    rules = [{"metric": area, "max_drop": 0, "confidence": 0.95} for area in ("roc", "pr", "average_precision")]
    body = json.dumps({**ten, "baseline": all_, "paired": paired, "rules": rules}).encode()
    checks = json.loads(running.answered("gates", body, "application/json"))["checks"]
    done = rocpr(ALL, TEN, *words)
    assert (done.exit_code, done.stderr) == (0, "")
    assert f"Differences from the first, with 95 % intervals, {'' if paired else 'not '}paired\n" in done.stdout
    assert differences(done.stdout) == {
        ("ten", check["rule"]["metric"]): [
            f"{check['difference']:+.6f}",
            f"{check['interval']['lower']:+.6f} to {check['interval']['upper']:+.6f}",
            f"{check['p_value']:.3g}",
            "undecided",
        ]
        for check in checks
    }
    assert ("add --paired" in done.stdout) == (not paired)


def test_a_difference_that_is_certain_is_higher_or_lower(tmp_path: Path) -> None:
    rows = range(200)
    table = "good,bad,labels\n" + "".join(f"{row % 7 + 5 * (row % 2)},{row % 7},{row % 2}\n" for row in rows)
    (tmp_path / "table.csv").write_text(table)
    for names, sign, verdict in (("good,bad", "-", "lower"), ("bad,good", "+", "higher")):
        done = rocpr(tmp_path / "table.csv", "--scores", names)
        found = differences(done.stdout)
        assert {cells[-1] for cells in found.values()} == {verdict}
        assert {cells[0][0] for cells in found.values()} == {sign}
        assert ", paired\n" in done.stdout  # columns of one table have the same rows
        assert "--paired" not in done.stdout


def test_each_of_several_is_compared_with_the_first_under_its_name(tmp_path: Path) -> None:
    words = written(tmp_path, a_long_name_of_a_model=FIRST, two=SECOND, three=FIRST)
    lines = section(rocpr(*words).stdout, "Differences")
    assert max(map(len, lines)) <= 80
    assert [line for line in lines if re.match(r"  \S", line)] == ["  two", "  three"]
    assert [line.split()[-1] for line in lines[-3:]] == ["undecided"] * 3  # the same counts as the first


def test_without_enough_examples_there_is_no_interval_and_the_warning_says_so(tmp_path: Path) -> None:
    done = rocpr(*written(tmp_path, a={"scores": [3, 1], "labels": [1, 0]}, b={"scores": [1, 2], "labels": [1, 0]}))
    assert differences(done.stdout)["b", "roc"] == ["-1.000000", "-", "-", "undecided"]
    assert "too_few_examples" in done.stdout.partition("Warnings")[2]


def test_files_that_are_not_paired_are_refused_with_paired(tmp_path: Path) -> None:
    words = written(
        tmp_path, a={"scores": [3, 1, 2], "labels": [1, 0, 0]}, b={"scores": [3, 1, 2], "labels": [0, 1, 0]}
    )
    assert "Row 0, counting from 0, has different labels in the two evaluations" in refusal(rocpr(*words, "--paired"))
    done = rocpr(*words, "--paired", "--json")
    assert (done.exit_code, "--paired is for the summary" in done.stderr) == (2, True)


def test_paired_rows_are_left_out_of_all_files_together(tmp_path: Path) -> None:
    """Left out of each alone, both would keep four rows with the same labels, but not the same examples."""
    texts = {"a": "0.9,1\n,0\n0.3,0\n0.5,1\n0.6,0\n", "b": "0.8,1\n0.4,0\n,0\n0.7,1\n0.75,0\n"}
    for name, text in texts.items():
        (tmp_path / f"{name}.csv").write_text(f"scores,labels\n{text}")
    done = rocpr(tmp_path / "a.csv", tmp_path / "b.csv", "--paired", "--missing", "drop")
    assert (done.exit_code, done.stderr) == (0, "")
    assert re.search(r"positives +2\n +negatives +1\n", done.stdout)
    assert "2 of 5 rows are left out" in " ".join(done.stdout.split())


def test_decisions_of_each_classifier() -> None:
    asked = ("--at-share", "0.3", "--best", "f1", "--metrics", "precision,recall")
    run = rocpr(ALL, TEN, *asked, "--level", "0.9")
    assert (run.exit_code, run.stderr) == (0, "")
    rows = [line.split() for line in section(run.stdout, "Decisions")[1:]]
    assert rows[0] == ["name", "decision", "threshold", "tp", "fp", "fn", "tn"]
    evaluations = {"all": sample(DATA / "breast_cancer.csv"), "ten": sample(DATA / "breast_cancer_ten.csv")}
    options = {"decisions": [{"at_share": 0.3}, {"best": "f1"}], "metrics": ["precision", "recall"]}
    found = json.loads(answered(evaluations, **options, intervals={"level": 0.9}))["decisions"]
    assert [row[0] for row in rows[1:]] == ["all", "all", "ten", "ten"]
    assert [row[-4:] for row in rows[1:]] == [
        [str(found[name][at]) for name in ("tp", "fp", "fn", "tn")] for at in range(4)
    ]
    lines = run.stdout.splitlines()
    start = next(at for at, line in enumerate(lines) if line.startswith("  ten, share 0.3"))
    assert lines[start + 2].split() == [
        "recall",
        *(f"{found[f'recall{end}'][2]:.6f}" for end in ("", "_lower", "_upper")),
    ]
    assert "with 90 % intervals" in run.stdout
    whole = rocpr(ALL, TEN, *asked, "--json")
    assert whole.stdout == answered(evaluations, **options).decode()


def test_decisions_on_the_columns_of_one_table(tmp_path: Path) -> None:
    path = tmp_path / "a.csv"
    path.write_text("a,b,labels\n0.9,0.7,1\n0.8,0.9,1\n0.7,0.8,0\n0.4,0.3,1\n0.2,0.6,0\n")
    query = {"scores": "a,b", "decisions": "0.5", "metrics": "f1"}
    run = rocpr(path, "--scores", "a,b", "--at", "0.5", "--metrics", "f1", "--json")
    assert run.stdout == running.answered("comparisons", path.read_bytes(), **query).decode()


@pytest.mark.parametrize(
    ("words", "told"),
    [
        (["--decisions", "{"], "--decisions: "),
        (["--at", "x"], "--at takes numbers such as 0.5,0.9, not 'x'."),
        (["--best", "f1_score"], "Did you mean f1?"),
        (["--metrics", "f1"], "metrics need decisions."),
        (["--level", "2"], "This must be below 1."),
    ],
)
def test_options_for_decisions_that_are_refused(words: list[str], told: str) -> None:
    assert told in " ".join(refusal(rocpr(ALL, TEN, *words)).split())
