"""Cross-checks with scikit-learn, an independent implementation, for the definitions that it shares.

Those are roc_auc_score, average_precision_score and roc_curve without dropped rows; scikit-learn's
precision_recall_curve interpolates nothing, so the other areas have no counterpart there.
"""

from __future__ import annotations

import numpy as np
import pytest
from sklearn.metrics import average_precision_score, roc_auc_score, roc_curve

from service.curves.evaluation import evaluate_curves
from service.curves.sample import Sample

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
