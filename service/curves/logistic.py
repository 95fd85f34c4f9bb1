"""Logistic recalibration: how the log odds of scores must be moved and stretched to fit the labels (Cox 1958).

    calibration_intercept   a of logit P(positive) = a + logit s: 0 is ideal, below 0 scores are too high
    calibration_slope       b of logit P(positive) = a + b logit s: 1 is ideal, below 1 scores are too extreme

Each is the maximum of the likelihood, by Newton's method. Knows probabilities only. Source: Cox 1958, "Two further
applications of a model for binary regression".
"""

from dataclasses import dataclass
from functools import cached_property

import numpy as np

from service.curves.arrays import FloatArray
from service.curves.score_probabilities import Probabilities

_MOST_STEPS, _MOST_HALVINGS = 50, 60
_CLOSE_ENOUGH = 1e-8
"""Newton's method squares its error with each step, so after a step this small it is below what doubles hold."""

_NEAR_ENOUGH = 1e-4
"""A step that is no better is due to rounding if it is this short."""

_GROUPS = 2048
"""How many groups to fit first if there are more scores: that is near enough for full Newton steps."""


@dataclass(frozen=True, eq=False)
class LogisticFit:
    """The fit of logit P(positive) = a + b x for the log odds x of scores, and what its errors come from.

    coefficients  (k,): a, with b = 1, or a and b.
    odds          x, (n,).
    masses        what the examples at each score weigh, (n,), in the unit of the scores.
    """

    coefficients: FloatArray
    odds: FloatArray
    masses: FloatArray

    @cached_property
    def fitted(self) -> FloatArray:
        """The fitted probability at each score, (n,)."""
        return _probabilities(self.odds, self.coefficients)

    @property
    def information(self) -> FloatArray:
        """Σ w p(1 - p) (1, x)(1, x)ᵀ, of which only the first element belongs to a fit of a alone, (k, k)."""
        return self.moments(self.masses * self.fitted * (1 - self.fitted))

    def moments(self, weights: FloatArray) -> FloatArray:
        """Σ w (1, x)(1, x)ᵀ for weights w, (n,), of the coefficients that were fitted, (k, k)."""
        return _moments(self.odds, weights, self.coefficients.size)


def has_slope(scores: Probabilities) -> bool:
    """Whether the classes overlap; if one is wholly above the other, or all but ties, the likelihood has no maximum."""
    return _overlap(scores.log_odds, scores.positives, scores.negatives)


def intercept_fit(scores: Probabilities) -> LogisticFit | None:
    """Fit the intercept, with the slope 1; no score may be 0 or 1. None if doubles hold no fit."""
    return _fit(scores, 1)


def slope_fit(scores: Probabilities) -> LogisticFit | None:
    """Fit intercept and slope; no score may be 0 or 1, and the classes must overlap. None if doubles hold no fit.

    For the scores of `areas.roc_area` with the labels 1, 1, 0, 1, 0: slope 0.9318.
    """
    return _fit(scores, 2)


def _fit(scores: Probabilities, size: int) -> LogisticFit | None:
    """None if log odds are so close, or weights so far apart, that rounding hides the maximum."""
    odds, positives, masses = scores.log_odds, scores.positives, scores.masses
    prevalence = float(np.log(scores.tp[-1] / scores.fp[-1]))
    mean = prevalence - float(masses @ odds) / scores.total
    # Scores that are worse than the prevalence may be so far out that nothing leads back from the slope 1.
    starts = [np.array([mean])] if size == 1 else [np.array([mean, 1.0]), np.array([prevalence, 0.0])]
    start = min(starts, key=lambda each: _loss(odds, positives, masses, each))
    found = _in_groups(odds, positives, masses, start)
    if found is None:
        found = _climbed(odds, positives, masses, start)
    return None if found is None else LogisticFit(found, odds, masses)


