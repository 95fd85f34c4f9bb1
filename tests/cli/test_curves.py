"""`rocpr curves`: the same answers as the service, laid out for a reader, and errors that say what to do."""

import json
import re
from functools import partial
from pathlib import Path
from typing import Any

import pytest

from service.cli.curves import AREA_MEANINGS, FIRST_AREAS, FIRST_SCREEN
from service.cli.layout import MOST_ROWS
from service.operations import OPERATIONS
from tests.cli import running
from tests.cli.gate.gating import written
from tests.cli.running import DATA, run

CLASSIFIERS = {"counts": {"tp": [6, 9, 8], "fp": [1, 4, 6], "fn": [4, 1, 2], "tn": [9, 6, 4]}}


rocpr, answered = partial(run, "curves"), partial(running.answered, "curves")


def areas_in(text: str) -> dict[str, str]:
    areas = text.partition("\nAreas\n")[2].partition("\n\n")[0]
    return dict(re.findall(r"^  (\w+) +(-|\d\.\d{6,})  \w", areas, re.MULTILINE))


@pytest.mark.parametrize("name", ["breast_cancer.csv", "digits_eight.csv", "davis_goadrich_table_1.csv"])
def test_the_summary_has_the_numbers_of_the_answer(name: str) -> None:
    run, whole = rocpr(DATA / name), rocpr(DATA / name, "--include", "hull")
    assert (run.exit_code, run.stderr, whole.exit_code) == (0, "", 0)
    document = json.loads(answered((DATA / name).read_bytes()))
    assert re.search(rf"^  positives +{document['positives']}$", run.stdout, re.MULTILINE)
    assert re.search(rf"^  negatives +{document['negatives']}$", run.stdout, re.MULTILINE)
    assert list(AREA_MEANINGS) == list(document["auc"])
    areas = {area: f"{value:.6f}" for area, value in document["auc"].items()}
    assert areas_in(whole.stdout) == areas
    assert areas_in(run.stdout) == {area: areas[area] for area in FIRST_AREAS}
    assert max(map(len, [*run.stdout.splitlines()[1:], *whole.stdout.splitlines()[1:]])) <= 80
    assert not re.search(r"[ \t]$", run.stdout, re.MULTILINE)


def test_what_is_not_0_or_1_does_not_look_like_it(tmp_path: Path) -> None:
    """One of 10,000 positives scores below one of 10,000 negatives."""
    path = written(tmp_path, "score,positives,negatives\n4,9999,0\n3,0,1\n2,1,0\n1,0,99999999\n", "groups.csv")
    assert re.search(r"^  roc +0\.999999999999  ", rocpr(path).stdout, re.MULTILINE)
    hull = rocpr(path, "--include", "hull").stdout
    assert re.search(r"^ +2\.0 +10000 +1 +1\.000000 +0\.00000001 +0\.999900$", hull, re.MULTILINE)


HINT = "  roc is below 0.5: do the scores run the other way? See --lower-is-positive.\n"


def test_scores_that_may_run_the_other_way_are_pointed_out(tmp_path: Path) -> None:
    path = written(tmp_path, "scores,labels\n0.1,1\n0.2,1\n0.9,0\n0.3,1\n", "distances.csv")
    done = rocpr(path)
    assert (done.exit_code, done.stdout.count(HINT)) == (0, 1)
    assert HINT not in rocpr(path, "--lower-is-positive").stdout
    assert HINT not in rocpr(DATA / "digits_eight.csv").stdout
    rules = written(tmp_path, '[[rules]]\nmetric = "roc"\nmin = 0.9\n', "rules.toml")
    done = run("gate", rules, path)
    assert (done.exit_code, done.stdout.count(HINT)) == (1, 1)
    assert HINT not in run("gate", rules, path, "--lower-is-positive").stdout
    assert run("compare", f"a={path}", f"b={path}").stdout.count(HINT) == 1


TWELVE = """scores,labels
0.95,1\n0.9,1\n0.8,0\n0.7,1\n0.7,0\n0.6,1\n0.55,0\n0.4,0\n0.35,1\n0.3,0\n0.2,0\n0.1,0
"""


