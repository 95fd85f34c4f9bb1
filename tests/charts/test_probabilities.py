"""The calibration diagram and the cost curve: the drawing shows what the numbers say."""

from __future__ import annotations

import re
from typing import Any

import numpy as np
import pytest

from service.charts.probabilities import lowest_lines
from service.curves.confusion import ConfusionTable
from service.curves.drawing import DrawingOptions, along, curves_drawing
from service.curves.hull import RocHull
from service.curves.sample import Sample
from service.curves.simplification import Line
from service.wire.media_types import SVG
from tests.support.asking import answered, ask

RANDOM = np.random.default_rng(4)
LABELS = RANDOM.random(60) < 0.4
SCORES = np.round(RANDOM.random(60) * 0.6 + 0.4 * LABELS, 2)
BODY = {"scores": SCORES.tolist(), "labels": LABELS.astype(int).tolist()}


def drawn(chart: str, body: dict[str, Any] = BODY) -> str:
    result = ask("curves", body, accept=SVG, chart=chart)
    assert result.status == 200, result.body
    return bytes(result.body).decode()


def test_the_envelope_is_the_least_of_all_rows() -> None:
    """Drummond and Holte: the lower envelope of the lines x fnr + (1 - x) fpr of all rows."""
    table = ConfusionTable.from_sample(Sample(SCORES, LABELS))
    fpr, tpr = table.fp / table.negatives, table.tp / table.positives
    hull = RocHull.of(table).vertices
    found = lowest_lines(Line(fpr[hull], tpr[hull]))
    x = np.linspace(0, 1, 201)[:, np.newaxis]
    least = (x * (1 - tpr) + (1 - x) * fpr).min(axis=1)
    np.testing.assert_allclose(np.interp(x[:, 0], found.x, found.y), least, atol=1e-12)


def test_dots_are_the_costs_of_the_answer() -> None:
    options = {"costs": {"prevalence": [0.1, 0.5], "fn_cost": 4, "fp_cost": 1}}
    costs = answered("curves", BODY | options)["costs"]
    picture = drawn("costs", BODY | options)
    for prevalence, cost, normalized in zip(costs["prevalence"], costs["cost"], costs["normalized_cost"], strict=True):
        assert f"prevalence {prevalence:.4g}: cost {cost:.4g}, normalized {normalized:.4g}" in picture
    assert "normalized" not in drawn("costs")


@pytest.mark.parametrize(("scores", "goes"), [(SCORES, "rises"), (1 - SCORES, "falls")])
def test_the_line_of_calibration_has_the_pools(scores: Any, goes: str) -> None:
    lower_is_positive = goes == "falls"
    body = {"scores": scores.tolist(), "labels": BODY["labels"], "lower_is_positive": lower_is_positive}
    pools = answered("curves", body | {"include": ["calibration"]})["calibration"]
    sample = Sample(scores, LABELS, None, lower_is_positive)
    table = ConfusionTable.from_sample(sample)
    options = DrawingOptions(10_000, charts=frozenset({"calibration"}))
    line = curves_drawing(table, RocHull.of(table).vertices, sample, options).calibration
    assert line is not None
    there = set(zip(line.x.tolist(), line.y.tolist(), strict=True))
    for name in ("score_from", "score_to"):
        assert set(zip(pools[name], pools["calibrated"], strict=True)) <= there
    assert f"the share {goes} from" in drawn("calibration", body)


def test_a_long_line_is_thinned() -> None:
    rises = np.arange(1000, 0, -1.0)
    counts = {"tp": rises.cumsum().tolist(), "fp": rises[::-1].cumsum().tolist()}
    whole = {"positives": float(rises.sum()), "negatives": float(rises.sum()), "threshold": (rises / 1000).tolist()}
    picture = drawn("calibration", {"counts": counts | whole})
    small = bytes(ask("curves", {"counts": counts | whole}, accept=SVG, chart="calibration", side="160").body).decode()
    assert len(small) < len(picture) < 30_000


@pytest.mark.parametrize("scores", [[-3.0, 7.0], [1e308, -1e308], [5.0, 5.0]])
def test_any_scores_lie_along_the_axis(scores: list[float]) -> None:
    values = np.array(scores)
    assert ((along(values, values) >= 0) & (along(values, values) <= 1)).all()
    assert "Perfectly calibrated" not in drawn("calibration", {"scores": scores * 2, "labels": [0, 1, 1, 0]})


def test_counts_without_thresholds_have_no_line() -> None:
    body = {"counts": {"tp": [1, 2], "fp": [0, 1], "positives": 2, "negatives": 2}}
    assert "There are no thresholds" in drawn("calibration", body)


def test_both_within_an_answer() -> None:
    charts = answered("curves", BODY | {"charts": ["calibration", "costs", "roc"]})["charts"]
    assert set(charts) == {"calibration", "costs", "roc"}


@pytest.mark.parametrize("chart", ["calibration", "costs"])
def test_a_terminal_shows_both(chart: str) -> None:
    result = ask("curves", BODY, accept="text/plain", chart=chart)
    assert result.status == 200
    assert max(map(len, result.body.decode().splitlines())) <= 60


@pytest.mark.parametrize("lower", [False, True])
def test_bins_are_dots_with_bars_above_a_histogram(*, lower: bool) -> None:
    scores = (1 - SCORES if lower else SCORES).round(2).tolist()
    body = BODY | {"scores": scores, "lower_is_positive": lower, "reliability": {"bins": 5}}
    table = answered("curves", body)["reliability"]
    picture = drawn("calibration", body)
    assert f"Share of positives in {len(table['observed'])} bins." in picture
    dots = re.search(r'<path class="s1" [^>]*d="([^"]*)" [^>]*stroke-width="7"', picture)
    assert dots is not None
    found = sorted(
        ((float(x) - 50) / 320, 1 - (float(y) - 36) / 320) for x, y in re.findall(r"M(\S+) (\S+?)h", dots[1])
    )
    means = [1 - mean if lower else mean for mean in table["mean_score"]]
    np.testing.assert_allclose(found, sorted(zip(means, table["observed"], strict=True)), atol=0.005)
    assert picture.count('stroke-width="1.5"') == len(means) + 1
    counts = np.bincount(np.minimum(np.floor(np.array(scores) * 20), 19).astype(int), minlength=20)
    bars = re.findall(r'<rect class="soft" [^>]*height="([\d.]+)"', picture)
    np.testing.assert_allclose(
        [float(bar) for bar in bars], [60 * count / counts.max() for count in counts if count], atol=0.01
    )
    assert f"{100 * counts.max() / 60:.1f}\xa0% of all" in picture
    assert "histogram" not in drawn("calibration")


def test_bins_without_probabilities_are_omitted_with_a_word() -> None:
    picture = drawn("calibration", BODY | {"scores": (SCORES * 9).tolist(), "reliability": {}})
    assert "bins" not in picture.split("Warning")[0]
    assert "reliability" in picture
