"""Which class is predicted for a row, how often that is right: the confusion matrix of several classes and its metrics.

    highest    the class with the greatest score; of e classes that tie, 1/e of the row each
    threshold  every class whose score reaches it, for each class on its own
    top k      whether the row's own class is among the k with the greatest scores

Knows the scores of classes and the metrics of a confusion matrix. Source of the correlation: Gorodkin 2004, "Comparing
two K-category assignments by a K-category correlation coefficient".
"""

import math
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from fractions import Fraction
from math import fsum

import numpy as np

from service.curves.arrays import FloatArray, IntArray
from service.curves.class_scores import ClassScores
from service.curves.clock import in_time
from service.curves.errors import TotalOutOfRange
from service.curves.row_metrics import ROW_METRICS, Matrices
from service.curves.sample import LARGEST_TOTAL, SMALLEST_TOTAL
from service.curves.score_probabilities import LEAST_PROBABILITY

CLASS_METRICS = ("precision", "recall", "f1")
"""The metrics of classes, unless others are named."""

_SUM_OF_PROBABILITIES = 1e-6
"""How far the scores of a row may add up to from 1 and still be probabilities."""


@dataclass(frozen=True, slots=True)
class ClassDecisionOptions:
    """How to predict classes, the metrics, and the numbers k of `top`; at most one of the first two is given."""

    decide: str | None = None
    at_threshold: float | None = None
    metrics: tuple[str, ...] = CLASS_METRICS
    top: tuple[int, ...] = ()


@dataclass(frozen=True, slots=True, eq=False)
class ClassMatrices:
    """The confusion matrix of each class against the rest, (k,), and metrics of each and of their averages.

    averages   {metric: (3,)}, macro, weighted by positives, and micro, from the summed counts; NaN where undefined.
    """

    tp: FloatArray
    fp: FloatArray
    fn: FloatArray
    tn: FloatArray
    metrics: Mapping[str, FloatArray]
    averages: Mapping[str, FloatArray]


@dataclass(frozen=True, slots=True)
class OverallNumbers:
    """Numbers of the whole confusion matrix; None where undefined."""

    accuracy: float | None
    balanced_accuracy: float | None
    kappa: float | None
    mcc: float | None
    log_loss: float | None


@dataclass(frozen=True, slots=True, eq=False)
class ClassDecisions:
    """What was decided; None for what was not asked for, or does not exist.

    confusion   (k, k): what the rows of a class weigh that are called each class.
    top         {k: the share of rows whose class is among the first k}
    tied        the rows that several classes tie for.
    """

    matrices: ClassMatrices | None = None
    confusion: FloatArray | None = None
    overall: OverallNumbers | None = None
    top: Mapping[int, float] = field(default_factory=dict)
    tied: int = 0


def class_decisions(given: ClassScores, options: ClassDecisionOptions) -> ClassDecisions:
    """Decide for each row, and count; `highest` and `top` are for rows that belong to one class each.

    Of four rows of cats and dogs with the scores (0.8, 0.2), (0.4, 0.6), (0.2, 0.8), (0.5, 0.5), the first two of which
    are cats: the matrix is [[1, 1], [0.5, 1.5]], and 2.5 of 4 are right. Raises TotalOutOfRange.
    """
    total = given.rows if given.weights is None else float(given.weights.sum())
    if not SMALLEST_TOTAL <= total <= LARGEST_TOTAL:
        detail = f"All rows weigh {total:g} together; it must be {SMALLEST_TOTAL:g} to {LARGEST_TOTAL:g}."
        raise TotalOutOfRange(detail, "weights")
    own = np.stack(given.members).argmax(axis=0) if given.exclusive else np.empty(0, np.int64)
    top = {each: _top(given, own, each) for each in in_time(options.top)}
    if options.at_threshold is not None:
        return ClassDecisions(_at_threshold(given, options.at_threshold, options.metrics), top=top)
    if options.decide is None:
        return ClassDecisions(top=top)
    confusion, tied = _confusion(given, own)
    right, of_class = np.diag(confusion).copy(), confusion.sum(axis=1)
    whole = given.weights is None and not tied
    # Sums of what is there, since differences of rounded sums may be below 0, or above a total.
    fp = np.array([fsum(np.delete(column, place)) for place, column in enumerate(confusion.T)])
    negatives = np.array([fsum(np.delete(of_class, place)) for place in range(of_class.size)])
    matrices = _matrices(right, fp, of_class, negatives, options.metrics, whole=whole)
    return ClassDecisions(matrices, confusion, _overall(confusion, _log_loss(given, own)), top, tied)


def best_scores(given: ClassScores) -> tuple[FloatArray, IntArray]:
    """The best score of each row, and how many classes have it, (n,) each."""
    extreme = np.minimum if given.lower_is_positive else np.maximum
    best = given.scores[0].copy()
    for scores in in_time(given.scores[1:]):
        extreme(best, scores, out=best)
    ties = np.zeros(best.size, np.int64)
    for scores in in_time(given.scores):
        ties += scores == best
    return best, ties


def _confusion(given: ClassScores, own: IntArray) -> tuple[FloatArray, int]:
    """The confusion matrix, and how many rows of positive weight tie."""
    count, (best, ties) = len(given.names), best_scores(given)
    numbers = np.unique(ties)
    cells = np.zeros((numbers.size, count, count))  # apart by ties, so that counts are exact until they are divided
    for called, scores in enumerate(in_time(given.scores)):
        for place, number in enumerate(numbers):
            rows = np.flatnonzero((scores == best) & (ties == number))
            weights = None if given.weights is None else given.weights[rows]
            cells[place, :, called] = np.bincount(own[rows], weights, minlength=count)
    cells /= numbers[:, None, None]
    confusion: FloatArray = np.array([list(map(fsum, row.T)) for row in in_time(cells.transpose(1, 0, 2))])
    there = ties > 1 if given.weights is None else (ties > 1) & (given.weights > 0)
    return confusion, int(there.sum())