def twelve(folder: Path, name: str = "twelve.csv") -> Path:
    return written(folder, TWELVE, name)


def test_the_first_screen(tmp_path: Path) -> None:
    """What people look for: areas, decisions, and whether scores are probabilities."""
    assert rocpr(twelve(tmp_path)).stdout.splitlines()[1:] == [
        "",
        "  positives          5",
        "  negatives          7",
        "  prevalence  0.416667",
        "",
        "Areas",
        "  roc                0.785714  ROC AUC: how often a positive outranks a negative",
        "  average_precision  0.764444  scikit-learn's average_precision_score",
        "  pr                 0.758386  PR AUC, between rows linear in counts",
        "",
        "Decisions",
        "  decision       threshold  tp  fp  fn  tn  precision    recall        f1",
        "  threshold 0.5        0.5   4   3   1   4   0.571429  0.800000  0.666667",
        "  best f1              0.6   4   2   1   5   0.666667  0.800000  0.727273",
        "  best youden          0.6   4   2   1   5   0.666667  0.800000  0.727273",
        "  The best rows were chosen on these data; on new data they are worse.",
        "",
        "Scores as probabilities",
        "  brier     0.201458  calibration_slope       0.966391",
        "  log_loss  0.573492  calibration_intercept  -0.730065",
    ]


def test_the_first_screen_with_intervals(tmp_path: Path) -> None:
    shown = rocpr(twelve(tmp_path), "--level", "0.95").stdout
    assert "\nIntervals of the areas\n" in shown
    rows = [line.split() for line in shown.splitlines()]
    assert ["recall", "0.800000", "0.375535", "0.963776"] in rows
    assert ["brier", "0.201458", "0.105950", "to", "0.349414,", "95", "%"] in rows
    assert ["best", "f1", "value", "lower", "upper"] not in rows
    assert "null for best f1 and best youden: chosen on the same data" in " ".join(shown.split())


def test_scores_that_are_no_probabilities_have_neither_0_5_nor_the_last_block(tmp_path: Path) -> None:
    path = written(tmp_path, "scores,labels\n3,1\n2,0\n0.5,1\n-1,0\n", "logits.csv")
    shown = rocpr(path).stdout
    assert "threshold 0.5" not in shown
    assert "best f1" in shown
    assert "Scores as probabilities" not in shown
    assert "Warnings" not in shown
    assert "\nDecision: threshold 0.5\n" in rocpr(path, "--at", "0.5").stdout


def test_counts_have_no_last_block_and_0_5_only_if_it_is_a_row(tmp_path: Path) -> None:
    """Figure 7 of Davis and Goadrich (2006), curve II, with a threshold."""
    totals = ("--positives", "20", "--negatives", "2000")
    shown = rocpr(written(tmp_path, "threshold,tp,fp\n0.25,20,500\n", "counts.csv"), *totals).stdout
    assert shown.splitlines()[1:] == [
        "",
        "  positives           20",
        "  negatives         2000",
        "  prevalence  0.00990099",
        "",
        "Areas",
        "  roc                0.875000  ROC AUC: how often a positive outranks a negative",
        "  average_precision  0.038462  scikit-learn's average_precision_score",
        "  pr                 0.038462  PR AUC, between rows linear in counts",
        "",
        "Decisions",
        "  decision     threshold  tp   fp  fn    tn  precision    recall        f1",
        "  best f1           0.25  20  500   0  1500   0.038462  1.000000  0.074074",
        "  best youden       0.25  20  500   0  1500   0.038462  1.000000  0.074074",
        "  The best rows were chosen on these data; on new data they are worse.",
    ]
    other = written(tmp_path, "threshold,tp,fp\n0.5,20,500\n", "half.csv")
    assert "\n  threshold 0.5        0.5  20  500 " in rocpr(other, *totals).stdout


