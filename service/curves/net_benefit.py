"""Net benefit: what acting on a threshold is worth, in true positives, if it also says what a false positive costs.

Whoever acts from probability t on accepts (1 - t)/t false positives for a true one, so a false positive weighs
o = t/(1 - t) of a true one. Knows the table only. Source: Vickers & Elkin 2006, "Decision curve analysis: a novel
method for evaluating prediction models".
"""

from dataclasses import dataclass
from fractions import Fraction

import numpy as np

from service.curves.arrays import FloatArray, IntArray
from service.curves.clock import in_time
from service.curves.confusion import ConfusionTable
from service.curves.errors import NotProbabilities, plain
from service.curves.score_probabilities import are_probabilities, score_range


@dataclass(frozen=True, slots=True, eq=False)
class NetBenefitOptions:
    """The probabilities to act from, (n,) between 0 and 1, and the prevalence where the classifier is used.

    thresholds   None for 0.01, 0.02, .., 0.99.
    prevalence   None for the target, or that of the data.
    """

    thresholds: FloatArray | None = None
    prevalence: float | None = None

    @property
    def probabilities(self) -> FloatArray:
        """The thresholds, or the default ones."""
        return np.arange(1, 100) / 100 if self.thresholds is None else self.thresholds


@dataclass(frozen=True, slots=True, eq=False)
class NetBenefit:
    """The net benefit at each threshold, as columns (n,) in the order requested; NaN where counts have no such row.

    net_benefit    π tpr - (1 - π) fpr o, per example.
    treat_all      the same if everything is called positive; of nothing it is 0.
    standardized   net_benefit/π: 1 is the most there is.
    avoided        how many fewer are acted on than if all were, for the same true positives: (net_benefit -
                   treat_all)/o, per example.
    """

    threshold: FloatArray
    tp: FloatArray
    fp: FloatArray
    net_benefit: FloatArray
    treat_all: FloatArray
    standardized: FloatArray
    avoided: FloatArray


def rows_of_probabilities(table: ConfusionTable, probabilities: FloatArray) -> IntArray:
    """The row that acts from each probability of a positive on, (n,); -1 where counts have no such row.

    With `lower_is_positive` a score is the probability of a negative.
    """
    cuts = 1 - probabilities if table.lower_is_positive else probabilities
    if table.of_scores:
        return table.rows_at(cuts)
    known, first = np.unique(table.thresholds, return_index=True)
    at = np.minimum(known.searchsorted(cuts), known.size - 1)
    return np.where(known[at] == cuts, first[at], -1)


def net_benefit(table: ConfusionTable, options: NetBenefitOptions) -> NetBenefit:
    """Compute it at each threshold; each number is rounded once. Raises NotProbabilities.

    For the scores of `areas.roc_area`, of which 3 in 4 are positive, at 0.75: two true positives and nothing false, so
    1/2, 2/3 of the most there is.
    """
    scores = score_range(table)
    if scores is not None and not are_probabilities(*scores):
        low, high = map(plain, scores)
        raise NotProbabilities(
            f"Net benefit needs scores between 0 and 1; these go from {low} to {high}.", "net_benefit"
        )
    positives, negatives = Fraction(table.positives), Fraction(table.negatives)
    asked = options.prevalence or (None if table.target is None else table.target.share)
    share = positives / (positives + negatives) if asked is None else Fraction(asked)
    rows, columns = rows_of_probabilities(table, options.probabilities), []
    for threshold, row in in_time(list(zip(options.probabilities.tolist(), rows.tolist(), strict=True))):
        odds = Fraction(threshold) / (1 - Fraction(threshold))
        all_treated = share - (1 - share) * odds
        found = [np.nan] * 5
        if row >= 0:
            tp, fp = float(table.tp[row]), float(table.fp[row])
            benefit = share * Fraction(tp) / positives - (1 - share) * Fraction(fp) / negatives * odds
            found = [tp, fp, float(benefit), _double(benefit / share), _double((benefit - all_treated) / odds)]
        columns.append([threshold, *found[:3], float(all_treated), *found[3:]])
    return NetBenefit(*np.array(columns).reshape(-1, 7).T.copy())


def _double(number: Fraction) -> float:
    """The nearest double; NaN above all of them, as where the odds or the prevalence are nearly 0."""
    try:
        return float(number)
    except OverflowError:
        return np.nan
