"""Cross-checks with scikit-learn, an independent implementation, for the definitions that it shares.

Those are roc_auc_score, average_precision_score, brier_score_loss, roc_curve without dropped rows, and, without ties,
the trapezoids under precision_recall_curve.
"""

from __future__ import annotations

import numpy as np
import pytest
from sklearn.metrics import (
    auc,
    average_precision_score,
    brier_score_loss,
    precision_recall_curve,
    roc_auc_score,
    roc_curve,
)

from service.curves.evaluation import CurvesOptions, evaluate_curves
from service.curves.sample import Sample
from tests.support.sampling import some

ROUNDING = 1e-12
"""scikit-learn sums in plain doubles: with a few thousand rows, it is accurate to about this."""


def columns(seed: int, kind: str) -> tuple[np.ndarray, np.ndarray, np.ndarray | None]:
    """Informative scores: distinct, rounded to many ties, or weighted."""
    random = np.random.default_rng(seed)
    labels = random.random(3000) < (0.02 if kind == "skewed" else 0.4)
    scores = random.normal(size=3000) + labels
    if kind == "tied":
        scores = np.round(scores, 1)
    return scores, labels, random.lognormal(size=3000) if kind == "weighted" else None


@pytest.mark.parametrize("seed", range(3))
@pytest.mark.parametrize("kind", ["distinct", "tied", "skewed", "weighted"])
def test_scikit_learn_agrees(seed: int, kind: str) -> None:
    """Areas, rates and thresholds of 3000 rows."""
    scores, labels, weights = columns(seed, kind)
    curves = evaluate_curves(Sample(scores, labels, weights))
    assert curves.auc is not None
    assert curves.points is not None
    assert curves.auc.roc == pytest.approx(roc_auc_score(labels, scores, sample_weight=weights), rel=ROUNDING)
    expected = average_precision_score(labels, scores, sample_weight=weights)
    assert curves.auc.average_precision == pytest.approx(expected, rel=ROUNDING)
    fpr, tpr, thresholds = roc_curve(labels, scores, sample_weight=weights, drop_intermediate=False)
    np.testing.assert_allclose(curves.points.fpr, fpr, rtol=ROUNDING, atol=0)
    np.testing.assert_allclose(curves.points.tpr, tpr, rtol=ROUNDING, atol=0)
    np.testing.assert_array_equal(curves.points.threshold[1:], thresholds[1:])


def trapezoids(scores: np.ndarray, labels: np.ndarray) -> tuple[float, float]:
    """`pr_trapezoid`, and the trapezoids under the curve of scikit-learn."""
    curves = evaluate_curves(Sample(scores, labels))
    assert curves.auc is not None
    assert curves.auc.pr_trapezoid is not None
    precision, recall, _ = precision_recall_curve(labels, scores)
    return curves.auc.pr_trapezoid, auc(recall, precision)


@pytest.mark.parametrize("seed", range(3))
@pytest.mark.parametrize("kind", ["distinct", "skewed"])
def test_trapezoids_agree_without_ties(seed: int, kind: str) -> None:
    """Whether the highest score is a positive's or a negative's; and if ties are of one class."""
    scores, labels, _ = columns(seed, kind)
    for top in (0, 1):
        scores[labels.argmax() if top else labels.argmin()] = scores.max() + 1
        ours, theirs = trapezoids(scores, labels)
        assert ours == pytest.approx(theirs, rel=ROUNDING)
    ours, theirs = trapezoids(np.array([5.0, 5, 4, 3, 3, 2]), np.array([1, 1, 0, 0, 0, 1], bool))
    assert ours == pytest.approx(theirs, rel=ROUNDING)


def test_trapezoids_differ_across_a_tie() -> None:
    """One at the top, where scikit-learn starts from precision 1, and one below."""
    ours, theirs = trapezoids(np.array([2.0, 2, 1]), np.array([1, 0, 0], bool))
    assert (ours, theirs) == (0.5, 0.75)
    ours, theirs = trapezoids(np.array([3.0, 2, 2, 2, 1]), np.array([1, 1, 1, 0, 0], bool))
    assert ours != pytest.approx(theirs, rel=1e-3)
    ours, theirs = trapezoids(np.array([0.9, 0.5, 0.5]), np.array([0, 1, 1], bool))  # of two positives below a negative
    assert (ours, theirs) == (pytest.approx(5 / 12, rel=ROUNDING), pytest.approx(1 / 3, rel=ROUNDING))


@pytest.mark.parametrize("seed", some(range(5), 5))
def test_trapezoids_agree_just_where_the_guide_says(seed: int) -> None:
    """If the classes do not share the highest score and, from the first negative on, no two positives tie."""
    random, agreed = np.random.default_rng(seed), 0
    for _ in range(200):
        size = int(random.integers(3, 14))
        scores, labels = random.integers(0, 8, size) / 8, random.integers(0, 2, size).astype(bool)
        if labels.all() or not labels.any() or len({*labels[scores == scores.max()].tolist()}) > 1:
            continue
        below = scores[labels & (scores <= scores[~labels].max())]
        if len(np.unique(below)) == below.size:
            ours, theirs = trapezoids(scores, labels)
            assert ours == pytest.approx(theirs, rel=ROUNDING)
            agreed += 1
    assert agreed > 50


def test_brier_scores_agree() -> None:
    scores, labels, weights = columns(0, "weighted")
    scores = 1 / (1 + np.exp(-scores))
    curves = evaluate_curves(Sample(scores, labels, weights), CurvesOptions(include=frozenset({"statistics"})))
    assert curves.statistics is not None
    assert curves.statistics.brier == pytest.approx(
        brier_score_loss(labels, scores, sample_weight=weights), rel=ROUNDING
    )