def test_open_groups_have_a_first_screen(tmp_path: Path) -> None:
    path = written(tmp_path, "score_from,score_to,positives,negatives\n0,0.4,1,5\n0.5,1,5,1\n", "open.csv")
    done = rocpr(path)
    assert (done.exit_code, done.stderr) == (0, "")
    assert "\n  threshold 0.5        0.5   5   1 " in done.stdout
    assert "Scores as probabilities" not in done.stdout
    assert [line.split()[0] for line in done.stdout.partition("Bounds of the areas\n")[2].splitlines()[1:4]] == [
        *FIRST_AREAS
    ]


def test_all_areas_and_the_hull(tmp_path: Path) -> None:
    path = written(tmp_path, "threshold,tp,fp\n0.25,20,500\n", "counts.csv")
    assert rocpr(path, "--positives", "20", "--negatives", "2000", "--include", "hull").stdout.splitlines()[6:] == [
        "Areas",
        "  roc                0.875000  ROC AUC: how often a positive outranks a negative",
        "  roc_hull           0.875000  the convex hull of the ROC curve",
        "  pr                 0.038462  PR AUC, between rows linear in counts",
        "  pr_trapezoid       0.038462  the same, by trapezoids at every integer tp",
        "  pr_achievable      0.038462  PR AUC of the rows on the hull",
        "  average_precision  0.038462  scikit-learn's average_precision_score",
        "",
        "Convex hull of the ROC curve: 3 rows",
        "  threshold  tp    fp    recall       fpr  precision",
        "          -   0     0  0.000000  0.000000          -",
        "       0.25  20   500  1.000000  0.250000   0.038462",
        "          -  20  2000  1.000000  1.000000   0.009901",
        "  -  threshold: nothing is called positive, or the data have none for this row;",
        "    precision: nothing is called positive",
    ]


def test_hull_is_a_word_of_the_summary(tmp_path: Path) -> None:
    path = twelve(tmp_path)
    assert "cannot be combined with --json" in running.refusal(rocpr(path, "--include", "hull", "--json"))
    request = written(tmp_path, CLASSIFIERS, "request.json")
    assert "--include is for tables" in running.refusal(rocpr(request, "--include", "hull"))
    picture = tmp_path / "curves.svg"
    done = rocpr(path, "--include", "hull,calibration", "--plot", picture)
    assert (done.exit_code, picture.exists()) == (0, True)
    assert ("Convex hull" in done.stdout, "Calibrated scores" in done.stdout) == (True, True)


def test_a_table_shows_the_corners_that_are_on_the_hull() -> None:
    run = rocpr(
        *("-", "--format", "csv", "--positives", "4", "--negatives", "4", "--include", "hull"),
        given="tp,fp\n1,0\n2,0\n3,1\n3,1\n4,2\n",
    )
    assert run.stdout.partition("Convex hull")[2].splitlines() == [
        " of the ROC curve: 4 rows",
        "  tp  fp    recall       fpr  precision",
        "   0   0  0.000000  0.000000          -",
        "   2   0  0.500000  0.000000   1.000000",
        "   4   2  1.000000  0.500000   0.666667",
        "   4   4  1.000000  1.000000   0.500000",
        "  -  precision: nothing is called positive",
    ]


def test_the_summary_asks_for_what_there_is() -> None:
    assert set(FIRST_SCREEN) <= set(OPERATIONS["curves"].parameters)


def test_a_long_hull_is_shown_from_end_to_end() -> None:
    tp = list(range(60))
    counts = {"tp": tp, "fp": [row * row for row in tp], "positives": 59, "negatives": 59 * 59}
    run = rocpr("-", "--format", "json", given=json.dumps({"counts": counts}))
    table = run.stdout.partition("Convex hull")[2].splitlines()
    assert table[0] == f" of the ROC curve: {MOST_ROWS} of 60 rows (--json has all)"
    assert len(table) == MOST_ROWS + 3
    assert (table[2].split()[0], table[-2].split()[0]) == ("0", "59")


def test_the_smaller_score_may_be_positive(named: Path) -> None:
    flags = ["--scores", "score", "--labels", "y", "--positive-label", "ham", "--lower-is-positive"]
    assert json.loads(rocpr(named, *flags, "--json").stdout)["auc"]["roc"] == 0.75
    assert areas_in(rocpr(named, *flags).stdout)["roc"] == "0.750000"


