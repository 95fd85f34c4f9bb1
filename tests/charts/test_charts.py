"""Each operation's picture shows what its answer says."""

from __future__ import annotations

import json

import numpy as np
import pytest

from service.charts.plane import LEFT, TOP
from service.charts.terminal import in_ascii
from service.charts.theme import hue
from service.curves.counts import Counts
from service.inference.gate import evaluate_gate
from service.inference.rules import Rule
from service.inference.verdicts import GateOptions
from service.wire.answers.gate_answers import gate_of
from service.wire.media_types import SVG, TEXT
from tests import reference_drawing as slow
from tests.charts.drawing import BODIES, NAMESPACE, NO_SWEEP, SAMPLE, comparison, described, drawn, lines, sample, texts
from tests.reference import table_of_sample
from tests.support.asking import answered, ask
from tests.support.verdicts import document_of

SIDE = 200
ROUNDED = 0.01


def in_plane(points: slow.Polyline) -> slow.Polyline:
    """Convert pixels of the picture to pixels of its first plane, upwards; without a title the plane starts at 8."""
    return np.column_stack((points[:, 0] - LEFT, 8 + TOP + SIDE - points[:, 1]))


@pytest.mark.parametrize("chart", ["roc", "pr"])
def test_the_line_that_is_drawn_is_the_exact_curve(chart: str) -> None:
    body = sample(60, 1.0)
    line, _in_legend = lines(drawn("curves", body, chart=chart, side=str(SIDE)), "s0")
    table = table_of_sample(body["scores"], body["labels"])
    exact = slow.roc_curve(table, SIDE) if chart == "roc" else slow.pr_curve(table, SIDE, pieces=12)
    assert slow.apart(in_plane(line), exact) <= 0.25 + slow.STEP + ROUNDED


@pytest.mark.parametrize("chart", ["roc", "pr"])
def test_classes_are_drawn_like_samples_of_their_own(chart: str) -> None:
    scores, labels = BODIES["classes"]["scores"], BODIES["classes"]["labels"]
    picture = drawn("classes", BODIES["classes"], chart=chart, side=str(SIDE))
    for number, name in enumerate(scores):
        body = {"scores": scores[name], "labels": labels, "positive_label": name}
        line, _in_legend = lines(picture, hue(number))
        alone, _in_legend = lines(drawn("curves", body, chart=chart, side=str(SIDE)), "s0")
        np.testing.assert_array_equal(in_plane(line), in_plane(alone))


def test_curves_have_their_areas_and_intervals() -> None:
    whole = answered("curves", BODIES["curves"])
    picture = drawn("curves", BODIES["curves"])
    shown = " ".join(texts(picture)).replace("\xa0", " ")
    for name in ("roc", "pr", "average_precision"):
        interval = whole["intervals"][name]
        text = f"{whole['auc'][name]:.4f} (95 %: {interval['lower']:.4f} to {interval['upper']:.4f})"
        assert text in shown
        assert text in described(picture).replace("\xa0", " ")
    assert f"Convex hull, area {whole['auc']['roc_hull']:.4f}" in shown
    assert f"Achievable, area {whole['auc']['pr_achievable']:.4f}" in shown


def test_the_description_reads_the_curves() -> None:
    said = described(drawn("curves", SAMPLE))
    assert said.startswith("3 positives and 3 negatives. ROC curve, area 0.7778. At false positive rates")
    assert "Convex hull, area 0.8889." in said
    assert (
        "At false positive rates of 0.01, 0.05, 0.1 and 0.2 the true positive rate is 0.33, 0.33, 0.33 and 0.33."
        in said
    )
    assert "At recalls of 0.5, 0.8, 0.9 and 0.95 the precision is 0.60, 0.71, 0.73 and 0.74." in said


