"""Logistic recalibration: how the log odds of scores must be moved and stretched to fit the labels (Cox 1958).

    calibration_intercept   a of logit P(positive) = a + logit s: 0 is ideal, below 0 scores are too high
    calibration_slope       b of logit P(positive) = a + b logit s: 1 is ideal, below 1 scores are too extreme

Each is the maximum of the likelihood, by Newton's method. Knows probabilities only. Source: Cox 1958, "Two further
applications of a model for binary regression".
"""

from dataclasses import dataclass

import numpy as np

from service.curves.arrays import FloatArray
from service.curves.score_probabilities import Probabilities

_MOST_STEPS = 50
_CLOSE_ENOUGH = 1e-12
_NEAR_ENOUGH = 1e-4
"""A step that is no better is due to rounding if it is this short."""
_MOST_HALVINGS = 60


@dataclass(frozen=True, slots=True, eq=False)
class LogisticFit:
    """The fit of logit P(positive) = x·coefficients, and what its errors come from.

    coefficients  (k,): the intercept, or the intercept and the slope.
    features      x, (k, n): 1, or 1 and the log odds of each score.
    fitted        the fitted probability at each score, (n,).
    information   Σ w p(1 - p) x xᵀ, (k, k), in the masses that were given.
    """

    coefficients: FloatArray
    features: FloatArray
    fitted: FloatArray
    information: FloatArray


def has_slope(scores: Probabilities) -> bool:
    """Whether the classes overlap; if one is wholly above the other, or all but ties, the likelihood has no maximum."""
    of_positives = scores.log_odds[scores.positives > 0]
    of_negatives = scores.log_odds[scores.negatives > 0]
    return bool(of_negatives.max() > of_positives.min() and of_positives.max() > of_negatives.min())


def intercept_fit(scores: Probabilities) -> LogisticFit | None:
    """Fit the intercept, with the slope 1; no score may be 0 or 1. None if doubles hold no fit."""
    offset = scores.log_odds
    return _fit(scores, np.ones((1, offset.size)), offset, np.array([_first_intercept(scores, offset)]))


def slope_fit(scores: Probabilities) -> LogisticFit | None:
    """Fit intercept and slope; no score may be 0 or 1, and the classes must overlap. None if doubles hold no fit.

    For the scores of `areas.roc_area` with the labels 1, 1, 0, 1, 0: slope 0.9318.
    """
    odds = scores.log_odds
    features = np.stack((np.ones(odds.size), odds))
    # Scores that are worse than the prevalence may be so far out that nothing leads back from the slope 1.
    starts = (
        np.array([_first_intercept(scores, odds), 1.0]),
        np.array([float(np.log(scores.tp[-1] / scores.fp[-1])), 0.0]),
    )
    start = min(starts, key=lambda each: _loss(scores, each @ features)[0])
    return _fit(scores, features, np.zeros(odds.size), start)


def _first_intercept(scores: Probabilities, odds: FloatArray) -> float:
    """Where Newton's method begins: the log odds of the prevalence less the mean of those of the scores."""
    return float(np.log(scores.tp[-1] / scores.fp[-1]) - scores.masses @ odds / scores.total)


def _fit(scores: Probabilities, features: FloatArray, offset: FloatArray, start: FloatArray) -> LogisticFit | None:
    """None if log odds are so close, or weights so far apart, that rounding hides the maximum."""
    coefficients, masses = start, scores.masses
    loss, fitted = _loss(scores, offset + coefficients @ features)
    for _ in range(_MOST_STEPS):
        information = (features * (masses * fitted * (1 - fitted))) @ features.T
        try:
            step = np.linalg.solve(information, features @ (scores.positives - masses * fitted))
        except np.linalg.LinAlgError:
            return None
        whole = step
        for _halving in range(_MOST_HALVINGS):
            after, fitted_after = _loss(scores, offset + (coefficients + step) @ features)
            if after <= loss:
                break
            step = step / 2
        else:
            if abs(whole).max() > _NEAR_ENOUGH * (1 + abs(coefficients).sum()):
                return None
            break  # nothing is better, by rounding
        coefficients, loss, fitted = coefficients + step, after, fitted_after
        if abs(step).max() <= _CLOSE_ENOUGH * (1 + abs(coefficients).sum()):
            break
    information = (features * (masses * fitted * (1 - fitted))) @ features.T
    return LogisticFit(coefficients, features, fitted, information)


def _loss(scores: Probabilities, odds: FloatArray) -> tuple[float, FloatArray]:
    """The negative log likelihood of log odds, and the probabilities that they mean."""
    rest = np.exp(-abs(odds))
    fitted = np.where(odds > 0, 1.0, rest) / (1 + rest)
    # ln(1 + e^x) is max(x, 0) + ln(1 + e^-|x|).
    both = np.log1p(rest)
    loss = scores.positives @ (np.maximum(-odds, 0) + both) + scores.negatives @ (np.maximum(odds, 0) + both)
    return float(loss), fitted