def test_weights_are_read_and_counts_need_not_be_whole() -> None:
    run = rocpr(
        *("-", "--format", "csv", "--weights", "w", "--include", "hull"),
        given="scores,labels,w\n2,1,0.5\n1,0,2.25\n0,1,1\n",
    )
    assert "\n  positives    1.5\n  negatives   2.25\n" in run.stdout
    assert areas_in(run.stdout)["pr_trapezoid"] == "-"
    assert "\nWarnings\n  pr_trapezoid_omitted: " in run.stdout


def test_thresholds_reduce_the_table(named: Path) -> None:
    run = rocpr(named, "--scores", "score", "--labels", "y", "--positive-label", "spam", "--thresholds", "[0.35]")
    assert "\nWarnings\n  reduced_table: " in run.stdout


def test_intervals_are_laid_out_next_to_their_areas(tmp_path: Path) -> None:
    path = DATA / "breast_cancer.csv"
    run = rocpr(path, "--intervals", '{"level": 0.9}')
    found = json.loads(answered(path.read_bytes(), intervals='{"level": 0.9}'))["intervals"]
    shown = run.stdout.partition("\nIntervals of the areas\n")[2].partition("\n\n")[0].splitlines()
    assert shown[0].split() == ["lower", "upper", "standard_error", "level", "method"]
    assert [line.split() for line in shown[1:]] == [
        [area, *(f"{one[key]:.6f}" for key in ("lower", "upper", "standard_error")), "0.9", "logit"]
        for area, one in found.items()
    ]
    assert max(map(len, run.stdout.splitlines()[1:])) <= 80
    request = written(tmp_path, {**CLASSIFIERS, "intervals": {}}, "request.json")
    assert "\n  average_precision      -      -               -      -  -\n" in rocpr(request).stdout


def test_operating_points_are_laid_out_with_their_rows() -> None:
    points = [
        {"metric": "precision_at_recall", "at": 0.75},
        {"metric": "recall_at_precision", "at": 0.9},
        {"metric": "f_measure", "at": 0.5},
    ]
    table = "scores,labels\n0.9,0\n0.75,1\n0.5,1\n0.25,0\n"
    run = rocpr("-", "--format", "csv", "--operating-points", json.dumps(points), given=table)
    assert (run.exit_code, run.stderr) == (0, "")
    assert run.stdout.partition("\nOperating points\n")[2].partition("\n\n")[0].splitlines() == [
        "  metric                 at     value  threshold  tp  fp",
        "  precision_at_recall  0.75  0.600000        0.5   2   1",
        "  recall_at_precision   0.9         -          -   -   -",
        "  f_measure             0.5  0.800000        0.5   2   1",
        "  -  value, threshold, tp, fp: no row meets the condition, or a warning says why",
    ]
    counts = rocpr(
        *("-", "--format", "csv", "--positives", "4", "--negatives", "4"),
        *("--operating-points", '[{"metric": "tpr_at_fpr", "at": 0.25}]'),
        given="tp,fp\n1,0\n3,1\n",
    )
    assert counts.stdout.partition("\nOperating points\n")[2].partition("\n\n")[0].splitlines() == [
        "  metric        at     value  tp  fp",
        "  tpr_at_fpr  0.25  0.750000   3   1",
    ]


def test_partial_areas_are_laid_out() -> None:
    ranges = [{"over": "fpr", "to": 0.5}, {"over": "recall"}, {"over": "fpr", "min_tpr": 0.5}]
    table = "scores,labels\n0.9,1\n0.75,0\n0.5,1\n0.25,0\n"
    run = rocpr("-", "--format", "csv", "--partial", json.dumps(ranges), given=table)
    assert (run.exit_code, run.stderr) == (0, "")
    assert run.stdout.partition("\nPartial areas\n")[2].partition("\n\n")[0].splitlines() == [
        "  over    from   to  min_tpr      area      mean   mcclish",
        "  fpr      0.0  0.5        -  0.250000  0.500000  0.666667",
        "  recall   0.0  1.0        -  0.797267  0.797267         -",
        "  fpr      0.0  1.0      0.5  0.250000  0.500000         -",
        "  -  min_tpr: not given; mcclish: only over fpr or tpr, without min_tpr",
    ]