def _in_groups(odds: FloatArray, positives: FloatArray, masses: FloatArray, start: FloatArray) -> FloatArray | None:
    """Fit groups of many scores, and go on from there; None if there are few, or if that leads nowhere."""
    if odds.size <= 2 * _GROUPS:
        return None
    firsts = np.linspace(0, odds.size, _GROUPS, endpoint=False, dtype=np.int64)
    weighted, of_positives, of_groups = (
        np.add.reduceat(column, firsts) for column in (masses * odds, positives, masses)
    )
    there = of_groups > 0
    means, of_positives, of_groups = weighted[there] / of_groups[there], of_positives[there], of_groups[there]
    if not _overlap(means, of_positives, of_groups - of_positives):
        return None
    near = _climbed(means, of_positives, of_groups, start)
    return None if near is None else _stepped(odds, positives, masses, near)


def _climbed(odds: FloatArray, positives: FloatArray, masses: FloatArray, start: FloatArray) -> FloatArray | None:
    """Newton's method from anywhere: a step that lowers the likelihood is halved. None if no step is better."""
    coefficients, loss = start, _loss(odds, positives, masses, start)
    for _ in range(_MOST_STEPS):
        step = _step(odds, positives, masses, coefficients)
        if step is None:
            return None
        if _is_close(step, coefficients):  # by rounding, the likelihood may not tell which is better
            return coefficients + step
        whole = step
        for _halving in range(_MOST_HALVINGS):
            after = _loss(odds, positives, masses, coefficients + step)
            if after <= loss:
                break
            step = step / 2
        else:
            return coefficients if _is_close(whole, coefficients, _NEAR_ENOUGH) else None
        coefficients, loss = coefficients + step, after
    return coefficients


def _stepped(odds: FloatArray, positives: FloatArray, masses: FloatArray, near: FloatArray) -> FloatArray | None:
    """Newton's method from near the maximum, without looking at the likelihood; None if a step is not much shorter."""
    coefficients, length = near, np.inf
    while True:
        step = _step(odds, positives, masses, coefficients)
        if step is None or not abs(step).max() < length / 2:
            return None
        coefficients, length = coefficients + step, abs(step).max()
        if _is_close(step, coefficients):
            return coefficients


def _is_close(step: FloatArray, coefficients: FloatArray, near: float = _CLOSE_ENOUGH) -> bool:
    return bool(abs(step).max() <= near * (1 + abs(coefficients).sum()))


def _step(odds: FloatArray, positives: FloatArray, masses: FloatArray, coefficients: FloatArray) -> FloatArray | None:
    """Newton's step; None if there is no information."""
    fitted = _probabilities(odds, coefficients)
    residuals = positives - masses * fitted
    slopes = np.array([residuals.sum(), residuals @ odds][: coefficients.size])
    try:
        step: FloatArray = np.linalg.solve(_moments(odds, masses * fitted * (1 - fitted), coefficients.size), slopes)
    except np.linalg.LinAlgError:
        return None
    return step if np.isfinite(step).all() else None


def _moments(odds: FloatArray, weights: FloatArray, size: int) -> FloatArray:
    if size == 1:
        return np.array([[weights.sum()]])
    weighted = weights * odds
    across = weighted.sum()
    return np.array([[weights.sum(), across], [across, weighted @ odds]])


def _line(odds: FloatArray, coefficients: FloatArray) -> FloatArray:
    """Fitted log odds."""
    line: FloatArray = coefficients[0] + (odds if coefficients.size == 1 else coefficients[1] * odds)
    return line


def _probabilities(odds: FloatArray, coefficients: FloatArray) -> FloatArray:
    """1/(1 + exp(-fitted log odds)), (n,)."""
    out = -_line(odds, coefficients)
    with np.errstate(over="ignore"):  # then it is 0
        np.exp(out, out=out)
    out += 1
    return np.reciprocal(out, out=out)


def _loss(odds: FloatArray, positives: FloatArray, masses: FloatArray, coefficients: FloatArray) -> float:
    """The negative log likelihood, Σ w ln(1 + e^-l) + (w - p) l for p of w positive at fitted log odds l."""
    line = _line(odds, coefficients)
    return float(masses @ np.logaddexp(0, -line) + (masses - positives) @ line)


def _overlap(places: FloatArray, positives: FloatArray, negatives: FloatArray) -> bool:
    """Whether some negatives are above some positives, and some below."""
    of_positives, of_negatives = places[positives > 0], places[negatives > 0]
    return bool(of_negatives.max() > of_positives.min() and of_positives.max() > of_negatives.min())
