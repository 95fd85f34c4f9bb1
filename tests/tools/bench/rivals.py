"""What else a user could call: scikit-learn, and torchmetrics if it is installed. Both compute less."""

import importlib.util
from collections.abc import Callable
from dataclasses import dataclass

import numpy as np


@dataclass(frozen=True)
class SklearnAnswer:
    """Columns by descending threshold, from the row that calls nothing positive; its precision is NaN."""

    threshold: np.ndarray
    fpr: np.ndarray
    tpr: np.ndarray
    precision: np.ndarray
    recall: np.ndarray
    roc: float
    average_precision: float


def scikit_learn(scores: np.ndarray, labels: np.ndarray, weights: np.ndarray | None) -> SklearnAnswer:
    """Both curves with all their rows, and the two areas."""
    from sklearn.metrics import average_precision_score, precision_recall_curve, roc_auc_score, roc_curve

    fpr, tpr, threshold = roc_curve(labels, scores, sample_weight=weights, drop_intermediate=False)
    precision, recall, _ = precision_recall_curve(labels, scores, sample_weight=weights)
    roc = roc_auc_score(labels, scores, sample_weight=weights)
    average_precision = average_precision_score(labels, scores, sample_weight=weights)
    # Views, so that reversing the curve costs nothing.
    return SklearnAnswer(threshold, fpr, tpr, precision[::-1], recall[::-1], float(roc), float(average_precision))


def has_torchmetrics() -> bool:
    return importlib.util.find_spec("torchmetrics") is not None


def torchmetrics(scores: np.ndarray, labels: np.ndarray) -> Callable[[], object]:
    """The same four from torchmetrics, on tensors made beforehand."""
    import torch
    from torchmetrics.functional.classification import (
        binary_auroc,
        binary_average_precision,
        binary_precision_recall_curve,
        binary_roc,
    )

    predictions, target = torch.from_numpy(scores), torch.from_numpy(labels.astype(np.int64))
    calls = (binary_roc, binary_precision_recall_curve, binary_auroc, binary_average_precision)
    return lambda: [call(predictions, target) for call in calls]


def delong_by_midranks(labels: np.ndarray, models: list[np.ndarray]) -> tuple[float, float]:
    """The difference of two models' areas and its standard error: DeLong 1988 by the midranks of Sun & Xu 2014."""
    from scipy.stats import rankdata

    placed = []
    for scores in models:
        ranks = rankdata(scores)
        positives = (ranks[labels] - rankdata(scores[labels])) / np.count_nonzero(~labels)
        negatives = 1 - (ranks[~labels] - rankdata(scores[~labels])) / np.count_nonzero(labels)
        placed.append((positives, negatives))
    (one, one_below), (other, other_below) = placed
    variance = sum(np.var(apart, ddof=1) / apart.size for apart in (one - other, one_below - other_below))
    return float(one.mean() - other.mean()), float(np.sqrt(variance))