@pytest.mark.parametrize("operation", ["curves", "tradeoffs"])
def test_the_description_ends_with_the_warnings_that_the_picture_shows(operation: str) -> None:
    body = {"scores": [0.9, 0.5, 0.2], "labels": ["cat", "dog", "owl"], "positive_label": "cat"}
    picture = drawn(operation, body)
    assert any(text.startswith("Warning: one_vs_rest") for text in texts(picture))
    assert "Warning: one_vs_rest. 'cat', in 1 row, is positive;" in described(picture)


def test_marks_have_a_dot_and_the_rates_of_their_row() -> None:
    picture = drawn("curves", SAMPLE, mark="[0.75, 99]")
    shown = texts(picture)
    assert "Threshold 0.75: recall 0.3333, fpr 0.3333, precision 0.5000" in shown
    assert "Threshold 99: recall 0.0000, fpr 0.0000, precision -" in shown
    assert shown.count("2") == 1 + 2  # in the ROC plane with its halo, and in the legend; there is no precision
    assert "Threshold 0.75: recall 0.3333, fpr 0.3333, precision 0.5000." in described(picture)


def test_marks_of_counts_are_rows_that_are_listed() -> None:
    body = {"counts": {"tp": [1, 2], "fp": [0, 1], "positives": 3, "negatives": 3, "threshold": [0.9, 0.5]}}
    shown = texts(drawn("curves", body, mark="[0.5, 0.7]"))
    assert "Threshold 0.5: recall 0.6667, fpr 0.3333, precision 0.6667" in shown
    assert "Threshold 0.7 belongs to no row, or to several." in shown


def test_operating_points_have_letters() -> None:
    points = [{"metric": "recall_at_precision", "at": 1}, {"metric": "precision_at_recall", "at": 0.5}] * 6
    shown = texts(drawn("curves", SAMPLE | {"operating_points": points}, side="400"))
    assert "recall_at_precision 1: 0.3333, threshold 0.9: recall 0.3333, fpr 0.0000, precision 1.0000" in shown
    assert "2 more operating points are not drawn." in shown


@pytest.mark.parametrize("chart", ["roc", "pr"])
def test_letters_stay_in_the_plane(chart: str) -> None:
    body = {"scores": [0.9, 0.8, 0.2, 0.1], "labels": [1, 1, 0, 0]}
    picture = drawn("curves", body, chart=chart, side=str(SIDE), mark="[9, 0.9, 0.8, 0.1]")
    letters = [each for each in picture.iter(f"{NAMESPACE}text") if each.get("stroke")]
    assert len(letters) == (4 if chart == "roc" else 3)  # no precision where nothing is called positive
    for letter in letters:
        assert LEFT < float(letter.get("x", "")) < LEFT + SIDE
        assert 8 + TOP < float(letter.get("y", "")) < 8 + TOP + SIDE


def test_letters_do_not_overlap() -> None:
    picture = drawn("curves", SAMPLE, chart="roc", mark="[0.9, 0.85, 0.81, 0.8]")
    places = [
        (float(element.get("x", "")), float(element.get("y", "")))
        for element in picture.iter(f"{NAMESPACE}text")
        if element.get("text-anchor") == "middle" and (element.text or "") in "1234" and element.get("class") == "ink"
    ]
    assert len(set(places)) == 4


def test_rows_that_form_no_curve_are_dots() -> None:
    picture = drawn("curves", NO_SWEEP)
    assert "Rows, which form no curve" in texts(picture)
    paths = [element for element in picture.iter(f"{NAMESPACE}path") if element.get("stroke-width") == "5"]
    assert [len((path.get("d") or "").split("M")) - 1 for path in paths] == [5, 4]
    assert any(text.startswith("Warning: not_a_sweep") for text in texts(picture))
    assert "ROC curve" not in described(picture)


def test_many_dots_become_few() -> None:
    random = np.random.default_rng(1)
    tp, fp = random.integers(0, 1000, (2, 30_000))
    body = {"counts": {"tp": tp.tolist(), "fp": fp.tolist(), "positives": 1000, "negatives": 1000}}
    assert len(ask("curves", body, accept=SVG).body) < 400_000