def test_costs_are_laid_out() -> None:
    asked = '{"prevalence": [0, 0.25], "fn_cost": 5}'
    run = rocpr("-", "--format", "csv", "--costs", asked, given="scores,labels\n0.9,1\n0.75,0\n0.5,1\n0.25,0\n")
    assert (run.exit_code, run.stderr) == (0, "")
    assert run.stdout.partition("\nCosts\n")[2].partition("\n\n")[0].splitlines() == [
        "  prevalence   cost  normalized_cost  threshold  tp  fp",
        "         0.0      0         0.000000          -   0   0",
        "        0.25  0.375         0.187500        0.5   2   1",
        "  -  threshold: nothing is called positive",
    ]


def test_calibration_and_statistics_are_laid_out() -> None:
    table = "scores,labels\n0.9,1\n0.75,0\n0.5,1\n0.25,0\n"
    run = rocpr("-", "--format", "csv", "--include", "calibration, statistics", given=table)
    assert (run.exit_code, run.stderr) == (0, "")
    assert run.stdout.partition("\nStatistics\n")[2].partition("\n\n")[0].splitlines() == [
        "  ks                      0.500000",
        "  ks_threshold                 0.9",
        "  prg                     0.250000",
        "  brier                   0.221250",
        "  miscalibration          0.096250",
        "  discrimination          0.125000",
        "  uncertainty             0.250000",
        "  gini                    0.500000",
        "  eer                     0.500000",
        "  eer_threshold               0.75",
        "  log_loss                0.618121",
        "  ece                     0.400000",
        "  ece_if_calibrated       0.332324",
        "  calibration_slope       0.826665",
        "  calibration_intercept  -0.549306",
    ]
    assert run.stdout.partition("\nCalibrated scores: 3 rows\n")[2].partition("\n\n")[0].splitlines() == [
        "  score_from  score_to  positives  negatives  calibrated",
        "        0.25      0.25          0          1    0.000000",
        "         0.5      0.75          1          1    0.500000",
        "         0.9       0.9          1          0    1.000000",
    ]
    assert "\nConvex hull" not in run.stdout
    other = rocpr("-", "--format", "csv", "--include", "points", given=table)
    assert (other.exit_code, "needs --json" in other.stderr) == (2, True)


def test_a_wrong_option_is_pointed_to(named: Path) -> None:
    run = rocpr(named, "--scores", "score", "--labels", "y", "--positive-label", "spam", "--intervals", '{"level": 2}')
    assert run.exit_code == 2
    assert run.stderr.startswith(f"Error: {named}: These options cannot be used.\n  --intervals/level: ")
    run = rocpr(named, "--scores", "prob", "--labels", "y")
    assert run.stderr.startswith(
        f"Error: {named}: These options cannot be used.\n  --scores: There is no column 'prob'; "
    )


@pytest.mark.parametrize("name", ["keep", "labels"])
def test_an_error_in_a_column_does_not_point_to_the_option_that_names_it(tmp_path: Path, name: str) -> None:
    """Nor to an option of the same name that the summary requests."""
    path = written(tmp_path, f"scores,{name}\n0.9,1\n0.4,1\n", "one.csv")
    run = rocpr(path, "--labels", name)
    assert run.stderr.startswith(f"Error: {path}: This cannot be used.\n  column {name}: All 2 labels are positive")


def test_a_json_file_carries_its_own_options(tmp_path: Path) -> None:
    path = written(tmp_path, {**CLASSIFIERS, "include": ["auc"]}, "request.JSON")
    run = rocpr(path)
    assert areas_in(run.stdout)["roc"] == "-"
    assert "Convex hull" not in run.stdout
    assert "\nWarnings\n  not_a_sweep: " in run.stdout
    assert rocpr(path, "--json").stdout_bytes == answered(path.read_bytes(), "application/json")
    path.write_text(json.dumps({**CLASSIFIERS, "include": ["points"]}))
    assert "Areas" not in rocpr(path).stdout