def _at_threshold(given: ClassScores, threshold: float, metrics: Iterable[str]) -> ClassMatrices:
    """Predict every class whose score reaches the threshold."""
    rows = []
    for scores, members in in_time(zip(given.scores, given.members, strict=True)):
        called = scores <= threshold if given.lower_is_positive else scores >= threshold
        weights = np.ones(1) if given.weights is None else given.weights
        chosen = (members & called, ~members & called, members, ~members)
        rows.append([float((weights * each).sum()) for each in chosen])
    tp, fp, positives, negatives = np.array(rows).T.copy()  # encoders need contiguous columns
    return _matrices(tp, fp, positives, negatives, metrics, whole=given.weights is None)


def _matrices(
    tp: FloatArray,
    fp: FloatArray,
    positives: FloatArray,
    negatives: FloatArray,
    metrics: Iterable[str],
    *,
    whole: bool,
) -> ClassMatrices:
    """Complete the matrices, and compute metrics."""
    of_each = [
        Matrices(np.array([a]), np.array([b]), p, n, whole)
        for a, b, p, n in zip(tp, fp, positives.tolist(), negatives.tolist(), strict=True)
    ]
    pooled = Matrices(np.array([tp.sum()]), np.array([fp.sum()]), float(positives.sum()), float(negatives.sum()), whole)
    found, averages = {}, {}
    shares = np.ldexp(positives, -np.frexp(positives.max())[1])  # whose products with large metrics do not overflow
    for name in metrics:
        value = ROW_METRICS[name].value
        values = np.array([float(value(each)[0]) for each in in_time(of_each)])
        found[name] = values
        there = positives > 0
        weighted = float(np.average(values[there], weights=shares[there])) if there.any() else np.nan
        averages[name] = np.array([fsum(values) / values.size, weighted, float(value(pooled)[0])])
    return ClassMatrices(tp, fp, positives - tp, negatives - fp, found, averages)


def _overall(confusion: FloatArray, log_loss: float | None) -> OverallNumbers:
    """The numbers of a matrix, in fractions that are rounded once.

    With c right of s rows, t_i of class i and p_i called so: accuracy c/s; kappa (c s - Σ t p)/(s² - Σ t p); mcc the
    same numerator over √((s² - Σ p²)(s² - Σ t²)), Gorodkin's R_K.
    """
    exact = [list(map(Fraction, row)) for row in in_time(confusion.tolist())]
    of_class, called = ([sum(line) for line in in_time(side)] for side in (exact, list(zip(*exact, strict=True))))
    right, total = sum(exact[place][place] for place in range(len(exact))), Fraction(sum(of_class))
    by_chance = sum(t * p for t, p in zip(of_class, called, strict=True))
    above = right * total - by_chance
    spreads = [total * total - sum(each * each for each in side) for side in (of_class, called)]
    recalls = [row[place] / t for place, (row, t) in enumerate(zip(exact, of_class, strict=True)) if t]
    return OverallNumbers(
        accuracy=float(right / total),
        balanced_accuracy=float(sum(recalls) / len(recalls)),
        kappa=float(above / (total * total - by_chance)) if total * total > by_chance else None,
        mcc=_over_root(above, spreads[0] * spreads[1]) if min(spreads) > 0 else None,
        log_loss=log_loss,
    )


def _over_root(part: Fraction, square: Fraction) -> float:
    """A part over the root of a square, whose square is a fraction that is rounded once."""
    root = math.sqrt(float(part * part / square))
    return min(root, 1.0) if part >= 0 else max(-root, -1.0)


def _log_loss(given: ClassScores, own: IntArray) -> float | None:
    """The mean of -ln(the score of the row's class), at least 2^-52; None unless all scores are probabilities."""
    if given.lower_is_positive:
        return None
    sums, chosen = np.zeros(given.rows), np.zeros(given.rows)
    for place, scores in enumerate(in_time(given.scores)):
        if not (scores.min() >= 0 and scores.max() <= 1):
            return None
        sums += scores
        np.copyto(chosen, scores, where=own == place)
    if abs(sums - 1).max() > _SUM_OF_PROBABILITIES:
        return None
    losses = -np.log(np.clip(chosen, LEAST_PROBABILITY, 1 - LEAST_PROBABILITY))
    return float(losses.mean() if given.weights is None else losses @ given.weights / given.weights.sum())


def _top(given: ClassScores, own: IntArray, most: int) -> float:
    """The share of rows whose class is among the first; of g classes above it and e that tie with it, (k - g)/e."""
    sign = -1 if given.lower_is_positive else 1
    mine = _own_scores(given, own)
    above, ties = np.zeros(given.rows), np.zeros(given.rows)
    for scores in in_time(given.scores):
        above += sign * scores > sign * mine
        ties += scores == mine
    found = np.clip((most - above) / ties, 0, 1)
    return float(found.mean() if given.weights is None else found @ given.weights / given.weights.sum())


def _own_scores(given: ClassScores, own: IntArray) -> FloatArray:
    """The score of each row for its own class, (n,)."""
    mine = np.empty(given.rows)
    for place, scores in enumerate(given.scores):
        np.copyto(mine, scores, where=own == place)
    return mine