def test_warnings_are_reported_in_the_header_too() -> None:
    result = ask("curves", NO_SWEEP, accept=SVG)
    assert [warning["code"] for warning in json.loads(result.headers["Rocpr-Warnings"])] == ["not_a_sweep"]


def test_trade_offs_have_their_areas_and_thresholds() -> None:
    body = BODIES["tradeoffs"]
    whole = answered("tradeoffs", body | {"at_lambda": [0.2, 0.5, 0.8]})["tradeoffs"]
    picture = drawn("tradeoffs", body, side=str(SIDE))
    for number, (name, found) in enumerate(whole.items()):
        assert any(text.startswith(f"{name}, area {found['area']:.4f}") for text in texts(picture))
        line = in_plane(next(lines(picture, hue(number)))) / SIDE
        assert np.interp([0.2, 0.5, 0.8], line[:, 0], line[:, 1]) == pytest.approx(found["at"]["value"], abs=0.3 / SIDE)
    thresholds = whole["kulczynski"]["at"]["threshold"]
    assert f"The best threshold is {thresholds[0]:.4g} at λ 0.2, {thresholds[1]:.4g} at λ 0.5" in described(picture)


@pytest.mark.parametrize("thresholds", [[1e308, -1e308], [5e-324, 0], [0.5, 0.5], None])
def test_thresholds_of_any_size_are_drawn(thresholds: list[float] | None) -> None:
    counts = {"tp": [1, 3], "fp": [0, 2], "positives": 4, "negatives": 9}
    picture = drawn("tradeoffs", {"counts": counts | ({"threshold": thresholds} if thresholds else {})})
    assert any(text.startswith("Best threshold by") for text in texts(picture)) == (thresholds is not None)
    assert all(np.isfinite(line).all() for line in lines(picture, "s0"))


def test_comparisons_say_who_is_best() -> None:
    body = comparison("old", "new")
    whole = answered("comparisons", body)
    picture = drawn("comparisons", body)
    assert [text for text in texts(picture) if "old" in text] == [
        f"1\xa0\xa0old, ROC\xa0{whole['auc']['roc'][0]:.4f}, PR\xa0{whole['auc']['pr'][0]:.4f}"
    ]
    strips = [element for element in picture.iter(f"{NAMESPACE}rect") if element.get("class") in {"s0", "s1"}]
    best = {f"s{['old', 'new'].index(name)}" for names in whole["best_roc"]["best"] for name in names}
    assert {element.get("class") for element in strips} == best
    assert "Most true positives at false positive rates" in described(picture)
    by_index = drawn("comparisons", body | {"indices": ["jaccard"]}, chart="best_tradeoff")
    assert "Best by jaccard" in texts(by_index)
    assert "Best by f_measure" not in texts(by_index)


def test_a_strip_shows_who_is_best_at_each_rate() -> None:
    body = comparison("old", "new", rows=60)
    best = answered("comparisons", body)["best_roc"]
    strip = drawn("comparisons", body, chart="roc", side=str(SIDE))
    for pixel in range(SIDE):
        rate = (pixel + 0.5) / SIDE
        row = next(row for row, end in enumerate(best["fpr_to"]) if rate <= end)
        expected = {f"s{['old', 'new'].index(name)}" for name in best["best"][row]}
        boxes = [element for element in strip.iter(f"{NAMESPACE}rect") if element.get("class") in {"s0", "s1"}]
        at = LEFT + pixel + 0.5
        found = {
            box.get("class")
            for box in boxes
            if float(box.get("x", "")) < at < float(box.get("x", "")) + float(box.get("width", ""))
        }
        assert found == expected


def test_fifty_models_are_drawn() -> None:
    picture = drawn("comparisons", comparison(*(f"model {number}" for number in range(50)), rows=40))
    assert sum(text.split("\xa0")[0].isdecimal() and "model" in text for text in texts(picture)) == 50