def test_an_empty_label_is_a_label() -> None:
    run = rocpr("-", "--format", "csv", "--positive-label", "", given="scores,labels\n2,\n1,x\n")
    assert areas_in(run.stdout)["roc"] == "1.000000"


def test_decisions_are_shown_with_their_metrics() -> None:
    asked = '[{"at_threshold": 0.5}, {"at_share": 0}, {"best": "recall", "min_precision": 1, "min_recall": 1}]'
    shown = rocpr(DATA / "breast_cancer.csv", "--decisions", asked, "--metrics", "recall,f1,mcc,npv,share").stdout
    found = shown.partition("\n\nDecisions\n")[2].partition("\n\nAreas")[0]
    assert [" ".join(line.split()) for line in found.splitlines()] == [
        "decision threshold tp fp fn tn",
        "threshold 0.5 0.5 204 3 8 354",
        "share 0 - 0 0 212 357",
        "best recall, precision >= 1, recall >= 1 - - - - -",
        "- threshold: nothing is called positive, or no row meets the condition, or a",
        "warning says why; tp, fp: no row meets the condition, or a warning says why",
        "",
        "decision recall npv f1 mcc",
        "threshold 0.5 0.962264 0.977901 0.973747 0.958622",
        "share 0 0.000000 0.627417 0.000000 -",
        "best recall, precision >= 1, recall >= 1 - - - -",
        "",
        "decision share",
        "threshold 0.5 0.363796",
        "share 0 0.000000",
        "best recall, precision >= 1, recall >= 1 -",
        "- undefined: a denominator is 0",
    ]


def test_a_single_decision_is_a_matrix(tmp_path: Path) -> None:
    shown = rocpr(twelve(tmp_path), "--at-share", "0.5", "--metrics", "precision,mcc").stdout
    assert shown.splitlines()[6:19] == [
        "Decision: share 0.5, at threshold 0.6",
        "             called positive  called negative  all",
        "  positives                4                1    5",
        "  negatives                2                5    7",
        "  all                      6                6   12",
        "",
        "  precision  0.666667",
        "  mcc        0.507093",
        "",
        "Areas",
        "  roc                0.785714  ROC AUC: how often a positive outranks a negative",
        "  average_precision  0.764444  scikit-learn's average_precision_score",
        "  pr                 0.758386  PR AUC, between rows linear in counts",
    ]
    assert len(shown.splitlines()) == 19
    with_level = rocpr(twelve(tmp_path), "--at", "0.5", "--level", "0.95").stdout
    assert "\nDecision: threshold 0.5\n" in with_level
    assert ["value", "lower", "upper"] in [line.split() for line in with_level.splitlines()]
    assert ["mcc", "0.371429", "-0.189658", "0.728579"] in [line.split() for line in with_level.splitlines()]


@pytest.mark.parametrize(
    ("options", "title"),
    [
        (["--at-share", "0"], "share 0, where nothing is called positive"),
        (["--min-recall", "1", "--min-precision", "1"], "best recall, precision >= 1, recall >= 1 is met by no row"),
        (["--best", "youden"], "best youden, at threshold 0.6"),
    ],
)
def test_the_title_of_a_decision(tmp_path: Path, options: list[str], title: str) -> None:
    assert f"\nDecision: {title}" in rocpr(twelve(tmp_path), *options).stdout


def test_few_metrics_are_beside_the_counts(tmp_path: Path) -> None:
    shown = rocpr(twelve(tmp_path), "--at", "0.5,0.99", "--metrics", "precision,f1").stdout
    assert shown.splitlines()[6:12] == [
        "Decisions",
        "  decision        threshold  tp  fp  fn  tn  precision        f1",
        "  threshold 0.5         0.5   4   3   1   4   0.571429  0.666667",
        "  threshold 0.99       0.99   0   0   5   7          -  0.000000",
        "  -  precision: nothing is called positive",
        "",
    ]


