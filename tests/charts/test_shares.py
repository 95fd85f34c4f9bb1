"""Gains, lift, net benefit and DET: the drawn lines are those of the numbers, also between rows."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from scipy.stats import norm

from service.charts.plane import round_ticks
from service.wire.media_types import TEXT
from tests import reference_drawing as slow
from tests.charts.drawing import NAMESPACE, NO_SWEEP, SAMPLE, comparison, described, drawn, lines, sample, texts
from tests.reference import Table, table_of_sample
from tests.support.asking import answered, ask

SIDE = 200
BODY = sample(60, 1.0)
PROBABLE = BODY | {"scores": [round(1 / (1 + 2.718 ** (1 - score)), 2) for score in BODY["scores"]]}
TABLE = table_of_sample(BODY["scores"], BODY["labels"])
NEAR = 0.25 + slow.STEP + 0.01
CHARTS = ("gains", "lift", "net_benefit", "det")


def placed(chart: str, body: Any = BODY, **options: str) -> list[slow.Polyline]:
    """The pieces of the line of a picture, in pixels of its plane, upwards; the last is its sample in the legend."""
    picture = drawn("curves", body, chart=chart, side=str(SIDE), **options)
    left, top = np.concatenate([*lines(picture, "grid")]).min(axis=0)
    right, bottom = np.concatenate([*lines(picture, "grid")]).max(axis=0)
    found = [(line - (left, bottom)) * (SIDE / (right - left), SIDE / (top - bottom)) for line in lines(picture, "s0")]
    return found[:-1]


def rates(table: Table) -> tuple[np.ndarray, np.ndarray]:
    points = slow.roc_curve(table, 1)
    return points[:, 0], points[:, 1]


def shares(table: Table) -> tuple[np.ndarray, np.ndarray]:
    """The share called positive, and recall."""
    fpr, tpr = rates(table)
    prevalence = float(table.positives / (table.positives + table.negatives))
    return prevalence * tpr + (1 - prevalence) * fpr, tpr


def test_gains_are_recall_over_share() -> None:
    (line,) = placed("gains")
    assert slow.apart(line, SIDE * np.column_stack(shares(TABLE))) <= 2 * NEAR
    roc = answered("curves", BODY)["auc"]["roc"]
    picture = drawn("curves", BODY, chart="gains")
    assert f"Gini coefficient {2 * roc - 1:.4f}" in " ".join(texts(picture))
    assert "Perfect model" in described(picture)


@pytest.mark.parametrize("body", [BODY, BODY | {"scores": np.round(BODY["scores"]).tolist()}])
def test_lift_bends_within_a_tie(body: dict[str, Any]) -> None:
    """At a share within a tie, recall is in proportion, and lift is recall over the share."""
    share, recall = shares(table_of_sample(body["scores"], body["labels"]))
    at = np.union1d(np.linspace(0.0005, 1, 8000), share[1:])
    lift = np.interp(at, share, recall) / at
    at, lift = np.append(0, at), np.append(lift[0], lift)
    (line,) = placed("lift", body)
    assert slow.apart(line, SIDE * np.column_stack((at, lift / lift.max()))) <= 2 * NEAR


@pytest.mark.parametrize("lower", [False, True])
@pytest.mark.parametrize("prevalence", [None, 0.1])
def test_net_benefit_is_that_of_the_table_at_every_probability(*, lower: bool, prevalence: float | None) -> None:
    scores = [round(1 - score, 2) if lower else score for score in PROBABLE["scores"]]
    asked = {} if prevalence is None else {"prevalence": prevalence}
    at = [(place + 0.5) / 100 for place in range(100)]
    body = PROBABLE | {"scores": scores, "lower_is_positive": lower, "net_benefit": asked}
    table = answered("curves", body | {"net_benefit": asked | {"thresholds": at}})["net_benefit"]
    most = sum(BODY["labels"]) / 60 if prevalence is None else prevalence
    heights = [SIDE * (each / most + 0.25) / 1.25 for each in table["net_benefit"]]
    pieces = placed("net_benefit", body)
    seen = 0
    for place, height in zip(at, heights, strict=True):
        there = [piece for piece in pieces if piece[0, 0] - 0.3 <= SIDE * place <= piece[-1, 0] + 0.3]
        if height < -0.5:
            assert not there
        for piece in there:
            seen += 1
            assert np.interp(SIDE * place, piece[:, 0], piece[:, 1]) == pytest.approx(height, abs=0.6)
    assert seen > 30
    assert "Acting on all" in described(drawn("curves", body, chart="net_benefit"))


def test_scores_that_are_no_probabilities_have_no_net_benefit() -> None:
    assert "No threshold is a probability" in described(drawn("curves", BODY, chart="net_benefit"))
    assert placed("net_benefit") == []


def test_net_benefit_of_counts_is_a_dot_at_each_threshold() -> None:
    counts = {"tp": [2, 4], "fp": [1, 2], "threshold": [0.6, 0.3], "positives": 5, "negatives": 7}
    picture = drawn("curves", {"counts": counts}, chart="net_benefit")
    (dots,) = [each for each in picture.iter(f"{NAMESPACE}path") if each.get("stroke-width") == "5"]
    assert dots.get("d", "").count("M") == 2


@pytest.mark.parametrize("lift", [0.5, 2.0])
def test_det_is_straight_between_rows_in_rates_not_on_its_axes(lift: float) -> None:
    body = sample(300, lift)
    table = table_of_sample(body["scores"], body["labels"])
    fpr, tpr = rates(table)
    least = 1 / (2 * max(sum(body["labels"]), 300 - sum(body["labels"])))
    low, high = norm.ppf(least), norm.ppf(0.99)
    steps = np.linspace(0, fpr.size - 1, 400 * fpr.size)
    exact = np.column_stack([np.interp(steps, np.arange(fpr.size), each) for each in (fpr, 1 - tpr)])
    inside = ((exact >= least) & (exact <= 0.99)).all(axis=1)
    points = SIDE * (norm.ppf(exact[inside]) - low) / (high - low)
    (line,) = placed("det", body)
    assert slow.apart(line, points) <= 3 * NEAR
    eer = answered("curves", body | {"include": ["statistics"]})["statistics"]["eer"]
    assert f"Equal error rate {eer:.4f}" in described(drawn("curves", body, chart="det"))


def test_separate_classes_are_beyond_the_axes_of_det() -> None:
    body = {"scores": [4, 3, 2, 1], "labels": [1, 1, 0, 0]}
    assert placed("det", body) == []
    assert "DET curve: beyond the axes" in described(drawn("curves", body, chart="det"))


@pytest.mark.parametrize("chart", CHARTS)
def test_what_is_no_sweep_is_drawn_as_dots(chart: str) -> None:
    counts = NO_SWEEP["counts"] | {"threshold": [0.6, 0.4, 0.2]}
    picture = drawn("curves", {"counts": counts}, chart=chart)
    assert any(each.get("stroke-width") in {"5", "7"} for each in picture.iter(f"{NAMESPACE}path"))


@pytest.mark.parametrize(("chart", "number"), [("gains", "Gini"), ("det", "EER")])
def test_comparisons_have_a_line_for_each(chart: str, number: str) -> None:
    body = comparison("old", "new", "third", rows=300)
    picture = drawn("comparisons", body, chart=chart, side=str(SIDE))
    samples = [{"scores": each["scores"], "labels": each["labels"]} for each in body["evaluations"]]
    alone = [next(lines(drawn("curves", each, chart=chart, side=str(SIDE)), "s0")).tolist() for each in samples]
    assert [next(lines(picture, f"s{place}")).tolist() for place in range(3)] == alone
    assert sum(number in text for text in texts(picture)) == 3
    assert "Chance" in described(picture)


@pytest.mark.parametrize("chart", CHARTS)
def test_a_terminal_has_the_numbers_of_the_axes(chart: str) -> None:
    text = ask("curves", PROBABLE, accept=TEXT, chart=chart).body.decode()
    assert max(map(len, text.splitlines())) <= 60
    assert {"gains": "0.5", "lift": "│", "net_benefit": "0.2 │", "det": "50"}[chart] in text
    assert "⡀" in text or "⠁" in text


@pytest.mark.parametrize(
    ("low", "high", "wanted"),
    [
        (0, 1, ["0", "0.2", "0.4", "0.6", "0.8", "1"]),
        (0, 2.6, ["0", "1", "2"]),
        (-0.1, 0.4, ["-0.1", "0", "0.1", "0.2", "0.3", "0.4"]),
        (-2.5e-301, 1e-300, ["-2.5e-301", "0", "2.5e-301", "5e-301", "7.5e-301", "1e-300"]),
        (0, 1.7e308, ["0", "5e+307", "1e+308", "1.5e+308"]),
    ],
)
def test_ticks_are_round_numbers(low: float, high: float, wanted: list[str]) -> None:
    found = round_ticks(low, high)
    assert [text for _, text in found] == wanted
    for place, text in found:
        assert low + place * (high - low) == pytest.approx(float(text), abs=1e-9 * (high - low))


def test_small_samples_are_drawn() -> None:
    for chart in CHARTS:
        assert described(drawn("curves", SAMPLE, chart=chart))