def test_comparisons_without_a_sweep_have_dots() -> None:
    evaluations = [
        NO_SWEEP | {"name": "some"},
        {"counts": {"tp": [5], "fp": [1], "positives": 10, "negatives": 10}, "name": "b"},
    ]
    picture = drawn("comparisons", {"evaluations": evaluations})
    assert any(text.startswith("Warning: not_a_sweep") for text in texts(picture))
    assert not any(text.startswith("Best by") for text in texts(picture))


def test_gates_have_verdict_and_numbers() -> None:
    body = BODIES["gates"]
    whole = answered("gates", body)
    picture = drawn("gates", body)
    shown = texts(picture)
    assert sum(text == "✗ failed" for text in shown) == sum(check["status"] == "failed" for check in whole["checks"])
    assert "✗ Gate failed" in shown
    first = whole["checks"][0]
    numbers = (
        f"value {first['value']:.4f}, interval {first['interval']['lower']:.4f} to {first['interval']['upper']:.4f}"
    )
    assert f"{numbers}, bound 0.8" in shown
    for check in whole["checks"]:
        assert check["reason"] in described(picture)


def test_a_gate_is_read_back_from_its_answer() -> None:
    evaluation, baseline = (
        Counts(*(np.array([8.0]), np.array([2.0])), 10, 10),
        Counts(np.array([9.0]), np.array([1.0]), 10, 10),
    )
    rules = (Rule("roc", min=0.5), Rule("roc", max_drop=0.01), Rule("roc", min=0.7, confidence=0.9))
    document = document_of(evaluate_gate(evaluation, baseline, GateOptions(rules)))
    assert document_of(gate_of(document)) == document


def test_a_failed_gate_is_drawn_with_its_status() -> None:
    result = ask("gates", BODIES["gates"] | {"fail_status": 424}, accept=SVG)
    assert (result.status, result.media_type) == (424, SVG)


def test_curves_in_characters_fit_a_terminal() -> None:
    text = ask("curves", sample(2_000, 1.5), accept=TEXT, title="A model").body.decode()
    assert text.startswith("A model\n\nROC curve, area 0.")
    assert all(len(line) <= 60 and line == line.rstrip() for line in text.splitlines())
    plain = in_ascii(text)
    assert plain.isascii()
    assert [len(line.rstrip()) for line in plain.splitlines()] == [len(line) for line in text.splitlines()]
    roc = ask("curves", sample(2_000, 1.5), accept=TEXT, chart="roc").body.decode()
    assert "Precision-recall" not in roc


def test_characters_show_intervals_and_what_forms_no_curve() -> None:
    body = BODIES["curves"] | {"intervals": {"level": 0.999, "method": "delong"}}
    text = ask("curves", body, accept=TEXT).body.decode()
    assert "(99.9 %: 0." in text
    assert all(len(line) <= 60 for line in text.splitlines())
    assert ask("curves", NO_SWEEP, accept=TEXT).body.decode().startswith("ROC: Rows, which form no curve\n")


def test_characters_show_the_curve() -> None:
    """A perfect model goes up the left side and along the top."""
    text = ask("curves", {"scores": [2, 1], "labels": [1, 0]}, accept=TEXT, chart="roc").body.decode()
    rows = [line.partition("│")[2] for line in text.splitlines() if "│" in line]
    assert all(row[0] != " " for row in rows)
    assert " " not in rows[0]
    assert len(rows[0]) == 54


def test_many_rows_are_a_small_picture() -> None:
    random = np.random.default_rng(3)
    labels = random.random(60_000) < 0.1
    scores = random.normal(size=60_000) + 1.5 * labels
    body = "scores,labels\n" + "\n".join(
        f"{score!r},{label:d}" for score, label in zip(scores.tolist(), labels.tolist(), strict=True)
    )
    picture = ask("curves", body, content_type="text/csv", accept=SVG)
    assert len(picture.body) < 60_000