@pytest.mark.parametrize(
    ("options", "decisions"),
    [
        (["--at", "0.5,0.9"], [{"at_threshold": 0.5}, {"at_threshold": 0.9}]),
        (["--at-share", "0.01"], [{"at_share": 0.01}]),
        (["--at-recall", "0.9", "--at-fpr", "0.05"], [{"at_fpr": 0.05}, {"at_recall": 0.9}]),
        (["--best", "mcc, f1"], [{"best": "mcc"}, {"best": "f1"}]),
        (["--best", "f1", "--max-share", "0.4"], [{"best": "f1", "max_share": 0.4}]),
        (["--min-recall", "0.9,0.5"], [{"best": "precision", "min_recall": each} for each in (0.9, 0.5)]),
        (["--max-fpr", "0.1"], [{"best": "recall", "max_fpr": 0.1}]),
        (["--min-specificity", "0.9"], [{"best": "recall", "min_specificity": 0.9}]),
        (["--min-precision", "0.9"], [{"best": "recall", "min_precision": 0.9}]),
        (["--at", "-0.5"], [{"at_threshold": -0.5}]),
    ],
)
def test_decisions_without_json(options: list[str], decisions: list[dict[str, Any]]) -> None:
    """Each option is the field of its name; a limit alone means the best of what it trades off."""
    table = DATA / "breast_cancer.csv"
    found = rocpr(table, *options, "--json")
    assert (found.exit_code, found.stderr) == (0, "")
    assert found.stdout == rocpr(table, "--decisions", json.dumps(decisions), "--json").stdout


def test_a_level_asks_for_intervals() -> None:
    run = rocpr(DATA / "breast_cancer.csv", "--at", "0.5", "--best", "f1", "--level", "0.95", "--metrics", "mcc,f1")
    rows = [line.split() for line in run.stdout.splitlines()]
    assert ["threshold", "0.5", "value", "lower", "upper"] in rows
    assert ["mcc", "0.958622", "0.926903", "0.976792"] in rows
    assert ["f1", "0.976190", "-", "-"] in rows
    assert "chosen on the same data" in run.stdout


@pytest.mark.parametrize(
    ("options", "told"),
    [
        (["--at", "half"], "--at takes numbers such as 0.5,0.9, not 'half'."),
        (["--level", "high"], "--level takes numbers such as 0.5,0.9, not 'high'."),
        (["--level", "0.9,0.95"], "--level takes one number, not '0.9,0.95'."),
        (["--at", "0.5", "--decisions", "0.9"], "--decisions cannot be combined with options for single decisions."),
        (["--level", "0.9", "--intervals", "{}"], "--intervals cannot be combined with --level."),
        (["--at-share", "2"], "This is above 1."),
        (["--best", "f1_score"], "\n  --best: Did you mean f1?"),
        (["--at", "0.5", "--best", "mcc,lr_positive"], "\n  --best: Must be one of accuracy, "),
        (["--best", "f1", "--max-fpr", "2"], "\n  --max-fpr: This is above 1."),
        (["--at-recall", "-1"], "\n  --at-recall: This is below 0."),
        (["--at", "0.5", "--level", "95"], "\n  --level: This must be below 1."),
        (["--decisions", '[{"best": "share"}]'], "\n  --decisions/0/best: Must be one of "),
    ],
)
def test_options_for_decisions_that_are_refused(options: list[str], told: str) -> None:
    run = rocpr(DATA / "breast_cancer.csv", *options)
    assert (run.exit_code, run.stdout) == (2, "")
    assert told in run.stderr


@pytest.mark.parametrize("kind", ["pointwise", "simultaneous"])
def test_a_band_is_named_by_its_kind(kind: str) -> None:
    table = DATA / "breast_cancer.csv"
    as_json = rocpr(table, "--band", json.dumps({"kind": kind}), "--json").stdout
    assert rocpr(table, "--band", kind, "--json").stdout == as_json
    run = rocpr(table, "--band", kind, "--level", "0.8")
    assert f"Band of the ROC curve: {MOST_ROWS} of 101 rows" in run.stdout
    assert "Band of the precision-recall curve" in run.stdout
    assert max(map(len, run.stdout.splitlines()[1:])) <= 80
